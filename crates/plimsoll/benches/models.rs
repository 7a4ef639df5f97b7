//! Simulated operations per second of each kind of model on a single core, compared with `SimPy`; and the time of
//! quoting the whole catalogue and of a match.
//!
//! `cargo bench --bench models` prints the tables of `docs/performance.md`. With Python and `SimPy` (`pip install simpy`)
//! its M/M/16 runs in turns with ours; `PLIMSOLL_BENCH_PYTHON` names another interpreter than `python3`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::process::Command;
use std::time::Instant;

use plimsoll_catalogue::{Ask, Catalogue, Config, Date, Offer, Part, PriceTerms, ProductKind, Setting};
use plimsoll_drive::{Onward, Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, parse};
use plimsoll_units::{Bytes, Span};

const DEPTH: u32 = 32;
const ROUNDS: usize = 5;

/// Model, name, operations: single stages, then products.
const MODELS: &[(&str, &str)] = &[
    ("limit", "limit(1M)"),
    ("station, one server", "station(1, 1us)"),
    ("station, eight servers", "station(8, 80us)"),
    ("station, exponential", "station(8, 80us, exponential)"),
    ("bank of 24", "bank(24, 80us)"),
    ("link", "link(25us, 8GB/s)"),
    ("disk", "disk(1TB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s, queue 32 gain 0.2)"),
    ("stripe of two", "stripe(2, 64KiB: station(8, 80us))"),
    (
        "all-flash array: link, CPU pool, cache, NVRAM, 24 drives",
        "link(25us, 25600MB/s) then station(64, 75us, write 112us, exponential) then writeback(16GB, depth 4096, flush \
         immediate: cache(10%, hit: ; miss: bank(768 of 16KiB, 60us, write 560us, lognormal 0.25)))",
    ),
];

/// An M/M/16 at 90 % load.
const SIMPY: &str = "
import simpy, random, time, sys
n = int(sys.argv[1])
def job(env, res):
    with res.request() as req:
        yield req
        yield env.timeout(random.expovariate(1.0))
def source(env, res):
    for _ in range(n):
        yield env.timeout(random.expovariate(14.4))
        env.process(job(env, res))
env = simpy.Environment(); res = simpy.Resource(env, 16)
env.process(source(env, res))
start = time.perf_counter(); env.run(); print(n / (time.perf_counter() - start))
";

fn main() {
    // `cargo test --benches` passes --test: there are no tests here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("| model, closed load of depth {DEPTH}, 80 % reads, histograms | million operations a second |");
    println!("|---|---|");
    for (name, model) in MODELS {
        let mut rates: Vec<f64> = (0..ROUNDS).map(|_| rate(model, Pace::Closed { depth: DEPTH }, 2_000_000)).collect();
        rates.sort_by(f64::total_cmp);
        println!("| {name} | {:.1} |", rates[ROUNDS / 2] / 1e6);
    }
    beside_simpy();
    measure_catalogue();
}

/// The whole catalogue: every product at every value of its first option with few values, in 100 sizes, for 4 KiB
/// reads; then a match of a load line.
fn measure_catalogue() {
    let start = Instant::now();
    let catalogue = Catalogue::built_in();
    let loaded = start.elapsed();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let configurations = list_configurations(&catalogue, &terms);
    let ask = Ask { block: Bytes::kib(4), reads: 1.0, sequential: false };
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let offers = configurations.iter().filter_map(|config| catalogue.offer(config, &terms).ok());
            let quoted: f64 = offers.map(|offer| compute_quote(&offer, &ask)).sum();
            assert!(quoted > 0.0, "the catalogue offers something");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("\nThe catalogue is read in {:.0} ms.", loaded.as_secs_f64() * 1e3);
    println!("{} configurations, their ceilings and prices: {:.0} ms.", configurations.len(), times[ROUNDS / 2]);
    let mut matches: Vec<f64> = (0..ROUNDS).map(|_| one_match(&catalogue, &terms)).collect();
    matches.sort_by(f64::total_cmp);
    println!("A match of 5,000 IOPS at p99 <= 5 ms: {:.0} ms.", matches[ROUNDS / 2] * 1e3);
}

fn compute_quote(offer: &Offer, ask: &Ask) -> f64 {
    let ceiling = offer.standing(ask).binding().map_or(0.0, |bound| bound.iops);
    ceiling + offer.prices().first().map_or(0.0, |price| price.monthly.as_f64())
}

