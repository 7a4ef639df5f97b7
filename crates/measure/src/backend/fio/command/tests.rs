//! Streams and the resulting options. Does not run fio.

use plimsoll_load::Region;
use plimsoll_units::Iops;

use super::*;
use crate::backend::fio::{Hosts, Installed, IoEngine};

fn fio(threads: u32, place: FioHost) -> Fio {
    let installed = Installed { version: "3.33".into(), has_ring: true };
    Fio { installed, io: IoEngine::Ring, place, threads, compressible: 0.3, direct: true, writable: true }
}

fn local() -> FioHost {
    FioHost::Local("/proc/1/fd/3".into())
}

fn stream(pace: Pace) -> StreamSpec {
    let mix = Mix { sizes: BlockMix::one(Bytes::kib(8)), reads: 0.7, durable: false, flush_every: 0 };
    let region = Region { start: 1 << 20, length: Bytes::mib(64) };
    StreamSpec { name: "data".into(), mix, pattern: Pattern::Uniform, region, pace }
}

fn job_files(stream: StreamSpec, fio: &Fio, host: u32) -> Vec<String> {
    let trial = Trial {
        streams: &[stream],
        duration: Span::from_millis(1_500),
        warm_up: Span::from_millis(200),
        slice: Span::from_millis(100),
        seed: 7,
    };
    build_jobs(&trial, fio, host).iter().map(|job| format_jobs(std::slice::from_ref(job))).collect()
}

/// Checks that the job file of `stream` has all lines of `expected`, and none of the options `absent`.
#[track_caller]
fn check(stream: StreamSpec, expected: &[&str], absent: &[&str]) {
    let files = job_files(stream, &fio(1, local()), 0);
    let [job] = &files[..] else { panic!("{files:?}") };
    for line in expected {
        assert!(job.lines().any(|found| found == *line), "{line} is not in\n{job}");
    }
    for option in absent {
        assert!(!job.lines().any(|found| found.split('=').next() == Some(option)), "{option} is in\n{job}");
    }
}

#[test]
fn streams_become_options() {
    let depth = Pace::Closed { depth: 8 };
    let base = stream(depth);
    check(
        base.clone(),
        &[
            "[0.0]",
            "filename=/proc/1/fd/3",
            "rw=randrw",
            "rwmixread=70",
            "bs=8192",
            "blockalign=8192",
            "offset=1048576",
            "size=67108864",
            "iodepth=8",
            "ioengine=io_uring",
            "direct=1",
            "runtime=1500ms",
            "norandommap=1",
            "allow_file_create=0",
            "invalidate=0",
            "buffer_compress_percentage=30",
        ],
        &["sync", "fdatasync", "rate_iops", "random_distribution", "ramp_time"],
    );
    let mixed = |reads| Mix { reads, ..base.mix.clone() };
    let of = |mix| StreamSpec { mix, ..base.clone() };
    check(of(mixed(1.0)), &["rw=randread"], &["rwmixread", "buffer_compress_percentage"]);
    check(of(Mix { durable: true, ..mixed(0.0) }), &["rw=randwrite", "sync=dsync"], &["fdatasync"]);
    check(of(Mix { flush_every: 4, ..mixed(0.0) }), &["fdatasync=4"], &["sync"]);
    let sizes = [(Bytes::kib(4), 1), (Bytes::kib(16), 2)];
    let sizes = BlockMix::weighted(sizes.to_vec()).unwrap();
    check(of(Mix { sizes, ..mixed(0.5) }), &["bssplit=4096/33:16384/67", "blockalign=4096"], &["bs"]);
    let at = |pattern| StreamSpec { pattern, ..base.clone() };
    check(at(Pattern::Sequential), &["rw=rw"], &["random_distribution"]);
    check(at(Pattern::Zipf { theta: 0.99 }), &["random_distribution=zipf:0.99"], &[]);
    check(at(Pattern::Zipf { theta: 1.0 }), &["random_distribution=zipf:1.00001"], &[]);
    check(at(Pattern::Zipf { theta: 0.0 }), &["rw=randrw"], &["random_distribution"]);
    let hot = Pattern::HotSpot { operations: 0.9, space: 0.1 };
    check(at(hot), &["random_distribution=zoned:90/10:10/90"], &[]);
}

