//! The command line: output, exit codes, and files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::folder::{Folder, PROGRAM, stderr, stdout};

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    let folder = Folder::new("refused");
    folder.write("data", vec![7; 1 << 20]);
    let measure = |rest: &[&'static str], expected: &str| {
        folder.refuses_usage(&[&["measure"], rest].concat(), expected);
    };
    measure(&["nowhere"], "nowhere: no such file or directory: give");
    measure(&["/dev/null"], "give a directory, file or block device");
    measure(&[".", "--block-size", "8 foo"], "not a size");
    measure(&[".", "--block-size", "8kb"], "8000 bytes is not a multiple of");
    measure(&[".", "--depth", "0"], "invalid queue depth 0");
    measure(&[".", "--depth", "4097"], "invalid queue depth 4097: use 1 to 4096");
    folder.refuses_usage(&["simulate", "link(1ms)", "--depth", "65537"], "invalid queue depth 65537: use 1 to 65536");
    measure(&[".", "--threads", "0"], "invalid number of threads 0");
    measure(&[".", "--depth", "1", "--threads", "2"], "cannot be shared by 2 threads");
    measure(&[".", "--depth", "1", "--rate", "100"], "cannot be used with");
    measure(&[".", "--quick", "--thorough"], "cannot be used with");
    measure(&[".", "--rate", "0"], "not a rate");
    measure(&[".", "--reads", "101"], "not a percentage");
    measure(&[".", "--pattern", "linear"], "not a pattern");
    measure(&[".", "--objective", "p99"], "not an objective");
    measure(&[".", "--duration", "60"], "not a time");
    measure(&[".", "--duration", "1ms"], "is too short");
    measure(&[".", "--preset", "oltpp"], "is neither a preset nor a file");
    measure(&[".", "--reads", "100", "--durable"], "require writes");
    measure(&[".", "--size", "1000TiB"], "are free");
    measure(&[".", "--size", "16MiB", "--working-set", "32MiB"], "larger than the space");
    measure(&[".", "--destroy", "."], "omit --destroy");
    measure(&[".", "--json", "/nowhere/run.json"], "cannot be written");
    measure(&[".", "--json", "/dev/null"], "not a regular file");
    measure(&["data", "--json", "data"], "this is the measured target");
    measure(&["data", "--destroy", "data", "--destroy", "other"], "only data is measured");
    measure(&[".", "--size", "1MiB"], "is too small");
    measure(&[".", "--block-size", "1GiB", "--depth", "64"], "of buffers");
    measure(&[".", "--rate", "1000M"], "exceeds the maximum rate");
    measure(&[".", "--preset", "redo", "--max-depth", "8"], "fixed queue depths");
    measure(&[".", "--depth", "1,2", "--duration", "10s", "--warm-up", "5s"], "warm-up takes the whole duration");
    measure(&[".", "--block-size", "4KiB:4294967295,8KiB:1"], "not block sizes");
    measure(&[".", "--html", "."], "it is a directory");
    measure(&["data", "--size", "2MiB"], "smaller than --size 2 MiB");
    measure(&["data", "--reads", "50"], "add --destroy data");
    measure(&["data", "--destroy", "./data"], "destroy");
    folder.refuses_usage(&["simulate", "drum(3)"], "is not a stage");
    folder.refuses_usage(&["simulate", "station(0, 80us)"], "cannot be a model");
    folder.refuses_usage(&["simulate", "link(0us)"], "cannot be a model");
    folder.refuses_usage(&["simulate", "link(1us)", "--threads", "2"], "single loop");
    folder.refuses_usage(&["report", "nothing"], "no such run");
    folder.refuses_usage(&["report"], "no complete runs yet");
    folder.write("own.toml", "[product]\n");
    folder.refuses_usage(&["report", "own.toml"], "this is a product file");
    folder.write("broken.json", "{\"format\":\"plimsoll.curve/9\"}");
    folder.refuses_usage(&["report", "broken.json"], "use the version that made it");
    folder.write("other.json", "[1, 2]");
    folder.refuses_usage(&["report", "other.json"], "not a plimsoll run file");
}

#[test]
fn usage_errors_end_with_the_remedy() {
    let folder = Folder::new("remedies");
    folder.make("empty");
    folder.write("report.txt", "x");
    let refuses = |line: &str, expected: &str| {
        folder.refuses_usage(&line.split(' ').collect::<Vec<_>>(), expected);
    };
    refuses("mesure .", "tip: a similar subcommand exists: 'measure'");
    refuses("quote oci:256GB --colour", "--no-color or the environment variable NO_COLOR");
    refuses("measure . --depth 1,x", "not a whole number: write digits only");
    refuses("measure . --objective p50<=0ms", "a limit of zero, which no storage meets");
    refuses("measure oci:256GB@50vpu", "plimsoll simulate 'oci:256GB@50vpu'");
    refuses("measure limit(300)", "plimsoll simulate 'limit(300)'");
    refuses("simulate limit(3000", "lacks a closing parenthesis");
    refuses("quote oci:256TB", "size is 256 TB (262,144 GB as the vendor counts), and can be 50 to 32,768 GB");
    refuses("quote oci:256GB --region tokyo", "use one of Japan, ap-northeast-1,");
    refuses("quote oci:256GB --block-size 16", "not a size without a unit");
    refuses("quote oci:256GB --block-size 16B", "use at least 512B");
    refuses("quote oci:5GB --json -", "can be 50 to 32,768 GB");
    refuses("size empty --capacity 2", "not a size without a unit");
    refuses("size report.txt --capacity 2KiB", "use a unit, such as 2TiB");
    refuses("size empty --capacity 2TB", "the directory has no files: use reports");
}

