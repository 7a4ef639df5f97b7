//! Checks of a host: observations, and consequences with their remedies.

use plimsoll_language::{label, say};
use plimsoll_record::{CheckStatus, FreeSpace, FuseState, HiddenCounters, HostCheck, HostFact, Source};
use plimsoll_units::Bytes;

fn raise_locked() -> &'static str {
    label!("ulimit -l 8192 (LimitMEMLOCK=8M in a systemd unit)")
}

pub(crate) fn check_name(check: &HostCheck) -> &'static str {
    match check.fact {
        HostFact::Path(_) => label!("path"),
        HostFact::Storage(_) => label!("storage"),
        HostFact::Sectors(_) => label!("sectors"),
        HostFact::FreeSpace(_) => label!("free space"),
        HostFact::Timers(..) | HostFact::TimersUnknown(..) => label!("timers"),
        HostFact::ClockSource(_) => label!("clock source"),
        HostFact::Governor(_) => label!("governor"),
        HostFact::NbdModule(_) => label!("module nbd"),
        HostFact::Steal(_) => label!("steal"),
        HostFact::OtherWork(_) => label!("other work"),
        HostFact::ProcessorLimit(_) => label!("processor limit"),
        HostFact::MemoryLimit(..) => label!("memory limit"),
        HostFact::RealTime(_) => label!("real-time priority"),
        HostFact::LockedMemory(_) => label!("locked memory"),
        HostFact::OpenFiles(..) => label!("open files"),
        HostFact::LoopDevices(_) => label!("loop devices"),
        HostFact::Database(..) => label!("database"),
        _ => check.name(),
    }
}

/// Result of a check.
pub(crate) fn status_name(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Failed => label!("failed"),
        CheckStatus::Caution => label!("caution"),
        CheckStatus::Unknown => label!("unknown"),
        CheckStatus::Ok => label!("ok"),
    }
}

pub(crate) fn describe_fact(check: &HostCheck) -> String {
    let status = check.status;
    let percent = |share: &Option<f64>, digits: usize| match share {
        Some(share) => say!("{:.digits$} % of processor time", share * 100.0),
        None => label!("not counted").to_owned(),
    };
    match &check.fact {
        HostFact::DirectIo(_) if status == CheckStatus::Ok => label!("supported").to_owned(),
        HostFact::DirectIo(path) if status == CheckStatus::Caution => {
            say!("the filesystem of {path} refuses it")
        }
        HostFact::Path(text) | HostFact::DirectIo(text) | HostFact::TimersUnknown(text, _) => text.clone(),
        HostFact::Storage(finding) => finding.text(),
        HostFact::Sectors(Some([logical, physical])) => say!("{logical} bytes logical, {physical} physical"),
        HostFact::Sectors(None) => label!("no single block device below the path").to_owned(),
        HostFact::FreeSpace(space) => free_space(space),
        HostFact::Ring(error) => error.as_ref().map_or(label!("works"), |(error, _)| error).to_owned(),
        HostFact::Timers([p50, p99, shortest], _) => {
            say!("late by {p50} (p50) and {p99} (p99); faithful emulation from a response time of {shortest}")
        }
        HostFact::ClockSource(Some(source)) => match status {
            CheckStatus::Caution => say!("{source}: slow to read, which adds to each response time"),
            CheckStatus::Unknown => say!("{source}: of unknown speed"),
            CheckStatus::Ok | CheckStatus::Failed => source.clone(),
        },
        HostFact::ClockSource(None) => label!("hidden").to_owned(),
        HostFact::Governor(Some(governor)) if status == CheckStatus::Caution => {
            say!("{governor}: frequencies follow the load, and response times with them")
        }
        HostFact::Governor(governor) => governor.as_deref().unwrap_or(label!("no cpufreq")).to_owned(),
        HostFact::Steal(share) => percent(share, 1),
        HostFact::OtherWork(share) => percent(share, 0),
        HostFact::ProcessorLimit(Some((processors, file))) => say!("{processors:.2} processors ({file})"),
        HostFact::MemoryLimit(Some((limit, file)), _) if status == CheckStatus::Caution => format!("{limit} ({file})"),
        HostFact::MemoryLimit(Some((limit, _)), _) => limit.to_string(),
        HostFact::ProcessorLimit(None) | HostFact::MemoryLimit(None, _) => match status {
            CheckStatus::Unknown => label!("control groups are not visible").to_owned(),
            _ => label!("none").to_owned(),
        },
        HostFact::RealTime(error) => {
            error.as_ref().map_or(label!("permitted"), |error| split_error(error).0).to_owned()
        }
        HostFact::LockedMemory(limit) => {
            limit.map_or_else(|| label!("unlimited").to_owned(), |limit| limit.to_string())
        }
        HostFact::OpenFiles(limit, _) => {
            limit.map_or_else(|| label!("unlimited").to_owned(), |limit| limit.to_string())
        }
        HostFact::Fuse(_) | HostFact::LoopDevices(_) | HostFact::NbdModule(_) => device(check),
        HostFact::Database(title, hidden) => match status {
            CheckStatus::Unknown => say!("{title}: settings of its counters are unknown"),
            _ if hidden.is_empty() => say!("{title}: counts what diagnose needs"),
            _ => say!("{title} hides counters that diagnose needs"),
        },
    }
}

