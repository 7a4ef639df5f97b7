//! The command as a user meets it: what it prints, with which exit code it ends, and what it leaves behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder can be made");
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(arguments)
            .current_dir(&self.0)
            .env("PLIMSOLL_RUNS", self.0.join("runs"))
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("the command starts")
    }

    /// Refused in one line that contains `expected`, with exit code 2, and nothing is left behind.
    fn refuses(&self, arguments: &[&str], expected: &str) {
        let before = self.entries();
        let output = self.run(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed to standard output");
        assert_eq!(self.entries(), before, "{arguments:?} left something behind");
    }

    fn entries(&self) -> Vec<PathBuf> {
        let mut entries: Vec<_> = fs::read_dir(&self.0).expect("it is there").flatten().map(|e| e.path()).collect();
        entries.sort();
        entries
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let folder = Folder::new("refused");
    fs::write(folder.path().join("data"), vec![7; 1 << 20]).expect("a file can be made");
    let measure = |rest: &[&'static str], expected: &str| {
        folder.refuses(&[&["measure"], rest].concat(), expected);
    };
    measure(&["nowhere"], "nowhere: no such file or directory: give");
    measure(&["/dev/null"], "give a directory, file or block device");
    measure(&[".", "--block-size", "8 foo"], "not a size");
    measure(&[".", "--block-size", "8kb"], "8000 bytes is no multiple of");
    measure(&[".", "--depth", "0"], "a queue depth of 0 cannot be");
    measure(&[".", "--threads", "0"], "0 threads cannot be");
    measure(&[".", "--depth", "1", "--threads", "2"], "cannot be shared by 2 threads");
    measure(&[".", "--depth", "1", "--rate", "100"], "cannot be used with");
    measure(&[".", "--quick", "--thorough"], "cannot be used with");
    measure(&[".", "--rate", "0"], "not a rate");
    measure(&[".", "--reads", "101"], "not a percentage");
    measure(&[".", "--pattern", "linear"], "not a pattern");
    measure(&[".", "--objective", "p99"], "not an objective");
    measure(&[".", "--duration", "60"], "not a time");
    measure(&[".", "--duration", "1ms"], "says nothing");
    measure(&[".", "--preset", "oltpp"], "is no preset and no file");
    measure(&[".", "--reads", "100", "--durable"], "about writes");
    measure(&[".", "--size", "1000TiB"], "are free");
    measure(&[".", "--size", "16MiB", "--working-set", "32MiB"], "larger than the space");
    measure(&[".", "--destroy", "."], "leave out --destroy");
    measure(&[".", "--json", "/nowhere/run.json"], "cannot be written");
    measure(&[".", "--json", "/dev/null"], "no regular file");
    measure(&["data", "--json", "data"], "that is what is measured");
    measure(&["data", "--destroy", "data", "--destroy", "other"], "only data is measured");
    measure(&[".", "--size", "1MiB"], "too little to measure on");
    measure(&[".", "--block-size", "1GiB", "--depth", "64"], "of buffers");
    measure(&[".", "--rate", "1000M"], "more than any loop can offer");
    measure(&[".", "--preset", "redo", "--max-depth", "8"], "depths of its own");
    measure(&[".", "--depth", "1,2", "--duration", "10s", "--warm-up", "5s"], "warm-up leaves nothing");
    measure(&[".", "--block-size", "4KiB:4294967295,8KiB:1"], "not block sizes");
    measure(&[".", "--html", "."], "it is a directory");
    measure(&["data", "--size", "2MiB"], "--size asks for 2 MiB");
    measure(&["data", "--reads", "50"], "add --destroy data");
    measure(&["data", "--destroy", "./data"], "destroy");
    folder.refuses(&["simulate", "drum(3)"], "is no stage");
    folder.refuses(&["simulate", "station(0, 80us)"], "cannot be a model");
    folder.refuses(&["simulate", "link(0us)"], "cannot be a model");
    folder.refuses(&["simulate", "link(1us)", "--threads", "2"], "one loop");
    folder.refuses(&["report", "nothing"], "no such run");
    folder.refuses(&["report"], "no run was kept yet");
    fs::write(folder.path().join("broken.json"), "{\"format\":\"plimsoll.curve/9\"}").expect("a file can be made");
    folder.refuses(&["report", "broken.json"], "use the version that made it");
    fs::write(folder.path().join("other.json"), "[1, 2]").expect("a file can be made");
    folder.refuses(&["report", "other.json"], "not a plimsoll run file");
}

#[test]
fn a_directory_is_measured_and_left_as_it_was() {
    let folder = Folder::new("measured");
    let output = folder.run(&[
        "measure",
        ".",
        "--size",
        "32MiB",
        "--duration",
        "1s",
        "--json",
        "run.json",
        "--html",
        "run.html",
        "--csv",
        "run.csv",
    ]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("IOPS") && text.contains("measured"), "{text}");
    let names: Vec<String> =
        folder.entries().iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    assert_eq!(names, ["run.csv", "run.html", "run.json", "runs"], "outputs, the kept run, and nothing else");
    let shown = folder.run(&["report", "run.json"]);
    assert!(stdout(&shown).contains("IOPS"));
    let same = folder.run(&["compare", "run.json", "run.json"]);
    assert!(same.status.success(), "{}", String::from_utf8_lossy(&same.stderr));
    assert!(stdout(&folder.run(&["runs"])).contains("measured"));
    folder.refuses(&["compare", "run.json", "run.json", "--json", "both.json"], "take one run");
}

#[test]
fn an_existing_file_is_only_read_unless_it_is_named() {
    let folder = Folder::new("file");
    let path = folder.path().join("data");
    let data: Vec<u8> = (0..8_u32 << 20).map(|i| (i >> 3) as u8).collect();
    fs::write(&path, &data).expect("a file can be made");
    let read = folder.run(&["measure", "data", "--duration", "300ms"]);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    assert!(stdout(&read).contains("read-only"), "{}", stdout(&read));
    assert_eq!(fs::read(&path).expect("it is there"), data, "not a byte has changed");
    let written = folder.run(&["measure", "data", "--destroy", "data", "--duration", "300ms"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert_ne!(fs::read(&path).expect("it is there"), data, "its data were given up");
}

#[test]
fn threads_measure_where_the_ring_may_not() {
    let folder = Folder::new("threads");
    let arguments = ["measure", ".", "--size", "16MiB", "--engine", "threads", "--depth", "4", "--duration", "500ms"];
    let output = folder.run(&[&arguments[..], &["--json", "-"]].concat());
    let text = stdout(&output);
    assert!(text.contains("\"engine\":\"threads\""), "{text}");
}

#[test]
fn more_loops_than_depth_still_measure_and_keep_their_streams_apart() {
    let folder = Folder::new("loops");
    let arguments = ["measure", ".", "--size", "64MiB", "--preset", "database", "--threads", "2", "--duration", "2s"];
    let output = folder.run(&[&arguments[..], &["--json", "-"]].concat());
    let curve: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    for run in curve["runs"].as_array().expect("runs") {
        for counter in run["total"].as_array().expect("counters") {
            let kind = ["read", "write", "durable-write"][counter["stream"].as_u64().expect("an index") as usize];
            assert_eq!(counter["kind"], kind, "the data are read, the writer writes, the log writes durably");
        }
    }
}

#[test]
fn every_preset_runs() {
    let folder = Folder::new("presets");
    for preset in ["oltp", "redo", "scan", "backup", "etcd", "database"] {
        let size = ["measure", ".", "--size", "64MiB", "--duration", "600ms", "--preset", preset];
        let output = folder.run(&size);
        assert!(output.status.success(), "{preset}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(stdout(&output).contains("IOPS"), "{preset}");
    }
}

#[test]
fn a_simulation_repeats_itself_and_finds_what_it_was_given() {
    let folder = Folder::new("simulated");
    let arguments = ["simulate", "station(4, 1ms, exponential)", "--duration", "20s", "--json", "-"];
    let (once, again) = (folder.run(&arguments), folder.run(&arguments));
    assert!(once.status.success(), "{}", String::from_utf8_lossy(&once.stderr));
    assert_eq!(once.stdout, again.stdout, "the same seed gives the same bytes");
    let curve: serde_json::Value = serde_json::from_slice(&once.stdout).expect("it is JSON");
    assert_eq!(curve["source"]["kind"], "simulated");
    let most =
        curve["runs"].as_array().expect("runs").iter().filter_map(|run| run["figures"]["iops"]["value"].as_f64());
    let most = most.fold(0.0, f64::max);
    assert!((3_800.0..4_200.0).contains(&most), "four servers of 1 ms carry 4,000 a second, not {most}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_measured() {
    let folder = Folder::new("interrupted");
    let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["measure", ".", "--size", "16MiB", "--json", "run.json", "--depth", "1,2,4", "--duration", "60s"])
        .current_dir(folder.path())
        .env("PLIMSOLL_RUNS", folder.path().join("runs"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let run = fs::read_to_string(folder.path().join("run.json")).expect("the run was written");
    assert!(run.contains("\"ended\":\"interrupted\""));
    assert_eq!(folder.entries().len(), 2, "the run, the kept runs, and no file of its own: {:?}", folder.entries());
}

#[test]
fn runs_over_each_other_are_judged_by_one_objective() {
    let folder = Folder::new("over-each-other");
    for (model, file) in [("link(100us)", "fast.json"), ("link(5ms)", "slow.json")] {
        let made = folder.run(&["simulate", model, "--depth", "1,4", "--duration", "2s", "--json", file, "--quiet"]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let shown = folder.run(&["report", "fast.json", "slow.json", "--html", "both.html"]);
    let lines: Vec<String> = stdout(&shown).lines().filter(|line| line.contains("keep p99")).map(Into::into).collect();
    let objective = |line: &String| line.split_once(" keep ").map(|(_, rest)| rest.to_owned());
    assert!(lines.len() == 2 && objective(&lines[0]) == objective(&lines[1]), "{lines:?}");
    let page = fs::read_to_string(folder.path().join("both.html")).expect("a page was written");
    assert!(!page.contains("do not share an objective"));
}

#[test]
fn written_reports_are_read_and_lose_their_names() {
    let folder = Folder::new("demo");
    folder.refuses(&["demo", "awr-html", "--windows", "2"], "name a folder for them with --out");
    assert!(folder.run(&["demo", "awr-text", "--windows", "3", "--instances", "2", "--out", "day"]).status.success());
    let day = fs::read_dir(folder.path().join("day")).expect("it was made").flatten().map(|entry| entry.path());
    let mut files: Vec<String> = day.map(|path| path.display().to_string()).collect();
    files.sort();
    assert_eq!(files.len(), 6);
    let said = stdout(&folder.run(&["demand", "day"]));
    assert!(said.contains("SHOP"), "{said}");
    let mut arguments = vec!["anonymize", "--out", "given"];
    arguments.extend(files.iter().map(String::as_str));
    let output = folder.run(&arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.matches("figures of storage are kept").count() == 6, "{told}");
    let said = stdout(&folder.run(&["demand", "given"]));
    assert!(said.contains("db1") && !said.to_lowercase().contains("shop"), "{said}");
    folder.refuses(&["demo", "sar", "--out", "given"], "it is not empty");
    folder.refuses(&["anonymize", &files[0], &files[1]], "name a folder for them with --out");
}
