//! Verdicts on hosts that differ from a fit host in one fact.

use plimsoll_device::{ActivityDelta, Facilities, MemoryLimit, ProcessorLimit};
use plimsoll_front::Floor;
use plimsoll_record::{CpuTime, Host};

use super::super::storage::tests::directory;
use super::*;

const FLOOR: Floor = Floor {
    round_trip_p50: Span::from_micros(20),
    round_trip_p99: Span::from_micros(60),
    timer_p50: Span::from_micros(9),
    timer_p99: Span::from_micros(80),
    waits: [(Span::ZERO, Span::ZERO); 4],
    iops: 100_000,
};

/// A host on which all checks are ok.
fn fit() -> HostFacts {
    HostFacts {
        storage: directory(Bytes::gib(64)),
        host: Host {
            cpus: Some(4),
            clock_source: Some("tsc".into()),
            governor: Some("performance".into()),
            ..Host::default()
        },
        facilities: Facilities {
            has_control_groups: true,
            nbd: Some(ModuleState::Loadable),
            locks_memory: Some(false),
            mounts: Some(false),
            ..Facilities::default()
        },
        ring_error: None,
        activity: ActivityDelta {
            elapsed: Span::from_secs(1),
            busy: Some(0.1),
            stolen: Some(0.0),
            own_cpu: CpuTime { user: Span::from_millis(100), system: Span::ZERO },
            ..ActivityDelta::default()
        },
        processor_limit: None,
        realtime_error: None,
        locked_bytes_max: Some(8 << 20),
        open_files_max: Some(1 << 20),
        fuse: Ok(()),
        has_fusermount: true,
        loop_control: Ok(()),
        floor: Ok(FLOOR),
    }
}

/// Checks that a host with this change has a single check that is not ok, and its status and text.
#[track_caller]
fn check(change: impl FnOnce(&mut HostFacts), name: &str, status: CheckStatus, part: &str) {
    let mut facts = fit();
    change(&mut facts);
    let found = check_host(&facts);
    let problems: Vec<&HostCheck> = found.iter().filter(|check| check.status != CheckStatus::Ok).collect();
    let [problem] = problems[..] else { panic!("{name}: {problems:?}") };
    let text = format!("{}: {}", problem.found, problem.remedy);
    assert_eq!((problem.name, problem.status), (name, status), "{text}");
    assert!(text.contains(part), "{text}");
    assert!(!problem.remedy.is_empty(), "{name}: each problem has a remedy");
}

#[test]
fn fit_host_has_no_problem() {
    let found = check_host(&fit());
    assert!(found.iter().all(|check| check.status == CheckStatus::Ok), "{found:?}");
}

#[test]
fn missing_ring_blocks_and_its_remedy_follows_the_cause() {
    for (disabled, remedy) in [(Some(2), "sysctl"), (Some(0), "seccomp"), (None, "Linux 5.11")] {
        check(
            |facts| {
                facts.ring_error = Some("Operation not permitted".into());
                facts.facilities.io_uring_disabled = disabled;
            },
            "io_uring",
            CheckStatus::Failed,
            remedy,
        );
    }
    assert!(check_ring(Some("refused"), None).is_blocking());
}

#[test]
fn unmeasured_timers_are_unknown_and_block() {
    check(|facts| facts.floor = Err("refused".into()), "timers", CheckStatus::Unknown, "refused");
    let facts = HostFacts { floor: Err("refused".into()), ..fit() };
    assert!(check_timers(&facts).is_blocking());
    let low = HostFacts { locked_bytes_max: Some(64 << 10), ..facts };
    assert!(check_timers(&low).remedy.contains("ulimit -l"), "rings fail for want of locked memory");
}

#[test]
fn late_timers_limit_faithful_emulation() {
    let late =
        |timer_p99_us| HostFacts { floor: Ok(Floor { timer_p99: Span::from_micros(timer_p99_us), ..FLOOR }), ..fit() };
    assert!(check_timers(&late(40)).found.ends_with("from a response time of 20 us"));
    let timers = check_timers(&late(120));
    assert_eq!(timers.status, CheckStatus::Caution);
    assert!(timers.found.ends_with("of 1.2 ms") && timers.remedy.ends_with("--slow 3"), "{timers:?}");
    assert!(!timers.is_blocking());
}

#[test]
fn clocks_and_governors_are_judged() {
    use CheckStatus::{Caution, Unknown};
    check(|facts| facts.host.clock_source = Some("hpet".into()), "clock source", Caution, "clocksource=tsc");
    check(|facts| facts.host.clock_source = Some("mystery".into()), "clock source", Unknown, "mystery");
    check(|facts| facts.host.clock_source = None, "clock source", Unknown, "/sys");
    check(|facts| facts.host.governor = Some("powersave".into()), "governor", Caution, "cpupower");
    check(|facts| facts.host.governor = None, "governor", Unknown, "no cpufreq");
}