fn free_space(space: &FreeSpace) -> String {
    match space {
        FreeSpace::NoPath => label!("the path is unusable").to_owned(),
        FreeSpace::NotNeeded => label!("not needed: no file is created").to_owned(),
        FreeSpace::NoLoad => label!("the default load is invalid").to_owned(),
        FreeSpace::Free { available, path, .. } => say!("{available} free at {path}"),
    }
}

fn device(check: &HostCheck) -> String {
    let text = match (&check.fact, check.status) {
        (HostFact::Fuse(FuseState::Mounts), _) => "/dev/fuse",
        (HostFact::Fuse(FuseState::Fusermount), _) => "/dev/fuse, fusermount3",
        (HostFact::Fuse(FuseState::NoFusermount), _) => label!("fusermount3 is missing"),
        (HostFact::Fuse(FuseState::NoDevice), _) => "/dev/fuse is missing",
        (HostFact::Fuse(FuseState::Refused(error)), _) => return format!("/dev/fuse: {error}"),
        (HostFact::LoopDevices(None), _) => "/dev/loop-control",
        (HostFact::LoopDevices(_), CheckStatus::Caution) => label!("no permission"),
        (HostFact::LoopDevices(Some(error)), _) => return format!("/dev/loop-control: {error}"),
        (_, CheckStatus::Caution) => label!("missing"),
        (_, CheckStatus::Unknown) => label!("the kernel's modules are not visible"),
        (HostFact::NbdModule(true), _) => label!("loaded"),
        _ => label!("modprobe nbd loads it"),
    };
    text.to_owned()
}

/// Consequence and remedy; empty if none is needed.
pub(crate) fn describe_remedy(check: &HostCheck) -> String {
    if check.status == CheckStatus::Ok {
        return String::new();
    }
    let text = match &check.fact {
        HostFact::Path(_) => "",
        HostFact::Storage(finding) => finding.remedy_for(&Source::Measured { engine: String::new() }),
        HostFact::DirectIo(_) if check.status == CheckStatus::Caution => {
            label!("measurements there include the page cache: use a path on ext4, XFS or a block device")
        }
        HostFact::DirectIo(_) => label!("repair the path"),
        HostFact::Sectors(_) => label!("the alignment is assumed to be 4 KiB"),
        HostFact::FreeSpace(space) => return more_space(space),
        HostFact::Ring(error) => return permit_ring(error.as_ref().and_then(|(_, disabled)| *disabled)),
        HostFact::Timers(_, slow) => {
            return say!("for faster products use an idle host, plimsoll serve --rt, or --slow {slow}");
        }
        HostFact::TimersUnknown(_, Some(limit)) => {
            return say!("servers need more locked memory than {limit}: {}", raise_locked());
        }
        HostFact::TimersUnknown(_, None) => {
            label!("servers of volumes need io_uring: see its check, and the kernel log (dmesg)")
        }
        HostFact::ClockSource(Some(_)) => {
            label!("boot with clocksource=tsc, if /sys/devices/system/clocksource/*/available_clocksource has it")
        }
        HostFact::ClockSource(None) => "mount /sys",
        HostFact::Governor(Some(_)) => label!("cpupower frequency-set -g performance"),
        HostFact::Governor(None) => label!("the hypervisor or firmware sets frequencies"),
        HostFact::Steal(Some(_)) => label!("other guests use the processors: repeat later, or use a dedicated host"),
        HostFact::OtherWork(Some(_)) => {
            label!("other processes delay measurements and replies: stop them, or use an idle host")
        }
        HostFact::Steal(None) | HostFact::OtherWork(None) => "mount /proc",
        HostFact::ProcessorLimit(Some(_)) => {
            label!("the group is stopped when its quota is used up: raise the limit for measurements")
        }
        HostFact::MemoryLimit(Some(_), max) => {
            return say!("deep queues of large operations use up to {max}: raise it");
        }
        HostFact::ProcessorLimit(None) | HostFact::MemoryLimit(None, _) => "mount /sys/fs/cgroup",
        HostFact::RealTime(error) => {
            let (_, remedy) = split_error(error.as_deref().unwrap_or_default());
            return say!("for plimsoll serve --rt, {remedy}");
        }
        HostFact::LockedMemory(_) => {
            return say!("rings and registered buffers of deep queues need more: {}", raise_locked());
        }
        HostFact::OpenFiles(_, needed) => {
            return say!("a service refuses clients beyond it: ulimit -Hn {needed}, LimitNOFILE in a systemd unit");
        }
        HostFact::Fuse(_) | HostFact::LoopDevices(_) | HostFact::NbdModule(_) => return attach_otherwise(check),
        HostFact::Database(_, hidden) => return count_more(hidden),
    };
    text.to_owned()
}

