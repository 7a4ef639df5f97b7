//! Figures of fio 3.33: each case is run by plimsoll, and by fio if installed.

use std::collections::BTreeMap;
use std::process::Command;

use plimsoll_testkit::undisturbed;
use serde_json::Value;

use super::{JobFolder, integer, job, read, real};

/// Operations and bytes of reads, writes and trims, and the number of flushes.
pub fn counts(job: &Value) -> [u64; 7] {
    let of = |path: &str| integer(job, path);
    [
        of("read.total_ios"),
        of("read.io_bytes"),
        of("write.total_ios"),
        of("write.io_bytes"),
        of("trim.total_ios"),
        of("trim.io_bytes"),
        // fio excludes those of fdatasync from `total_ios`.
        of("sync.lat_ns.N"),
    ]
}

/// Files that jobs left, with sizes, without logs and fio's verification states.
pub fn files(folder: &JobFolder) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.path().to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).unwrap().map(Result::unwrap) {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let name = path.strip_prefix(folder.path()).unwrap().display().to_string();
            let is_other = [".fio", ".log", "-verify.state"].iter().any(|end| name.ends_with(end));
            if metadata.is_dir() {
                folders.push(path);
            } else if !is_other {
                found.insert(name, metadata.len());
            }
        }
    }
    found
}

/// The report of fio; `None` if it is not installed, or refuses the jobs.
pub fn run_fio(folder: &JobFolder, jobs: &str) -> Option<Value> {
    folder.write("job.fio", jobs);
    let output =
        Command::new("fio").args(["--output-format=json+", "job.fio"]).current_dir(folder.path()).output().ok()?;
    output.status.success().then(|| read(&output))
}

/// Runs a job `j` with these options in both programs.
#[track_caller]
fn run_both(name: &str, options: &str, check: impl Fn(&str, &Value, &JobFolder)) {
    let text = format!("[j]\n{}\n", options.replace(' ', "\n"));
    let ours = JobFolder::new(&format!("conform-{name}"));
    check("plimsoll", &ours.json("", &text), &ours);
    let folder = JobFolder::new(&format!("conform-theirs-{name}"));
    match run_fio(&folder, &text) {
        Some(report) => check("fio", &report, &folder),
        None => println!("skipped: fio is not installed"),
    }
}

#[track_caller]
fn check_job(name: &str, options: &str, expected: [u64; 7], sizes: &[(&str, u64)]) {
    run_both(name, options, |program, report, folder| {
        assert_eq!(counts(job(report, "j")), expected, "{program}: {options}");
        let sizes: BTreeMap<String, u64> = sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        assert_eq!(files(folder), sizes, "{program}: {options}");
    });
}

#[test]
fn files_have_the_size_of_the_job() {
    check_job("part", "rw=write size=10000", [0, 0, 2, 8_192, 0, 0, 0], &[("j.0.0", 10_000)]);
    check_job("read", "rw=read size=10000", [2, 8_192, 0, 0, 0, 0, 0], &[("j.0.0", 10_000)]);
    let three = [("j.0.0", 34_133), ("j.0.1", 34_133), ("j.0.2", 34_133)];
    check_job("three", "rw=write size=100k nrfiles=3", [0, 0, 24, 98_304, 0, 0, 0], &three);
    let two = [("j.0.0", 10_000), ("j.0.1", 10_000)];
    check_job("filesize", "rw=randwrite filesize=10000 nrfiles=2", [0, 0, 4, 16_384, 0, 0, 0], &two);
    let one = [0, 0, 1, 65_536, 0, 0, 0];
    check_job("truncate", "rw=write size=100k bs=64k fallocate=truncate", one, &[("j.0.0", 102_400)]);
    check_job("grown", "rw=write size=100k bs=64k fallocate=none", one, &[("j.0.0", 65_536)]);
    check_job("offset", "rw=write size=100k bs=64k offset=10k", one, &[("j.0.0", 112_640)]);
    check_job("mmap", "rw=write size=10000 ioengine=mmap", [0, 0, 2, 8_192, 0, 0, 0], &[("j.0.0", 10_000)]);
}

