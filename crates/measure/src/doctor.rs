//! Examination of a host before a measurement or an emulated volume: facilities, limits, rights, and the lateness of its
//! timers.

mod checks;
mod storage;

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_device::{
    ActivityDelta, ActivityWatch, Engine, Facilities, ProcessorLimit, describe_host, processor_limit, realtime,
};
use plimsoll_front::Floor;
use plimsoll_record::{DatabaseAbout, Host, HostCheck};
use plimsoll_units::Span;
use rustix::process::{Resource, getrlimit};

use storage::StorageFacts;

/// Duration of the measurement of the latency floor.
const FLOOR_SPAN: Span = Span::from_millis(700);
/// Duration of the sample of processor time.
const SAMPLE_DURATION: std::time::Duration = std::time::Duration::from_millis(500);

/// Facts about this host and its process. `None` means unknown, unless stated otherwise.
#[derive(Debug)]
struct HostFacts {
    storage: StorageFacts,
    host: Host,
    facilities: Facilities,
    /// The error of `io_uring`; `None` if it works.
    ring_error: Option<String>,
    /// Activity during the sample.
    activity: ActivityDelta,
    /// `None` also without a limit.
    processor_limit: Option<ProcessorLimit>,
    /// The error of real-time priority; `None` if it is permitted.
    realtime_error: Option<String>,
    /// Limit of locked memory in bytes; `None` for unlimited.
    locked_bytes_max: Option<u64>,
    /// Hard limit of open files, to which a service raises its own; `None` for unlimited.
    open_files_max: Option<u64>,
    fuse: io::Result<()>,
    has_fusermount: bool,
    loop_control: io::Result<()>,
    floor: Result<Floor, String>,
}

/// Checks this host for a measurement at `path` and for emulated volumes, gravest results first. Takes about 1.5 seconds.
/// Leaves no file behind.
pub fn examine_host(path: &Path, databases: &[DatabaseAbout]) -> Vec<HostCheck> {
    let facts = HostFacts::gather(path);
    let mut found = checks::check_host(&facts);
    found.extend(databases.iter().map(checks::check_database));
    found.sort_by_key(|check| (!check.is_blocking(), check.status));
    found
}

impl HostFacts {
    fn gather(path: &Path) -> Self {
        let watch = ActivityWatch::host();
        let before = watch.snapshot();
        std::thread::sleep(SAMPLE_DURATION);
        let activity = watch.snapshot().since(&before);
        let realtime = std::thread::spawn(|| realtime().map_err(|error| error.to_string()).err());
        Self {
            storage: StorageFacts::gather(path),
            host: describe_host(),
            facilities: Facilities::read(),
            ring_error: Engine::Ring.refused(),
            activity,
            processor_limit: processor_limit(),
            realtime_error: realtime.join().expect("setting a priority does not panic"),
            locked_bytes_max: getrlimit(Resource::Memlock).current,
            open_files_max: getrlimit(Resource::Nofile).maximum,
            fuse: open_read_write("/dev/fuse"),
            has_fusermount: is_installed("fusermount3"),
            loop_control: open_read_write("/dev/loop-control"),
            floor: Floor::measure(FLOOR_SPAN).map_err(|error| error.to_string()),
        }
    }
}

fn open_read_write(device: &str) -> io::Result<()> {
    OpenOptions::new().read(true).write(true).open(device).map(drop)
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}
