//! Faults with place and message.

use plimsoll_fio::FaultKind;

use super::{file, line, words};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = file(text).err().map(|faults| words(&faults)).unwrap_or_default();
    let agree = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| found.replace("jobs/test.fio:", "").starts_with(expected));
    assert!(agree, "{text}\nfound {found:#?}\nexpected {expected:#?}");
}

#[test]
fn all_faults_are_reported_with_lines() {
    check(
        "[global]\niodepht=4\nbs=4x\n[a]\nrw=raed\nsize=1.5g\nhostname=h\n[b]\ndirect=yes\n",
        &[
            "2: fio has no option iodepht",
            "3: bs=4x: read by fio as 4, for \"x\" is not a unit",
            "5: rw=raed: no word that it takes",
            "6: size=1.5g: read by fio as 1,",
            "7: hostname is an option of the engines net",
            "9: direct=yes: neither 0 nor 1",
        ],
    );
    let faults = file("[a]\niodepht=4\n").expect_err("it is not an option");
    assert_eq!(faults[0].to_string(), "jobs/test.fio:2: fio has no option iodepht; did you mean iodepth?");
    assert_eq!(faults[0].kind, FaultKind::Unknown);
}

#[test]
fn flags_with_decimals_that_are_zero_are_those_of_fio() {
    let parsed = file("[a]\nsize=1m\nrw=read\ndirect=1.0\nrandrepeat=0.0\n");
    assert!(parsed.is_ok(), "{parsed:?}");
}

#[test]
fn invalid_values_are_refused() {
    for (option, words) in [
        ("rwmixread=101", "above 100"),
        ("direct=2", "neither 0 nor 1"),
        ("direct=1.5", "neither 0 nor 1"),
        ("direct=1.", "neither 0 nor 1"),
        ("direct", "without a value"),
        ("norandommap=", "empty"),
        ("iodepth=0", "below 1"),
        ("iodepth=-1", "below 1"),
        ("bs=0", "below 1"),
        ("bs=4k,8k,16k,32k", "more than three values"),
        ("bs = 4k", "read by fio as 4, for the blank"),
        ("rw = read", "after a blank"),
        ("rw=READ", "no word that it takes"),
        ("rw=randread:x", "no number behind the colon"),
        ("bsrange=4k", "no range"),
        ("bssplit=4k/x", "\"x\" is not a percentage"),
        ("runtime=10min", "read by fio as 10 us"),
        ("runtime=10sec", "read by fio as 10 us"),
        ("runtime=1:30", "read by fio as 1000000 us"),
        ("log_avg_msec=1s", "read by fio as 1,"),
        ("nice=50", "above 19"),
        ("percentile_list=101", "no list"),
        ("percentile_list=99,99.9", "no list"),
        ("random_distribution=zipf:1", "not a theta"),
        ("random_distribution=zoned:60/10:30/20", "accesses are 90"),
        ("size=10%x", "read by fio as 10,"),
        ("size=101%", "no share"),
        ("size=10z", "a number of zones"),
        ("size=99999999999999999999", "above"),
        ("verify=foo", "no word"),
        ("kb_base=1001", "no word"),
        ("buffer_pattern=abc", "no pattern"),
        ("cpus_allowed=x", "is not a processor"),
        ("cpus_allowed=2,4", "no processor 4 here"),
        ("cpus_allowed=0-5", "no processor 4 here"),
        ("cpumask=17", "no processor 4 here"),
        ("rw=trimwrite bs=4k,8k,16k", "trims and writes of different sizes"),
        ("steadystate=iops", "no limit"),
        ("sync_file_range=8", "no flags"),
        ("sync_file_range=write:x", "no flags"),
        ("rwmixread=0.5", "read by fio as 0,"),
        ("numjobs=0", "no job at all"),
        ("ioengine=libiao", "fio has no such engine"),
        ("ignore_error=FOO", "is not an error"),
        ("filesize=0", "zero"),
        ("file_service_type=random:x", "no number behind the colon"),
        ("file_service_type=pareto:2", "not above 0 and below 1"),
    ] {
        let found = file(&format!("[a]\n{}\n", option.replace(" bs", "\nbs")))
            .err()
            .map(|faults| self::words(&faults))
            .unwrap_or_default();
        assert!(found.len() == 1 && found[0].contains(words), "{option}: {found:#?}");
    }
}

