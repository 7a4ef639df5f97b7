//! Jobs on files: amounts, order, and remaining files.

use std::time::{Duration, Instant};

use plimsoll_testkit::undisturbed;

use super::{JobFolder, integer, job, real};
use crate::folder::{stderr, stdout};

/// Operations and bytes of reads and writes of a job of these options.
#[track_caller]
fn check_job(name: &str, options: &str, expected: [u64; 4]) {
    let folder = JobFolder::new(name);
    let report = folder.json("", &format!("[j]\n{}\n", options.replace(' ', "\n")));
    let job = job(&report, "j");
    let found = ["read.total_ios", "read.io_bytes", "write.total_ios", "write.io_bytes"].map(|path| integer(job, path));
    assert_eq!(found, expected, "{options}");
    assert_eq!(integer(job, "error"), 0);
}

#[test]
fn jobs_do_as_much_as_they_say() {
    check_job("write", "rw=write size=64k", [0, 0, 16, 65_536]);
    check_job("read", "rw=read size=64k bs=8k", [8, 65_536, 0, 0]);
    check_job("part", "rw=randwrite size=10000", [0, 0, 2, 8_192]);
    check_job("nrfiles", "rw=write size=1m nrfiles=3", [0, 0, 255, 1_044_480]);
    check_job("filesize", "rw=write size=64k filesize=16k", [0, 0, 4, 16_384]);
    check_job("percent-of-filesize", "rw=write size=50% filesize=16k nrfiles=2", [0, 0, 4, 16_384]);
    check_job("io-size", "rw=randread size=64k io_size=192k", [48, 196_608, 0, 0]);
    check_job("percent", "rw=write size=64k io_size=50%", [0, 0, 8, 32_768]);
    check_job("count", "rw=randread size=64k number_ios=5", [5, 20_480, 0, 0]);
    check_job("loops", "rw=randread size=64k loops=3 ioengine=io_uring iodepth=8", [48, 196_608, 0, 0]);
    check_job("libaio", "rw=read size=64k ioengine=libaio iodepth=4 direct=1", [16, 65_536, 0, 0]);
    check_job("posixaio", "rw=randwrite size=64k ioengine=posixaio iodepth=4", [0, 0, 16, 65_536]);
    check_job("mmap", "rw=randwrite size=64k ioengine=mmap", [0, 0, 16, 65_536]);
    check_job("null", "rw=randread size=1g ioengine=null iodepth=8 number_ios=1000", [1_000, 4_096_000, 0, 0]);
    check_job("ratio", "rw=randrw size=64k rwmixread=100", [16, 65_536, 0, 0]);
    check_job("depths", "rw=read size=64k ioengine=libaio iodepth=8 iodepth_low=2 iodepth_batch=4", [16, 65_536, 0, 0]);
    check_job("sync", "rw=write size=64k sync=dsync", [0, 0, 16, 65_536]);
    check_job("processor", "rw=write size=64k cpus_allowed=0 cpus_allowed_policy=split", [0, 0, 16, 65_536]);
    check_job("think", "rw=write size=64k thinktime=100 thinktime_blocks=4", [0, 0, 16, 65_536]);
    check_job("think-spin", "rw=write size=64k thinktime=100 thinktime_spin=50 thinktime_blocks=4", [0, 0, 16, 65_536]);
    check_job("think-time", "rw=write size=64k thinktime=100 thinktime_iotime=1ms", [0, 0, 16, 65_536]);
    check_job("range", "rw=write size=64k sync_file_range=write,wait_after:4", [0, 0, 16, 65_536]);
    check_job("decimal", "rw=randrw size=64k rwmixread=0.0 iodepth=4.0 ioengine=libaio", [0, 0, 16, 65_536]);
    check_job("sequential-part", "rw=randread size=64k percentage_random=30", [16, 65_536, 0, 0]);
    check_job("zones", "rw=randread size=64k random_distribution=zoned:60/25:40/75", [16, 65_536, 0, 0]);
    check_job("normal", "rw=randwrite size=64k random_distribution=normal:20", [0, 0, 16, 65_536]);
    check_job("turns", "rw=write size=64k nrfiles=4 file_service_type=sequential", [0, 0, 16, 65_536]);
    check_job("buffers", "rw=write size=64k buffer_compress_percentage=50 refill_buffers", [0, 0, 16, 65_536]);
}

#[test]
fn sizes_of_different_files_add_up_to_that_of_the_job() {
    for (name, sizes) in [("split", "bssplit=4k/50:16k/50"), ("range", "bsrange=4k-16k")] {
        let folder = JobFolder::new(name);
        let report = folder.json("", &format!("[j]\nrw=randwrite\nsize=100k\n{sizes}\n"));
        let operations = integer(job(&report, "j"), "write.total_ios");
        assert_eq!(integer(job(&report, "j"), "write.io_bytes"), 102_400);
        assert!((7..=25).contains(&operations), "{sizes}: {operations}");
    }
}

