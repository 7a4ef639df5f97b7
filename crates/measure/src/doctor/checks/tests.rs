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

/// Checks that a host with this change has a single check that is not ok, and its status and fact.
#[track_caller]
fn check(change: impl FnOnce(&mut HostFacts), status: CheckStatus, fact: &HostFact) {
    let mut facts = fit();
    change(&mut facts);
    let found = check_host(&facts);
    let problems: Vec<&HostCheck> = found.iter().filter(|check| check.status != CheckStatus::Ok).collect();
    let [problem] = problems[..] else { panic!("{problems:?}") };
    assert_eq!((problem.status, &problem.fact), (status, fact));
}

#[test]
fn fit_host_has_no_problem() {
    let found = check_host(&fit());
    assert!(found.iter().all(|check| check.status == CheckStatus::Ok), "{found:?}");
}

#[test]
fn missing_ring_blocks() {
    check(
        |facts| {
            facts.ring_error = Some("Operation not permitted".into());
            facts.facilities.io_uring_disabled = Some(2);
        },
        CheckStatus::Failed,
        &HostFact::Ring(Some(("Operation not permitted".into(), Some(2)))),
    );
    assert!(check_ring(Some("refused"), None).is_blocking());
}

#[test]
fn unmeasured_timers_are_unknown_and_block() {
    let unknown = |limit| HostFact::TimersUnknown("refused".into(), limit);
    check(|facts| facts.floor = Err("refused".into()), CheckStatus::Unknown, &unknown(None));
    let facts = HostFacts { floor: Err("refused".into()), ..fit() };
    assert!(check_timers(&facts).is_blocking());
    let low = HostFacts { locked_bytes_max: Some(64 << 10), ..facts };
    assert_eq!(check_timers(&low).fact, unknown(Some(Bytes::kib(64))), "rings fail for want of locked memory");
}

#[test]
fn late_timers_limit_faithful_emulation() {
    let late =
        |timer_p99_us| HostFacts { floor: Ok(Floor { timer_p99: Span::from_micros(timer_p99_us), ..FLOOR }), ..fit() };
    let timers = |p99, shortest, slow| HostFact::Timers([9, p99, shortest].map(Span::from_micros), slow);
    assert_eq!(check_timers(&late(40)).fact, timers(40, 20, 1));
    let found = check_timers(&late(120));
    assert_eq!((found.status, &found.fact), (CheckStatus::Caution, &timers(120, 1200, 3)));
    assert!(!found.is_blocking());
}

#[test]
fn clocks_and_governors_are_judged() {
    use CheckStatus::{Caution, Unknown};
    let clock = |name: &str| HostFact::ClockSource(Some(name.into()));
    check(|facts| facts.host.clock_source = Some("hpet".into()), Caution, &clock("hpet"));
    check(|facts| facts.host.clock_source = Some("mystery".into()), Unknown, &clock("mystery"));
    check(|facts| facts.host.clock_source = None, Unknown, &HostFact::ClockSource(None));
    let powersave = || Some("powersave".to_owned());
    check(|facts| facts.host.governor = powersave(), Caution, &HostFact::Governor(powersave()));
    check(|facts| facts.host.governor = None, Unknown, &HostFact::Governor(None));
}

#[test]
fn contention_is_a_caution_and_a_missing_counter_is_unknown() {
    use CheckStatus::{Caution, Unknown};
    check(|facts| facts.activity.stolen = Some(0.05), Caution, &HostFact::Steal(Some(0.05)));
    check(|facts| facts.activity.stolen = None, Unknown, &HostFact::Steal(None));
    check(|facts| facts.activity.busy = Some(0.625), Caution, &HostFact::OtherWork(Some(0.6)));
    check(|facts| facts.activity.busy = None, Unknown, &HostFact::OtherWork(None));
}

