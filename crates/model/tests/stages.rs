//! What each kind of stage does to operations, against the arithmetic that it stands for.

use plimsoll_model::{Answer, Chain, Model, parse};
use plimsoll_units::{Instant, Kind, Op, Slot};

const MIB: u64 = 1 << 20;

fn op(kind: Kind, offset: u64, length: u64) -> Op {
    Op { offset, length: length as u32, kind, stream: 0 }
}

/// When operations submitted together at the beginning are answered, in nanoseconds, in the order of submission.
fn together(model: &str, ops: &[Op]) -> Vec<u64> {
    let mut chain = Chain::new(&parse(model).expect("the models of this file can be read"), 1);
    for (slot, op) in ops.iter().enumerate() {
        chain.submit(Instant::ZERO, Slot(slot as u32), op);
    }
    let mut answers = Vec::new();
    chain.drain(Instant::NEVER, &mut answers);
    answers.sort_by_key(|answer| answer.slot);
    answers.iter().map(|answer| answer.at.as_nanos()).collect()
}

/// The time that operations take one after the other, in seconds.
fn one_by_one(model: &str, ops: impl Iterator<Item = Op>) -> f64 {
    let mut chain = Chain::new(&parse(model).expect("the models of this file can be read"), 1);
    let (mut now, mut answers): (Instant, Vec<Answer>) = (Instant::ZERO, Vec::new());
    for op in ops {
        chain.submit(now, Slot(0), &op);
        while answers.is_empty() {
            let at = chain.wake_at().expect("an operation is under way");
            chain.drain(at, &mut answers);
        }
        now = answers.pop().expect("one answer").at;
    }
    now.since(Instant::ZERO).as_secs_f64()
}

/// Addresses spread over a space, the same on every machine.
fn scattered(count: u64, space: u64, length: u64) -> impl Iterator<Item = u64> {
    let mut rng = fastrand::Rng::with_seed(7);
    (0..count).map(move |_| rng.u64(0..space / length) * length)
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} where {expected} was expected");
}

#[test]
fn burst_credits_last_as_long_as_the_vendor_says() {
    // gp2, 100 GiB: 5.4 million credits, 3,000 IOPS while they last, 300 afterwards: 2,000 s of burst.
    let model = "limit(300, burst 5400000) then limit(3000)";
    let mut chain = Chain::new(&parse(model).expect("the models of this file can be read"), 1);
    let (mut now, mut answers) = (Instant::ZERO, Vec::new());
    let mut answered_at = Vec::new();
    for _ in 0..6_100_000 {
        chain.submit(now, Slot(0), &op(Kind::Read, 0, 4096));
        chain.drain(Instant::NEVER, &mut answers);
        now = answers.pop().unwrap().at;
        answered_at.push(now);
    }
    near(answered_at[5_999_999].since(Instant::ZERO).as_secs_f64(), 2000.0, 0.001);
    near(answered_at[6_099_999].since(answered_at[6_000_999]).as_secs_f64(), 99_000.0 / 300.0, 0.01);
}

#[test]
fn large_operations_count_as_several() {
    let reads: Vec<Op> = (0..4).map(|i| op(Kind::Read, i * MIB, MIB)).collect();
    assert_eq!(together("limit(1000 per 256KiB)", &reads), [0, 4_000_000, 8_000_000, 12_000_000]);
    assert_eq!(together("limit(1000)", &reads), [0, 1_000_000, 2_000_000, 3_000_000]);
}

#[test]
fn a_write_back_memory_hides_what_it_holds_and_no_more() {
    // dd of 5 GiB through a page cache of 1.19 GB to a volume of 12 MB/s: (5,368.7 - 1,190) / 12 = 348.2 s.
    let dd = (0..5).map(|i| op(Kind::Write, i << 30, 1 << 30));
    near(one_by_one("writeback(1190MB: limit(12MB/s)) then link(1us)", dd), 348.2, 0.002);
}

#[test]
fn a_flush_waits_for_what_was_written_before_it() {
    let ops: Vec<Op> =
        vec![op(Kind::Write, 0, MIB), op(Kind::Flush, 0, 0), op(Kind::Write, MIB, MIB), op(Kind::Read, 0, 0)];
    let honoured = together("writeback(64MiB: station(1, 10ms)) then link(1us)", &ops);
    assert_eq!(honoured[0], 1_000, "a write is answered at once");
    assert!(honoured[1] >= 10_000_000, "a flush after the write before it: {honoured:?}");
    assert_eq!(honoured[2], 1_000, "and delays no later write");
    let ignored = together("writeback(64MiB, flush immediate: station(1, 10ms)) then link(1us)", &ops);
    assert_eq!(ignored[1], 1_000, "a lie is quick");
    let buffer = together("buffer(64MiB, drain 100MB/s, flush honoured) then link(1us)", &ops[..2]);
    assert_eq!(buffer, [1_000, 10_486_760]);
}

#[test]
fn a_full_buffer_lets_in_what_drains() {
    let writes: Vec<Op> = (0..64).map(|i| op(Kind::Write, i * MIB, MIB)).collect();
    let answered = together("buffer(16MiB, drain 100MB/s) then link(1us)", &writes);
    assert_eq!(answered[15], 1_000);
    near(answered[63] as f64 / 1e9, 48.0 * MIB as f64 / 100e6, 0.001);
}