#[test]
fn open_loads_become_rates() {
    let open = |rate, arrival| Pace::Open { rate: Iops::per_second(rate), arrival };
    let base = stream(open(1_000, Arrival::Poisson));
    check(base.clone(), &["rate_iops=700,300", "rate_process=poisson", "iodepth=1024"], &[]);
    let reads = |reads, pace| StreamSpec { mix: Mix { reads, ..base.mix.clone() }, pace, ..base.clone() };
    check(reads(1.0, open(500, Arrival::Constant)), &["rate_iops=500", "rate_process=linear"], &[]);
    check(reads(0.0, open(500, Arrival::Constant)), &["rate_iops=,500"], &[]);
    check(reads(0.9, open(1, Arrival::Constant)), &["rate_iops=1,1"], &[]);
    let sizes = BlockMix::weighted(vec![(Bytes::kib(4), 1), (Bytes::kib(12), 1)]).unwrap();
    let split = |arrival| StreamSpec {
        mix: Mix { sizes: sizes.clone(), reads: 1.0, ..base.mix.clone() },
        pace: open(100, arrival),
        ..base.clone()
    };
    check(split(Arrival::Constant), &["rate_iops=200"], &[]);
    check(split(Arrival::Poisson), &["rate_iops=100"], &[]);
}

#[test]
fn threads_and_hosts_share_a_load_without_loss() {
    let depths = |jobs: Vec<String>| -> Vec<u32> {
        let lines = jobs.iter().flat_map(|job| job.lines());
        lines.filter_map(|line| line.strip_prefix("iodepth=")?.parse().ok()).collect()
    };
    let hosts = || FioHost::Hosts(Hosts::new(&["a".into(), "b".into()], "/dev/vdb:x").unwrap());
    let of = |depth, threads, host| job_files(stream(Pace::Closed { depth }), &fio(threads, hosts()), host);
    assert_eq!((depths(of(7, 2, 0)), depths(of(7, 2, 1))), (vec![2, 2], vec![2, 1]));
    assert_eq!((depths(of(1, 1, 0)), depths(of(1, 1, 1))), (vec![1], vec![]));
    assert!(of(8, 1, 1)[0].starts_with("[0.1]\nfilename=/dev/vdb\\:x\n"), "{}", of(8, 1, 1)[0]);
    let ramps = |job: &String| job.contains("runtime=1300ms\n") && job.contains("ramp_time=200ms\n");
    assert!(of(8, 1, 0).iter().all(ramps), "the warm-up is excluded from a single report: {:?}", of(8, 1, 0));
    let seeds: std::collections::BTreeSet<_> = [of(8, 2, 0), of(8, 2, 1)]
        .concat()
        .iter()
        .map(|job| job.lines().find(|line| line.starts_with("randseed=")).unwrap().to_owned())
        .collect();
    assert_eq!(seeds.len(), 4, "each share has its own random numbers");
}

#[test]
fn differences_to_plimsoll_are_listed() {
    let closed = Pace::Closed { depth: 4 };
    let differs = |stream: StreamSpec, pace, word: &str| list_differences(&[stream], &[pace]).join("; ").contains(word);
    assert_eq!(list_differences(&[stream(closed)], &[closed]), Vec::<&str>::new());
    let open = Pace::Open { rate: Iops::per_second(20_000), arrival: Arrival::Poisson };
    assert!(
        differs(stream(closed), open, "coordinated omission") && differs(stream(closed), open, "whole microseconds")
    );
    let hot = |operations| StreamSpec { pattern: Pattern::HotSpot { operations, space: 0.1 }, ..stream(closed) };
    assert!(differs(hot(0.905), closed, "whole percent") && !differs(hot(0.9), closed, "whole percent"));
    assert_eq!(list_differences(&[stream(closed), stream(closed)], &[closed]).len(), 1);
}