#[test]
fn files_are_laid_out_used_again_and_removed_on_wish() {
    let folder = JobFolder::new("files");
    folder.json("", "[j]\nrw=read\nsize=64k\noffset=16k\n");
    assert_eq!(folder.length("j.0.0"), Some(81_920), "the file reaches from its offset on");
    let before = folder.bytes("j.0.0");
    assert!(before.iter().any(|byte| *byte != 0), "what is read was written first");
    folder.json("", "[j]\nrw=read\nsize=32k\n");
    assert_eq!(folder.bytes("j.0.0"), before, "it exists");
    folder.json("", "[j]\nrw=randread\nsize=256k\nunlink=1\n");
    assert_eq!(folder.length("j.0.0"), None);
    folder.json("", "[k]\nrw=write\nsize=64k\nio_size=16k\nfallocate=none\n");
    assert_eq!(folder.length("k.0.0"), Some(16_384), "a file that is only written grows");
    folder.json("", "[l]\nrw=read\nsize=64k\nzero_buffers\n");
    assert!(folder.bytes("l.0.0").iter().all(|byte| *byte == 0));
    folder.make("d");
    folder.json("", "[m]\nrw=write\nsize=8k\nnumjobs=2\nnrfiles=2\ndirectory=d\nfilename_format=f.$jobnum.$filenum\n");
    assert_eq!(folder.length("d/f.1.1"), Some(4_096));
    folder.json("", "[n]\nrw=write\nsize=8k\ncreate_only=1\n");
    assert_eq!(folder.length("n.0.0"), Some(8_192));
}

#[test]
fn stages_wait_and_groups_are_reported_together() {
    let folder = JobFolder::new("stages");
    let text = "[global]\nsize=64k\ngroup_reporting\n[a]\nrw=write\nnumjobs=3\n[b]\nstonewall\nrw=read\n[c]\nrw=read\n\
                new_group\nwait_for=b\n";
    let report = folder.json("", text);
    let names: Vec<&str> =
        report["jobs"].as_array().unwrap().iter().map(|job| job["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(integer(job(&report, "a"), "write.total_ios"), 48);
    let ids: Vec<u64> = names.iter().map(|name| integer(job(&report, name), "groupid")).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert_eq!(folder.names(".").len(), 6, "three of a, one each of b and c, and the job file");
}

#[test]
fn the_first_to_end_ends_the_others() {
    let folder = JobFolder::new("exitall");
    let before = Instant::now();
    let text = "[global]\nsize=64k\n[q]\nrw=write\nexitall\n[r]\nrw=randread\ntime_based\nruntime=60\n";
    let report = folder.json("", text);
    assert!(before.elapsed() < Duration::from_secs(30));
    assert_eq!(integer(job(&report, "q"), "write.total_ios"), 16);
}

#[test]
fn time_ends_jobs_and_a_warm_up_is_in_no_figure() {
    let folder = JobFolder::new("timed");
    let text = "[j]\nrw=randread\nsize=64k\ntime_based\nruntime=300ms\nramp_time=200ms\nrate_iops=1000\n";
    undisturbed(|| {
        let report = folder.json("", text);
        let count = |path| integer(job(&report, "j"), path);
        let (operations, runtime) = (count("read.total_ios"), count("read.runtime"));
        // A delay is shorter than the warm-up.
        assert!((295..=400).contains(&runtime), "{runtime} ms");
        assert!((150..=301).contains(&operations), "{operations} at 1,000 a second");
        assert_eq!(count("read.clat_ns.N"), operations);
        let levels = real(job(&report, "j"), "iodepth_level.1");
        assert!((95.0..=105.0).contains(&levels), "{levels}: the warm-up is in no count");
    });
}

#[test]
fn a_steady_state_ends_a_job() {
    let folder = JobFolder::new("steady");
    let text = "[j]\nrw=randread\nsize=64k\nioengine=null\ntime_based\nruntime=60\nrate_iops=2000\nss=iops:20%\n\
                ss_dur=1s\nsteadystate_check_interval=200ms\n";
    let report = folder.json("", text);
    let steady = &job(&report, "j")["steadystate"];
    assert_eq!(integer(steady, "attained"), 1, "{steady}");
    assert!(integer(job(&report, "j"), "read.runtime") < 30_000);
    assert_eq!(steady["data"]["iops"].as_array().map(Vec::len), Some(5));
}

#[test]
fn logs_have_a_line_for_each_operation_or_window() {
    undisturbed(check_logs);
}

fn check_logs() {
    let folder = JobFolder::new("logs");
    let text = "[global]\nrw=randwrite\nsize=64k\n[a]\nwrite_bw_log=x\nwrite_lat_log\nlog_offset=1\n[b]\ntime_based\n\
                runtime=500ms\nrate_iops=1000\nwrite_iops_log=y\nwrite_hist_log=y\nlog_avg_msec=100\nlog_hist_msec=250\n";
    folder.json("", text);
    let lines = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join(name));
        text.unwrap_or_else(|_| panic!("{name} of {:?}", folder.names("."))).lines().map(str::to_owned).collect()
    };
    assert_eq!((lines("x_bw.1.log").len(), lines("a_clat.1.log").len(), lines("a_slat.1.log").len()), (16, 16, 0));
    let offsets: std::collections::BTreeSet<u64> =
        lines("a_lat.1.log").iter().map(|line| line.split(", ").nth(4).unwrap().parse().unwrap()).collect();
    assert_eq!(offsets.len(), 16, "each block once");
    let windows = lines("y_iops.2.log");
    assert!(windows.len() >= 4, "{windows:?}");
    for line in &windows[..4] {
        let value: u64 = line.split(", ").nth(1).unwrap().parse().unwrap();
        assert!((800..=1_200).contains(&value), "{windows:?}");
    }
    let counted: u64 = lines("y_clat_hist.2.log")
        .iter()
        .flat_map(|line| line.split(", ").skip(3).map(|count| count.parse::<u64>().unwrap()).collect::<Vec<_>>())
        .sum();
    assert!((480..=501).contains(&counted), "{counted}");
}