fn more_space(space: &FreeSpace) -> String {
    match space {
        FreeSpace::NoPath | FreeSpace::NotNeeded => String::new(),
        FreeSpace::NoLoad => label!("report this as a defect").to_owned(),
        FreeSpace::Free { size, min, .. } if size < min => {
            say!("a measurement needs {min} of a quarter of it: free some space, or use another path")
        }
        FreeSpace::Free { size, cached, .. } => {
            let enough = Bytes::new(4 * cached.get());
            say!("its file has {size}, and caches of devices hold less than {cached}: free {enough}, or use --size")
        }
    }
}

fn permit_ring(disabled: Option<u32>) -> String {
    let remedy = match disabled {
        Some(1 | 2) => label!("volumes need it: sysctl kernel.io_uring_disabled=0"),
        Some(_) => label!("volumes need it: permit io_uring_setup in the seccomp profile of the container"),
        None => label!("volumes need it: use Linux 5.11 or later, and a seccomp profile that permits io_uring_setup"),
    };
    say!("{remedy}; measurements use threads")
}

/// An error, and its remedy after the colon.
fn split_error(error: &str) -> (&str, &str) {
    error.split_once(": ").unwrap_or((error, ""))
}

fn attach_otherwise(check: &HostCheck) -> String {
    let text = match (&check.fact, check.status) {
        (HostFact::Fuse(state), _) => {
            let remedy = match state {
                FuseState::NoFusermount => label!("install the package fuse3"),
                FuseState::NoDevice => "modprobe fuse",
                _ => label!("permit the device (podman and docker: --device /dev/fuse)"),
            };
            return say!("{remedy}, or connect over NBD, in place of plimsoll volume attach");
        }
        (HostFact::LoopDevices(_), CheckStatus::Caution) => {
            label!("run plimsoll volume attach NAME DIRECTORY as root, or omit the directory")
        }
        (HostFact::LoopDevices(_), _) => {
            "plimsoll volume attach NAME DIRECTORY needs them: modprobe loop, or connect over NBD"
        }
        (_, CheckStatus::Caution) => {
            label!(
                "nbd-client cannot attach exports: install the kernel's extra modules, or use plimsoll volume attach"
            )
        }
        _ => label!("on the host of the container: modprobe -n nbd"),
    };
    text.to_owned()
}

