//! Data of suites in existing databases, ends of runs, and leftovers of killed runs, with SQLite.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use plimsoll_database::{Database, DatabaseAddress, connect};
use plimsoll_record::StepWork;

use crate::databases::place::Place;
use crate::folder::{PROGRAM, stderr, stdout};

/// Two clients on the smallest data, for a second.
const OLTP: [&str; 8] = ["suite", "oltp", "sqlite:x.db", "--scale", "1", "--clients", "2", "--duration"];

/// An empty SQLite database, and a connection.
fn empty(place: &Place) -> Box<dyn Database> {
    let file = place.join("x.db");
    fs::write(&file, "").unwrap();
    connect(&DatabaseAddress::sqlite(file)).unwrap()
}

fn oltp(place: &Place, arguments: &[&str]) -> Output {
    place.run(&[&OLTP[..], &["1s"], arguments].concat())
}

#[track_caller]
fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
}

#[track_caller]
fn refused(output: &Output, words: &str) {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    assert!(stderr(output).contains(words), "{}", stderr(output));
}

/// Waits until a program has written a text to a file.
fn until(file: &Path, words: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    while !fs::read_to_string(file).unwrap_or_default().contains(words) {
        assert!(Instant::now() < end, "{}", fs::read_to_string(file).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a long run, and waits until its data are loaded.
fn begun(place: &Place, arguments: &[&str]) -> Child {
    let log = place.join("log");
    let mut command = place.command(arguments);
    command.stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap());
    let child = command.spawn().unwrap();
    until(&log, "Count the loaded rows");
    child
}

#[test]
fn data_are_prepared_reused_and_cleaned_up() {
    let place = Place::new("phases");
    let database = empty(&place);
    refused(&oltp(&place, &["--phase", "run"]), "no data of plimsoll");
    succeeded(&oltp(&place, &["--phase", "prepare"]));
    let loaded = database.contents().unwrap();
    assert!(loaded.len() == 5 && loaded.contains(&"table plimsoll_data".to_owned()), "{loaded:?}");
    for _ in 0..2 {
        let run = oltp(&place, &["--phase", "run"]);
        succeeded(&run);
        assert!(
            stderr(&run).contains("using the data that oltp loaded") && !stderr(&run).contains("Load:"),
            "{}",
            stderr(&run)
        );
        assert!(stdout(&run).contains("Consistent: "), "rows of earlier runs are counted");
    }
    refused(
        &oltp(&place, &["--phase", "run", "--script", "select-only"]),
        "but this run needs oltp (script select-only",
    );
    // Other data replace those of plimsoll.
    let other = oltp(&place, &["--script", "select-only"]);
    succeeded(&other);
    assert!(stderr(&other).contains("dropping 4 objects created by oltp"), "{}", stderr(&other));
    assert_eq!(database.contents().unwrap(), Vec::<String>::new(), "all phases together leave nothing");
}

#[test]
fn foreign_table_is_never_dropped_with_data() {
    let place = Place::new("foreign");
    let database = empty(&place);
    succeeded(&oltp(&place, &["--phase", "prepare"]));
    database.session().unwrap().run("CREATE TABLE mine (a INTEGER)").unwrap();
    refused(
        &oltp(&place, &["--script", "simple-update", "--phase", "prepare"]),
        "in addition to data of plimsoll, it contains table mine",
    );
    succeeded(&oltp(&place, &["--phase", "run"]));
    let cleaned = oltp(&place, &["--phase", "cleanup"]);
    succeeded(&cleaned);
    assert!(
        stderr(&cleaned).contains("kept objects that are not recorded as created by plimsoll: table mine"),
        "{}",
        stderr(&cleaned)
    );
    assert_eq!(database.contents().unwrap(), ["table mine"]);
    succeeded(&oltp(&place, &["--phase", "cleanup", "--destroy", "x.db"]));
    assert_eq!(database.contents().unwrap(), Vec::<String>::new());
}

#[test]
fn table_that_is_created_during_a_run_stays() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = Place::new("meanwhile");
    let database = empty(&place);
    let mut child = begun(&place, &[&OLTP[..], &["1h"]].concat());
    database.session().unwrap().run("CREATE TABLE mine (a INTEGER); INSERT INTO mine VALUES (1)").unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(database.contents().unwrap(), ["table mine"]);
    let log = place.read("log");
    assert!(log.contains("not recorded as created by plimsoll: table mine"), "{log}");
}

#[test]
fn data_of_another_run_are_never_dropped_silently() {
    let place = Place::new("silently");
    empty(&place);
    succeeded(&oltp(&place, &["--phase", "prepare"]));
    let other = oltp(&place, &["--script", "simple-update", "--phase", "prepare", "--quiet"]);
    succeeded(&other);
    assert!(stderr(&other).contains("dropping 4 objects created by oltp at"), "{}", stderr(&other));
    let used = oltp(&place, &["--script", "simple-update", "--quiet"]);
    succeeded(&used);
    assert!(stderr(&used).contains("and dropping them at the end (--phase run keeps them)"), "{}", stderr(&used));
}

#[test]
fn measuring_phase_never_destroys() {
    let place = Place::new("destroys");
    let database = empty(&place);
    succeeded(&oltp(&place, &["--phase", "prepare"]));
    refused(&oltp(&place, &["--phase", "run", "--destroy", "x.db"]), "--phase run needs the loaded data");
    assert_eq!(database.contents().unwrap().len(), 5);
}

#[test]
fn statement_of_the_user_only_reads() {
    let place = Place::new("reads");
    let database = empty(&place);
    let mut session = database.session().unwrap();
    session.run("CREATE TABLE stock (a INTEGER); INSERT INTO stock VALUES (1)").unwrap();
    place.write("r.sql", "SELECT sum(a) FROM stock");
    place.write("w.sql", "UPDATE stock SET a = a + 1");
    let ladder = |sql: &str, more: &[&str]| {
        let first = ["suite", "ladder", "sqlite:x.db", "--concurrency", "1", "--turns", "2", "--sql", sql];
        place.run(&[&first[..], more].concat())
    };
    let mut sum = || session.rows("SELECT sum(a) FROM stock").unwrap()[0][0].int();
    succeeded(&ladder("r.sql", &[]));
    refused(&ladder("r.sql", &["--destroy", "x.db"]), "--sql uses existing tables");
    let writes = ladder("w.sql", &[]);
    assert!(!writes.status.success() && stderr(&writes).contains("add --allow-writes"), "{}", stderr(&writes));
    assert_eq!(sum(), Some(1));
    succeeded(&ladder("w.sql", &["--allow-writes"]));
    assert_eq!(sum(), Some(3));
}

#[test]
fn progress_shows_the_figures_of_the_result() {
    let place = Place::new("progress");
    empty(&place);
    let output = oltp(&place, &["--json", "suite.json"]);
    succeeded(&output);
    let sessions = place.suite("suite.json").steps.into_iter().find_map(|step| match step.work {
        StepWork::Sessions(sessions) => Some(sessions),
        _ => None,
    });
    let rate = sessions.unwrap().run.figures.iops.value;
    assert!(stderr(&output).contains(&format!("2 clients: {rate:.0} per second")), "{rate}: {}", stderr(&output));
}

#[test]
fn signalled_suite_drops_its_data_and_ends_with_the_number_of_the_signal() {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::new("signals");
        let database = empty(&place);
        let mut child = begun(&place, &[&OLTP[..], &["1h"]].concat());
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(database.contents().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn folder_of_a_killed_run_is_removed_by_the_next_one() {
    let place = Place::new("killed");
    let make =
        ["suite", "oltp", "--make", "sqlite", "--path", "storage", "--scale", "1", "--clients", "1", "--duration"];
    let mut child = begun(&place, &[&make[..], &["1h"]].concat());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.names("storage").len(), 1);
    let next = place.run(&[&make[..], &["1s"]].concat());
    succeeded(&next);
    assert!(stderr(&next).contains("removed leftovers of a killed run: "), "{}", stderr(&next));
    place.assert_clean();
}

#[test]
fn threads_that_cannot_start_end_the_suite_with_their_limit() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: root alone can take another user's limit of processes");
        return;
    }
    let place = Place::new("threads");
    let everybody = fs::Permissions::from_mode(0o777);
    let program = place.join("program");
    fs::copy(PROGRAM, &program).unwrap();
    for path in [place.join("."), place.join("storage"), place.join("tmp"), program.clone()] {
        fs::set_permissions(path, everybody.clone()).unwrap();
    }
    // A user other than the current.
    let user = ["--reuid=61234", "--regid=61234", "--clear-groups", "prlimit", "--nproc=16"];
    let mut command = Command::new("setpriv");
    command.args(user).arg(program).args(["suite", "oltp", "--make", "sqlite", "--path", "storage", "--scale", "1"]);
    command.args(["--clients", "64", "--duration", "2s", "--json", "-"]).current_dir(place.join("."));
    command.env("PLIMSOLL_RUNS", place.join("storage/runs")).env("TMPDIR", place.join("tmp"));
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return eprintln!("skipped: setpriv: {error}"),
    };
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("(ulimit -u) is 16"), "{text} {}", stderr(&output));
}
