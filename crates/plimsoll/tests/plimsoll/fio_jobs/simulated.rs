//! Job files on models, whose figures can be calculated.

use super::{JobFolder, integer, job, real};
use crate::folder::stderr;

#[test]
fn a_station_gives_what_it_has() {
    // Two servers of 1 ms each: at most 2,000 per second, and 2 ms response time at depth 4.
    let folder = JobFolder::new("station");
    let text = "[global]\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\nruntime=10\ntime_based\nfilename=/dev/sdx\n\
                [deep]\niodepth=4\n[slow]\nstonewall\nrate_iops=100\niodepth=16\n[one]\nstonewall\nramp_time=5\n";
    let report = folder.json("--on station(2,1ms)", text);
    let deep = job(&report, "deep");
    assert!(
        (real(deep, "read.iops") - 2_000.0).abs() < 0.001 && integer(deep, "read.total_ios") >= 20_000,
        "{}",
        deep["read"]["iops"]
    );
    let mean_ns = real(deep, "read.clat_ns.mean");
    assert!((1_999_000.0..=2_000_000.0).contains(&mean_ns), "{mean_ns}");
    assert_eq!(integer(deep, "read.bw_bytes"), 2_000 * 8_192);
    let slow = job(&report, "slow");
    assert_eq!((integer(slow, "read.total_ios"), integer(slow, "read.runtime")), (1_000, 10_000));
    assert!((real(slow, "read.lat_ns.mean") - 1e6).abs() < 1.0);
    let one = job(&report, "one");
    let operations = integer(one, "read.total_ios");
    assert!((10_000..=10_001).contains(&operations), "{operations}: the warm-up is cut off");
    assert!((35..=36).contains(&integer(one, "elapsed")), "in virtual time");
    assert_eq!(folder.names("."), ["job.fio"], "no file is made");
}

#[test]
fn buffered_jobs_on_a_model_have_a_note_on_the_page() {
    let folder = JobFolder::new("page-cache-note");
    for (direct, count) in [(0, 1), (1, 0)] {
        let words = "--name=j --rw=randread --size=64k --on station(1,1ms) --output=o --markdown=p.md";
        let output = folder.run(&format!("{words} --direct={direct}"));
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(folder.read("p.md").matches("no page cache").count(), count, "direct={direct}");
    }
}

/// The disk of the system takes 10 ms, that of the data 1 ms; the machine lets 500 operations a second pass.
#[test]
fn disks_of_a_server_serve_their_own_files_within_the_limits_of_the_machine() {
    let folder = JobFolder::new("server");
    let text = "[global]\nrw=randread\nbs=8k\nsize=1g\nruntime=10\ntime_based\n[os]\nfilename=/var/os\n\
                [data]\ndirectory=/data\n[more]\nfilename=/data/x/more\n";
    let disks = "--on /=station(1,10ms) --on /data=station(4,1ms)";
    let rates = |words: &str| {
        let report = folder.json(words, text);
        ["os", "data", "more"].map(|name| real(job(&report, name), "read.iops"))
    };
    let near = |rates: [f64; 3], expected: [f64; 3]| {
        let is_near = rates.iter().zip(expected).all(|(rate, expected)| (rate / expected - 1.0).abs() < 0.02);
        assert!(is_near, "{rates:?} instead of {expected:?}");
    };
    near(rates(disks), [100.0, 1_000.0, 1_000.0]);
    let shared = rates(&format!("{disks} --machine limit(500)"));
    assert!((shared.iter().sum::<f64>() - 500.0).abs() < 10.0 && shared[0] < 100.0, "{shared:?}");
    folder.write("job.fio", text);
    for (words, expected) in [
        ("--on /data=station(4,1ms) job.fio", "/var/os: on none of the disks"),
        ("--on station(1,1ms) --on station(1,1ms) job.fio", "need the path of each disk"),
        ("--on station(1,1ms) --machine limit(500) job.fio", "--machine needs disks"),
        ("--on /=station(1,1ms) --machine aws/gp3:1GiB job.fio", "not a machine"),
    ] {
        let refused = folder.run(words);
        assert!(!refused.status.success() && stderr(&refused).contains(expected), "{words}: {}", stderr(&refused));
    }
}