/// Settings that show the hidden counters of a database.
fn count_more(hidden: &[HiddenCounters]) -> String {
    if hidden.is_empty() {
        return label!("use a URI of PostgreSQL or MySQL, and a user who can read settings").to_owned();
    }
    let remedy = |hidden: &HiddenCounters| {
        match hidden {
        HiddenCounters::PerformanceSchema => {
            label!("performance_schema is off, which hides the times of reads and writes: set performance_schema=ON and restart")
                .to_owned()
        }
        HiddenCounters::Timing(settings) => {
            let settings = settings.join(label!(" and "));
            say!("set {settings} on (ALTER SYSTEM SET NAME = on, then SELECT pg_reload_conf())")
        }
        HiddenCounters::PgStatIo(version) => {
            say!("pg_stat_io needs PostgreSQL {version}: collect iostat of its host as well")
        }
    }
    };
    hidden.iter().map(remedy).collect::<Vec<_>>().join(label!("; "))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{CheckNeed, Finding};
    use plimsoll_units::Span;

    use super::*;

    #[track_caller]
    fn check(fact: HostFact, status: CheckStatus, expected_found: &str, expected_remedy: &str) {
        let check = HostCheck { status, need: CheckNeed::Optional, fact };
        assert_eq!(
            (describe_fact(&check).as_str(), describe_remedy(&check).as_str()),
            (expected_found, expected_remedy)
        );
    }

    #[test]
    fn storage_has_its_remedies() {
        use CheckStatus::{Caution, Failed, Ok, Unknown};
        check(HostFact::Path("no such file".into()), Failed, "no such file", "");
        let tmpfs = HostCheck {
            status: Caution,
            need: CheckNeed::Optional,
            fact: HostFact::Storage(Finding::InMemory { target: "tmpfs".into() }),
        };
        assert!(describe_fact(&tmpfs).contains("tmpfs") && !describe_remedy(&tmpfs).is_empty());
        check(HostFact::DirectIo("/data".into()), Ok, "supported", "");
        let remedy = "measurements there include the page cache: use a path on ext4, XFS or a block device";
        check(HostFact::DirectIo("/data".into()), Caution, "the filesystem of /data refuses it", remedy);
        check(HostFact::DirectIo("denied".into()), Unknown, "denied", "repair the path");
        check(HostFact::Sectors(Some([512, 4096])), Ok, "512 bytes logical, 4096 physical", "");
        let none = "no single block device below the path";
        check(HostFact::Sectors(None), Unknown, none, "the alignment is assumed to be 4 KiB");
        let free = |mib| FreeSpace::Free {
            available: Bytes::mib(4 * mib),
            path: "/data".into(),
            size: Bytes::mib(mib),
            min: Bytes::mib(16),
            cached: Bytes::gib(1),
        };
        let remedy = "its file has 512 MiB, and caches of devices hold less than 1 GiB: free 4 GiB, or use --size";
        check(HostFact::FreeSpace(free(512)), Caution, "2 GiB free at /data", remedy);
        let remedy = "a measurement needs 16 MiB of a quarter of it: free some space, or use another path";
        check(HostFact::FreeSpace(free(5)), Failed, "20 MiB free at /data", remedy);
    }

    #[test]
    fn ring_and_timers_have_their_remedies() {
        use CheckStatus::{Caution, Failed, Unknown};
        let causes = [
            (Some(2), "sysctl kernel.io_uring_disabled=0"),
            (Some(0), "permit io_uring_setup in the seccomp profile of the container"),
            (None, "use Linux 5.11 or later, and a seccomp profile that permits io_uring_setup"),
        ];
        for (disabled, remedy) in causes {
            let remedy = format!("volumes need it: {remedy}; measurements use threads");
            check(HostFact::Ring(Some(("refused".into(), disabled))), Failed, "refused", &remedy);
        }
        let remedy = "servers need more locked memory than 64 KiB: ulimit -l 8192 (LimitMEMLOCK=8M in a systemd unit)";
        check(HostFact::TimersUnknown("refused".into(), Some(Bytes::kib(64))), Unknown, "refused", remedy);
        let remedy = "servers of volumes need io_uring: see its check, and the kernel log (dmesg)";
        check(HostFact::TimersUnknown("refused".into(), None), Unknown, "refused", remedy);
        check(
            HostFact::Timers([9, 120, 1200].map(Span::from_micros), 3),
            Caution,
            "late by 9 us (p50) and 120 us (p99); faithful emulation from a response time of 1.2 ms",
            "for faster products use an idle host, plimsoll serve --rt, or --slow 3",
        );
    }

    #[test]
    fn processors_and_limits_have_their_remedies() {
        use CheckStatus::{Caution, Ok, Unknown};
        let clock = "boot with clocksource=tsc, if /sys/devices/system/clocksource/*/available_clocksource has it";
        let slow = "hpet: slow to read, which adds to each response time";
        check(HostFact::ClockSource(Some("hpet".into())), Caution, slow, clock);
        check(HostFact::ClockSource(Some("mystery".into())), Unknown, "mystery: of unknown speed", clock);
        check(HostFact::ClockSource(None), Unknown, "hidden", "mount /sys");
        let follows = "powersave: frequencies follow the load, and response times with them";
        let remedy = "cpupower frequency-set -g performance";
        check(HostFact::Governor(Some("powersave".into())), Caution, follows, remedy);
        check(HostFact::Governor(None), Unknown, "no cpufreq", "the hypervisor or firmware sets frequencies");
        let remedy = "other guests use the processors: repeat later, or use a dedicated host";
        check(HostFact::Steal(Some(0.05)), Caution, "5.0 % of processor time", remedy);
        let remedy = "other processes delay measurements and replies: stop them, or use an idle host";
        check(HostFact::OtherWork(Some(0.6)), Caution, "60 % of processor time", remedy);
        check(HostFact::OtherWork(None), Unknown, "not counted", "mount /proc");
        let remedy = "the group is stopped when its quota is used up: raise the limit for measurements";
        check(HostFact::ProcessorLimit(Some((0.5, "/x".into()))), Caution, "0.50 processors (/x)", remedy);
        check(HostFact::ProcessorLimit(None), Ok, "none", "");
        let memory = |limit| HostFact::MemoryLimit(limit, Bytes::gib(1));
        let remedy = "deep queues of large operations use up to 1 GiB: raise it";
        check(memory(Some((Bytes::mib(256), "/x".into()))), Caution, "256 MiB (/x)", remedy);
        check(memory(Some((Bytes::gib(2), "/x".into()))), Ok, "2 GiB", "");
        check(memory(None), Unknown, "control groups are not visible", "mount /sys/fs/cgroup");
        let error = "real-time priority is not allowed here: run it as root";
        let [refused, remedy] = ["real-time priority is not allowed here", "for plimsoll serve --rt, run it as root"];
        check(HostFact::RealTime(Some(error.into())), Caution, refused, remedy);
        check(HostFact::RealTime(None), Ok, "permitted", "");
        let remedy =
            "rings and registered buffers of deep queues need more: ulimit -l 8192 (LimitMEMLOCK=8M in a systemd unit)";
        check(HostFact::LockedMemory(Some(Bytes::kib(64))), Caution, "64 KiB", remedy);
        let remedy = "a service refuses clients beyond it: ulimit -Hn 1024, LimitNOFILE in a systemd unit";
        check(HostFact::OpenFiles(Some(256), 1024), Caution, "256", remedy);
        check(HostFact::OpenFiles(None, 1024), Ok, "unlimited", "");
    }

    #[test]
    fn devices_and_databases_have_their_remedies() {
        use CheckStatus::{Caution, Failed, Ok, Unknown};
        let instead = |remedy: &str| format!("{remedy}, or connect over NBD, in place of plimsoll volume attach");
        check(HostFact::Fuse(FuseState::Fusermount), Ok, "/dev/fuse, fusermount3", "");
        let remedy = instead("install the package fuse3");
        check(HostFact::Fuse(FuseState::NoFusermount), Failed, "fusermount3 is missing", &remedy);
        check(HostFact::Fuse(FuseState::NoDevice), Failed, "/dev/fuse is missing", &instead("modprobe fuse"));
        let remedy = instead("permit the device (podman and docker: --device /dev/fuse)");
        check(HostFact::Fuse(FuseState::Refused("denied".into())), Failed, "/dev/fuse: denied", &remedy);
        let remedy = "run plimsoll volume attach NAME DIRECTORY as root, or omit the directory";
        check(HostFact::LoopDevices(Some("denied".into())), Caution, "no permission", remedy);
        let remedy = "plimsoll volume attach NAME DIRECTORY needs them: modprobe loop, or connect over NBD";
        check(HostFact::LoopDevices(Some("x".into())), Failed, "/dev/loop-control: x", remedy);
        let remedy =
            "nbd-client cannot attach exports: install the kernel's extra modules, or use plimsoll volume attach";
        check(HostFact::NbdModule(false), Caution, "missing", remedy);
        check(HostFact::NbdModule(true), Ok, "loaded", "");
        check(HostFact::NbdModule(false), Ok, "modprobe nbd loads it", "");
        let hidden = "the kernel's modules are not visible";
        check(HostFact::NbdModule(false), Unknown, hidden, "on the host of the container: modprobe -n nbd");
        let database = |hidden| HostFact::Database("DB 1".into(), hidden);
        check(database(vec![]), Ok, "DB 1: counts what diagnose needs", "");
        let remedy = "use a URI of PostgreSQL or MySQL, and a user who can read settings";
        check(database(vec![]), Unknown, "DB 1: settings of its counters are unknown", remedy);
        check(
            database(vec![HiddenCounters::Timing(vec!["a", "b"]), HiddenCounters::PgStatIo(16)]),
            Caution,
            "DB 1 hides counters that diagnose needs",
            "set a and b on (ALTER SYSTEM SET NAME = on, then SELECT pg_reload_conf()); pg_stat_io needs PostgreSQL 16: \
             collect iostat of its host as well",
        );
    }
}