#[test]
fn a_disk_seeks_turns_and_transfers() {
    let disk = "disk(1TB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s, queue 32 gain 0.2)";
    let random = scattered(20_000, 1_000_000_000_000, 4096).map(|offset| op(Kind::Read, offset, 4096));
    near(20_000.0 / one_by_one(disk, random), 1e3 / (8.5 + 4.17 + 0.04), 0.02);
    let sequential = (0..1000).map(|i| op(Kind::Read, i * MIB, MIB));
    near(1000.0 * MIB as f64 / 1e6 / one_by_one(disk, sequential), 150.0, 0.01);
    let inner = (0..1000).map(|i| op(Kind::Read, 998_000_000_000 + i * MIB, MIB));
    near(1000.0 * MIB as f64 / 1e6 / one_by_one(disk, inner), 75.0, 0.01);
    let at_once: Vec<Op> =
        scattered(4_000, 1_000_000_000_000, 4096).map(|offset| op(Kind::Read, offset, 4096)).collect();
    let all = *together(disk, &at_once).iter().max().unwrap() as f64 / 1e9;
    near(4_000.0 / all, 78.7 * f64::powf(32.0, 0.2), 0.03);
}

#[test]
fn dies_answer_in_parallel_and_one_address_waits_for_itself() {
    let spread: Vec<Op> = (0..64).map(|i| op(Kind::Read, i * 16_384, 4096)).collect();
    let last = *together("bank(64 of 16KiB, 100us)", &spread).iter().max().unwrap();
    assert!((100_000..500_000).contains(&last), "{last}");
    let same = vec![op(Kind::Read, 0, 4096); 8];
    assert_eq!(*together("bank(64 of 16KiB, 100us)", &same).last().unwrap(), 800_000);
}

#[test]
fn caches_answer_their_share() {
    let reads = || scattered(40_000, 1 << 30, 4096).map(|offset| op(Kind::Read, offset, 4096));
    near(one_by_one("cache(75%, hit: link(10us); miss: link(100us))", reads()), 40_000.0 * 32.5e-6, 0.03);
    // A cache for a quarter of what is read at random answers a quarter of it, once it is full.
    let clock = "clock(256MiB of 4KiB, hit: link(10us); miss: link(100us))";
    let mut rng = fastrand::Rng::with_seed(1);
    let uniform = (0..600_000).map(|_| op(Kind::Read, rng.u64(0..262_144) * 4096, 4096));
    near(one_by_one(clock, uniform), 600_000.0 * (0.25 * 10e-6 + 0.75 * 100e-6), 0.05);
}

#[test]
fn arrays_pay_for_parity() {
    let writes = |count: u64| (0..count).map(|i| op(Kind::Write, i * 4096, 4096));
    // Read old data and parity together, then write both: two phases.
    near(one_by_one("raid5(4, 64KiB: station(1, 100us))", writes(100)), 100.0 * 200e-6, 0.001);
    near(one_by_one("raid10(4, 64KiB: station(1, 100us))", writes(100)), 100.0 * 100e-6, 0.001);
    near(
        one_by_one(
            "stripe(2, 64KiB: link(0us, 100MB/s) then link(1us))",
            (0..10).map(|i| op(Kind::Read, i * MIB, MIB)),
        ),
        10.0 * MIB as f64 / 200e6,
        0.01,
    );
}

#[test]
fn pressure_delays_what_exceeds_its_rate() {
    let reads: Vec<Op> = (0..20).map(|i| op(Kind::Read, i * 4096, 4096)).collect();
    let answered = together("pressure(1000, burst 5, delay 2ms) then link(1us)", &reads);
    assert_eq!(answered.iter().filter(|at| **at == 1_000).count(), 5);
    assert_eq!(answered.iter().filter(|at| **at == 2_001_000).count(), 15);
}

#[test]
fn cold_data_is_slow_once() {
    let model = "cold(rest 1209600s, extra 5ms, grain 64KiB, share 100%) then link(100us)";
    let twice = [0, 4096, 1 << 20, 1 << 20].map(|offset| op(Kind::Read, offset, 4096));
    near(one_by_one(model, twice.into_iter()), 2.0 * 5e-3 + 4.0 * 100e-6, 1e-6);
}

#[test]
fn a_window_makes_the_rest_wait() {
    let reads: Vec<Op> = (0..6).map(|i| op(Kind::Read, i * 4096, 4096)).collect();
    let answered = together("window(2: link(1ms))", &reads);
    assert_eq!(answered, [1_000_000, 1_000_000, 2_000_000, 2_000_000, 3_000_000, 3_000_000]);
}

#[test]
fn each_kind_goes_its_way() {
    let ops =
        [op(Kind::Read, 0, 4096), op(Kind::Write, 0, 4096), op(Kind::DurableWrite, 0, 4096), op(Kind::Flush, 0, 0)];
    let model = "split(read: link(1us); write: link(2us); flush: link(3us))";
    assert_eq!(together(model, &ops), [1_000, 2_000, 2_000, 3_000]);
}
