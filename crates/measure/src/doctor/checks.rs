//! Assessment of facts about a host. Pure, so that every verdict can be tested.

use std::io;

use plimsoll_device::ModuleState;
use plimsoll_record::{CheckNeed, CheckStatus, DatabaseAbout, FuseState, HiddenCounters, HostCheck, HostFact};
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
const MIN_LOCKED_MEMORY: Bytes = Bytes::mib(8);
/// Open files that suffice for the default number of clients of a service, and its own files.
const MIN_OPEN_FILES: u64 = 1024;
/// Typical minimum response time of network volumes.
const NETWORK_RESPONSE: Span = Span::from_micros(500);
/// The first version of PostgreSQL with `pg_stat_io`.
const MIN_PG_STAT_IO: u32 = 16;

/// A check of a facility that `plimsoll measure` or `plimsoll serve` needs.
pub(super) const fn necessary(status: CheckStatus, fact: HostFact) -> HostCheck {
    HostCheck { status, need: CheckNeed::Necessary, fact }
}

pub(super) const fn optional(status: CheckStatus, fact: HostFact) -> HostCheck {
    HostCheck { status, need: CheckNeed::Optional, fact }
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
    let status = if error.is_none() { CheckStatus::Ok } else { CheckStatus::Failed };
    necessary(status, HostFact::Ring(error.map(|error| (error.to_owned(), disabled))))
}

fn check_timers(facts: &HostFacts) -> HostCheck {
    let floor = match &facts.floor {
        Ok(floor) => floor,
        Err(error) => {
            let fact = HostFact::TimersUnknown(error.clone(), locked_memory_below_need(facts));
            return necessary(CheckStatus::Unknown, fact);
        }
    };
    let shortest = floor.shortest_faithful();
    let slow = shortest.as_nanos().div_ceil(NETWORK_RESPONSE.as_nanos());
    let status = if slow <= 1 { CheckStatus::Ok } else { CheckStatus::Caution };
    necessary(status, HostFact::Timers([floor.timer_p50, floor.timer_p99, shortest], slow))
}

fn check_clock(source: Option<&str>) -> HostCheck {
    let status = match source {
        Some(source) if FAST_CLOCKS.contains(&source) => CheckStatus::Ok,
        Some(source) if SLOW_CLOCKS.contains(&source) => CheckStatus::Caution,
        _ => CheckStatus::Unknown,
    };
    optional(status, HostFact::ClockSource(source.map(str::to_owned)))
}

fn check_governor(governor: Option<&str>) -> HostCheck {
    let status = match governor {
        Some("performance") => CheckStatus::Ok,
        Some(_) => CheckStatus::Caution,
        None => CheckStatus::Unknown,
    };
    optional(status, HostFact::Governor(governor.map(str::to_owned)))
}

fn check_steal(stolen: Option<f64>) -> HostCheck {
    optional(status_of_share(stolen, STOLEN_SHARE), HostFact::Steal(stolen))
}

fn check_other_work(facts: &HostFacts) -> HostCheck {
    let activity = &facts.activity;
    let elapsed = facts.host.cpus.map(|cpus| activity.elapsed.as_secs_f64() * f64::from(cpus));
    let own = elapsed.map(|elapsed| activity.own_cpu.total().as_secs_f64() / elapsed.max(1e-9));
    let share = activity.busy.zip(own).map(|(busy, own)| (busy - own).max(0.0));
    optional(status_of_share(share, OTHER_WORK_SHARE), HostFact::OtherWork(share))
}

fn status_of_share(share: Option<f64>, max: f64) -> CheckStatus {
    match share {
        None => CheckStatus::Unknown,
        Some(share) if share <= max => CheckStatus::Ok,
        Some(_) => CheckStatus::Caution,
    }
}

fn check_processors(facts: &HostFacts) -> HostCheck {
    let limit = facts.processor_limit.as_ref().map(|limit| (limit.processors, limit.file.clone()));
    let status = if limit.is_some() { CheckStatus::Caution } else { status_of_groups(facts) };
    optional(status, HostFact::ProcessorLimit(limit))
}

fn check_memory(facts: &HostFacts) -> HostCheck {
    let limit = facts.facilities.memory_limit.as_ref().map(|limit| (limit.limit, limit.file.clone()));
    let status = match &limit {
        Some((limit, _)) if limit.get() < MAX_BUFFER_MEMORY => CheckStatus::Caution,
        Some(_) => CheckStatus::Ok,
        None => status_of_groups(facts),
    };
    optional(status, HostFact::MemoryLimit(limit, Bytes::new(MAX_BUFFER_MEMORY)))
}

