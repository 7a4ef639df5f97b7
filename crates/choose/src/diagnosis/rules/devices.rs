//! Verdicts about how storage answers: slow, at its limit, or quick; and whether the input agrees with itself.

use plimsoll_ingest::{Class, Measure, Subject};

use super::{Diagnosis, LARGE, NOTABLE};
use crate::diagnosis::response::Response;
use crate::diagnosis::split::Part;
use crate::diagnosis::totals::value;
use crate::diagnosis::verdict::Verdict;

pub(super) fn verdicts(subject: &Subject, diagnosis: &Diagnosis) -> Vec<Verdict> {
    let pinned = diagnosis.pinned.iter().map(|pinned| Verdict::Pinned {
        class: pinned.class,
        measure: pinned.measure,
        value: pinned.value,
        windows: pinned.windows,
        of: pinned.of,
    });
    let responses = diagnosis.responses.iter().filter(|response| matters(response, diagnosis));
    let responses = responses.filter_map(|response| of(response, diagnosis));
    pinned.chain(responses).chain(agreement(subject)).collect()
}

/// The classes that sessions wait for and that the time of an operation says something of.
fn matters(response: &Response, diagnosis: &Diagnosis) -> bool {
    let is_single = matches!(
        response.class,
        Class::All | Class::Read | Class::RandomRead | Class::SequentialRead | Class::Write | Class::RedoWrite
    );
    let is_whole = match response.class {
        // Where the kinds of reads are told apart, the whole of them says less.
        Class::Read => diagnosis.response(Class::RandomRead).is_none(),
        Class::All => diagnosis.response(Class::Read).is_none() && diagnosis.response(Class::Write).is_none(),
        _ => true,
    };
    let waits = share(response.class, diagnosis).is_none_or(|share| share >= NOTABLE);
    // Of less than an operation a second nothing follows.
    is_single && is_whole && waits && response.iops >= 1.0
}

/// The share of the database's time that sessions wait for a class; none where no input says it.
fn share(class: Class, diagnosis: &Diagnosis) -> Option<f64> {
    let split = diagnosis.split.as_ref().filter(|split| split.says_waits)?;
    Some(match class {
        Class::RandomRead => split.share(Part::RandomRead),
        Class::SequentialRead => split.share(Part::SequentialRead),
        Class::Read => split.share(Part::Read) + split.share(Part::RandomRead) + split.share(Part::SequentialRead),
        Class::RedoWrite => split.share(Part::LogWrite),
        _ => split.storage(),
    })
}

/// Seconds from which an operation is slow: disks that turn, or storage that is far away. Log writes are small, one
/// after the other, and go to memory in nearly every storage that is sold.
fn slow_s(response: &Response) -> f64 {
    /// What a slow storage moves in a second.
    const BYTES_S: f64 = 200e6;
    let least = if response.class == Class::RedoWrite { 0.002 } else { 0.004 };
    least + response.bytes.unwrap_or(0.0) / BYTES_S
}

/// A device that is not overloaded answers in quiet windows nearly as it does in all.
const ALIKE: f64 = 0.6;
/// Latency that goes with the rate.
const GOES_WITH: f64 = 0.5;

fn of(response: &Response, diagnosis: &Diagnosis) -> Option<Verdict> {
    const HALF: f64 = 0.5;
    let Response { class, iops, latency_s, in_flight, knee_iops, .. } = *response;
    let slow_s = slow_s(response);
    // At most one at a time, or none half of the time: hardly any had to wait for another.
    let is_alone = in_flight < 1.0 || response.busy.is_some_and(|busy| busy < HALF);
    let grows = response.correlation.is_some_and(|correlation| correlation >= GOES_WITH);
    match (response.quiet_s, response.loaded_s) {
        (Some(quiet_s), Some(loaded_s))
            if loaded_s > slow_s && (knee_iops.is_some() || grows && quiet_s < ALIKE * loaded_s) =>
        {
            let highest_iops = response.points.last().map_or(iops, |point| point.iops);
            Some(Verdict::AtItsLimit { class, quiet_s, loaded_s, knee_iops, highest_iops })
        }
        _ if latency_s > slow_s && (is_alone || is_flat(response)) => {
            Some(Verdict::Slow { class, latency_s, iops, in_flight })
        }
        _ if latency_s > slow_s => Some(Verdict::SlowOrLoaded { class, latency_s, iops, in_flight }),
        _ => quick(response, diagnosis),
    }
}

/// True where windows of quite different rates are answered alike, and the storage is not in use all the time: a load
/// that waits for its answers meets a full storage at any rate.
fn is_flat(response: &Response) -> bool {
    const FULL: f64 = 0.7;
    const DIFFERENT: f64 = 1.5;
    let is_free = response.busy.is_none_or(|busy| busy < FULL);
    let quiet = response.points.get(response.points.len() / 4);
    let differ = quiet.zip(response.points.last()).is_some_and(|(quiet, most)| most.iops > DIFFERENT * quiet.iops);
    let alike = response.quiet_s.is_some_and(|quiet_s| quiet_s >= ALIKE * response.latency_s);
    let falls = response.correlation.is_none_or(|correlation| correlation < -GOES_WITH);
    is_free && differ && alike && !falls
}

/// What is answered as flash answers: sessions that wait long for it do so because there is much of it.
fn quick(response: &Response, diagnosis: &Diagnosis) -> Option<Verdict> {
    const QUICK_S: f64 = 0.001;
    let Response { class, iops, latency_s, .. } = *response;
    let is_random = matches!(class, Class::RandomRead | Class::Read | Class::All);
    if !is_random || latency_s > QUICK_S {
        return None;
    }
    Some(match share(class, diagnosis) {
        Some(share) if share >= LARGE => Verdict::Many { class, latency_s, iops },
        _ => Verdict::Quick { class, latency_s, iops },
    })
}

/// Rates times latencies are the operations in flight, or the input is wrong somewhere.
fn agreement(subject: &Subject) -> Option<Verdict> {
    /// What rounded figures and merged requests may stray.
    const STRAYS: f64 = 1.5;
    let (mut said, mut follows) = (0.0, 0.0);
    for (slot, window) in subject.slots.iter().enumerate() {
        let at = |class, measure| value(subject, class, measure, slot);
        let in_flight = |class| Some(at(class, Measure::Iops)? * at(class, Measure::Latency)?);
        let parts = [Class::Read, Class::Write].map(in_flight);
        let sum = if parts == [None, None] { in_flight(Class::All) } else { Some(parts.iter().flatten().sum()) };
        if let (Some(depth), Some(sum)) = (at(Class::All, Measure::Depth), sum) {
            said += depth * window.length.as_secs_f64();
            follows += sum * window.length.as_secs_f64();
        }
    }
    let (said, follows) = (said / subject_seconds(subject), follows / subject_seconds(subject));
    let is_much = said.max(follows) > 0.1;
    let differs = said > STRAYS * follows || follows > STRAYS * said;
    (is_much && said > 0.0 && follows > 0.0 && differs).then_some(Verdict::Unequal { said, follows })
}

fn subject_seconds(subject: &Subject) -> f64 {
    subject.slots.iter().map(|slot| slot.length.as_secs_f64()).sum()
}
