//! Operation sequences of jobs on a target with a fixed service time.

use std::collections::VecDeque;

use plimsoll_load::{
    Arrival, CountedOps, Due, FlushOrder, Job, JobSpec, LaneSpec, Load, OpOutcome, Pattern, RateUnit, RateWait, Region,
    Sizes, ThinkPause, Turns, Until, WorkerOps,
};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Op, Span};

const KIB: u32 = 1024;

fn file(kib: u64) -> Region {
    Region::first(Bytes::kib(kib))
}

/// Operations of a job on a target with a fixed `service` time.
fn operations(spec: JobSpec, service: Span) -> Vec<(Instant, Op)> {
    let mut job = Job::new(spec, 3, Instant::ZERO).expect("the job fits its files");
    let (mut now, mut issued, mut flights) = (Instant::ZERO, Vec::new(), VecDeque::<(Instant, Op)>::new());
    while issued.len() < 10_000 {
        match job.due() {
            Due::Now => {}
            Due::At(moment) if moment <= now => {}
            Due::At(moment) if flights.front().is_none_or(|(at, _)| moment < *at) => {
                now = moment;
                continue;
            }
            _ => {
                let Some((at, op)) = flights.pop_front() else { break };
                now = at;
                job.completed(now, &op, OpOutcome::Done);
                continue;
            }
        }
        let op = job.take(now);
        issued.push((now, op));
        flights.push_back((now + service, op));
    }
    assert!(issued.iter().all(|(_, op)| op.stream == 3));
    issued
}

fn places(spec: JobSpec) -> Vec<(Kind, u64)> {
    operations(spec, Span::from_micros(10)).iter().map(|(_, op)| (op.kind, op.offset / u64::from(KIB))).collect()
}

#[test]
fn rewrite_reads_and_writes_each_block() {
    let lane = LaneSpec::new(8 * KIB, Pattern::Sequential);
    let job = JobSpec::new(WorkerOps::WriteBack { every: 1 }, lane, file(24), Until::bytes(24 << 10));
    let (r, w) = (Kind::Read, Kind::Write);
    assert_eq!(places(job), [(r, 0), (w, 0), (r, 8), (w, 8), (r, 16), (w, 16)]);
}

#[test]
fn every_tenth_read_is_written_back_including_the_last() {
    let lane = LaneSpec::new(8 * KIB, Pattern::Uniform);
    let job = JobSpec::new(WorkerOps::WriteBack { every: 10 }, lane, file(1 << 20), Until::operations(100));
    let observed = places(job);
    let writes = observed.iter().filter(|(kind, _)| *kind == Kind::Write).count();
    assert_eq!((observed.len(), writes), (110, 10));
    assert_eq!(observed[109].0, Kind::Write);
    for pair in observed.windows(2).filter(|pair| pair[1].0 == Kind::Write) {
        assert_eq!(pair[0].1, pair[1].1);
    }
}

#[test]
fn flush_waits_for_operations_in_flight() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
    let mut job = JobSpec::new(WorkerOps::Writes, lane, file(1024), Until::operations(8));
    job.depth = 4;
    job.flush_every = 4;
    let kinds: Vec<_> = operations(job, Span::from_micros(10)).iter().map(|(_, op)| op.kind).collect();
    let four = [Kind::Write; 4];
    assert_eq!(kinds, [&four[..], &[Kind::Flush], &four].concat(), "no flush after the last write");
}

#[test]
fn time_checked_per_pass_ends_whole_passes() {
    // At depth 1 operations begin at 0, 10, 20, 30 us, at depth 2 two at each of these times; the time is over at 31
    // us.
    for (looks, depth, operations_asked) in [(1, 1, 4), (4, 1, 4), (3, 1, 6), (1, 2, 8), (6, 2, 12), (40, 1, 40)] {
        let until = Until::span(Span::from_micros(31)).looked_at_each(looks);
        let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
        let job = JobSpec { depth, ..JobSpec::new(WorkerOps::Reads, lane, file(1024), until) };
        let observed = operations(job, Span::from_micros(10)).len();
        assert_eq!(observed, operations_asked, "each {looks} at depth {depth}");
    }
}

