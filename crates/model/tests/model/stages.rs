//! The effect of each kind of stage, compared with arithmetic.

use plimsoll_model::{Chain, Model, ModelAnswer, parse};
use plimsoll_units::{Instant, Kind, Op, Slot, Span};

const MIB: u64 = 1 << 20;

fn op(kind: Kind, offset: u64, length: u64) -> Op {
    Op { offset, length: length as u32, kind, stream: 0 }
}

/// Completion times of operations submitted together at time 0, in nanoseconds, in the order of submission.
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

/// The total time of operations submitted serially, in seconds.
fn one_by_one(model: &str, ops: impl Iterator<Item = Op>) -> f64 {
    let mut chain = Chain::new(&parse(model).expect("the models of this file can be read"), 1);
    let (mut now, mut answers): (Instant, Vec<ModelAnswer>) = (Instant::ZERO, Vec::new());
    for op in ops {
        chain.submit(now, Slot(0), &op);
        while answers.is_empty() {
            let at = chain.wake_at().expect("an operation is in flight");
            chain.drain(at, &mut answers);
        }
        now = answers.pop().expect("an answer").at;
    }
    now.since(Instant::ZERO).as_secs_f64()
}

/// Reproducible random addresses.
fn scattered(count: u64, space: u64, length: u64) -> impl Iterator<Item = u64> {
    let mut rng = fastrand::Rng::with_seed(7);
    (0..count).map(move |_| rng.u64(0..space / length) * length)
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found}, expected {expected}");
}

