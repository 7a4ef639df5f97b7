//! The article "OCI block volumes: performance levels".

use std::sync::OnceLock;

use plimsoll_catalogue::{Ask, ConfigRefusal, Offer, OptionValue, PriceTerms};
use plimsoll_drive::{Onward, Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::Chain;
use plimsoll_units::{Bytes, Instant, Span};

use crate::articles::figure::{Article, By, Figure, Published::Exactly};
use crate::articles::shelf::{catalogue, parsed};

/// The four patterns: VPU, GB, MB/s according to the console, seconds and MB/s according to dd.
const PATTERNS: [(u32, u32, f64, f64, f64); 4] = [
    (0, 50, 12.0, 348.028, 15.4),
    (10, 50, 24.0, 174.138, 30.8),
    (0, 100, 24.0, 174.123, 30.8),
    (10, 100, 48.0, 86.154, 62.3),
];
/// `dd bs=1G count=5`.
const BLOCK: u64 = 1 << 30;
/// Bytes in the page cache when dd ends: 5 GiB less 12 MB/s, with KB of 1,024 bytes, x 348.028 s of the first pattern. The
/// same constant is used for all four.
const PAGE_CACHE: &str = "1.092GB";
/// Bytes of the vendor's KB over those of the console's, which rounds: volumes move 1,024.
const KILO: f64 = 1.024;

/// The catalogue's offer of `config`, in yen at the time of the article.
pub fn offer(config: &str) -> Offer {
    try_offer(config).unwrap_or_else(|refusal| panic!("{config}: {refusal}"))
}

/// The same, or the refusal.
pub fn try_offer(config: &str) -> Result<Offer, Box<ConfigRefusal>> {
    let terms = PriceTerms { as_of: "2024-11".parse().expect("a date"), currency: "JPY".parse().ok(), region: None };
    let config = config.parse().unwrap_or_else(|error| panic!("{error}"));
    catalogue().offer(&config, &terms).map_err(Box::new)
}

/// Random reads of 4 KiB per second that `config` carries.
pub fn iops(config: &str) -> f64 {
    let standing = offer(config).standing(&Ask { block: Bytes::kib(4), reads: 1.0, sequential: false });
    standing.binding().expect("a volume has ceilings").iops
}

/// MB/s of sequential reads of 1 MB that `config` carries.
fn mbps(config: &str) -> f64 {
    let standing = offer(config).standing(&Ask { block: Bytes::new(1_000_000), reads: 1.0, sequential: true });
    standing.binding().expect("a volume has ceilings").bytes_per_second / 1e6
}

/// Seconds of dd for `blocks` of 1 GiB through a page cache, in virtual time.
fn dd(vpu: u32, size: u32, blocks: u64) -> f64 {
    let offer = offer(&format!("page-cache({PAGE_CACHE}) of oci:{size}GB@{vpu}vpu"));
    let notation = offer.model_notation().expect("it has a model");
    // Without reads the page size has no effect; fewer pages are faster without optimisation.
    let model = parsed(&notation.replace(" of 4KiB", " of 1MiB"));
    let spec = StreamSpec {
        name: "dd".into(),
        mix: Mix { sizes: BlockMix::one(Bytes::new(BLOCK)), reads: 0.0, durable: false, flush_every: 0 },
        pattern: Pattern::Sequential,
        region: Region::first(Bytes::new(BLOCK * blocks)),
        pace: Pace::Closed { depth: 1 },
    };
    let phase = StreamPhase { operations: blocks, ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(&[spec], 0, phase).expect("the region holds a block");
    let mut target = Simulated::new(Chain::new(&model, 1));
    let rules = Rules::new(1, Span::from_secs(1));
    let seen = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("no faults");
    seen.series.iter().map(|slice| slice.span.as_secs_f64()).sum()
}

/// Seconds of the four patterns, then of 20 GiB on the last volume. Simulated once for all tests.
fn simulated() -> &'static ([f64; 4], f64) {
    static SECONDS: OnceLock<([f64; 4], f64)> = OnceLock::new();
    let last = PATTERNS[3];
    SECONDS.get_or_init(|| (PATTERNS.map(|(vpu, size, ..)| dd(vpu, size, 5)), dd(last.0, last.1, 20)))
}

pub fn article() -> Article {
    let mut figures = levels();
    figures.extend(price());
    figures.extend(PATTERNS.iter().enumerate().flat_map(|(index, pattern)| written(index, pattern)));
    Article {
        title: "OCI block volumes: performance levels",
        about: "A consultancy, November 2024, in Japanese: the levels of OCI block volumes, their price, and `dd` of 5 GiB \
                on four volumes.",
        figures,
        missed: missed(),
    }
}

/// VPU, GB at the IOPS limit, IOPS, IOPS per GB, GB at the throughput limit, MB/s.
const LEVELS: [(&str, u32, u32, f64, f64, u32, f64); 4] = [
    ("Ultra High Performance, VPU 120", 120, 1333, 300_000.0, 225.0, 1500, 2680.0),
    ("Higher Performance, VPU 20", 20, 667, 50_000.0, 75.0, 1200, 680.0),
    ("Balanced, VPU 10", 10, 417, 25_000.0, 60.0, 1024, 480.0),
    ("Lower Cost, VPU 0", 0, 1500, 3_000.0, 2.0, 1536, 480.0),
];

fn levels() -> Vec<Figure> {
    let mut figures = vec![
        vpus("oci:50GB", "highest VPU", 120.0, false),
        vpus("oci/boot-volume:50GB", "lowest VPU of a boot volume", 10.0, true),
    ];
    for (place, vpu, size, most, each, wide, fast) in LEVELS {
        let at = |size: u32| format!("oci:{size}GB@{vpu}vpu");
        let throughput = Figure::new(place, format!("throughput from {wide} GB on"), Exactly(fast), "MB/s");
        figures.push(if vpu == 0 {
            throughput.missing(format!(
                "240 KB/s for each GB are {:.0} MB/s at {wide} GB: 480 MB/s need 2,000 GB. The vendor's page had the same slip",
                mbps(&at(wide))
            ))
        } else {
            throughput.given(By::Quote, at(wide), mbps(&at(wide)), 0.001)
        });
        let any = at(32_768);
        figures.push(Figure::new(place, "highest throughput", Exactly(fast), "MB/s").given(
            By::Quote,
            any.clone(),
            mbps(&any),
            0.001,
        ));
        let per = Figure::new(place, "IOPS for each GB", Exactly(each), "");
        figures.push(per.given(By::Quote, at(100), iops(&at(100)) / 100.0, 0.001));
        let highest = Figure::new(place, format!("highest IOPS, at {size} GB"), Exactly(most), "IOPS");
        figures.push(highest.given(By::Quote, at(size), iops(&at(size)), 0.001));
    }
    figures
}

fn vpus(config: &str, what: &str, published: f64, lowest: bool) -> Figure {
    let offer = offer(config);
    let option = offer.options.iter().find(|option| &*option.name == "vpu").expect("a volume has VPUs");
    let value = if lowest { option.low } else { option.high };
    Figure::new("levels", what, Exactly(published), "VPU").given(By::Quote, config, value.expect("a number"), 0.0)
}

fn price() -> Vec<Figure> {
    let config = "oci:100GB@10vpu";
    let price = offer(config).price().expect("the article's list");
    let each = |part: usize| price.parts[part].money.as_f64() / price.parts[part].quantity;
    let figure = |what: &str, published, value| {
        Figure::new("price", what, Exactly(published), "JPY").given(By::Quote, config, value, 1e-9)
    };
    vec![
        figure("storage, for each GB in a month", 3.9525, each(0)).fitted(),
        figure("performance, for each VPU and GB in a month", 0.2635, each(1)).fitted(),
        figure("100 GB at VPU 10, a month", 658.75, price.monthly.as_f64()),
    ]
}

fn written(index: usize, &(vpu, size, promised, seconds, printed): &(u32, u32, f64, f64, f64)) -> Vec<Figure> {
    let place = format!("pattern {}: VPU {vpu}, {size} GB", index + 1);
    let config = format!("oci:{size}GB@{vpu}vpu");
    let took = simulated().0[index];
    let how = format!("dd through page-cache({PAGE_CACHE}) of {config}");
    let time = Figure::new(&*place, "dd of 5 GiB", Exactly(seconds), "s").given(By::Simulation, &*how, took, 0.01);
    let rate = 5.0 * BLOCK as f64 / took / 1e6;
    let rate =
        Figure::new(&*place, "throughput of dd", Exactly(printed), "MB/s").given(By::Simulation, how, rate, 0.01);
    // The size of the page cache was set from the first pattern.
    let [time, rate] = if index == 0 { [time.fitted(), rate.fitted()] } else { [time, rate] };
    let promise = Figure::new(place, "throughput promised by the console", Exactly(promised), "MB/s");
    // A KB of 1,024 bytes, where the console counts 1,000.
    vec![promise.given(By::Quote, &*config, mbps(&config), KILO - 1.0 + 0.001), time, rate]
}

fn missed() -> Vec<String> {
    let [residue, scale] = predictions();
    vec![
        format!(
            "All four runs were \"faster than theory\" by 28 to 30 %: by 25 to 27 % if a KB is 1,024 bytes, as later measurements of \
             such volumes show. dd did not wait for the volume: a page cache with \
             {PAGE_CACHE} of dirty data at its end explains all four times within 1 %. Use `conv=fdatasync` to measure the volume."
        ),
        format!(
            "Volumes that exceed their limits by a common factor would fit the four runs as well. A longer run distinguishes the \
             explanations: 20 GiB at VPU 10 and 100 GB should end at {residue:.1} MB/s when a constant stays in \
             memory, at {scale:.1} MB/s when the volume is faster."
        ),
        "5 GiB of zeroes written sequentially by a single process do not measure IOPS or latency, in which the levels also differ."
            .into(),
    ]
}

/// MB/s of a file of 20 GiB on the last volume, if the cached remainder of the first pattern is a constant, and if it
/// is a factor.
fn predictions() -> [f64; 2] {
    let (_, _, slow, seconds, _) = PATTERNS[0];
    let (_, _, fast, ..) = PATTERNS[3];
    let factor = 5.0 * BLOCK as f64 / seconds / (slow * 1e6);
    [20.0 * BLOCK as f64 / simulated().1 / 1e6, fast * factor]
}

#[test]
fn longer_file_distinguishes_caching_from_a_faster_volume() {
    let [residue, scale] = predictions();
    assert!((residue - 51.8).abs() < 0.2, "{residue}");
    assert!((scale - 61.7).abs() < 0.1, "{scale}");
}

#[test]
fn size_of_the_page_cache_follows_from_the_first_pattern() {
    let (.., promised, seconds, _) = PATTERNS[0];
    let left = 5.0 * BLOCK as f64 - promised * KILO * 1e6 * seconds;
    let used: Bytes = PAGE_CACHE.parse().unwrap();
    assert!((left / used.get() as f64 - 1.0).abs() < 0.001, "{left}");
}

#[test]
fn options_are_numbers() {
    let offer = offer("oci:100GB@10vpu");
    let vpu = offer.options.iter().find(|option| &*option.name == "vpu").unwrap();
    assert_eq!(vpu.value, Some(OptionValue::Number(10.0)));
    assert_eq!((vpu.low, vpu.high, vpu.step), (Some(0.0), Some(120.0), Some(10.0)));
}