#[test]
fn final_flush_follows_all_writes() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
    let rate = Some((Iops::per_second(100_000), Arrival::Constant));
    for (rate, until, writes) in [
        (None, Until::operations(8), 8),
        (None, Until::span(Span::from_micros(20)), 8),
        (rate, Until::span(Span::from_micros(20)), 2),
    ] {
        let mut job = JobSpec::new(WorkerOps::Writes, LaneSpec { rate, ..lane.clone() }, file(1024), until);
        job.depth = 4;
        job.flush_at_end = true;
        let observed = operations(job, Span::from_micros(10));
        let kinds: Vec<_> = observed.iter().map(|(_, op)| op.kind).collect();
        assert_eq!(kinds, [vec![Kind::Write; writes], vec![Kind::Flush]].concat(), "{until:?}");
    }
}

#[test]
fn files_are_visited_in_turns() {
    let check = |turns, expected: &[u64]| {
        let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
        let mut job = JobSpec::new(WorkerOps::Reads, lane, file(8), Until::operations(6));
        job.files.push(Region { start: 1 << 20, length: Bytes::kib(8) });
        job.turns = turns;
        assert_eq!(places(job).iter().map(|(_, at)| *at).collect::<Vec<_>>(), expected, "{turns:?}");
    };
    check(Turns::RoundRobin(1), &[0, 1024, 4, 1028, 0, 1024]);
    check(Turns::RoundRobin(2), &[0, 4, 1024, 1028, 0, 4]);
    check(Turns::Sequential, &[0, 4, 1024, 1028, 0, 4]);
}

#[test]
fn gaps_and_held_places() {
    let check = |pattern, gap, hold, expected: &[u64]| {
        let lane = LaneSpec { gap, hold, ..LaneSpec::new(4 * KIB, pattern) };
        let job = JobSpec::new(WorkerOps::Reads, lane, file(32), Until::operations(expected.len() as u64));
        assert_eq!(places(job).iter().map(|(_, at)| *at).collect::<Vec<_>>(), expected, "{pattern:?} {gap} {hold}");
    };
    check(Pattern::Sequential, 4096, 1, &[0, 8, 16, 24, 0]);
    check(Pattern::Sequential, -8192, 1, &[0, 28, 24, 20]);
    check(Pattern::Same, 0, 3, &[0, 4, 8, 0, 4]);
    check(Pattern::Backward, 0, 1, &[28, 24, 20]);
}

#[test]
fn reads_follow_the_order_of_writes() {
    let sizes = Sizes::Split(vec![(4 * KIB, 3), (8 * KIB, 1)]);
    let lane = LaneSpec { sizes, ..LaneSpec::new(4 * KIB, Pattern::Shuffled) };
    let written = JobSpec::new(WorkerOps::Writes, lane, file(1 << 14), Until::operations(500));
    let read = JobSpec { work: WorkerOps::Reads, ..written.clone() };
    let at = |spec| operations(spec, Span::ZERO).iter().map(|(_, op)| (op.offset, op.length)).collect::<Vec<_>>();
    assert_eq!(at(written), at(read));
}

#[test]
fn rate_and_think_time_are_kept() {
    let rate = Some((Iops::per_second(1000), Arrival::Constant));
    let lane = LaneSpec { rate, ..LaneSpec::new(4 * KIB, Pattern::Uniform) };
    let mut job = JobSpec::new(WorkerOps::Reads, lane, file(1024), Until::span(Span::from_millis(100)));
    job.depth = 8;
    let issued = operations(job.clone(), Span::from_micros(10));
    assert_eq!(issued.len(), 100);
    assert_eq!(issued[99].0, Instant::ZERO + Span::from_millis(99));

    job.reads.rate = None;
    job.depth = 1;
    job.think = Some(ThinkPause::after(2, Span::from_millis(1)));
    job.until = Until::operations(5);
    let moments: Vec<_> = operations(job, Span::from_micros(10)).iter().map(|(at, _)| at.as_nanos() / 1000).collect();
    assert_eq!(moments, [0, 10, 1020, 1030, 2040]);
}

