//! Quoted and simulated rates agree for every product with a model: random 8 KiB and sequential 1 MiB, reads and
//! writes, at saturation, without burst credits. A product file lists its exceptions with the reason and the range of the
//! difference (`[[deviation]]`), and each of them is computed.
#![expect(clippy::print_stdout, reason = "the tables are for readers")]

use std::ops::ControlFlow;

use plimsoll_catalogue::{Catalogue, Config, Date, Deviation, Offer, PriceTerms, Product, SaturatingLoad};
use plimsoll_drive::{Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_units::{Bytes, Instant, Span};

/// Largest accepted difference.
const TOLERANCE: f64 = 0.05;
/// Widest range that a product file may state for a difference, in percent.
const RANGE: i32 = 12;
/// Operations in flight, more than products need for their highest rate: independent ones, and of a sequential stream.
const RANDOM_DEPTH: u32 = 2048;
const SEQUENTIAL_DEPTH: u32 = 64;
/// Operations of a simulation; the first half is warm-up.
const OPERATIONS: f64 = 40_000.0;
/// Minimum and maximum duration of writes into memory, which is full after the first half: a multiple of the time that it
/// takes at the quoted rate.
const FILLING_S: (f64, f64) = (4.0, 16.0);
const FILLINGS: f64 = 8.0;
const SLICES: u64 = 20;

/// The product with defaults, or with its smallest size if that is required, without a machine.
fn offer(catalogue: &Catalogue, product: &Product) -> Offer {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 23), currency: None, region: None };
    let needs_size = product.options().iter().any(|option| &*option.name == "size" && option.default.is_empty());
    let size = product.smallest_size(Bytes::gib(1024)).filter(|_| needs_size);
    let size = size.map_or_else(String::new, |size| format!(":size={size}"));
    let config: Config = format!("{}{size}", product.name()).parse().expect("a configuration");
    catalogue.offer(&config, &terms).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// The model without burst credits.
fn without_credits(offer: &Offer) -> ChainSpec {
    let mut notation = offer.model_notation().unwrap_or_else(|error| panic!("{error}"));
    while let Some(begin) = notation.find(", burst ") {
        let end = begin + notation[begin..].find(')').expect("a limit ends");
        notation.replace_range(begin..end, "");
    }
    plimsoll_model::parse(&notation).unwrap_or_else(|error| panic!("{notation}: {error}"))
}

/// Size of the largest memory for writes in a model.
fn write_memory(spec: &ChainSpec) -> Option<Bytes> {
    let text = spec.to_string();
    let after = ["writeback(", "buffer("].into_iter().flat_map(|stage| text.split(stage).skip(1));
    after.filter_map(|rest| rest.split([',', ':', ')']).next()?.trim().parse().ok()).max()
}

/// Simulated operations per second in the second half of a run.
fn simulated(offer: &Offer, load: SaturatingLoad, quoted: f64, depth: Option<u32>) -> f64 {
    let (spec, ask) = (without_credits(offer), load.ask());
    let filling_s = |memory: Bytes| {
        let fill_s = memory.get() as f64 / (quoted * ask.block.get() as f64);
        (FILLINGS * fill_s).clamp(FILLING_S.0, FILLING_S.1)
    };
    let filling_s = write_memory(&spec).filter(|_| ask.reads < 1.0).map_or(0.0, filling_s);
    let seconds = (OPERATIONS / quoted).max(filling_s);
    let span = Span::from_secs_f64(seconds);
    let depth = depth.unwrap_or(if ask.sequential { SEQUENTIAL_DEPTH } else { RANDOM_DEPTH });
    let stream = StreamSpec {
        name: "load".into(),
        mix: Mix { sizes: BlockMix::one(ask.block), reads: ask.reads, durable: false, flush_every: 0 },
        pattern: if ask.sequential { Pattern::Sequential } else { Pattern::Uniform },
        // Quoted sequential rates of disks are those of their outer edge, where addresses begin.
        region: Region::first(Bytes::new(offer.capacity.get() / if ask.sequential { 64 } else { 1 })),
        pace: Pace::Closed { depth },
    };
    let phase = StreamPhase { end: Instant::ZERO + span, ..StreamPhase::unbounded(Instant::ZERO) };
    let mut streams = Streams::new(&[stream], 1, phase).expect("the region holds a block");
    let mut target = Simulated::new(Chain::new(&spec, 1));
    let rules = Rules::new(depth, span / SLICES);
    let seen = drive(&mut target, &mut streams, &rules, &mut |_| ControlFlow::Continue(())).expect("no faults");
    let (half, end) = (Instant::ZERO + span / 2, Instant::ZERO + span);
    let counted = seen.series.iter().filter(|slice| slice.start >= half && slice.start < end);
    let (operations, spent) =
        counted.fold((0, Span::ZERO), |sum, slice| (sum.0 + slice.tally.operations(), sum.1 + slice.span));
    operations as f64 / spent.as_secs_f64()
}