#[test]
fn results_come_in_every_form() {
    let folder = JobFolder::new("forms");
    let output = folder.run("--output-format=normal,json,terse --name=j --rw=write --size=64k");
    let text = stdout(&output);
    assert!(text.starts_with("j: (g=0): rw=write, bs=(R) 4096B-4096B"), "{text}");
    assert!(text.contains("\n3;fio-3.42-plimsoll-") && text.contains("\"jobname\" : \"j\""), "{text}");
    assert!(text.contains("  write: IOPS=") && text.contains("Run status group 0"), "{text}");
    let output = folder.run("--output=out --minimal --name=j --rw=read --size=64k");
    assert!(output.status.success() && output.stdout.is_empty());
    let line = folder.read("out");
    assert_eq!(line.lines().count(), 1);
    assert_eq!(line.split(';').nth(5), Some("64"), "KiB that were read: {line}");
    let output =
        folder.run("--eta=always --eta-interval=100 --name=j --rw=read --size=64k --time_based --runtime=500ms");
    assert!(stderr(&output).contains("Jobs: 1 (f=1): [R(1)]["), "{}", stderr(&output));
    let words = "--status-interval=200ms --minimal --name=j --rw=read --size=64k --time_based --runtime=900ms";
    let lines = stdout(&folder.run(words));
    assert!(lines.lines().count() >= 3, "{lines}");
}

#[test]
fn questions_are_answered() {
    let folder = JobFolder::new("questions");
    let check = |words: &str, expected: &str| {
        let output = folder.run(words);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        assert!(stdout(&output).contains(expected), "{words}: {}", stdout(&output));
    };
    check("--version", "fio-3.42-plimsoll-");
    check("--help", "--destroy=PATH");
    check("--cmdhelp=blocksize", "option  bs\n");
    check("--enghelp=cpuio", "is refused: it measures processors");
    folder.write("a.fio", "[global]\nbs=8k\n[a]\nrw=randread\nsize=1m\n");
    check("--showcmd a.fio", "fio --bs=8k --name=a --rw=randread --size=1m \n");
    let output = folder.run("--parse-only a.fio");
    assert!(output.status.success() && output.stdout.is_empty());
    assert_eq!(folder.names("."), ["a.fio"], "nothing ran");
}

#[test]
fn interrupted_run_reports_its_operations() {
    let folder = JobFolder::new("interrupted");
    let mut command = folder.command(&["fio", "--minimal", "--output=out", "--name=j", "--rw=randread", "--size=64k"]);
    command.args(["--time_based", "--runtime=60", "--name=k", "--stonewall", "--rw=write", "--size=64k"]);
    let mut child = command.spawn().unwrap();
    // Until it has started, with its file laid out.
    while folder.length("j.0.0") != Some(65_536) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let lines = folder.read("out");
    let fields: Vec<Vec<&str>> = lines.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(fields.len(), 2, "{lines}");
    assert!(fields[0][5].parse::<u64>().unwrap() > 0, "{lines}");
    assert_eq!(folder.length("k.0.0"), Some(65_536), "files of all stages are made before the first");
}

#[test]
fn notes_go_to_their_file_and_not_to_standard_error() {
    let folder = JobFolder::new("notes");
    let words = "--name=j --rw=write --size=64k --thread --ioengine=posixaio --rate_iops=100000";
    let output = folder.run(words);
    assert!(output.status.success());
    assert_eq!(stderr(&output), "", "programs that start fio take any line for a failure");
    let output = folder.run(&format!("{words} --notes=n.txt"));
    assert_eq!(stderr(&output), "");
    let notes = folder.read("n.txt");
    for expected in [
        "thread has no effect",
        "replaced by threads with pread and pwrite",
        "lat is measured from the scheduled start",
    ] {
        assert!(notes.contains(expected), "{expected}: {notes}");
    }
    assert_eq!(stderr(&folder.run(&format!("{words} --notes=-"))).lines().count(), notes.lines().count());
    let output = folder.run(&format!("{words} --notes=none/n.txt"));
    assert!(stderr(&output).contains("--notes=none/n.txt: No such file"), "{}", stderr(&output));
}