#[test]
fn contention_is_a_caution_and_a_missing_counter_is_unknown() {
    use CheckStatus::{Caution, Unknown};
    check(|facts| facts.activity.stolen = Some(0.05), "steal", Caution, "5.0 %");
    check(|facts| facts.activity.stolen = None, "steal", Unknown, "not counted");
    check(|facts| facts.activity.busy = Some(0.625), "other work", Caution, "60 %");
    check(|facts| facts.activity.busy = None, "other work", Unknown, "not counted");
}

#[test]
fn limits_of_control_groups_are_cautions() {
    let file = "/sys/fs/cgroup/x".to_owned();
    let limit = ProcessorLimit { file: file.clone(), processors: 0.5 };
    check(|facts| facts.processor_limit = Some(limit), "processor limit", CheckStatus::Caution, "0.50 processors");
    let limit = MemoryLimit { file, limit: Bytes::mib(256) };
    check(|facts| facts.facilities.memory_limit = Some(limit), "memory limit", CheckStatus::Caution, "256 MiB");
    let mut facts = fit();
    facts.facilities.has_control_groups = false;
    let unknown = |check: HostCheck| check.status == CheckStatus::Unknown;
    assert!(unknown(check_processors(&facts)) && unknown(check_memory(&facts)), "invisible groups may have limits");
}

#[test]
fn rights_and_limits_of_the_process_are_judged() {
    use CheckStatus::Caution;
    let refused = "real-time priority is not allowed here: run it as root".to_owned();
    check(|facts| facts.realtime_error = Some(refused), "real-time priority", Caution, "--rt, run it as root");
    check(|facts| facts.locked_bytes_max = Some(64 << 10), "locked memory", Caution, "64 KiB: rings");
    check(|facts| facts.open_files_max = Some(256), "open files", Caution, "ulimit -Hn 1024");
    let mut facts = fit();
    (facts.locked_bytes_max, facts.facilities.locks_memory) = (Some(0), Some(true));
    assert_eq!(check_locked_memory(&facts).status, CheckStatus::Ok);
}

#[test]
fn devices_of_volumes_fail_without_blocking() {
    use CheckStatus::{Caution, Failed, Unknown};
    let missing = || io::Result::Err(io::ErrorKind::NotFound.into());
    check(|facts| facts.fuse = missing(), "FUSE", Failed, "modprobe fuse");
    check(|facts| facts.fuse = Err(io::ErrorKind::PermissionDenied.into()), "FUSE", Failed, "permit the device");
    check(|facts| facts.has_fusermount = false, "FUSE", Failed, "fuse3");
    check(|facts| facts.loop_control = missing(), "loop devices", Failed, "modprobe loop");
    let denied = Err(io::ErrorKind::PermissionDenied.into());
    check(|facts| facts.loop_control = denied, "loop devices", Caution, "as root");
    check(|facts| facts.facilities.nbd = Some(ModuleState::Missing), "module nbd", Caution, "volume attach");
    check(|facts| facts.facilities.nbd = None, "module nbd", Unknown, "modprobe -n");
    assert!(!check_fuse(&HostFacts { fuse: missing(), ..fit() }).is_blocking());
}

#[test]
fn settings_of_databases_that_hide_counters_are_found() {
    let verdict = |system: &str, version: &str, settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|&(key, value)| (key.into(), value.into())).collect();
        let about = DatabaseAbout { system: system.into(), version: version.into(), settings, ..Default::default() };
        let HostCheck { status, found, remedy, .. } = check_database(&about);
        format!("{}: {found}: {remedy}", status.name())
    };
    let on = [("track_io_timing", "on"), ("track_wal_io_timing", "on")];
    assert!(verdict("PostgreSQL", "17.2", &on).starts_with("ok"));
    let old = verdict("PostgreSQL", "15.4 (Debian)", &[("track_io_timing", "off")]);
    assert!(
        old.starts_with("caution") && old.contains("set track_io_timing on (ALTER SYSTEM") && old.contains("16"),
        "{old}"
    );
    let mysql = verdict("MySQL", "8.0.36", &[("performance_schema", "OFF")]);
    assert!(mysql.starts_with("caution") && mysql.contains("performance_schema=ON"), "{mysql}");
    assert!(verdict("MariaDB", "11.4", &[("performance_schema", "ON")]).starts_with("ok"));
    assert!(verdict("MariaDB", "11.4", &[]).starts_with("unknown"), "a setting that is not visible is unknown");
    assert!(verdict("SQLite", "3", &[]).starts_with("unknown"));
}
