//! Assessment of facts about a host. Pure, so that every verdict can be tested.

use std::io;

use plimsoll_device::ModuleState;
use plimsoll_record::{CheckNeed, CheckStatus, DatabaseAbout, HostCheck};
use plimsoll_units::{Bytes, Span};

use super::HostFacts;
use super::storage::check_storage;
use crate::checks::{OTHER_WORK_SHARE, STOLEN_SHARE};
use crate::plan::MAX_BUFFER_MEMORY;

/// Clock sources that a process reads without a system call.
const FAST_CLOCKS: [&str; 6] =
    ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "riscv_clocksource", "timebase"];
/// Clock sources whose reading takes a system call or an access to a device: up to some microseconds.
const SLOW_CLOCKS: [&str; 6] = ["hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies", "pit"];
/// Locked memory that suffices for the registered buffers of a measurement with a deep queue.
const LOCKED_MEMORY: Bytes = Bytes::mib(8);
const RAISE_LOCKED: &str = "ulimit -l 8192 (LimitMEMLOCK=8M in a systemd unit)";
/// Open files that suffice for the default number of clients of a service, and its own files.
const OPEN_FILES: u64 = 1024;
/// Response times of network volumes begin here.
const NETWORK_RESPONSE: Span = Span::from_micros(500);
/// The first version of PostgreSQL with `pg_stat_io`.
const PG_STAT_IO: u32 = 16;

pub(super) fn ok(name: &'static str, need: CheckNeed, found: String) -> HostCheck {
    HostCheck { name, status: CheckStatus::Ok, need, found, remedy: String::new() }
}

pub(super) fn failed(name: &'static str, need: CheckNeed, found: String, remedy: String) -> HostCheck {
    HostCheck { name, status: CheckStatus::Failed, need, found, remedy }
}

pub(super) fn unknown(name: &'static str, need: CheckNeed, found: String, remedy: String) -> HostCheck {
    HostCheck { name, status: CheckStatus::Unknown, need, found, remedy }
}

/// Commands work in spite of a caution, so it is optional.
pub(super) fn caution(name: &'static str, found: String, remedy: String) -> HostCheck {
    HostCheck { name, status: CheckStatus::Caution, need: CheckNeed::Optional, found, remedy }
}

/// All checks of the host and of the storage at its path.
pub(super) fn check_host(facts: &HostFacts) -> Vec<HostCheck> {
    let mut found = check_storage(&facts.storage);
    found.extend([
        check_ring(facts.ring_error.as_deref(), facts.facilities.io_uring_disabled),
        check_timers(facts),
        check_clock(facts.host.clock_source.as_deref()),
        check_governor(facts.host.governor.as_deref()),
        check_steal(facts.activity.stolen),
        check_other_work(facts),
        check_processors(facts),
        check_memory(facts),
        check_realtime(facts.realtime_error.as_deref()),
        check_locked_memory(facts),
        check_open_files(facts.open_files_max),
        check_fuse(facts),
        check_loop(&facts.loop_control),
        check_nbd(facts.facilities.nbd),
    ]);
    found
}

fn check_ring(error: Option<&str>, disabled: Option<u32>) -> HostCheck {
    let Some(error) = error else { return ok("io_uring", CheckNeed::Necessary, "works".to_owned()) };
    let remedy = match disabled {
        Some(1 | 2) => "volumes need it: sysctl kernel.io_uring_disabled=0",
        Some(_) => "volumes need it: permit io_uring_setup in the seccomp profile of the container",
        None => "volumes need it: use Linux 5.11 or later, and a seccomp profile that permits io_uring_setup",
    };
    failed("io_uring", CheckNeed::Necessary, error.to_owned(), format!("{remedy}; measurements use threads"))
}