#[test]
fn limits_of_control_groups_are_cautions() {
    use CheckStatus::{Caution, Unknown};
    let file = "/sys/fs/cgroup/x".to_owned();
    let limit = ProcessorLimit { file: file.clone(), processors: 0.5 };
    let expected = HostFact::ProcessorLimit(Some((0.5, file.clone())));
    check(|facts| facts.processor_limit = Some(limit), Caution, &expected);
    let limit = MemoryLimit { file: file.clone(), limit: Bytes::mib(256) };
    let expected = HostFact::MemoryLimit(Some((Bytes::mib(256), file)), Bytes::gib(1));
    check(|facts| facts.facilities.memory_limit = Some(limit), Caution, &expected);
    let mut facts = fit();
    facts.facilities.has_control_groups = false;
    let unknown = |check: HostCheck| check.status == Unknown;
    assert!(unknown(check_processors(&facts)) && unknown(check_memory(&facts)), "invisible groups may have limits");
}

#[test]
fn rights_and_limits_of_the_process_are_judged() {
    use CheckStatus::Caution;
    let refused = || Some("real-time priority is not allowed here: run it as root".to_owned());
    check(|facts| facts.realtime_error = refused(), Caution, &HostFact::RealTime(refused()));
    let locked = HostFact::LockedMemory(Some(Bytes::kib(64)));
    check(|facts| facts.locked_bytes_max = Some(64 << 10), Caution, &locked);
    check(|facts| facts.open_files_max = Some(256), Caution, &HostFact::OpenFiles(Some(256), 1024));
    let mut facts = fit();
    (facts.locked_bytes_max, facts.facilities.locks_memory) = (Some(0), Some(true));
    assert_eq!(check_locked_memory(&facts), optional(CheckStatus::Ok, HostFact::LockedMemory(None)));
}

#[test]
fn devices_of_volumes_fail_without_blocking() {
    use CheckStatus::{Caution, Failed, Unknown};
    let missing = || io::Result::Err(io::ErrorKind::NotFound.into());
    let denied = || io::Result::Err(io::ErrorKind::PermissionDenied.into());
    check(|facts| facts.fuse = missing(), Failed, &HostFact::Fuse(FuseState::NoDevice));
    let refused = FuseState::Refused("permission denied".into());
    check(|facts| facts.fuse = denied(), Failed, &HostFact::Fuse(refused));
    check(|facts| facts.has_fusermount = false, Failed, &HostFact::Fuse(FuseState::NoFusermount));
    let loops = |error: &str| HostFact::LoopDevices(Some(error.into()));
    check(|facts| facts.loop_control = missing(), Failed, &loops("entity not found"));
    check(|facts| facts.loop_control = denied(), Caution, &loops("permission denied"));
    let nbd = HostFact::NbdModule(false);
    check(|facts| facts.facilities.nbd = Some(ModuleState::Missing), Caution, &nbd);
    check(|facts| facts.facilities.nbd = None, Unknown, &nbd);
    assert!(!check_fuse(&HostFacts { fuse: missing(), ..fit() }).is_blocking());
}

#[test]
fn settings_of_databases_that_hide_counters_are_found() {
    use CheckStatus::{Caution, Ok, Unknown};
    let check_settings = |system: &str, version: &str, settings: &[(&str, &str)], status, hidden| {
        let settings = settings.iter().map(|&(key, value)| (key.into(), value.into())).collect();
        let about = DatabaseAbout { system: system.into(), version: version.into(), settings, ..Default::default() };
        let title = format!("{system} {version}");
        assert_eq!(check_database(&about), optional(status, HostFact::Database(title, hidden)));
    };
    check_settings("PostgreSQL", "17.2", &[("track_io_timing", "on"), ("track_wal_io_timing", "on")], Ok, vec![]);
    let old = vec![HiddenCounters::Timing(vec!["track_io_timing"]), HiddenCounters::PgStatIo(16)];
    check_settings("PostgreSQL", "15.4 (Debian)", &[("track_io_timing", "off")], Caution, old);
    let schema = vec![HiddenCounters::PerformanceSchema];
    check_settings("MySQL", "8.0.36", &[("performance_schema", "OFF")], Caution, schema);
    check_settings("MariaDB", "11.4", &[("performance_schema", "ON")], Ok, vec![]);
    // A setting that is not visible is unknown.
    check_settings("MariaDB", "11.4", &[], Unknown, vec![]);
    check_settings("SQLite", "3", &[], Unknown, vec![]);
}
