//! Quoted and simulated rates agree for every product with a model: random 8 KiB and sequential 1 MiB, reads and
//! writes, at saturation, without burst credits. A product file lists its exceptions with the reason (`[[deviation]]`).

use std::ops::ControlFlow;

use plimsoll_catalogue::{Catalogue, Config, Date, Offer, PriceTerms, Product, SaturatingLoad};
use plimsoll_drive::{Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_units::{Bytes, Instant, Span};

/// Largest accepted difference.
const TOLERANCE: f64 = 0.05;
/// Operations in flight, more than products need for their highest rate: independent ones, and of a sequential stream.
const RANDOM_DEPTH: u32 = 2048;
const SEQUENTIAL_DEPTH: u32 = 64;
/// Operations of a simulation; the first half is warm-up.
const OPERATIONS: f64 = 40_000.0;
/// Minimum duration of writes into memory, which is full after the first half.
const FILLING_S: f64 = 16.0;
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

/// Simulated operations per second in the second half of a run.
fn simulated(offer: &Offer, load: SaturatingLoad, quoted: f64) -> f64 {
    let (spec, ask) = (without_credits(offer), load.ask());
    let holds_writes =
        ask.reads < 1.0 && ["writeback(", "buffer("].iter().any(|stage| spec.to_string().contains(stage));
    let seconds = (OPERATIONS / quoted).max(if holds_writes { FILLING_S } else { 0.0 });
    let span = Span::from_secs_f64(seconds);
    let depth = if ask.sequential { SEQUENTIAL_DEPTH } else { RANDOM_DEPTH };
    let stream = StreamSpec {
        name: "load".into(),
        mix: Mix { sizes: BlockMix::one(ask.block), reads: ask.reads, durable: false, flush_every: 0 },
        pattern: if ask.sequential { Pattern::Sequential } else { Pattern::Uniform },
        region: Region::first(offer.capacity),
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
fn rates(offer: &Offer, load: SaturatingLoad) -> Option<(f64, f64)> {
    let quoted = offer.standing(&load.ask()).binding().map(|bound| bound.iops)?;
    Some((quoted, simulated(offer, load, quoted)))
}

/// `cargo test -p plimsoll-choose quote_and_simulation -- --nocapture` prints the table.
#[test]
fn quote_and_simulation_agree_for_every_product() {
    let catalogue = Catalogue::built_in();
    let (mut faults, mut compared) = (Vec::new(), 0);
    println!("| product | load | quoted, per second | simulated | difference | reason |\n|---|---|---:|---:|---:|---|");
    for product in catalogue.products().filter(|product| product.has_model()) {
        let offer = offer(&catalogue, product);
        for load in SaturatingLoad::ALL {
            let listed = product.deviations().iter().find(|deviation| deviation.loads.contains(&load));
            let (name, words) = (product.name(), load.name());
            compared += 1;
            let rates = rates(&offer, load);
            let differs = rates.is_none_or(|(quoted, simulated)| (simulated / quoted - 1.0).abs() > TOLERANCE);
            let shown = rates.map_or_else(
                || "no ceiling | | ".to_owned(),
                |(quoted, simulated)| {
                    format!("{quoted:.1} | {simulated:.1} | {:+.1} %", (simulated / quoted - 1.0) * 100.0)
                },
            );
            println!("| {name} | {words} | {shown} | {} |", listed.map_or("", |deviation| deviation.why.as_str()));
            if differs != listed.is_some() {
                let text = if differs { shown } else { "agrees, but is listed as a deviation".to_owned() };
                faults.push(format!("{name}, {words}: {text}"));
            }
        }
    }
    assert!(compared > 100, "{compared} loads of products were compared");
    assert!(faults.is_empty(), "{} of {compared}:\n{}", faults.len(), faults.join("\n"));
}