fn list_configurations(catalogue: &Catalogue, terms: &PriceTerms) -> Vec<Config> {
    let mut all = Vec::new();
    for product in catalogue.products().filter(|product| product.kind() != ProductKind::Machine) {
        let set = |name: &str, value: f64| Setting::Option { name: name.into(), value: format!("{value}") };
        let with = |settings| Config {
            wraps: Vec::new(),
            volume: Part { product: product.name().into(), settings },
            machine: None,
        };
        let least = product.smallest_size(Bytes::new(1)).map(|size| set("size", size));
        let Ok(offer) = catalogue.offer(&with(least.into_iter().collect()), terms) else { continue };
        let values = |name: &str, max: usize| -> Vec<f64> {
            let option = offer.options.iter().find(|option| *option.name == *name);
            let Some((low, high, step)) = option.and_then(|option| Some((option.low?, option.high?, option.step?)))
            else {
                return Vec::new();
            };
            let count = ((high - low) / step) as usize + 1;
            (0..count.min(max)).map(|i| low + (i * count / count.min(max)) as f64 * step).collect()
        };
        let levels = values("vpu", 20);
        for size in values("size", 100) {
            all.push(with(vec![set("size", size)]));
            all.extend(levels.iter().map(|level| with(vec![set("size", size), set("vpu", *level)])));
        }
    }
    all
}

fn one_match(catalogue: &Catalogue, terms: &PriceTerms) -> f64 {
    let pace = Pace::Open { rate: "5000".parse().unwrap(), arrival: plimsoll_load::Arrival::Poisson };
    let streams = vec![stream(pace)];
    let objective = "p99<=5ms".parse().unwrap();
    let need = plimsoll_choose::Need { streams, iops: 5e3, objective, capacity: Bytes::gib(200) };
    let start = Instant::now();
    assert!(!plimsoll_choose::matching(catalogue, &need, terms, 12).suitable.is_empty(), "something carries it");
    start.elapsed().as_secs_f64()
}

fn beside_simpy() {
    let (mut ours, mut theirs, mut arrays) = (Vec::new(), Vec::new(), Vec::new());
    let open = Pace::Open { rate: "14400".parse().unwrap(), arrival: plimsoll_load::Arrival::Poisson };
    for _ in 0..ROUNDS {
        let Some(simpy) = measure_simpy() else {
            return println!("\nskipped: Python with SimPy is not there (pip install simpy)");
        };
        theirs.push(simpy);
        ours.push(rate("station(16, 1ms, exponential)", open, 1_000_000));
        arrays.push(rate(MODELS[MODELS.len() - 1].1, Pace::Closed { depth: DEPTH }, 1_000_000));
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[ROUNDS / 2]
    };
    let (ours, theirs, array) = (median(&mut ours), median(&mut theirs), median(&mut arrays));
    println!(
        "\nM/M/16 at 90 %: {:.2} million a second, SimPy {:.3}: {:.0} times.",
        ours / 1e6,
        theirs / 1e6,
        ours / theirs
    );
    println!("The all-flash array over SimPy's M/M/16: {:.0} times.", array / theirs);
}

fn measure_simpy() -> Option<f64> {
    let python = std::env::var("PLIMSOLL_BENCH_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(python).args(["-c", SIMPY, "50000"]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Operations per second of processor time over a fixed number of operations.
fn rate(model: &str, pace: Pace, operations: u64) -> f64 {
    let mut target = Simulated::new(Chain::new(&parse(model).unwrap(), 1));
    let phase = StreamPhase { operations, ..StreamPhase::unbounded(plimsoll_units::Instant::ZERO) };
    let mut load = Streams::new(&[stream(pace)], 1, phase).unwrap();
    let rules = Rules::new(1024, Span::from_millis(100));
    let start = Instant::now();
    let result = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).unwrap();
    let elapsed = start.elapsed().as_secs_f64();
    let counted: u64 = result.series.iter().map(|slice| slice.tally.operations()).sum();
    assert_eq!(counted, operations, "every operation is counted");
    operations as f64 / elapsed
}

fn stream(pace: Pace) -> StreamSpec {
    StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(8)), reads: 0.8, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(64)),
        pace,
    }
}
