//! An hour of an Amazon EBS gp2 volume in virtual time: IOPS of each minute, until burst credits end and then at the
//! baseline of its size.
#![allow(clippy::print_stdout, reason = "the result of an example")]

use plimsoll_catalogue::{Catalogue, PriceTerms};
use plimsoll_load::{BlockMix, Due, Load, Mix, OpOutcome, Pace, Pattern, Region, Stream, StreamPhase, StreamSpec};
use plimsoll_model::{Chain, Model};
use plimsoll_units::{Bytes, Instant, Op, Slot, Span};

const DEPTH: u32 = 16;
const MINUTES: usize = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let terms = PriceTerms { as_of: "2026-11".parse()?, currency: None, region: None };
    let offer = Catalogue::built_in().offer(&"aws/gp2:30GiB".parse()?, &terms)?;
    let mut model = Chain::new(&offer.model()?, 1);

    // Random reads of 16 KiB by 16 sessions without pauses.
    let spec = StreamSpec {
        name: "reads".to_owned(),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(16)), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(30)),
        pace: Pace::Closed { depth: DEPTH },
    };
    let mut load = Stream::new(&spec, 0, 1, StreamPhase::unbounded(Instant::ZERO)).ok_or("the region is too small")?;

    let mut free: Vec<Slot> = (0..DEPTH).map(Slot).collect();
    let mut in_flight: [Option<Op>; DEPTH as usize] = [None; DEPTH as usize];
    let (mut now, mut answers, mut counts) = (Instant::ZERO, Vec::new(), [0_u64; MINUTES]);
    loop {
        while load.due() == Due::Now
            && let Some(slot) = free.pop()
        {
            let op = load.take(now);
            in_flight[slot.index()] = Some(op);
            model.submit(now, slot, &op);
        }
        // Time jumps to the next event of the model.
        now = model.wake_at().ok_or("operations are in flight")?;
        model.drain(now, &mut answers);
        let minute = now.since(Instant::ZERO).as_nanos() / Span::from_secs(60).as_nanos();
        let Some(count) = counts.get_mut(minute as usize) else { break };
        for answer in answers.drain(..) {
            *count += 1;
            free.push(answer.slot);
            let op = in_flight[answer.slot.index()].take().ok_or("the slot is in flight")?;
            load.completed(now, &op, OpOutcome::Done);
        }
    }

    let rates = counts.map(|count| count / 60);
    for (minute, iops) in rates.iter().enumerate() {
        println!("minute {:2}: {iops:5} IOPS", minute + 1);
    }
    // 5.4 million credits, of which 2,900 a second are used above the baseline of 100 IOPS: 31 minutes.
    let exhausted = rates.iter().position(|iops| *iops < 2_990).ok_or("the credits last for an hour")?;
    assert_eq!((exhausted, rates[MINUTES - 1]), (31, 100));
    Ok(())
}