fn check_timers(facts: &HostFacts) -> HostCheck {
    let floor = match &facts.floor {
        Ok(floor) => floor,
        Err(error) => {
            let remedy = match locked_memory_below_need(facts) {
                Some(limit) => format!("servers need more locked memory than {limit}: {RAISE_LOCKED}"),
                None => "servers of volumes need io_uring: see its check, and the kernel log (dmesg)".to_owned(),
            };
            return unknown("timers", CheckNeed::Necessary, error.clone(), remedy);
        }
    };
    let shortest = floor.shortest_faithful();
    let found = format!(
        "late by {} (p50) and {} (p99); faithful emulation from a response time of {shortest}",
        floor.timer_p50, floor.timer_p99
    );
    if shortest <= NETWORK_RESPONSE {
        return ok("timers", CheckNeed::Necessary, found);
    }
    let slow = shortest.as_nanos().div_ceil(NETWORK_RESPONSE.as_nanos());
    let remedy = format!("for faster products use an idle host, plimsoll serve --rt, or --slow {slow}");
    HostCheck { need: CheckNeed::Necessary, ..caution("timers", found, remedy) }
}

fn check_clock(source: Option<&str>) -> HostCheck {
    let name = "clock source";
    let remedy = "boot with clocksource=tsc, if /sys/devices/system/clocksource/*/available_clocksource has it";
    match source {
        Some(source) if FAST_CLOCKS.contains(&source) => ok(name, CheckNeed::Optional, source.to_owned()),
        Some(source) if SLOW_CLOCKS.contains(&source) => {
            caution(name, format!("{source}: slow to read, which adds to each response time"), remedy.to_owned())
        }
        Some(source) => unknown(name, CheckNeed::Optional, format!("{source}: of unknown speed"), remedy.to_owned()),
        None => unknown(name, CheckNeed::Optional, "hidden".to_owned(), "mount /sys".to_owned()),
    }
}

fn check_governor(governor: Option<&str>) -> HostCheck {
    match governor {
        Some("performance") => ok("governor", CheckNeed::Optional, "performance".to_owned()),
        Some(governor) => caution(
            "governor",
            format!("{governor}: frequencies follow the load, and response times with them"),
            "cpupower frequency-set -g performance".to_owned(),
        ),
        None => {
            let remedy = "the hypervisor or firmware sets frequencies".to_owned();
            unknown("governor", CheckNeed::Optional, "no cpufreq".to_owned(), remedy)
        }
    }
}

fn check_steal(stolen: Option<f64>) -> HostCheck {
    let percent = |share: f64| format!("{:.1} % of processor time", share * 100.0);
    match stolen {
        None => unknown("steal", CheckNeed::Optional, "not counted".to_owned(), "mount /proc".to_owned()),
        Some(share) if share <= STOLEN_SHARE => ok("steal", CheckNeed::Optional, percent(share)),
        Some(share) => {
            let remedy = "other guests use the processors: repeat later, or use a dedicated host".to_owned();
            caution("steal", percent(share), remedy)
        }
    }
}

fn check_other_work(facts: &HostFacts) -> HostCheck {
    let (activity, name) = (&facts.activity, "other work");
    let elapsed = facts.host.cpus.map(|cpus| activity.elapsed.as_secs_f64() * f64::from(cpus));
    let own = elapsed.map(|elapsed| activity.own_cpu.total().as_secs_f64() / elapsed.max(1e-9));
    let Some(share) = activity.busy.zip(own).map(|(busy, own)| (busy - own).max(0.0)) else {
        return unknown(name, CheckNeed::Optional, "not counted".to_owned(), "mount /proc".to_owned());
    };
    let found = format!("{:.0} % of processor time", share * 100.0);
    if share <= OTHER_WORK_SHARE {
        return ok(name, CheckNeed::Optional, found);
    }
    caution(name, found, "other processes delay measurements and replies: stop them, or use an idle host".to_owned())
}