/// Quoted and simulated operations per second; no quote without a ceiling.
fn rates(offer: &Offer, load: SaturatingLoad, depth: Option<u32>) -> Option<(f64, f64)> {
    let quoted = offer.standing(&load.ask()).binding().map(|bound| bound.iops)?;
    Some((quoted, simulated(offer, load, quoted, depth)))
}

/// The difference of the rates, simulated over quoted less 1.
fn difference((quoted, simulated): (f64, f64)) -> f64 {
    simulated / quoted - 1.0
}

/// The fault of a load, whether it is listed as a deviation or not.
fn fault(offer: &Offer, load: SaturatingLoad, rates: Option<(f64, f64)>, listed: Option<&Deviation>) -> Option<String> {
    let off = rates.map(difference);
    let agrees = |off: f64| off.abs() <= TOLERANCE;
    let Some(Deviation { difference: range, depth, .. }) = listed else {
        return match off {
            None => Some("no ceiling is quoted, and no deviation is listed".into()),
            Some(off) if agrees(off) => None,
            Some(off) => Some(format!("differs by {:+.1} %, and no deviation is listed", off * 100.0)),
        };
    };
    let (off, (from, to)) = match (off, *range) {
        (None, None) => return None,
        (None, Some(_)) => return Some("a range is listed, but no ceiling is quoted".into()),
        (Some(_), None) => return Some("a ceiling is quoted, but the deviation has no range".into()),
        (Some(off), Some(range)) => (off, range),
    };
    if agrees(off) {
        return Some("agrees, but is listed as a deviation".into());
    }
    if to - from > RANGE || !(f64::from(from)..=f64::from(to)).contains(&(off * 100.0)) {
        return Some(format!("differs by {:+.1} %, listed are {from} to {to} %, of at most {RANGE}", off * 100.0));
    }
    let at_depth = difference(self::rates(offer, load, Some((*depth)?))?);
    (!agrees(at_depth)).then(|| format!("differs by {:+.1} % at the listed depth, too", at_depth * 100.0))
}

/// Compares the rates of every product under a load. `cargo test -p plimsoll-choose agree -- --nocapture` prints the
/// tables.
fn check(load: SaturatingLoad) {
    let catalogue = Catalogue::built_in();
    let (mut faults, mut compared) = (Vec::new(), 0);
    let words = load.name();
    println!("{words}\n\n| product | quoted, per second | simulated | difference | reason |\n|---|---:|---:|---:|---|");
    for product in catalogue.products().filter(|product| product.has_model()) {
        let offer = offer(&catalogue, product);
        let listed = product.deviations().iter().find(|deviation| deviation.loads.contains(&load));
        compared += 1;
        let rates = rates(&offer, load, None);
        let shown = rates.map_or_else(
            || "no ceiling | | ".to_owned(),
            |rates| format!("{:.1} | {:.1} | {:+.1} %", rates.0, rates.1, difference(rates) * 100.0),
        );
        let name = product.name();
        println!("| {name} | {shown} | {} |", listed.map_or("", |deviation| deviation.why.as_str()));
        faults.extend(fault(&offer, load, rates, listed).map(|fault| format!("{name}, {words}: {fault}")));
    }
    assert!(compared > 25, "{compared} products were compared");
    assert!(faults.is_empty(), "{} of {compared}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn quoted_random_reads_agree_with_the_simulation() {
    check(SaturatingLoad::RandomRead);
}

#[test]
fn quoted_random_writes_agree_with_the_simulation() {
    check(SaturatingLoad::RandomWrite);
}

#[test]
fn quoted_sequential_reads_agree_with_the_simulation() {
    check(SaturatingLoad::SequentialRead);
}

#[test]
fn quoted_sequential_writes_agree_with_the_simulation() {
    check(SaturatingLoad::SequentialWrite);
}