#[test]
fn missing_file_is_a_usage_error() {
    let folder = Folder::new("missing");
    for line in [
        "report missing",
        "compare missing missing",
        "match missing",
        "fit missing",
        "explain missing --as oci:256GB",
        "demand missing",
        "diagnose missing",
        "watch missing",
        "size missing --capacity 2TB",
        "catalogue check missing",
        "measure missing",
        "measure . --replay missing",
        "simulate oci:256GB --replay missing",
        "suite dd missing",
    ] {
        folder.refuses_usage(&line.split(' ').collect::<Vec<_>>(), "missing: ");
    }
}

#[test]
fn kept_runs_have_short_names() {
    let folder = Folder::new("short-names");
    folder.refuses_usage(&["report", "last"], "no complete runs yet");
    for _ in 0..2 {
        let created =
            folder.run(&["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "200ms", "--quiet"]);
        assert!(created.status.success(), "{}", stderr(&created));
    }
    let runs = stdout(&folder.run(&["runs"]));
    let names: Vec<&str> = runs.lines().filter_map(|line| line.split(' ').next()).collect();
    let [older, newer] = names[..] else { panic!("two runs: {runs}") };
    let report = |name: &str| stdout(&folder.run(&["report", name, "--csv", "-"]));
    assert_eq!(report("last"), report(newer));
    assert_eq!(report("last~1"), report(older));
    let differ = older.bytes().zip(newer.bytes()).position(|(a, b)| a != b).unwrap_or(older.len());
    if differ < older.len() {
        assert_eq!(report(&older[..=differ]), report(older));
    }
    folder.refuses_usage(&["report", &older[..differ.min(older.len() - 1)]], "ambiguous prefix of ");
    folder.refuses_usage(&["report", "last~2"], "there are fewer complete runs");
    assert!(folder.run(&["compare", "last~1", "last"]).status.success());
}

#[test]
fn simulated_run_beyond_the_knee_is_no_unsteady_device() {
    let folder = Folder::new("beyond");
    let load = ["--rate", "10k,28k,30003", "--duration", "30s", "--reads", "100"];
    let text = stdout(&folder.run(&[&["simulate", "oci:256GB@50vpu"][..], &load].concat()));
    assert!(text.contains("of virtual time"), "{text}");
    assert!(!text.contains("no steady state") && !text.contains("precondition"), "{text}");
}

/// A model has no buffers and no kernel queue: 20,000 operations wait for a station of 16 servers of 1 ms, a response of
/// 1.25 s by Little's law.
#[test]
fn simulated_depth_may_exceed_the_depth_of_storage() {
    let folder = Folder::new("deep");
    let load = ["--depth", "20000", "--block-size", "1MiB", "--quick", "--json", "-"];
    let output = folder.run(&[&["simulate", "station(16, 1ms, exponential)"][..], &load].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let curve: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let iops = curve["runs"][0]["figures"]["iops"]["value"].as_f64().expect("a rate");
    assert!((15_200.0..16_800.0).contains(&iops), "16 servers of 1 ms carry 16,000 a second, not {iops}");
}

#[test]
fn a_few_loads_of_a_model_give_a_load_line() {
    let folder = Folder::new("few");
    let load = ["--depth", "1,2,4,8,64", "--reads", "100", "--objective", "p99<=1ms"];
    let text = stdout(&folder.run(&[&["simulate", "station(4, 100us, exponential)"][..], &load].concat()));
    // Eight in flight have 575 us, and 64 have 2.15 ms, at the rate of four.
    let line = text.lines().next().unwrap_or_default();
    assert!(line.starts_with("Load line: 40,") && line.contains("keep p99 <= 1 ms"), "{text}");
}

#[test]
fn prices_have_the_digits_of_their_currency() {
    let folder = Folder::new("prices");
    let gcp = "gcp/hyperdisk-balanced:40GiB,iops=19607,throughput=154";
    assert!(stdout(&folder.run(&["quote", gcp])).contains("price    86.79 USD a month"));
    assert!(stdout(&folder.run(&["quote", gcp, "--json", "-"])).contains("\"86.791185\""));
    let yen = stdout(&folder.run(&["quote", "oci:256GB@50VPU", "--currency", "JPY"]));
    assert!(yen.contains("4,385 JPY a month") && yen.contains("12,800 VPU-GB-month"), "{yen}");
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
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(text.contains("IOPS") && text.contains("measured"), "{text}");
    assert_eq!(
        folder.names("."),
        ["run.csv", "run.html", "run.json", "runs"],
        "outputs, the kept run, and nothing else"
    );
    let report = folder.run(&["report", "run.json"]);
    assert!(stdout(&report).contains("IOPS"));
    let same = folder.run(&["compare", "last", "last"]);
    assert!(same.status.code() == Some(2) && stderr(&same).contains("is on both sides"), "{}", stderr(&same));
    assert!(stdout(&folder.run(&["runs"])).contains("measured"));
}

#[test]
fn an_existing_file_is_only_read_unless_it_is_named() {
    let folder = Folder::new("file");
    let data: Vec<u8> = (0..8_u32 << 20).map(|i| (i >> 3) as u8).collect();
    folder.write("data", &data);
    let read = folder.run(&["measure", "data", "--duration", "300ms"]);
    assert!(read.status.success(), "{}", stderr(&read));
    assert!(stdout(&read).contains("read-only"), "{}", stdout(&read));
    assert_eq!(folder.bytes("data"), data, "not a byte has changed");
    let written = folder.run(&["measure", "data", "--destroy", "data", "--duration", "300ms"]);
    assert!(written.status.success(), "{}", stderr(&written));
    assert_ne!(folder.bytes("data"), data, "its data were given up");
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
        assert!(output.status.success(), "{preset}: {}", stderr(&output));
        assert!(stdout(&output).contains("IOPS"), "{preset}");
    }
}

#[test]
fn simulation_is_reproducible_and_finds_the_capacity() {
    let folder = Folder::new("simulated");
    let arguments = ["simulate", "station(4, 1ms, exponential)", "--duration", "20s", "--json", "-"];
    let (once, again) = (folder.run(&arguments), folder.run(&arguments));
    assert!(once.status.success(), "{}", stderr(&once));
    assert_eq!(once.stdout, again.stdout, "the same seed gives the same bytes");
    let curve: serde_json::Value = serde_json::from_slice(&once.stdout).expect("it is JSON");
    assert_eq!(curve["source"]["kind"], "simulated");
    let max = curve["runs"].as_array().expect("runs").iter().filter_map(|run| run["figures"]["iops"]["value"].as_f64());
    let max = max.fold(0.0, f64::max);
    assert!((3_800.0..4_200.0).contains(&max), "four servers of 1 ms carry 4,000 a second, not {max}");
}

#[cfg(unix)]
#[test]
fn interrupt_keeps_measured_data() {
    let folder = Folder::new("interrupted");
    let measure = ["measure", ".", "--size", "16MiB", "--json", "run.json", "--depth", "1,2,4", "--duration", "60s"];
    let child =
        folder.command(&measure).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command starts");
    std::thread::sleep(std::time::Duration::from_secs(3));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130));
    assert!(stderr(&ended).ends_with("plimsoll: interrupted\n"), "{}", stderr(&ended));
    let run = folder.read("run.json");
    assert!(run.contains("\"ended\":\"interrupted\""));
    assert_eq!(folder.names(".").len(), 2, "the run, the kept runs, and no file of its own: {:?}", folder.names("."));
}