fn check_processors(facts: &HostFacts) -> HostCheck {
    let name = "processor limit";
    match &facts.processor_limit {
        Some(limit) => caution(
            name,
            format!("{:.2} processors ({})", limit.processors, limit.file),
            "the group is stopped when its quota is used up: raise the limit for measurements".to_owned(),
        ),
        None if facts.facilities.has_control_groups => ok(name, CheckNeed::Optional, "none".to_owned()),
        None => unknown_groups(name),
    }
}

fn check_memory(facts: &HostFacts) -> HostCheck {
    let name = "memory limit";
    match &facts.facilities.memory_limit {
        Some(limit) if limit.limit.get() < MAX_BUFFER_MEMORY => caution(
            name,
            format!("{} ({})", limit.limit, limit.file),
            format!("deep queues of large operations use up to {}: raise it", Bytes::new(MAX_BUFFER_MEMORY)),
        ),
        Some(limit) => ok(name, CheckNeed::Optional, limit.limit.to_string()),
        None if facts.facilities.has_control_groups => ok(name, CheckNeed::Optional, "none".to_owned()),
        None => unknown_groups(name),
    }
}

fn unknown_groups(name: &'static str) -> HostCheck {
    unknown(name, CheckNeed::Optional, "control groups are not visible".to_owned(), "mount /sys/fs/cgroup".to_owned())
}

fn check_realtime(error: Option<&str>) -> HostCheck {
    let name = "real-time priority";
    let Some(error) = error else { return ok(name, CheckNeed::Optional, "permitted".to_owned()) };
    // The error ends with its remedy.
    let (found, remedy) = error.split_once(": ").unwrap_or((error, ""));
    caution(name, found.to_owned(), format!("for plimsoll serve --rt, {remedy}"))
}

fn check_locked_memory(facts: &HostFacts) -> HostCheck {
    let name = "locked memory";
    if let Some(limit) = locked_memory_below_need(facts) {
        let found = limit.to_string();
        return caution(name, found, format!("rings and registered buffers of deep queues need more: {RAISE_LOCKED}"));
    }
    let found = match (facts.locked_bytes_max, facts.facilities.locks_memory) {
        (Some(limit), Some(false) | None) => Bytes::new(limit).to_string(),
        _ => "unlimited".to_owned(),
    };
    ok(name, CheckNeed::Optional, found)
}

/// The limit of locked memory, if it is too low for servers and deep queues.
fn locked_memory_below_need(facts: &HostFacts) -> Option<Bytes> {
    let is_limited = facts.facilities.locks_memory != Some(true);
    facts.locked_bytes_max.map(Bytes::new).filter(|limit| is_limited && *limit < LOCKED_MEMORY)
}

fn check_open_files(limit: Option<u64>) -> HostCheck {
    match limit {
        Some(limit) if limit < OPEN_FILES => caution(
            "open files",
            limit.to_string(),
            format!("a service refuses clients beyond it: ulimit -Hn {OPEN_FILES}, LimitNOFILE in a systemd unit"),
        ),
        Some(limit) => ok("open files", CheckNeed::Optional, limit.to_string()),
        None => ok("open files", CheckNeed::Optional, "unlimited".to_owned()),
    }
}

fn check_fuse(facts: &HostFacts) -> HostCheck {
    let instead = "or connect over NBD, in place of plimsoll volume attach";
    let unavailable =
        |found: String, remedy: &str| failed("FUSE", CheckNeed::Optional, found, format!("{remedy}, {instead}"));
    match facts.fuse.as_ref().map_err(io::Error::kind) {
        Ok(()) if facts.facilities.mounts == Some(true) => ok("FUSE", CheckNeed::Optional, "/dev/fuse".to_owned()),
        Ok(()) if facts.has_fusermount => ok("FUSE", CheckNeed::Optional, "/dev/fuse, fusermount3".to_owned()),
        Ok(()) => unavailable("fusermount3 is missing".to_owned(), "install the package fuse3"),
        Err(io::ErrorKind::NotFound) => unavailable("/dev/fuse is missing".to_owned(), "modprobe fuse"),
        Err(kind) => {
            unavailable(format!("/dev/fuse: {kind}"), "permit the device (podman and docker: --device /dev/fuse)")
        }
    }
}