#[test]
fn parent_directories_are_made() {
    let expected = [0, 0, 2, 8_192, 0, 0, 0];
    check_job("parents", "rw=write size=8k filename=p/q/r", expected, &[("p/q/r", 8_192)]);
    check_job("format", "rw=write size=8k filename_format=u/$jobnum/f", expected, &[("u/0/f", 8_192)]);
    let folder = JobFolder::new("parents-refused");
    folder.write("foreign", "data".repeat(4_096));
    let words = "--name=a --rw=write --size=8k --filename=p/q/r --name=b --rw=write --size=16k --filename=foreign";
    assert_eq!(folder.run(words).status.code(), Some(1));
    assert_eq!(folder.names("."), ["foreign"], "directories of refused jobs are removed again");
}

#[test]
fn flushes_come_between_writes() {
    let written = |syncs| [0, 0, 16, 65_536, 0, 0, syncs];
    for (every, syncs) in [(1, 15), (3, 5), (4, 3), (15, 1), (16, 0), (17, 0)] {
        check_job(
            &format!("fsync-{every}"),
            &format!("rw=write size=64k fsync={every}"),
            written(syncs),
            &[("j.0.0", 65_536)],
        );
    }
    check_job("fdatasync", "rw=randwrite size=64k fdatasync=4", written(3), &[("j.0.0", 65_536)]);
    check_job("write-barrier", "rw=write size=64k write_barrier=4", written(0), &[("j.0.0", 65_536)]);
    let eight = [0, 0, 8, 32_768, 0, 0, 1];
    check_job("fsync-count", "rw=write size=64k fsync=4 number_ios=8", eight, &[("j.0.0", 65_536)]);
}

/// Shares of the queue depths 1, 2, 4, 8 and 16, which follow from the options alone.
#[test]
fn queue_depths_follow_batches() {
    let check = |name: &str, options: &str, expected: [f64; 5]| {
        let options = format!("rw=read size=1m ioengine=libaio iodepth=16 {options}");
        run_both(name, &options, |program, report, _| {
            let levels = &job(report, "j")["iodepth_level"];
            let found = ["1", "2", "4", "8", "16"].map(|level| levels[level].as_f64().unwrap());
            let is_near = found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 0.05);
            assert!(is_near, "{program}: {options}: {found:?}");
        });
    };
    check("depth-single", "", [0.39, 0.78, 1.56, 3.13, 94.14]);
    check("depth-batch", "iodepth_batch=4", [0.0, 0.0, 1.56, 3.13, 95.31]);
    check("depth-all", "iodepth_batch=16 iodepth_batch_complete=16", [0.0, 0.0, 0.0, 0.0, 100.0]);
    check("depth-polled", "iodepth_batch_complete_min=0", [100.0, 0.0, 0.0, 0.0, 0.0]);
    check("depth-null", "ioengine=null", [100.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn held_places_and_patterns_do_as_much() {
    let read = [16, 65_536, 0, 0, 0, 0, 0];
    check_job("identical", "rw=randread:3 rw_sequencer=identical size=64k", read, &[("j.0.0", 65_536)]);
    check_job("gaps", "rw=read:12k size=64k", read, &[("j.0.0", 65_536)]);
    let part = [4, 16_384, 0, 0, 0, 0, 0];
    check_job("gaps-of-part", "rw=read:12k size=64k offset=64k", part, &[("j.0.0", 131_072)]);
    let twice = [8, 32_768, 0, 0, 0, 0, 0];
    check_job("gaps-again", "rw=read:12k size=64k io_size=32k offset=64k", twice, &[("j.0.0", 131_072)]);
    let pattern = "rw=write size=4k buffer_pattern=\"abcd\"-120xdeadface";
    run_both("pattern", pattern, |program, _, folder| {
        let bytes = folder.bytes("j.0.0");
        let expected = b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce";
        assert!(bytes.chunks(12).all(|chunk| *chunk == expected[..chunk.len()]), "{program}: {:?}", &bytes[..24]);
    });
    run_both("percent", "rw=write size=64k filename=f create_only=1", |_, _, folder| {
        let text = "[j]\nrw=read\nfilename=f\nsize=50%%\n";
        let [ours, theirs] = [Some(folder.json("", text)), run_fio(folder, text)];
        for report in [ours, theirs].iter().flatten() {
            assert_eq!(counts(job(report, "j")), [8, 32_768, 0, 0, 0, 0, 0]);
        }
    });
}

/// Operations per second of reads and writes under rate limits.
#[track_caller]
fn rates(name: &str, options: &str, expected: [f64; 2]) {
    let check = |program: &str, report: &Value, _: &JobFolder| {
        let found = ["read.iops", "write.iops"].map(|path| real(job(report, "j"), path));
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.05, "{program}: {options}: {found:.1} for {expected}");
        }
    };
    undisturbed(|| run_both(name, &format!("rw=randrw size=16m time_based runtime=2 {options}"), check));
}