/// Status without a limit.
const fn status_of_groups(facts: &HostFacts) -> CheckStatus {
    if facts.facilities.has_control_groups { CheckStatus::Ok } else { CheckStatus::Unknown }
}

fn check_realtime(error: Option<&str>) -> HostCheck {
    let status = if error.is_none() { CheckStatus::Ok } else { CheckStatus::Caution };
    optional(status, HostFact::RealTime(error.map(str::to_owned)))
}

fn check_locked_memory(facts: &HostFacts) -> HostCheck {
    if let Some(limit) = locked_memory_below_need(facts) {
        return optional(CheckStatus::Caution, HostFact::LockedMemory(Some(limit)));
    }
    let limit = facts.locked_bytes_max.filter(|_| facts.facilities.locks_memory != Some(true));
    optional(CheckStatus::Ok, HostFact::LockedMemory(limit.map(Bytes::new)))
}

/// The limit of locked memory, if it is too low for servers and deep queues.
fn locked_memory_below_need(facts: &HostFacts) -> Option<Bytes> {
    let is_limited = facts.facilities.locks_memory != Some(true);
    facts.locked_bytes_max.map(Bytes::new).filter(|limit| is_limited && *limit < MIN_LOCKED_MEMORY)
}

fn check_open_files(limit: Option<u64>) -> HostCheck {
    let is_low = limit.is_some_and(|limit| limit < MIN_OPEN_FILES);
    let status = if is_low { CheckStatus::Caution } else { CheckStatus::Ok };
    optional(status, HostFact::OpenFiles(limit, MIN_OPEN_FILES))
}

fn check_fuse(facts: &HostFacts) -> HostCheck {
    let state = match facts.fuse.as_ref().map_err(io::Error::kind) {
        Ok(()) if facts.facilities.mounts == Some(true) => FuseState::Mounts,
        Ok(()) if facts.has_fusermount => FuseState::Fusermount,
        Ok(()) => FuseState::NoFusermount,
        Err(io::ErrorKind::NotFound) => FuseState::NoDevice,
        Err(kind) => FuseState::Refused(kind.to_string()),
    };
    let works = matches!(state, FuseState::Mounts | FuseState::Fusermount);
    optional(if works { CheckStatus::Ok } else { CheckStatus::Failed }, HostFact::Fuse(state))
}

fn check_loop(control: &io::Result<()>) -> HostCheck {
    let error = control.as_ref().err().map(io::Error::kind);
    let status = match error {
        None => CheckStatus::Ok,
        Some(io::ErrorKind::PermissionDenied) => CheckStatus::Caution,
        Some(_) => CheckStatus::Failed,
    };
    optional(status, HostFact::LoopDevices(error.map(|kind| kind.to_string())))
}

fn check_nbd(state: Option<ModuleState>) -> HostCheck {
    let status = match state {
        Some(ModuleState::Active | ModuleState::Loadable) => CheckStatus::Ok,
        Some(ModuleState::Missing) => CheckStatus::Caution,
        None => CheckStatus::Unknown,
    };
    optional(status, HostFact::NbdModule(state == Some(ModuleState::Active)))
}

/// Settings of a database that leave out counters which `plimsoll diagnose` needs.
pub(super) fn check_database(about: &DatabaseAbout) -> HostCheck {
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
        return optional(CheckStatus::Unknown, HostFact::Database(title, Vec::new()));
    }
    let mut hidden = Vec::new();
    if is_off("performance_schema") {
        hidden.push(HiddenCounters::PerformanceSchema);
    }
    let off: Vec<&str> =
        ["track_io_timing", "track_wal_io_timing"].into_iter().filter(|setting| is_off(setting)).collect();
    if !off.is_empty() {
        hidden.push(HiddenCounters::Timing(off));
    }
    if is_postgres && major.is_some_and(|major| major < MIN_PG_STAT_IO) {
        hidden.push(HiddenCounters::PgStatIo(MIN_PG_STAT_IO));
    }
    let status = if hidden.is_empty() { CheckStatus::Ok } else { CheckStatus::Caution };
    optional(status, HostFact::Database(title, hidden))
}

#[cfg(test)]
mod tests;