/// Numbers of operations between pauses of at least 1 ms.
fn bursts(spec: JobSpec) -> Vec<usize> {
    let moments: Vec<_> = operations(spec, Span::from_micros(10)).into_iter().map(|(at, _)| at).collect();
    moments.chunk_by(|before, after| after.since(*before) < Span::from_millis(1)).map(<[_]>::len).collect()
}

/// Numbers of fio 3.33 with libaio on a compressed memory disk: 109 operations in two pauses at depth 100, 29 at 20.
#[test]
fn job_pauses_when_its_queue_is_empty() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Uniform);
    let job = JobSpec::new(WorkerOps::Reads, lane, file(1024), Until::operations(2_000));
    let think = ThinkPause::after(10, Span::from_millis(10));
    let job = |depth, think| JobSpec { depth, think: Some(think), ..job.clone() };
    assert_eq!(bursts(job(1, think))[..4], [10, 10, 10, 10]);
    assert_eq!(bursts(job(20, think))[..6], [29, 1, 28, 1, 28, 1]);
    assert_eq!(bursts(job(100, think))[..6], [109, 1, 108, 1, 108, 1]);
    let issued = ThinkPause { counted: CountedOps::Issued, ..think };
    assert_eq!(bursts(job(100, issued))[..4], [10, 10, 10, 10]);
}

#[test]
fn pauses_follow_intervals_of_time() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Uniform);
    let mut job = JobSpec::new(WorkerOps::Reads, lane, file(1024), Until::operations(100));
    let interval = Some(Span::from_micros(100));
    let timed = ThinkPause { every: None, interval, ..ThinkPause::after(1, Span::from_millis(10)) };
    job.think = Some(timed);
    assert_eq!(bursts(job.clone())[..3], [10, 10, 10]);
    job.think = Some(ThinkPause { every: Some(4), ..timed });
    assert_eq!(bursts(job)[..3], [4, 4, 4], "whichever is first");
}

#[test]
fn job_ahead_of_its_rate_waits_for_its_queue() {
    let rate = Some((Iops::per_second(1000), Arrival::Constant));
    let lane = LaneSpec { rate, ..LaneSpec::new(4 * KIB, Pattern::Uniform) };
    let mut job = JobSpec::new(WorkerOps::Reads, lane, file(1024), Until::operations(40));
    job.depth = 32;
    let at = |job: &JobSpec| -> Vec<_> {
        operations(job.clone(), Span::from_millis(10)).iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect()
    };
    assert_eq!(at(&job)[..5], [0, 1, 2, 3, 4]);
    job.rate_wait = RateWait::Drained;
    let drained = at(&job);
    // The first operation takes 10 ms, then the job sleeps for the millisecond that was left.
    assert_eq!((drained[0], drained[1], drained[11]), (0, 11, 11));
    assert_eq!((drained[12], drained[13]), (22, 22));
    assert!((38..=44).contains(&drained[39]), "the rate is kept: {drained:?}");
}

#[test]
fn flushes_follow_their_order() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
    let mut job = JobSpec::new(WorkerOps::Writes, lane, file(1024), Until::operations(64));
    (job.depth, job.flush_every) = (8, 1);
    // Largest number of operations in flight with an issued flush, and of operations issued during a flush.
    let observed = |order| {
        let mut job = Job::new(JobSpec { flush_order: order, ..job.clone() }, 0, Instant::ZERO).unwrap();
        let (mut flights, mut deepest, mut issued, mut flushes) = (VecDeque::<Op>::new(), 0, 0, 0);
        loop {
            while job.due() == Due::Now {
                let is_flushing = flights.iter().any(|op| op.kind == Kind::Flush);
                let op = job.take(Instant::ZERO);
                flights.push_back(op);
                issued += usize::from(is_flushing);
                if op.kind == Kind::Flush {
                    flushes += 1;
                    deepest = deepest.max(flights.len());
                }
            }
            // No other completion is taken during a blocking flush.
            let first = flights.iter().position(|op| Some(op.kind) == job.awaited());
            let Some(op) = flights.remove(first.unwrap_or(0)) else { break };
            job.completed(Instant::ZERO, &op, OpOutcome::Done);
        }
        (flushes, deepest, issued > 0)
    };
    assert_eq!(observed(FlushOrder::Alone), (63, 1, false));
    assert_eq!(observed(FlushOrder::Blocking), (63, 8, false));
    assert_eq!(observed(FlushOrder::Queued), (63, 8, true));
}