/// Each job has one operation of a millisecond in flight: 1,000 per second.
#[test]
fn a_page_has_the_rates_of_groups_and_the_latencies_of_jobs() {
    let folder = JobFolder::new("page");
    folder.write(
        "job.fio",
        "[global]\nbs=8k\nsize=4m\nruntime=10\ntime_based\n[r]\nrw=randread\n[w]\nstonewall\nrw=randwrite\n",
    );
    let words = "--on station(2,1ms) --html=p.html --markdown=p.md --csv=p.csv job.fio";
    let output = folder.run(words);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = |name: &str| folder.read(name);
    assert!(String::from_utf8_lossy(&output.stdout).contains("IOPS=1000"), "fio's own output stays");
    let markdown = text("p.md");
    assert!(
        markdown.contains("group 0, read 1,000 IOPS, 8.19 MB/s; group 1, write 1,000 IOPS, 8.19 MB/s"),
        "{markdown}"
    );
    assert!(markdown.contains("simulated"), "{markdown}");
    let csv = text("p.csv");
    let job = csv.lines().find(|line| line.starts_with("r,read,")).unwrap_or_else(|| panic!("{csv}"));
    let cells: Vec<&str> = job.split(',').collect();
    assert_eq!((&cells[2..4], cells[4]), (&["1000", "8.192"][..], "1000000"), "{csv}");
    assert!(text("p.html").starts_with("<!DOCTYPE html>"));
    let refused = folder.run("--on station(2,1ms) --html=- job.fio");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--output=FILE"), "{}", stderr(&refused));
}

/// Operations and mean size of a job with these options, for ten seconds on a server of 1 ms.
#[track_caller]
fn check(name: &str, options: &str, operations: std::ops::RangeInclusive<u64>, bytes: std::ops::RangeInclusive<u64>) {
    let folder = JobFolder::new(&format!("paced-{name}"));
    let text = format!("[j]\nrw=randread\nsize=1g\ntime_based\nruntime=10\n{}\n", options.replace(' ', "\n"));
    let report = folder.json("--on station(1,1ms)", &text);
    let (found, moved) = (integer(job(&report, "j"), "read.total_ios"), integer(job(&report, "j"), "read.io_bytes"));
    assert!(operations.contains(&found), "{options}: {found}");
    assert!(bytes.contains(&(moved / found)), "{options}: {moved} bytes of {found}");
}

#[test]
fn jobs_keep_their_pace() {
    check("full", "bs=4k", 10_000..=10_001, 4_096..=4_096);
    check("rate", "rate=800k bs=8k iodepth=4 ioengine=libaio", 1_000..=1_001, 8_192..=8_192);
    check("mean", "rate=800k bssplit=4k/50:12k/50 iodepth=4 ioengine=libaio", 995..=1_005, 7_900..=8_500);
    check("range", "rate=500k bsrange=4k-16k ba=4k iodepth=4 ioengine=libaio", 495..=505, 9_700..=10_800);
    check("drawn", "rate_iops=200 rate_process=poisson iodepth=64 ioengine=libaio", 1_850..=2_150, 4_096..=4_096);
    check("think", "thinktime=1000", 5_000..=5_001, 4_096..=4_096);
    check("think-rarely", "thinktime=4000 thinktime_blocks=4", 5_000..=5_004, 4_096..=4_096);
    check("delay", "startdelay=5", 10_000..=10_001, 4_096..=4_096);
    check("shares", "bssplit=4k/75:64k/25", 10_000..=10_001, 18_400..=20_500);
}

/// fio 3.33 on a memory disk has the same distribution of queue depths at depth 100: 109 operations in two pauses.
#[test]
fn pauses_wait_for_operations_in_flight() {
    let folder = JobFolder::new("pauses");
    let text = "[t]\nrw=randread\nbs=4k\nsize=1g\nioengine=libaio\ndirect=1\niodepth=100\nthinktime=10ms\n\
                thinktime_blocks=10\ntime_based\nruntime=4\n";
    let report = folder.json("--on station(100,10us)", text);
    let operations = integer(job(&report, "t"), "read.total_ios");
    assert!((21_000..=22_000).contains(&operations), "{operations}");
    let levels = &job(&report, "t")["iodepth_level"];
    let expected = [("1", 1.8), ("2", 1.8), ("4", 3.7), ("8", 7.3), ("16", 14.7), ("32", 29.4), (">=64", 41.3)];
    for (level, share) in expected {
        let found = levels[level].as_f64().unwrap_or_default();
        assert!((found - share).abs() < 0.1, "{level}: {found}");
    }
    let issued = folder.json("--on station(100,10us)", &format!("{text}thinktime_blocks_type=issue\n"));
    let operations = integer(job(&issued, "t"), "read.total_ios");
    assert!((3_980..=4_010).contains(&operations), "{operations}: ten in each pause");
}