fn check_loop(control: &io::Result<()>) -> HostCheck {
    let name = "loop devices";
    match control.as_ref().map_err(io::Error::kind) {
        Ok(()) => ok(name, CheckNeed::Optional, "/dev/loop-control".to_owned()),
        Err(io::ErrorKind::PermissionDenied) => caution(
            name,
            "no permission".to_owned(),
            "run plimsoll volume attach NAME DIRECTORY as root, or omit the directory".to_owned(),
        ),
        Err(kind) => failed(
            name,
            CheckNeed::Optional,
            format!("/dev/loop-control: {kind}"),
            "plimsoll volume attach NAME DIRECTORY needs them: modprobe loop, or connect over NBD".to_owned(),
        ),
    }
}

fn check_nbd(state: Option<ModuleState>) -> HostCheck {
    let name = "module nbd";
    match state {
        Some(ModuleState::Active) => ok(name, CheckNeed::Optional, "loaded".to_owned()),
        Some(ModuleState::Loadable) => ok(name, CheckNeed::Optional, "modprobe nbd loads it".to_owned()),
        Some(ModuleState::Missing) => caution(
            name,
            "missing".to_owned(),
            "nbd-client cannot attach exports: install the kernel's extra modules, or use plimsoll volume attach"
                .to_owned(),
        ),
        None => {
            let remedy = "on the host of the container: modprobe -n nbd".to_owned();
            unknown(name, CheckNeed::Optional, "the kernel's modules are not visible".to_owned(), remedy)
        }
    }
}

/// Settings of a database that leave out counters which `plimsoll diagnose` needs.
pub(super) fn check_database(about: &DatabaseAbout) -> HostCheck {
    let name = "database";
    let is_off = |setting: &str| {
        about.settings.iter().any(|(key, value)| key == setting && ["off", "OFF", "0"].contains(&value.as_str()))
    };
    let is_listed = |setting: &str| about.settings.iter().any(|(key, _)| key == setting);
    let is_postgres = about.system == "PostgreSQL";
    let major: Option<u32> =
        about.version.split(|letter: char| !letter.is_ascii_digit()).next().and_then(|n| n.parse().ok());
    let title = format!("{} {}", about.system, about.version);
    let timing = if is_postgres { "track_io_timing" } else { "performance_schema" };
    if !["PostgreSQL", "MySQL", "MariaDB"].contains(&about.system.as_str()) || !is_listed(timing) {
        let remedy = "use a URI of PostgreSQL or MySQL, and a user who can read settings".to_owned();
        return unknown(name, CheckNeed::Optional, format!("{title}: settings of its counters are unknown"), remedy);
    }
    let mut remedies = Vec::new();
    if is_off("performance_schema") {
        remedies.push("performance_schema is off, which hides the times of reads and writes: set performance_schema=ON and restart".to_owned());
    }
    let off: Vec<&str> =
        ["track_io_timing", "track_wal_io_timing"].into_iter().filter(|setting| is_off(setting)).collect();
    if !off.is_empty() {
        let settings = off.join(" and ");
        remedies.push(format!("set {settings} on (ALTER SYSTEM SET NAME = on, then SELECT pg_reload_conf())"));
    }
    if is_postgres && major.is_some_and(|major| major < PG_STAT_IO) {
        remedies.push(format!("pg_stat_io needs PostgreSQL {PG_STAT_IO}: collect iostat of its host as well"));
    }
    if remedies.is_empty() {
        return ok(name, CheckNeed::Optional, format!("{title}: counts what diagnose needs"));
    }
    caution(name, format!("{title} hides counters that diagnose needs"), remedies.join("; "))
}

#[cfg(test)]
mod tests;