#[test]
fn impossible_jobs_are_none() {
    let none = |job: JobSpec| assert!(Job::new(job.clone(), 0, Instant::ZERO).is_none(), "{job:?}");
    let lane = LaneSpec::new(4 * KIB, Pattern::Uniform);
    let job = JobSpec::new(WorkerOps::Reads, lane, file(3), Until::ENDLESS);
    none(job.clone());
    none(JobSpec { files: Vec::new(), ..job.clone() });
    let job = JobSpec { files: vec![file(64)], ..job };
    assert!(Job::new(job.clone(), 0, Instant::ZERO).is_some());
    none(JobSpec { depth: 0, ..job.clone() });
    none(JobSpec { reads: LaneSpec { sizes: Sizes::Split(Vec::new()), ..job.reads.clone() }, ..job.clone() });
    none(JobSpec { reads: LaneSpec { sizes: Sizes::one(0), ..job.reads.clone() }, ..job });
}

#[test]
fn zones_receive_their_shares() {
    let lane = LaneSpec { zones: vec![(0.6, 0.1), (0.3, 0.2), (0.1, 0.7)], ..LaneSpec::new(4 * KIB, Pattern::Uniform) };
    let job = JobSpec::new(WorkerOps::Reads, lane, file(4 * 1000), Until::operations(9_000));
    let observed = places(job);
    let share = |from, to| observed.iter().filter(|(_, at)| (from..to).contains(at)).count() as f64 / 9_000.0;
    assert!((share(0, 400) - 0.6).abs() < 0.03, "{}", share(0, 400));
    assert!((share(400, 1200) - 0.3).abs() < 0.03, "{}", share(400, 1200));
}

#[test]
fn full_queue_drains_to_refill() {
    for (refill, bursts) in [(8, vec![4, 1, 1, 1, 1]), (3, vec![4, 1, 1, 1, 1]), (1, vec![4, 3, 1]), (0, vec![4, 4])] {
        let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
        let job =
            JobSpec { depth: 4, refill, ..JobSpec::new(WorkerOps::Reads, lane, file(1024), Until::operations(8)) };
        let mut job = Job::new(job, 0, Instant::ZERO).unwrap();
        let (mut flights, mut observed) = (VecDeque::new(), Vec::new());
        loop {
            let mut burst = 0;
            while job.due() == Due::Now {
                flights.push_back(job.take(Instant::ZERO));
                burst += 1;
            }
            if burst > 0 {
                observed.push(burst);
            }
            let Some(op) = flights.pop_front() else { break };
            job.completed(Instant::ZERO, &op, OpOutcome::Done);
        }
        assert_eq!(observed, bursts, "refilled at {refill}");
    }
}

#[test]
fn share_of_random_operations_follows_the_previous() {
    for share in [0.0, 0.3, 1.0] {
        let lane = LaneSpec { follows: share, ..LaneSpec::new(4 * KIB, Pattern::Uniform) };
        let job = JobSpec::new(WorkerOps::Reads, lane, file(1 << 20), Until::operations(4_000));
        let observed = places(job);
        let following = observed.windows(2).filter(|pair| pair[1].1 == pair[0].1 + 4).count() as f64 / 3_999.0;
        assert!((following - share).abs() < 0.03, "{following} of {share}");
    }
}