/// libaio flushes in the thread of the job, which takes back no write meanwhile: the queue fills (fio 3.33: 199.6 % at 8).
#[test]
fn flushes_of_libaio_leave_the_queue_full() {
    let folder = JobFolder::new("flushed");
    let text = "[j]\nrw=randwrite\nbs=4k\nsize=4m\nioengine=libaio\niodepth=8\nfsync=1\n";
    let report = folder.json("--on station(100,10us)", text);
    let job = job(&report, "j");
    assert_eq!((integer(job, "write.total_ios"), integer(job, "sync.lat_ns.N")), (1_024, 1_023));
    let share = job["iodepth_level"]["8"].as_f64().unwrap_or_default();
    assert!((198.0..200.0).contains(&share), "{share}");
}

#[test]
fn groups_and_ends_are_the_same_on_a_model() {
    let folder = JobFolder::new("together");
    let text = "[global]\nbs=4k\nsize=4m\nioengine=psync\n[a]\nrw=write\nnumjobs=4\ngroup_reporting\n\
                [b]\nstonewall\nrw=randread\nexitall\nnumber_ios=100\n[c]\nrw=randread\ntime_based\nruntime=3600\n";
    let report = folder.json("--on station(1,1ms)", text);
    let a = job(&report, "a");
    assert_eq!((integer(a, "write.total_ios"), real(a, "write.clat_ns.mean").round() as u64 / 1_000), (4_096, 3_998));
    assert_eq!(integer(job(&report, "b"), "read.total_ios"), 100);
    let c = integer(job(&report, "c"), "read.total_ios");
    assert!((99..=101).contains(&c), "{c}: both take turns, and the end of one is the end of the other");
}

#[test]
fn a_product_of_the_catalogue_runs_a_job_file() {
    let folder = JobFolder::new("product");
    let text = "[j]\nrw=randread\nbs=8k\niodepth=64\nioengine=libaio\nruntime=60\ntime_based\nsize=100g\n";
    let report = folder.json("--on oci:500GB@20vpu", text);
    let iops = real(job(&report, "j"), "read.iops");
    // Published: 75 IOPS per GB, at most 37,500 for 500 GB.
    assert!((30_000.0..=37_600.0).contains(&iops), "{iops}");
    let (output, reported) = folder.run_jobs("--on oci:500GB@20vpu", "[j]\nrw=read\nsize=2t\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(reported.contains("are needed"), "{reported}");
}

/// An Oracle layout on one volume of OCI, of which fio's results were published (`rstyczynski/oci_bv4db_arch`, 2026): the
/// small operations do not wait as long as the large ones.
#[test]
fn oltp_beside_a_backup_gets_the_published_share() {
    const JOBS: &str = "[global]\ndirect=1\nioengine=libaio\ntime_based\nruntime=10\nsize=16g\n\
        [data]\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=16\nnumjobs=4\ngroup_reporting\n\
        [redo]\nrw=write\nbs=4k\nfdatasync=1\n\
        [backup]\nrw=rw\nbs=1m\niodepth=8\nrate=120m\n";
    let folder = JobFolder::new("mixed");
    let near = |found: f64, published: f64, what: &str| {
        // 22 % for the latency at 20 VPU: the jobs of 1 MiB come in bursts, as their queue is empty before they sleep.
        assert!((found / published - 1.0).abs() < 0.22, "{what}: {found}, published {published}");
    };
    for (volume, iops, read_ms, backup_mb) in [
        ("oci:600GB@20vpu", 14_134.0, 4.14, 251.7),
        ("oci:600GB@10vpu", 9_136.0, 6.43, 219.3),
        ("oci:600GB@120vpu,policy=failover", 27_270.0, 2.18, 251.7),
        ("oci:600GB@0vpu", 1_078.0, 55.4, 26.5),
    ] {
        let report = folder.json(&format!("--on {volume}"), JOBS);
        let sum = |name: &str, figure: &str| {
            let of = |direction: &str| real(job(&report, name), &format!("{direction}.{figure}"));
            of("read") + of("write")
        };
        near(sum("data", "iops"), iops, volume);
        near(real(job(&report, "data"), "read.lat_ns.mean") / 1e6, read_ms, volume);
        near(sum("backup", "bw_bytes") / 1e6, backup_mb, volume);
    }
}