#[test]
fn unsupported_options_are_refused_with_reason() {
    for (option, kind) in [
        ("ioengine=rbd", FaultKind::Unsupported),
        ("ioengine=cpuio", FaultKind::Unsupported),
        ("ioengine=external:/x.so", FaultKind::Unsupported),
        ("zonemode=zbd", FaultKind::Unsupported),
        ("trim_percentage=10", FaultKind::Unsupported),
        ("exec_prerun=ls", FaultKind::Unsupported),
        ("cmd_type=nvme", FaultKind::Unsupported),
        ("rwmixcycle=500", FaultKind::Unsupported),
        ("latency_target=1ms", FaultKind::Unsupported),
        ("read_iolog=trace", FaultKind::Unsupported),
        ("fill_device=1", FaultKind::Unsupported),
    ] {
        let faults = file(&format!("[a]\n{option}\n")).expect_err(option);
        assert!(faults.len() == 1 && faults[0].kind == kind && !faults[0].remedy.is_empty(), "{option}: {faults:#?}");
    }
    for option in [
        "trim_percentage=0",
        "zonemode=none",
        "lockfile=none",
        "atomic=0",
        "hipri=0",
        "zoneskip=0",
        "flow=0",
        "fill_device=0",
    ] {
        assert!(file(&format!("[a]\n{option}\n")).is_ok(), "{option} says what is so anyway");
    }
}

#[test]
fn malformed_files_are_refused() {
    check("", &["1: no job in the file"]);
    check("[global]\nsize=1m\n", &["1: no job in the file"]);
    check("size=1m\n[a]\n", &["1: option size before the first section"]);
    check(
        "[a\n[]\n[a] b\n=5\n",
        &["1: a section without its ]", "2: a section without a name", "3: text behind", "4: a value"],
    );
    check("[a]\ninclude none.fio\n", &["2: jobs/none.fio cannot be included: no such file"]);
    check("[a]\ninclude itself.fio\n", &["jobs/itself.fio:1: jobs/itself.fio includes itself"]);
    check("[a]\ninclude section.fio\n", &["jobs/section.fio:1: an included file with a section"]);
    check("include inner.fio\n[a]\n", &["1: jobs/inner.fio is included before the first section"]);
    check(
        "[a]\nsize=${NOPE}\nfilename=x${NOPE}y\n",
        &["2: the variable NOPE is not set", "3: the variable NOPE is not set"],
    );
}

#[test]
fn conflicting_options_are_refused() {
    check("[a]\nrate=1m\nrate_iops=,4\n", &["3: rate and rate_iops in one job"]);
    check("[a]\nsize=4k\nbs=8k\n", &["2: size=4096 is below the smallest block of 8192"]);
    check("[b]\nwait_for=a\n[a]\n", &["1: wait_for=a: no job of this name stands before b"]);
    check("[a]\nwait_for=a\n", &["1: the job a waits for itself"]);
    check("[a]\nnumjobs=5000\n", &["1: 5000 jobs with their copies, and at most 4096 run"]);
    let faults = line("--readonly --name=a --rw=write --size=1m").expect_err("it writes");
    assert_eq!(words(&faults), ["argument 2: the job a writes (rw=write), and --readonly was given"]);
    let faults = line("--warnings-fatal --name=a --thread").expect_err("it is worth a word");
    assert!(words(&faults)[0].starts_with("argument 3: thread has no effect"));
}

#[test]
fn percentages_may_have_a_sign() {
    for option in ["rwmixread=70%", "rwmixread=70.", "percentage_random=50%,20%"] {
        assert!(file(&format!("[a]\nrw=randrw\n{option}\n")).is_ok(), "{option}");
    }
    assert!(file("[a]\nnumjobs=4%\n").is_err());
}
