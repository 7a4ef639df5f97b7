//! Quoted and simulated rates agree for every product with a model: random and sequential reads and writes from 512 bytes
//! to 1 MiB, at saturation, without burst credits. A product file lists its exceptions with the reason and the range of the
//! difference (`[[deviation]]`), and each of them is computed.
#![expect(clippy::print_stdout, reason = "the tables are for readers")]

use plimsoll_catalogue::{
    Ask, COMPARED_BLOCKS, Catalogue, Config, Date, Deviation, Offer, PriceTerms, Product, SaturatingLoad,
};
use plimsoll_model::ChainSpec;
use plimsoll_units::{Bytes, Span};

use crate::closed::closed_rate;

/// Largest accepted difference.
const TOLERANCE: f64 = 0.10;
/// Widest range that a product file may state for a difference, in percent.
const RANGE: i32 = 12;
/// Operations in flight, more than products need for their highest rate.
const DEPTH: u32 = 2048;
/// Bytes in flight of a sequential stream.
const SEQUENTIAL_BYTES: u64 = 64 << 20;
/// Operations of a simulation, besides those that fill a memory twice; the first half is warm-up.
const OPERATIONS: f64 = 12_000.0;
/// Minimum duration of a simulation, several times the latency of a disk.
const MIN_SPAN: Span = Span::from_millis(100);
/// Memories for writes are reduced to this number of operations, at least a MiB: as many as a memory writes back at once,
/// so that they are full at once and drain as fast as large ones.
const MEMORY_OPERATIONS: u64 = 4096;

/// The product with defaults, or with its smallest size if that is required, without a machine.
fn create_offer(catalogue: &Catalogue, product: &Product) -> Offer {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 23), currency: None, region: None };
    let needs_size = product.options().iter().any(|option| &*option.name == "size" && option.default.is_empty());
    let size = product.smallest_size(Bytes::gib(1024)).filter(|_| needs_size);
    let size = size.map_or_else(String::new, |size| format!(":size={size}"));
    let config: Config = format!("{}{size}", product.name()).parse().expect("a configuration");
    catalogue.offer(&config, &terms).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// The model without burst credits, with small memories for writes.
pub fn saturated_model(offer: &Offer, block: Bytes) -> ChainSpec {
    let mut notation = offer.model_notation().unwrap_or_else(|error| panic!("{error}"));
    while let Some(begin) = notation.find(", burst ") {
        let end = begin + notation[begin..].find(')').expect("a limit ends");
        notation.replace_range(begin..end, "");
    }
    let memory = (block.get() * MEMORY_OPERATIONS).clamp(1 << 20, 1 << 26);
    for stage in ["writeback(", "buffer("] {
        let parts: Vec<&str> = notation.split(stage).collect();
        let small = |part: &&str| {
            let end = part.find([',', ':', ')']).expect("the stage has a size");
            let size: Bytes = part[..end].trim().parse().expect("the size of a memory");
            format!("{stage}{}B{}", size.get().min(memory), &part[end..])
        };
        notation = format!("{}{}", parts[0], parts[1..].iter().map(small).collect::<String>());
    }
    plimsoll_model::parse(&notation).unwrap_or_else(|error| panic!("{notation}: {error}"))
}

/// Simulated operations per second at saturation.
fn simulated(offer: &Offer, ask: &Ask, quoted: f64, depth: Option<u32>) -> f64 {
    let in_order = u32::try_from(SEQUENTIAL_BYTES / ask.block.get()).unwrap_or(DEPTH).min(DEPTH);
    let depth = depth.unwrap_or(if ask.sequential { in_order } else { DEPTH });
    // Quoted sequential rates of disks are those of their outer edge, where addresses begin.
    let region = Bytes::new(offer.capacity.get() / if ask.sequential { 64 } else { 1 });
    let filling = if ask.reads < 1.0 { 4.0 * MEMORY_OPERATIONS as f64 } else { 0.0 };
    let span = Span::from_secs_f64((OPERATIONS + filling) / quoted).max(MIN_SPAN);
    closed_rate(&saturated_model(offer, ask.block), ask, depth, region, span)
}

/// Quoted and simulated operations per second; no quote without a ceiling.
fn simulate_rates(offer: &Offer, ask: &Ask, depth: Option<u32>) -> Option<(f64, f64)> {
    let quoted = offer.standing(ask).binding().map(|bound| bound.iops)?;
    Some((quoted, simulated(offer, ask, quoted, depth)))
}

/// The difference of the rates, simulated over quoted less 1.
fn difference((quoted, simulated): (f64, f64)) -> f64 {
    simulated / quoted - 1.0
}

/// The fault of a load, whether it is listed as a deviation or not.
fn fault(offer: &Offer, ask: &Ask, rates: Option<(f64, f64)>, listed: Option<&Deviation>) -> Option<String> {
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
    let at_depth = difference(simulate_rates(offer, ask, Some((*depth)?))?);
    (!agrees(at_depth)).then(|| format!("differs by {:+.1} % at the listed depth, too", at_depth * 100.0))
}

/// Compares the rates of every product under a load. `cargo test -p plimsoll-choose agree -- --nocapture` prints the
/// tables.
fn check(load: SaturatingLoad) {
    let catalogue = Catalogue::built_in();
    let (mut faults, mut compared) = (Vec::new(), 0);
    println!("| load | product | quoted, per second | simulated | difference | reason |\n|---|---|---:|---:|---:|---|");
    for product in catalogue.products().filter(|product| product.has_model()) {
        let offer = create_offer(&catalogue, product);
        compared += 1;
        for block in COMPARED_BLOCKS {
            let (ask, words) = (load.ask(block), format!("{} of {block}", load.name()));
            let listed = product.deviations().iter().find(|deviation| deviation.covers(load, block));
            let rates = simulate_rates(&offer, &ask, None);
            let displayed = rates.map_or_else(
                || "no ceiling | | ".to_owned(),
                |rates| format!("{:.1} | {:.1} | {:+.1} %", rates.0, rates.1, difference(rates) * 100.0),
            );
            let name = product.name();
            println!("| {words} | {name} | {displayed} | {} |", listed.map_or("", |deviation| deviation.why.as_str()));
            faults.extend(fault(&offer, &ask, rates, listed).map(|fault| format!("{name}, {words}: {fault}")));
        }
    }
    assert!(compared > 25, "{compared} products were compared");
    assert!(faults.is_empty(), "{} faults of {compared} products:\n{}", faults.len(), faults.join("\n"));
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