#[test]
fn burst_credits_last_as_long_as_documented() {
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
fn large_operations_count_as_several_units() {
    let reads: Vec<Op> = (0..4).map(|i| op(Kind::Read, i * MIB, MIB)).collect();
    assert_eq!(together("limit(1000 per 256KiB)", &reads), [0, 4_000_000, 8_000_000, 12_000_000]);
    assert_eq!(together("limit(1000)", &reads), [0, 1_000_000, 2_000_000, 3_000_000]);
}

#[test]
fn a_write_back_memory_hides_latency_up_to_its_capacity() {
    // dd of 5 GiB through a page cache of 1.19 GB to a volume of 12 MB/s: (5,368.7 - 1,190) / 12 = 348.2 s.
    let dd = (0..5).map(|i| op(Kind::Write, i << 30, 1 << 30));
    near(one_by_one("writeback(1190MB: limit(12MB/s)) then link(1us)", dd), 348.2, 0.002);
}

#[test]
fn a_flush_waits_for_earlier_writes() {
    let ops: Vec<Op> =
        vec![op(Kind::Write, 0, MIB), op(Kind::Flush, 0, 0), op(Kind::Write, MIB, MIB), op(Kind::Read, 0, 0)];
    let honoured = together("writeback(64MiB: station(1, 10ms)) then link(1us)", &ops);
    assert_eq!(honoured[0], 1_000, "a write is answered at once");
    assert!(honoured[1] >= 10_000_000, "a flush after the write before it: {honoured:?}");
    assert_eq!(honoured[2], 1_000, "a flush delays no later write");
    let ignored = together("writeback(64MiB, flush immediate: station(1, 10ms)) then link(1us)", &ops);
    assert_eq!(ignored[1], 1_000, "an ignored flush is answered at once");
    let buffer = together("buffer(64MiB, drain 100MB/s, flush honoured) then link(1us)", &ops[..2]);
    assert_eq!(buffer, [1_000, 10_486_760]);
}

#[test]
fn a_full_buffer_accepts_writes_at_its_drain_rate() {
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
fn a_disk_commits_a_log_once_a_turn() {
    let disk = "link(50us) then disk(1TB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s)";
    let durable = (0..100).map(|i| op(Kind::DurableWrite, i * 8192, 8192));
    near(100.0 / one_by_one(disk, durable), 120.0, 0.02);
    let flushed = (0..100).flat_map(|i| [op(Kind::Write, i * 8192, 8192), op(Kind::Flush, 0, 0)]);
    near(100.0 / one_by_one(disk, flushed), 120.0, 0.02);
    // Without a delay before the next write, and with the same block again.
    let (_, bare) = disk.split_once(" then ").unwrap();
    let appended = (0..100).map(|i| op(Kind::DurableWrite, i * 8192, 8192));
    near(100.0 / one_by_one(bare, appended), 120.0, 0.02);
    for disk in [disk, bare] {
        near(100.0 / one_by_one(disk, (0..100).map(|_| op(Kind::DurableWrite, 8192, 8192))), 120.0, 0.02);
    }
    let cached = (0..1000).map(|i| op(Kind::Write, i * MIB, MIB));
    near(1000.0 * MIB as f64 / 1e6 / one_by_one(disk, cached), 150.0, 0.02);
}

#[test]
fn dies_work_in_parallel_and_equal_addresses_queue() {
    let spread: Vec<Op> = (0..64).map(|i| op(Kind::Read, i * 16_384, 4096)).collect();
    let last = *together("bank(64 of 16KiB, 100us)", &spread).iter().max().unwrap();
    assert!((100_000..500_000).contains(&last), "{last}");
    let same = vec![op(Kind::Read, 0, 4096); 8];
    assert_eq!(*together("bank(64 of 16KiB, 100us)", &same).last().unwrap(), 800_000);
}

#[test]
fn caches_have_their_hit_ratio() {
    let reads = || scattered(40_000, 1 << 30, 4096).map(|offset| op(Kind::Read, offset, 4096));
    near(one_by_one("cache(75%, hit: link(10us); miss: link(100us))", reads()), 40_000.0 * 32.5e-6, 0.03);
    // A full cache of a quarter of the space answers a quarter of uniform reads.
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
fn pressure_delays_operations_above_its_rate() {
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
fn data_are_cold_after_a_rest_without_access() {
    let mut chain = Chain::new(&parse("cold(rest 16s, extra 5ms, grain 64KiB, share 0%) then link(100us)").unwrap(), 1);
    let (slow, fast) = (5_100_000, 100_000);
    // Two grains: the second is read once more in between. 1 s is the resolution of the rest.
    for (second, offset, expected) in [
        (0, 0, fast),
        (0, 1 << 20, fast),
        (8, 1 << 20, fast),
        (15, 2 << 20, fast),
        (18, 0, slow),
        (18, 1 << 20, fast),
        (19, 0, fast),
        (60, 2 << 20, slow),
        (60, 3 << 20, fast),
        (2_000, 0, slow),
    ] {
        let now = Instant::ZERO + Span::from_secs(second);
        chain.submit(now, Slot(0), &op(Kind::Read, offset, 4096));
        let mut answers = Vec::new();
        chain.drain(Instant::NEVER, &mut answers);
        assert_eq!(answers[0].at.since(now).as_nanos(), expected, "{second} s, {offset}");
    }
}

#[test]
fn a_window_limits_operations_inside() {
    let reads: Vec<Op> = (0..6).map(|i| op(Kind::Read, i * 4096, 4096)).collect();
    let answered = together("window(2: link(1ms))", &reads);
    assert_eq!(answered, [1_000_000, 1_000_000, 2_000_000, 2_000_000, 3_000_000, 3_000_000]);
}

#[test]
fn a_split_separates_kinds() {
    let ops =
        [op(Kind::Read, 0, 4096), op(Kind::Write, 0, 4096), op(Kind::DurableWrite, 0, 4096), op(Kind::Flush, 0, 0)];
    let model = "split(read: link(1us); write: link(2us); flush: link(3us))";
    assert_eq!(together(model, &ops), [1_000, 2_000, 2_000, 3_000]);
}

#[test]
fn concatenated_devices_have_their_own_addresses() {
    let model = "concat(1MiB, first: link(1us); rest: concat(1MiB, first: link(2us); rest: link(3us)))";
    let reads = [0, MIB - 4096, MIB, 2 * MIB - 4096, 2 * MIB, 9 * MIB].map(|offset| op(Kind::Read, offset, 4096));
    assert_eq!(together(model, &reads), [1_000, 1_000, 2_000, 2_000, 3_000, 3_000]);
    // The second disk is as fast at its beginning as the first; behind both, addresses count on.
    let disk = "disk(1GiB, 7200rpm, seek 8ms to 8ms, 200MB/s to 100MB/s)";
    let quarter_from = |start: u64| (0..256).map(move |i| op(Kind::Read, start + i * MIB, MIB));
    let two = format!("concat(1GiB, first: {disk}; rest: {disk})");
    near(one_by_one(&two, quarter_from(1 << 30)), one_by_one(disk, quarter_from(0)), 0.01);
    let shared = format!("concat(512MiB, first: link(1us); rest: link(1us)) then {disk}");
    near(one_by_one(&shared, quarter_from(512 * MIB)), one_by_one(disk, quarter_from(512 * MIB)), 0.01);
}

#[test]
fn a_full_duplex_link_carries_its_rate_in_each_direction() {
    let ops: Vec<Op> = (0..20).map(|i| op(if i % 2 == 0 { Kind::Read } else { Kind::Write }, i * MIB, MIB)).collect();
    let last = |model: &str| *together(model, &ops).iter().max().unwrap() as f64 / 1e9;
    near(last("link(1us, 100MB/s)"), 20.0 * MIB as f64 / 100e6, 0.001);
    near(last("link(1us, 100MB/s, full duplex)"), 10.0 * MIB as f64 / 100e6, 0.001);
}

#[test]
fn a_shared_disk_is_positioned_anew_after_a_gap() {
    let disk = |idle: &str| format!("link(1ms) then disk(1TB, 7200rpm, seek 8ms to 8ms, 100MB/s to 100MB/s{idle})");
    let reads = || (0..400).map(|i| op(Kind::Read, i * MIB, MIB));
    let (follows, gap) = (1e-3 + MIB as f64 / 100e6, 8e-3 + 4.17e-3);
    near(one_by_one(&disk(""), reads()), 400.0 * follows, 0.001);
    near(one_by_one(&disk(", idle 2ms"), reads()), 400.0 * follows, 0.001);
    near(one_by_one(&disk(", idle 500us"), reads()), 400.0 * (follows + gap), 0.02);
}

/// Cached pages of a file leave holes in the reads of a scan.
#[test]
fn a_short_skip_forward_passes_below_the_head() {
    const DISK: &str = "disk(1TB, 7200rpm, seek 8ms to 8ms, 100MB/s to 100MB/s)";
    let half: i64 = 65_536;
    let reads = |count: i64, step: i64| {
        let from = if step < 0 { -step * count } else { 0 };
        (0..count).map(move |i| op(Kind::Read, (from + step * i) as u64, half as u64))
    };
    let passes = 2.0 * half as f64 / 100e6;
    near(one_by_one(DISK, reads(1000, 2 * half)), 1000.0 * passes, 0.01);
    let seeks = 8e-3 + 4.17e-3 + half as f64 / 100e6;
    near(one_by_one(DISK, reads(1000, -2 * half)), 1000.0 * seeks, 0.02);
    near(one_by_one(DISK, reads(1000, 1 << 24)), 1000.0 * seeks, 0.02);
}

/// IOPS of a closed load of random reads.
fn closed(model: &str, depth: u32, count: u64) -> f64 {
    let mut chain = Chain::new(&parse(model).expect("the models of this file can be read"), 1);
    let mut places = scattered(count + u64::from(depth), 1 << 30, 4096);
    let mut next = || op(Kind::Read, places.next().expect("enough places"), 4096);
    (0..depth).for_each(|slot| chain.submit(Instant::ZERO, Slot(slot), &next()));
    let (mut done, mut now, mut answers) = (0, Instant::ZERO, Vec::new());
    while done < count {
        now = chain.wake_at().expect("operations are in flight");
        chain.drain(now, &mut answers);
        for answer in answers.drain(..) {
            done += 1;
            if done <= count {
                chain.submit(answer.at, answer.slot, &next());
            }
        }
    }
    done as f64 / now.since(Instant::ZERO).as_secs_f64()
}

#[test]
fn a_measured_curve_gives_its_throughput() {
    let curve = "curve(1: 6614, 2: 13516, 4: 15511, 8: 30829, 16: 47422, 32: 47336)";
    for (depth, iops) in [(1, 6614.0), (2, 13_516.0), (3, 14_513.5), (8, 30_829.0), (16, 47_422.0), (64, 47_336.0)] {
        near(closed(curve, depth, 40_000), iops, 0.025);
    }
    // Load-dependent members of a product-form network: X(N) = G(N-1) / G(N), for four members of rates 1, 1.5, 2, 2,
    // ...
    let rate = |number: usize| [1.0, 1.5, 2.0][number.min(3) - 1];
    let mut g = vec![1.0];
    g.extend([0.0; 8]);
    for _ in 0..4 {
        let alone: Vec<f64> = (0..9)
            .scan(1.0, |p, n| {
                if n > 0 {
                    *p /= rate(n);
                }
                Some(*p)
            })
            .collect();
        g = (0..9).map(|n| (0..=n).map(|k| g[n - k] * alone[k]).sum()).collect();
    }
    let stripe = "stripe(4, 4KiB: curve(1: 1000, 2: 1500, 3: 2000))";
    for depth in [1, 3, 8] {
        let expected = 4.0 * 1000.0 * g[depth - 1] / g[depth];
        near(closed(stripe, depth as u32, 40_000), expected, 0.04);
    }
}

#[test]
fn sequential_reads_are_answered_from_read_ahead() {
    let model = |inside: &str| format!("link(10us) then {inside}");
    let media = "bank(64 of 256KiB, 2ms, 1000MB/s)";
    let reads = || (0..400).map(|i| op(Kind::Read, i * MIB, MIB));
    let alone = one_by_one(&model(media), reads());
    near(alone, 400.0 * (10e-6 + 2e-3 + 262e-6), 0.02);
    // With a window of 64 MiB the 64 dies are always busy: 4 GiB/s less the collisions.
    let ahead = one_by_one(&model(&format!("prefetch(64MiB of 256KiB: {media})")), reads());
    assert!(ahead < alone / 10.0, "{ahead} and {alone} s");
    let scattered_reads = || scattered(400, 1 << 40, MIB).map(|offset| op(Kind::Read, offset, MIB));
    let random = one_by_one(&model(&format!("prefetch(64MiB of 256KiB: {media})")), scattered_reads());
    near(random, one_by_one(&model(media), scattered_reads()), 1e-9);
    let writes = || (0..400).map(|i| op(Kind::Write, i * MIB, MIB));
    let written = one_by_one(&model(&format!("prefetch(64MiB of 256KiB: {media})")), writes());
    near(written, one_by_one(&model(media), writes()), 1e-9);
}

#[test]
fn excess_streams_are_not_read_ahead() {
    let turns = |streams: u64| (0..400).map(move |i| op(Kind::Read, ((i % streams) << 34) + i / streams * MIB, MIB));
    let time =
        |streams| one_by_one("link(10us) then prefetch(16MiB of 1MiB, streams 4: station(64, 2ms))", turns(streams));
    assert!(time(4) < 0.4 * time(5), "{} and {} s", time(4), time(5));
    near(time(5), 400.0 * 2.01e-3, 0.001);
}

#[test]
fn a_share_of_writes_reads_before_acceptance() {
    let writes = (0..20_000).map(|i| op(Kind::Write, i * 8192, 8192));
    let model = "link(10us) then writeback(1GiB, flush immediate, reads 5%: station(4096, 1ms))";
    near(one_by_one(model, writes), 20_000.0 * (10e-6 + 0.05 * 1e-3), 0.05);
}

#[test]
fn a_write_waits_while_the_other_half_of_the_memory_drains() {
    let model = "writeback(64KiB, halves 10s, flush immediate: station(1, 1ms)) then link(1us)";
    let writes: Vec<Op> = (0..24).map(|number| op(Kind::Write, number * 4096, 4096)).collect();
    let ends = together(model, &writes);
    // Eight writes fill a half; the ninth starts its drain, of eight times 1 ms.
    assert!(ends[..16].iter().all(|end| *end == 1_000), "{ends:?}");
    assert!(ends[16..].iter().all(|end| *end == 8_001_000), "{ends:?}");
}

#[test]
fn a_half_of_the_memory_drains_after_its_time() {
    let model = "writeback(64KiB, halves 2ms, flush immediate: station(1, 1ms)) then link(1us)";
    let mut chain = Chain::new(&parse(model).expect("a model"), 1);
    let steps = [(0, Kind::Write), (500_000, Kind::Read), (2_500_000, Kind::Read)];
    let mut answers = Vec::new();
    for (slot, (at, kind)) in (0..).zip(steps) {
        chain.submit(Instant::from_nanos(at), Slot(slot), &op(kind, 0, 4096));
    }
    chain.drain(Instant::NEVER, &mut answers);
    let ends: Vec<u64> = answers.iter().map(|answer| answer.at.as_nanos()).collect();
    assert_eq!(ends, [1_000, 1_501_000, 4_001_000], "the second read waits for the write-back that began at 2 ms");
}

#[test]
fn a_disk_chooses_from_what_is_there_when_it_seeks() {
    let model = "disk(1TB, 7200rpm, seek 5ms to 5ms, 1GB/s to 1GB/s, queue 32 gain 0.5)";
    // The service time of the second of two operations, and that with a third that follows the first answer.
    let second = |follows: bool| {
        let mut chain = Chain::new(&parse(model).expect("a model"), 1);
        (0..2).for_each(|slot| chain.submit(Instant::ZERO, Slot(slot), &op(Kind::Read, 1 << 30, 4096)));
        let mut answers = Vec::new();
        while answers.is_empty() {
            let at = chain.wake_at().expect("an event");
            chain.drain(at, &mut answers);
        }
        let first = answers[0].at;
        if follows {
            chain.submit(first, Slot(2), &op(Kind::Read, 1 << 31, 4096));
        }
        chain.drain(Instant::NEVER, &mut answers);
        answers[1].at.since(first).as_nanos() as f64
    };
    near(second(true) / second(false), 0.5_f64.sqrt(), 0.01);
}

#[test]
fn a_small_operation_does_not_wait_for_all_pieces_of_a_large_one() {
    const MS: u64 = 1_000_000;
    let large = op(Kind::Read, 0, MIB);
    let small = op(Kind::Read, MIB, 256 << 10);
    let uncut = together("limit(256MiB/s, burst 1B)", &[large, small, small]);
    assert_eq!(uncut, [0, 3_906_250, 4_882_812], "a limit alone is first come, first served");
    // Each piece of 256 KiB takes its place behind the operations that have arrived since.
    let turns = together("pieces(256KiB: station(1, 1ms))", &[large, small, small]);
    assert_eq!(turns, [6 * MS, 2 * MS, 3 * MS]);
    let bytes = together("pieces(256KiB: link(1ms, 1MiB/s))", &[op(Kind::Write, 0, MIB + 1)]);
    assert_eq!(bytes, [1_005 * MS + 953], "no byte is lost, and a rest is a piece of its own");
    let flushes = together("pieces(256KiB: station(1, 1ms, flush 2ms))", &[op(Kind::Flush, 0, 0)]);
    assert_eq!(flushes, [2 * MS]);
}

/// Mean response times of two closed loads on a model, in milliseconds: 64 operations of 8 KiB and 8 of 1 MiB in flight.
fn oltp_beside_backup(model: &str) -> [f64; 2] {
    let mut chain = Chain::new(&parse(model).expect("the models of this file can be read"), 1);
    let (mut answers, mut began) = (Vec::new(), [Instant::ZERO; 72]);
    let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
    let length = |slot: u32| if slot < 64 { 8 << 10 } else { MIB };
    for slot in 0..72 {
        chain.submit(Instant::ZERO, Slot(slot), &op(Kind::Read, 0, length(slot)));
    }
    while let Some(at) = chain.wake_at().filter(|at| at.as_nanos() < 10_000_000_000) {
        chain.drain(at, &mut answers);
        for answer in answers.drain(..) {
            let Slot(slot) = answer.slot;
            let class = usize::from(slot >= 64);
            sums[class] += answer.at.since(began[slot as usize]).as_secs_f64() * 1e3;
            counts[class] += 1.0;
            began[slot as usize] = at;
            chain.submit(at, answer.slot, &op(Kind::Read, 0, length(slot)));
        }
    }
    [sums[0] / counts[0], sums[1] / counts[1]]
}

#[test]
fn pieces_divide_a_limit_between_small_and_large_operations() {
    let [small, large] = oltp_beside_backup("limit(300MB/s) then link(1us)");
    near(small, 30.0, 0.12);
    near(large / small, 1.0, 0.01);
    // 64 x 8 KiB and 8 x 256 KiB are in the queue: 8.7 ms a turn, and a large operation takes four.
    let [small, large] = oltp_beside_backup("pieces(256KiB: limit(300MB/s, burst 1B)) then link(1us)");
    near(small, 8.74, 0.02);
    near(large / small, 4.0, 0.02);
}
