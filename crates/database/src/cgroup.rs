//! A control group that limits the memory of a server together with the page cache of its files.
//!
//! Supports version 2 of control groups, and version 1 if memory is accounted there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::failure::{Failure, FailureKind};

/// Time that the kernel may take to release a group whose processes have ended.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);

/// A control group with a memory limit. Dropping it kills the processes in it and removes it.
#[derive(Debug)]
pub struct MemoryCgroup {
    folder: PathBuf,
    limit: Bytes,
    used: &'static str,
}

impl MemoryCgroup {
    /// Creates a group. `name` states its purpose, such as `postgres`; the number of this process is added.
    ///
    /// # Errors
    /// [`FailureKind::Unsupported`] if this user is not permitted to, or no controller accounts memory.
    pub fn new(name: &str, memory: Bytes) -> Result<Self, Failure> {
        let unfit = |why: String| {
            Failure::new(
                FailureKind::Unsupported,
                say!(
                    "a limit of {memory} of memory: {why}: run plimsoll as root on a host with control groups, or start the server in a virtual machine of that size"
                ),
            )
        };
        let place = ParentCgroup::find()
            .ok_or_else(|| unfit(label!("no control group on this host accounts memory").into()))?;
        place.sweep();
        let folder = place.parent.join(format!("plimsoll-{name}-{}", std::process::id()));
        let attempt = |error: io::Error| unfit(format!("{}: {error}", folder.display()));
        fs::create_dir(&folder).map_err(attempt)?;
        let cgroup = Self { folder: folder.clone(), limit: memory, used: place.used };
        fs::write(folder.join(place.limit), memory.get().to_string()).map_err(attempt)?;
        // Swapping would be measured with the server; not every kernel can forbid it.
        let _ = fs::write(folder.join(place.swap.0), place.swap.1);
        Ok(cgroup)
    }

    /// A command that joins the group and then executes `program` in the same process.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.processes()).arg(program);
        command
    }

    /// Memory in use, including the page cache.
    pub fn used(&self) -> Option<Bytes> {
        fs::read_to_string(self.folder.join(self.used)).ok()?.trim().parse().ok().map(Bytes::new)
    }

    /// A sentence if the limit killed processes of the group.
    pub fn kills(&self) -> Option<String> {
        let (file, text) = ["memory.events", "memory.oom_control"]
            .iter()
            .find_map(|file| Some((file, fs::read_to_string(self.folder.join(file)).ok()?)))?;
        let kills: u64 = text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())?;
        (kills > 0).then(|| {
            format!(
                "its limit of {} of memory killed {kills} of its processes (oom_kill {kills} in {file}): give it more --memory, \
                 fewer sessions or a smaller --cache",
                self.limit
            )
        })
    }

    fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }
}

impl Drop for MemoryCgroup {
    fn drop(&mut self) {
        let until = Instant::now() + REMOVAL_TIMEOUT;
        while let Err(error) = fs::remove_dir(&self.folder) {
            if error.kind() == io::ErrorKind::NotFound || Instant::now() > until {
                return;
            }
            let inside = fs::read_to_string(self.processes()).unwrap_or_default();
            for pid in inside.lines().filter_map(|line| line.parse().ok()).filter_map(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The parent of memory groups, with its interface files.
#[derive(Debug, PartialEq, Eq)]
struct ParentCgroup {
    parent: PathBuf,
    limit: &'static str,
    used: &'static str,
    swap: (&'static str, &'static str),
}

impl ParentCgroup {
    fn find() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let mine = fs::read_to_string("/proc/self/cgroup").ok()?;
        Self::second(&mounts, &mine).or_else(|| Self::first(&mounts, &mine))
    }

    /// Version 2: except for the root, a group with processes of its own cannot delegate memory. So the new group is a
    /// sibling of the group of this process, or is higher up.
    fn second(mounts: &str, mine: &str) -> Option<Self> {
        let top = mounted(mounts, "cgroup2", None)?;
        let own = mine.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let has = |folder: &Path, file: &str| {
            fs::read_to_string(folder.join(file)).is_ok_and(|text| text.split_whitespace().any(|word| word == "memory"))
        };
        let own = top.join(own);
        let above = own.ancestors().skip(1).take_while(|folder| folder.starts_with(&top));
        let fits = above.chain([own.as_path()]).find(|folder| has(folder, "cgroup.subtree_control"));
        let parent = fits.map(Path::to_path_buf).or_else(|| {
            // Memory is not delegated yet: delegate it at the root.
            let handed_on =
                has(&top, "cgroup.controllers") && fs::write(top.join("cgroup.subtree_control"), "+memory").is_ok();
            handed_on.then_some(top)
        })?;
        Some(Self { parent, limit: "memory.max", used: "memory.current", swap: ("memory.swap.max", "0") })
    }

    /// Version 1: below the group of this process, so that a container's own limit holds too.
    fn first(mounts: &str, mine: &str) -> Option<Self> {
        let top = mounted(mounts, "cgroup", Some("memory"))?;
        let own = mine.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, own) = rest.split_once(":/")?;
            controllers.split(',').any(|name| name == "memory").then(|| top.join(own))
        });
        // Inside a container the path may be that of the host.
        let parent = own.filter(|own| own.is_dir()).unwrap_or(top);
        Some(Self {
            parent,
            limit: "memory.limit_in_bytes",
            used: "memory.usage_in_bytes",
            swap: ("memory.swappiness", "0"),
        })
    }