#[test]
fn each_direction_keeps_its_own_rate() {
    rates("two-rates", "rate_iops=200,50", [200.0, 50.0]);
    rates("two-bandwidths", "rate=400k,200k", [100.0, 50.0]);
    rates("rates-of-a-mix", "rate_iops=100,100 rwmixread=90", [100.0, 100.0]);
}

#[test]
fn a_bandwidth_holds_for_sizes_that_differ() {
    let options = "rw=randrw size=16m time_based runtime=2 rate=2m,1m bssplit=4k/60:64k/40";
    let check = |program: &str, report: &Value, _: &JobFolder| {
        for (way, expected) in [("read", 2 << 20), ("write", 1 << 20)] {
            let bytes = integer(job(report, "j"), &format!("{way}.io_bytes"));
            // An operation is submitted before its bytes are due.
            let range = 2 * expected - (64 << 10)..=2 * expected + (64 << 10);
            assert!(range.contains(&bytes), "{program}: {way} {bytes} of {}", 2 * expected);
        }
    };
    undisturbed(|| run_both("split-rate", options, check));
}

#[test]
fn a_global_name_renames_no_job() {
    let text = "[global]\nname=all\nsize=8k\n[x]\nrw=read\n[y]\nrw=write\nname=own\n";
    let (ours, other) = (JobFolder::new("named"), JobFolder::new("named-theirs"));
    let report = ours.json("", text);
    for (report, folder) in [(Some(report), &ours), (run_fio(&other, text), &other)] {
        let Some(report) = report else { return println!("skipped: fio is not installed") };
        let names: Vec<&Value> = report["jobs"].as_array().unwrap().iter().map(|job| &job["jobname"]).collect();
        assert_eq!(names, ["x", "own"]);
        assert_eq!(files(folder).into_keys().collect::<Vec<_>>(), ["x.0.0", "y.0.0"]);
    }
}

#[test]
fn trims_count_as_in_fio() {
    // fio 3.33 trims devices only; its null engine shows the counts.
    let null = |rw: &str| format!("rw={rw} size=64k ioengine=null");
    let trimmed = [0, 0, 0, 0, 16, 65_536, 0];
    let both = [0, 0, 16, 65_536, 16, 65_536, 0];
    for (rw, expected) in [("trim", trimmed), ("randtrim", trimmed), ("trimwrite", both), ("randtrimwrite", both)] {
        let ours = JobFolder::new(&format!("trim-{rw}"));
        let text = format!("[j]\n{}\n", null(rw).replace(' ', "\n"));
        assert_eq!(counts(job(&ours.json("", &text), "j")), expected, "{rw}");
        let folder = JobFolder::new(&format!("trim-theirs-{rw}"));
        if let Some(report) = run_fio(&folder, &text) {
            assert_eq!(counts(job(&report, "j")), expected, "fio: {rw}");
        }
        let text = format!("[j]\nrw={rw}\nsize=64k\nioengine=libaio\niodepth=4\n");
        assert_eq!(counts(job(&ours.json("", &text), "j")), expected, "{rw} of a file");
    }
}