#[test]
fn runs_over_each_other_are_judged_by_one_objective() {
    let folder = Folder::new("over-each-other");
    for (model, file) in [("link(100us)", "fast.json"), ("link(5ms)", "slow.json")] {
        let created = folder.run(&["simulate", model, "--depth", "1,4", "--duration", "2s", "--json", file, "--quiet"]);
        assert!(created.status.success(), "{}", stderr(&created));
    }
    let report = folder.run(&["report", "fast.json", "slow.json", "--html", "both.html"]);
    let lines: Vec<String> = stdout(&report).lines().filter(|line| line.contains("keep p99")).map(Into::into).collect();
    let objective = |line: &String| line.split_once(" keep ").map(|(_, rest)| rest.to_owned());
    assert!(lines.len() == 2 && objective(&lines[0]) == objective(&lines[1]), "{lines:?}");
    let page = folder.read("both.html");
    assert!(!page.contains("have different objectives"));
}

#[test]
fn two_targets_are_measured_in_turns_and_both_runs_kept() {
    let folder = Folder::new("turns");
    for target in ["a", "b"] {
        folder.make(target);
    }
    let turns = ["measure", "a", "--against", "b", "--size", "16MiB", "--reads", "100"];
    let effort = ["--objective", "mean<=50ms", "--duration", "4s", "--json", "compared.json"];
    let output = folder.run(&[&turns[..], &effort].concat());
    let text = words(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    let verdicts = ["Better: ", "Worse: ", "No significant difference; ", "No verdict: "];
    assert!(verdicts.iter().any(|verdict| text.starts_with(verdict)), "{text}");
    assert!(text.contains("objective mean <= 50 ms"), "{text}");
    let runs = stdout(&folder.run(&["runs"]));
    let names: Vec<&str> = runs.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() == 2 && names.iter().all(|name| text.contains(name)), "{names:?} in {text}");
    let json = folder.bytes("compared.json");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
    assert_eq!(json["format"], "plimsoll.comparison/2");
    for target in ["a", "b"] {
        assert_eq!(folder.names(target), [""; 0], "no file is left in {target}");
    }
    folder.refuses_usage(&["measure", "a", "--against", "nowhere"], "nowhere: no such file or directory");
    folder.refuses_usage(&["measure", "a", "--against", "b", "--destroy", "c"], "only a and b are measured");
}