    /// Removes groups left by killed plimsoll processes. The kernel refuses to remove groups with live processes.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid =
                name.to_str().and_then(|name| name.strip_prefix("plimsoll-")?.rsplit_once('-')?.1.parse::<u32>().ok());
            if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Mount point of a filesystem of this type with this mount option.
fn mounted(mounts: &str, kind: &str, option: Option<&str>) -> Option<PathBuf> {
    let mut found = mounts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, place, of, options, ..] = fields[..] else { return None };
        let has = option.is_none_or(|order| options.split(',').any(|option| option == order));
        (of == kind && has).then(|| PathBuf::from(place))
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_is_found_by_mount() {
        let mounts = "cgroup2 /none cgroup2 rw 0 0\ncgroup /nowhere/cpu cgroup rw,cpu 0 0\ncgroup /nowhere/memory cgroup rw,memory 0 0\n";
        assert_eq!(ParentCgroup::second(mounts, "0::/\n"), None);
        let place = ParentCgroup::first(mounts, "4:memory:/not/here\n0::/\n").unwrap();
        assert_eq!(place.parent, Path::new("/nowhere/memory"));
        assert_eq!(ParentCgroup::first("tmpfs /tmp tmpfs rw 0 0\n", ""), None);
    }

    #[test]
    fn version_2_group_is_a_sibling() {
        let top = std::env::temp_dir().join(format!("plimsoll-groups-{}", std::process::id()));
        fs::create_dir_all(top.join("user/mine")).unwrap();
        let mounts = format!("cgroup2 {} cgroup2 rw 0 0\n", top.display());
        fs::write(top.join("cgroup.subtree_control"), "cpu memory\n").unwrap();
        assert_eq!(ParentCgroup::second(&mounts, "0::/user/mine\n").unwrap().parent, top);
        fs::write(top.join("user/cgroup.subtree_control"), "memory\n").unwrap();
        assert_eq!(ParentCgroup::second(&mounts, "0::/user/mine\n").unwrap().parent, top.join("user"));
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn command_runs_in_group_and_group_is_removed() {
        let cgroup = match MemoryCgroup::new("test", Bytes::new(64 << 20)) {
            Ok(cgroup) => cgroup,
            Err(failure) => {
                assert_eq!(failure.kind, FailureKind::Unsupported);
                eprintln!("skipped: {failure}");
                return;
            }
        };
        let folder = cgroup.folder.clone();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let output = cgroup.command(Path::new("cat")).arg("/proc/self/cgroup").output().unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains(&name));
        assert!(cgroup.used().is_some());
        // A remaining process is killed with the group.
        let mut stays = cgroup.command(Path::new("sleep")).arg("1000").spawn().unwrap();
        while !fs::read_to_string(cgroup.processes()).unwrap().contains(&stays.id().to_string()) {
            std::thread::yield_now();
        }
        drop(cgroup);
        assert!(!stays.wait().unwrap().success() && !folder.exists());
    }
}