#[test]
fn last_operation_of_mixed_sizes_is_truncated() {
    for (sizes, kib, expected) in [
        (Sizes::Split(vec![(4 * KIB, 1), (16 * KIB, 1)]), 100, 100),
        (Sizes::Range { least: 4 * KIB, max: 16 * KIB, step: 4 * KIB }, 100, 100),
        (Sizes::one(16 * KIB), 100, 112),
        (Sizes::Split(vec![(8 * KIB, 1), (16 * KIB, 1)]), 4, 8),
    ] {
        let lane = LaneSpec { sizes, ..LaneSpec::new(4 * KIB, Pattern::Uniform) };
        let job = JobSpec::new(WorkerOps::Reads, lane, file(1024), Until::bytes(kib << 10));
        let bytes: u64 = operations(job, Span::ZERO).iter().map(|(_, op)| u64::from(op.length)).sum();
        assert!(bytes >> 10 == expected || (kib == 4 && bytes >> 10 >= expected), "{kib}: {}", bytes >> 10);
    }
}

#[test]
fn directions_of_a_mix_keep_their_rates() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Uniform);
    let limited = |rate| LaneSpec { rate: Some((Iops::per_second(rate), Arrival::Constant)), ..lane.clone() };
    let count = |reads: LaneSpec, writes: LaneSpec| {
        let until = Until::span(Span::from_secs(1));
        let job =
            JobSpec { reads, writes, ..JobSpec::new(WorkerOps::Mixed { reads: 0.5 }, lane.clone(), file(1024), until) };
        let observed = operations(job, Span::from_micros(200));
        let reads = observed.iter().filter(|(_, op)| op.kind == Kind::Read).count();
        (reads, observed.len() - reads)
    };
    assert_eq!(count(limited(200), limited(50)), (200, 50));
    assert_eq!(count(limited(100), limited(100)), (100, 100));
    let (reads, writes) = count(limited(200), lane.clone());
    assert!(reads == 200 && (4_799..=4_801).contains(&writes), "{reads} and {writes}: the other has no limit");
}

#[test]
fn byte_rate_holds_for_mixed_sizes() {
    let sizes = Sizes::Split(vec![(4 * KIB, 3), (64 * KIB, 1)]);
    let rate = Some((Iops::per_second(1 << 20), Arrival::Constant));
    let lane = LaneSpec { sizes, rate, rate_unit: RateUnit::Bytes, ..LaneSpec::new(4 * KIB, Pattern::Uniform) };
    let job = JobSpec::new(WorkerOps::Reads, lane, file(1 << 20), Until::span(Span::from_secs(10)));
    let bytes: u64 = operations(job, Span::from_micros(10)).iter().map(|(_, op)| u64::from(op.length)).sum();
    let expected = 10 << 20;
    assert!((expected..=expected + (64 << 10)).contains(&bytes), "{bytes} of {expected}");
}

#[test]
fn trimmed_block_is_written_and_counts_once() {
    let lane = LaneSpec::new(4 * KIB, Pattern::Sequential);
    let job = |work| JobSpec::new(work, lane.clone(), file(64), Until::bytes(12 << 10));
    let (t, w) = (Kind::Trim, Kind::Write);
    assert_eq!(places(job(WorkerOps::Trims)), [(t, 0), (t, 4), (t, 8)]);
    assert_eq!(places(job(WorkerOps::TrimWrites)), [(t, 0), (w, 0), (t, 4), (w, 4), (t, 8), (w, 8)]);
    let deep = JobSpec { depth: 2, flush_every: 3, ..job(WorkerOps::TrimWrites) };
    let kinds = |kind| places(deep.clone()).iter().filter(|(found, _)| *found == kind).count();
    assert_eq!((kinds(t), kinds(w)), (3, 3), "no write is lost");
    assert!(job(WorkerOps::Trims).writes() && !job(WorkerOps::TrimWrites).reads());
}

#[test]
fn held_place_is_repeated() {
    let lane = LaneSpec { hold: 3, holds_place: true, ..LaneSpec::new(4 * KIB, Pattern::Shuffled) };
    let job = JobSpec::new(WorkerOps::Reads, lane, file(64), Until::operations(9));
    let observed: Vec<u64> = places(job).iter().map(|(_, at)| *at).collect();
    for three in observed.chunks(3) {
        assert!(three.iter().all(|at| *at == three[0]), "{observed:?}");
    }
    assert!(observed[0] != observed[3] && observed[3] != observed[6], "{observed:?}");
}