#[test]
fn two_targets_are_compared_at_named_loads() {
    let folder = Folder::new("named-turns");
    for target in ["a", "b"] {
        folder.make(target);
    }
    let turns = ["measure", "a", "--against", "b", "--size", "16MiB", "--reads", "100", "--buffered"];
    for (option, loads, quantity) in [("--rate", "200,400", "mean"), ("--depth", "1,2", "iops")] {
        let json = folder.json(&[&turns[..], &[option, loads, "--duration", "800ms"]].concat());
        let points = json["points"].as_array().expect("points");
        let of_quantity = points.iter().filter(|point| point["quantity"] == quantity).count();
        assert_eq!(of_quantity, 2, "{option}: {points:?}");
        let run = folder.json(&["report", "last"]);
        assert_eq!(run["runs"].as_array().map(Vec::len), Some(4), "each load in two passes");
    }
    folder.refuses_usage(&["measure", "a", "--against", "last"], "a run, not a target");
}

#[test]
fn preloaded_library_that_drops_flushes_is_found() {
    let library = ["/usr/lib/x86_64-linux-gnu/libeatmydata.so", "/usr/lib/aarch64-linux-gnu/libeatmydata.so"];
    let Some(library) = library.into_iter().find(|path| Path::new(path).exists()) else {
        eprintln!("skipped: needs libeatmydata (apt install libeatmydata1)");
        return;
    };
    let folder = Folder::new("eatmydata");
    let measured = |library: &str| {
        let mut command = folder.command(&["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "400ms"]);
        words(&command.env("LD_PRELOAD", library).output().expect("the command starts"))
    };
    let text = measured(library);
    assert!(text.contains("libeatmydata is preloaded"), "{text}");
    assert!(!text.contains("flushes do not reach the storage"), "its own flushes go past the library: {text}");
    assert!(!measured("").contains("libeatmydata"));
}

#[test]
fn storage_too_slow_for_the_duration_has_an_early_warning() {
    let folder = Folder::new("slow");
    let simulated = |model: &str| {
        let output = folder.run(&["simulate", model, "--duration", "20s", "--objective", "p99<=200ms"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let notice = simulated("station(1, 10ms, exponential)");
    // 25,000 operations at 100 per second; short slots contain up to 130.
    let seconds = notice.split_once("needs about ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(seconds.is_some_and(|seconds| (190..=280).contains(&seconds)), "{notice}");
    assert!(notice.contains("--objective 'p90<=200ms'") && notice.contains("'mean<=200ms'"), "{notice}");
    assert!(!simulated("station(64, 1ms, exponential)").contains("needs about"));
}

#[test]
fn settings_are_measured_in_turns_and_a_failing_command_ends_the_measurement() {
    let folder = Folder::new("settings");
    folder.make("data");
    let turns =
        ["measure", "data", "--size", "16MiB", "--reads", "100", "--objective", "mean<=50ms", "--duration", "2s"];
    let measured = |a: &str, b: &str| folder.run(&[&turns[..], &["--ab", a, b]].concat());
    let output = measured("echo a >> log", "echo b >> log");
    assert!(output.status.success(), "{}", stderr(&output));
    let order = folder.read("log").replace('\n', "");
    // How many passes there are depends on the host, and the time of one side may end before that of the other.
    let in_turns = order.trim_end_matches(order.chars().next_back().expect("there are passes"));
    assert!(order.contains('b') && "abba".repeat(order.len()).starts_with(in_turns), "{order}");
    assert!(words(&output).contains(" after echo b >> log"), "{}", words(&output));
    let failed = measured("true", "test ! -e once || { echo no such setting >&2; exit 3; }; touch once");
    let message = stderr(&failed);
    assert_eq!(failed.status.code(), Some(1), "{message}");
    assert!(message.contains("no such setting") && message.contains("before a pass"), "{message}");
    assert!(stdout(&failed).is_empty(), "no verdict: {}", stdout(&failed));
}

/// Standard output as a single line.
fn words(output: &Output) -> String {
    stdout(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Simulates a queue with this service time and seed, and writes the run to `file`.
fn simulate_queue(folder: &Folder, service: &str, seed: &str, file: &str) {
    let model = format!("station(8, {service}, exponential)");
    let flags = ["--duration", "30s", "--objective", "p99<=10ms", "--seed", seed, "--json", file, "--quiet"];
    let created = folder.run(&[&["simulate", model.as_str()][..], &flags].concat());
    assert!(created.status.success(), "{}", stderr(&created));
}

#[test]
fn comparison_states_the_verdict_in_its_first_line_and_exit_code() {
    let folder = Folder::new("verdicts");
    for (service, seed, file) in
        [("1ms", "1", "a.json"), ("1ms", "2", "same.json"), ("500us", "3", "fast.json"), ("1ms", "4", "third.json")]
    {
        simulate_queue(&folder, service, seed, file);
    }
    let compared = |arguments: &[&str]| {
        let output = folder.run(&[&["compare", "--exit-code"], arguments].concat());
        (output.status.code(), words(&output))
    };
    let (code, better) = compared(&["a.json", "fast.json"]);
    assert!(better.starts_with("Better: the load line rose by ") && code == Some(0), "{code:?}: {better}");
    assert!(better.contains("during these runs") && better.contains("first a.json second fast.json"), "{better}");
    assert!(better.contains("objective p99 <= 10 ms"), "{better}");
    let (code, worse) = compared(&["fast.json", "a.json"]);
    assert!(worse.starts_with("Worse: the load line fell by ") && code == Some(1), "{code:?}: {worse}");
    let (code, same) = compared(&["a.json", "same.json"]);
    assert!(same.starts_with("No significant difference; ") && code == Some(0), "{code:?}: {same}");
    let (code, several) = compared(&["a.json", "same.json", "third.json", "--", "third.json", "a.json", "same.json"]);
    assert!(
        several.starts_with("No significant difference") && !several.contains("during these runs") && code == Some(0),
        "{several}"
    );
    let (code, two) = compared(&["a.json", "same.json", "--", "third.json", "fast.json"]);
    assert!(two.starts_with("No verdict: ") && two.contains("at least three") && code == Some(3), "{code:?}: {two}");
    let written = folder.run(&["compare", "a.json", "fast.json", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&written.stdout).expect("it is JSON");
    assert_eq!(json["format"], "plimsoll.comparison/2");
    assert_eq!((&json["verdict"], &json["first"][0]), (&"better".into(), &"a.json".into()));
    assert!(json["line"]["ratio"]["value"].as_f64().expect("a ratio") > 1.5, "{json}");
    folder.refuses_usage(&["compare", "a.json"], "give two runs");
}

#[test]
fn interrupted_trial_leaves_nothing_behind() {
    let folder = Folder::short("trial");
    folder.make("t");
    let mut command = folder.command(&["try"]);
    let mut trial = command.env("TMPDIR", folder.join("t")).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(trial.stderr.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("3 of 3"))), "it reaches the emulation");
    while folder.names("t").len() < 2 && matches!(trial.try_wait(), Ok(None)) {
        std::thread::yield_now();
    }
    assert_eq!(folder.names("t").len(), 2, "data and sockets of the service");
    kill_process(Pid::from_child(&trial), Signal::INT).expect("it runs");
    assert_eq!(trial.wait().expect("it ends").code(), Some(130));
    assert!(folder.names("t").is_empty(), "{:?}", folder.names("t"));
}

#[test]
fn doctor_fails_where_a_necessary_check_fails() {
    let folder = Folder::new("doctor-exit");
    let unready = folder.run(&["doctor", "nowhere"]);
    let text = stdout(&unready);
    assert_eq!(unready.status.code(), Some(1), "{text}");
    assert!(text.starts_with("Not ready") && text.contains("failed: path: nowhere: no such file"), "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    folder.refuses_usage(&["doctor", "--database", "db1"], "no database's address");
}

#[test]
fn runs_of_different_loads_and_unfinished_runs_are_not_compared() {
    let folder = Folder::new("incomparable");
    simulate_queue(&folder, "1ms", "1", "a.json");
    let json = folder.read("a.json");
    let edited = |name: &str, from: &str, to: &str| {
        assert!(json.contains(from), "{from}");
        folder.write(name, json.replace(from, to));
    };
    edited("cut.json", "\"ended\":\"complete\"", "\"ended\":\"interrupted\"");
    edited("mixed.json", "\"reads\":0.8", "\"reads\":0.5");
    for (other, why) in [("cut.json", "was interrupted"), ("mixed.json", "their loads differ")] {
        let output = folder.run(&["compare", "a.json", other, "--exit-code"]);
        let text = words(&output);
        assert!(text.starts_with("No verdict: ") && text.contains(why), "{text}");
        assert_eq!(output.status.code(), Some(3));
    }
    let twice = folder.run(&["compare", "a.json", "cut.json", "a.json", "--", "mixed.json"]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("a.json: named twice"), "{}", stderr(&twice));
    let report = |run: &str| stdout(&folder.run(&["report", run]));
    assert!(report("a.json").contains("p99 <= 50 ms"), "the ladder of objectives: {}", report("a.json"));
    assert!(!report("cut.json").contains("p99 <= 50 ms"), "no verdict at any objective: {}", report("cut.json"));
}

#[test]
fn earlier_runs_of_the_subject_count_as_noise_except_those_compared() {
    let folder = Folder::new("history");
    folder.make("runs");
    for seed in ["1", "2", "3", "4", "5"] {
        simulate_queue(
            &folder,
            "1ms",
            seed,
            &format!("runs/2026010100000{seed}-simulated-station-8--1ms--exponential.json"),
        );
    }
    fs::copy(folder.join("runs/20260101000001-simulated-station-8--1ms--exponential.json"), folder.join("a.json"))
        .expect("a file can be copied");
    let json = |second: &str| -> serde_json::Value {
        let written = folder.run(&["compare", "a.json", second, "--json", "-"]);
        serde_json::from_slice(&written.stdout).expect("it is JSON")
    };
    assert_eq!(json("last")["history"]["runs"], 3, "five were kept, of which two are compared");
    assert_eq!(json("last")["second"][0], "20260101000005-simulated-station-8--1ms--exponential");
    let comparison = words(&folder.run(&["compare", "a.json", "last"]));
    assert!(comparison.contains("3 earlier runs of the same load vary by"), "{comparison}");
    fs::remove_file(folder.join("runs/20260101000002-simulated-station-8--1ms--exponential.json"))
        .expect("it is there");
    assert!(json("last")["history"].is_null(), "two runs show no scatter");
}

#[test]
fn samples_of_the_repository_are_read() {
    let folder = Folder::new("samples");
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    let text = stdout(&folder.run(&["demand", samples]));
    for part in ["SHOP", "dbhost", "fio result (JSON)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("not used"), "{text}");
}

#[test]
fn label_of_the_last_run_does_not_skip_a_suite() {
    let folder = Folder::new("label-of-suite");
    folder.text(&["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "1s", "--quiet"]);
    folder.text(&["suite", "dd", ".", "--bs", "64KiB", "--count", "4", "--no-probe"]);
    folder.refusal(&["runs", "label", "last", "after"], "a suite has no label");
    assert!(!folder.text(&["runs"]).contains("-after-"), "the measurement keeps its name");
}

#[test]
fn labels_are_names_of_runs_until_they_are_removed() {
    let folder = Folder::new("labels");
    let measure = ["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "1s", "--quiet"];
    folder.text(&[&measure[..], &["--label", "before"]].concat());
    folder.text(&measure);
    folder.text(&["runs", "label", "last", "after"]);
    let names = folder.text(&["runs"]);
    let lines: Vec<&str> = names.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("-before-") && lines[1].contains("-after-"), "{names}");
    assert!(folder.text(&["compare", "before", "after"]).contains("-after-"), "labels are names");
    folder.refusal(&["runs", "label", "before", "last"], "a label has");
    folder.write("own.json", folder.bytes(&format!("runs/{}", folder.names("runs")[0])));
    folder.refusal(&["runs", "delete", "before", "own.json"], "not a kept run");
    assert_eq!(folder.names("runs").len(), 2, "none is removed if one is refused");
    assert!(folder.text(&["runs", "prune", "--keep", "1"]).contains("-before-"));
    assert!(folder.text(&["runs", "delete", "after"]).contains("-after-"));
    assert_eq!((folder.names("runs").len(), folder.join("own.json").is_file()), (0, true));
}

#[test]
fn conditions_on_several_results_have_the_gravest_exit_code() {
    let folder = Folder::new("gates");
    let quote = ["quote", "aws/gp3:100GiB", "aws/gp3:500GiB", "--as-of", "2026-11-21"];
    let code = |conditions: &[&str]| {
        let output = folder.run(&[&quote[..], conditions].concat());
        (output.status.code(), stderr(&output).matches("price > 20").count())
    };
    assert_eq!(code(&["--fail-if", "price > 20"]), (Some(1), 2), "the second costs more");
    assert_eq!(code(&["--fail-if", "knee < 10", "--fail-if", "price > 20"]), (Some(1), 2), "no knee is less grave");
    assert_eq!(code(&["--fail-if", "knee < 10"]), (Some(3), 0));
    assert_eq!(code(&["--fail-if", "price > 500"]), (Some(0), 0));
    assert_eq!(code(&["--fail-if", "price > 500 USD"]), (Some(0), 0));
    let other = folder.run(&[&quote[..], &["--fail-if", "price > 500 EUR"]].concat());
    assert_eq!(other.status.code(), Some(3));
    assert!(
        stderr(&other).contains("the price is in USD: write a limit in USD, or set --currency"),
        "{}",
        stderr(&other)
    );
}

/// Runs in virtual time, which depend on their seeds only: no other load of this host matters.
#[test]
fn gate_passes_equal_storage_and_fails_a_limited_depth() {
    let folder = Folder::new("equal");
    let run = |model: &str, seed: u32| {
        let (seed, file) = (seed.to_string(), format!("{seed}.json"));
        let load = ["--seed", &seed, "--objective", "p99<=1ms", "--quick", "--quiet", "--json", &file];
        folder.text(&[&["simulate", model][..], &load].concat());
        file
    };
    let judge = |pair: [String; 2]| {
        let [before, after] = &pair;
        let output = folder.run(&["compare", before, after, "--fail-if", "line < -10%", "--fail-if", "p99@20k > 50%"]);
        (output.status.code(), stderr(&output))
    };
    let storage = "station(8, 80us, exponential)";
    let codes = (0..20).map(|pair| {
        let (code, outcomes) = judge([2 * pair, 2 * pair + 1].map(|seed| run(storage, seed)));
        assert_ne!(code, Some(1), "pair {pair}: {outcomes}");
        code
    });
    // Short runs with few slots near the line have intervals that are too wide for the condition.
    let passed = codes.filter(|code| *code == Some(0)).count();
    assert!(passed >= 16, "{passed} of 20 pairs pass, the others are undetermined");
    let limited = format!("window(2: {storage})");
    for seed in 40..43 {
        let (code, outcomes) = judge(["0.json".to_owned(), run(&limited, seed)]);
        assert_eq!(code, Some(1), "{outcomes}");
        assert!(outcomes.contains("failed, line < -10%: "), "{outcomes}");
    }
}

#[test]
fn all_runs_of_a_side_decide_a_gate() {
    let folder = Folder::new("sides");
    for (name, service) in [("base", "800us"), ("slow", "960us")] {
        for seed in ["1", "2", "3"] {
            let model = format!("station(64, {service}, lognormal 0.4)");
            let file = format!("{name}{seed}.json");
            folder
                .text(&["simulate", &model, "-r", "100", "--rate", "5000", "--seed", seed, "--quick", "--json", &file]);
        }
    }
    let judge = |before: &[&str], after: &[&str]| {
        let gate = ["--fail-if", "mean@5000 > 10%"];
        let output = folder.run(&[&["compare"], &gate[..], before, &["--"], after].concat());
        (output.status.code(), stderr(&output))
    };
    let base = ["base1.json", "base2.json", "base3.json"];
    let (code, outcomes) = judge(&base, &["slow1.json", "slow2.json", "slow3.json"]);
    assert_eq!(code, Some(1), "{outcomes}");
    assert!(outcomes.contains("failed, mean@5000 > 10%: +"), "{outcomes}");
    // Two of three are slower: their scatter contains the threshold.
    let (code, outcomes) = judge(&base, &["slow1.json", "slow2.json", "base2.json"]);
    assert_eq!(code, Some(3), "{outcomes}");
    let (code, outcomes) = judge(&base, &["slow1.json"]);
    assert_eq!(code, Some(3), "{outcomes}");
    assert!(outcomes.contains("give at least two of each side"), "{outcomes}");
}

#[test]
fn change_of_a_single_result_is_undetermined() {
    let folder = Folder::new("single");
    for condition in ["price < -10%", "max < -10%"] {
        let output = folder.run(&["quote", "aws/gp3:500GiB", "--fail-if", condition]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
}

#[test]
fn junit_has_an_error_of_a_command_without_a_result() {
    let folder = Folder::new("junit-failure");
    let commands: [(&[&str], &str); 4] = [
        (&["quote", "oci:99999TB", "--fail-if", "price > 1"], "99999 TB"),
        (&["simulate", "drum(3)", "--fail-if", "line < 1"], "drum"),
        (&["measure", "nowhere", "--fail-if", "line < 1"], "nowhere"),
        (&["compare", "nowhere", "last", "--fail-if", "line < 1"], "nowhere"),
    ];
    for (command, reason) in commands {
        let output = folder.run(&[command, &["--junit", "gate.xml"]].concat());
        let xml = folder.read("gate.xml");
        assert!(!output.status.success() && xml.contains(r#"tests="1" failures="0" errors="1""#), "{command:?}: {xml}");
        assert!(xml.contains(reason), "{reason}: {xml}");
        fs::remove_file(folder.join("gate.xml")).expect("it was written");
    }
}

#[test]
fn unsaved_run_is_an_error_after_its_result() {
    let folder = Folder::new("not-kept");
    folder.write("runs", "a file");
    let measure = |extra: &[&str]| {
        let load = ["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "1s", "--markdown", "-"];
        let output = folder.run(&[&load[..], extra].concat());
        (output.status.code(), stdout(&output).contains("depth 1"), stderr(&output).matches("run was not kept").count())
    };
    assert_eq!(measure(&[]), (Some(1), true, 1));
    // A busy host leaves the condition undecided, which is 3.
    let (code, is_printed, unsaved) = measure(&["--fail-if", "max < 1", "--junit", "gate.xml"]);
    assert!(matches!(code, Some(1 | 3)) && is_printed && unsaved == 1, "{code:?}, {is_printed}, {unsaved}");
    assert!(folder.join("gate.xml").is_file(), "conditions are evaluated, too");
    assert_eq!(measure(&["--keep", "no"]), (Some(0), true, 0));
    folder.refuses(&["measure", ".", "--label", "x", "--keep", "no"], "omit --keep no, or omit --label");
    assert_eq!(measure(&["--keep", "required"]), (Some(3), false, 1), "before the measurement");
    let other = Folder::new("is-kept");
    let output =
        other.run(&["measure", ".", "--size", "16MiB", "--depth", "1", "--duration", "1s", "--keep", "required"]);
    assert!(output.status.success() && other.names("runs").len() == 1, "{}", stderr(&output));
}

/// The step of the GitHub action, with the files that GitHub gives it.
#[test]
fn the_action_writes_summary_tests_and_exit_code() {
    let folder = Folder::new("action");
    let step = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/action.sh");
    let programs = Path::new(PROGRAM).parent().expect("it is in a directory");
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").expect("there is a path"))),
    );
    let run = |conditions: &str| {
        let mut command = Command::new("bash");
        command.arg(step).current_dir(folder.path()).env("PATH", path.as_ref().expect("paths without colons"));
        command.env("COMMAND", "quote aws/gp3:500GiB --as-of 2026-11-21").env("FAIL_IF", conditions);
        command.env("UNDETERMINED", "warn").env("NAME", "gate");
        command.env("GITHUB_OUTPUT", folder.join("output")).env("GITHUB_STEP_SUMMARY", folder.join("summary"));
        command.output()
    };
    let Ok(failed) = run("max < 10\nprice > 20\n") else {
        eprintln!("skipped: the step of the GitHub action needs bash");
        return;
    };
    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert_eq!(folder.read("output"), "exit-code=1\n");
    assert!(folder.read("summary").contains("aws/gp3:500GiB"), "the result is in the summary");
    let xml = folder.read("gate.xml");
    assert!(xml.contains(r#"tests="2" failures="1" errors="0""#), "{xml}");
    assert!(xml.contains(r#"<failure message="failed, price &gt; 20: 40 USD a month">"#), "{xml}");
    let undetermined = run("knee < 10").expect("bash is there");
    assert_eq!(undetermined.status.code(), Some(0), "a warning: {}", stdout(&undetermined));
    let reason = "::warning title=plimsoll::undetermined, knee < 10: the result does not have this figure";
    assert!(stdout(&undetermined).lines().any(|line| line == reason), "{}", stdout(&undetermined));
}

/// Ten runs of a model, then six of one with fewer servers.
#[test]
fn a_history_names_the_run_since_which_storage_is_slower() {
    let folder = Folder::new("history");
    for run in 0..16 {
        let model = format!("station({}, 80us, exponential)", if run < 10 { 8 } else { 6 });
        let (seed, file) = (run.to_string(), format!("run-{run:02}.json"));
        let objective = ["--objective", "p99<=1ms", "--quick", "--quiet"];
        folder.text(&[&["simulate", &model, "--seed", &seed, "--json", &file][..], &objective].concat());
    }
    let names: Vec<String> = (0..16).map(|run| format!("run-{run:02}.json")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = folder.text(&[&["history"][..], &names, &["--html", "page.html"]].concat());
    assert!(text.starts_with("Worse since run-10.json: "), "{text}");
    assert!(folder.read("page.html").contains("Each corner of the line is a run"));
    let equal = folder.text(&[&["history"][..], &names[..10]].concat());
    assert!(equal.starts_with("No change in 10 runs"), "{equal}");
    let few = folder.text(&[&["history"][..], &names[..3]].concat());
    assert!(few.starts_with("No statement: 3 runs"), "{few}");
    folder.refuses_usage(&["history"], "no complete runs yet");
}

/// Ten runs of named loads, then six of a model with longer service times.
#[test]
fn a_history_compares_response_times_of_the_same_named_load() {
    let folder = Folder::new("named-history");
    let simulate = |seed: &str, file: &str, model: &str, loads: &str| {
        folder.text(&["simulate", model, "--rate", loads, "--quick", "--quiet", "--seed", seed, "--json", file]);
    };
    for run in 0..16 {
        let model = format!("station(8, {}us, exponential)", if run < 10 { 80 } else { 200 });
        simulate(&run.to_string(), &format!("run-{run:02}.json"), &model, "1000,5000");
    }
    let names: Vec<String> = (0..16).map(|run| format!("run-{run:02}.json")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = folder.text(&[&["history"][..], &names].concat());
    assert!(text.starts_with("Worse since run-") && text.contains(": p99 at 5,000 IOPS, Poisson "), "{text}");
    let equal = folder.text(&[&["history"][..], &names[..10]].concat());
    assert!(equal.starts_with("No change in 10 runs (p99 at 5,000 IOPS, Poisson)"), "{equal}");
    simulate("99", "other.json", "station(8, 80us, exponential)", "3000");
    let json = folder.json(&[&["history", "other.json"][..], &names].concat());
    assert_eq!(json["compared"], "p99 at 5,000 IOPS, Poisson");
    let other = json["runs"].as_array().and_then(|runs| runs.iter().find(|run| run["name"] == "other.json"));
    assert!(other.is_some_and(|run| run["figure"].is_null()), "another load is not compared: {json}");
}

/// The figures of each effort differ by chance, and must not choose the objective.
#[test]
fn default_objective_of_a_product_is_the_same_at_any_effort() {
    let folder = Folder::new("efforts");
    let simulate = |effort: &[&str]| {
        let curve = folder.json(&[&["simulate", "aws/st1:500GiB", "--quiet"], effort].concat());
        assert_eq!(curve["basis"]["origin"]["objective"], "chosen", "{effort:?}");
        curve["load_line"]["objective"].clone()
    };
    let quick = simulate(&["--quick"]);
    assert!(!quick.is_null());
    for duration in ["20m", "1h"] {
        assert_eq!(simulate(&["--duration", duration]), quick, "{duration}");
    }
}
