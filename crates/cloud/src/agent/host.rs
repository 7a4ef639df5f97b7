//! The initiator's side of a Linux host: open-iscsi, multipath-tools, and block devices in sysfs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::error::AgentError;

/// File with the section of the agent.
const MULTIPATH_FILE: &str = "etc/multipath/conf.d/plimsoll-oci.conf";
/// Exit codes of iscsiadm: the session exists already, and there is no session or record (`iscsi_err.h` of open-iscsi).
const SESSION_EXISTS: i32 = 15;
const NO_OBJECTS_FOUND: i32 = 21;
/// Attempts of multipath to remove a map that udev still reads.
const FLUSH_RETRIES: &str = "5";
/// Time for devices to appear after a login, and the interval of the checks.
const DEVICE_TIMEOUT: Duration = Duration::from_secs(120);
const DEVICE_INTERVAL: Duration = Duration::from_millis(200);

/// A host, by its root directory.
#[derive(Clone, Debug)]
pub(super) struct Host {
    root: PathBuf,
}

/// Portals and targets with a session.
pub(super) fn list_sessions() -> Result<BTreeSet<(String, String)>, AgentError> {
    let output = run("iscsiadm", &["-m", "session"], &[NO_OBJECTS_FOUND])?;
    Ok(output.lines().filter_map(read_session).collect())
}

pub(super) fn list_targets() -> Result<BTreeSet<String>, AgentError> {
    Ok(list_sessions()?.into_iter().map(|(_, iqn)| iqn).collect())
}

/// Makes the record of a path, with settings, and logs in.
pub(super) fn connect(iqn: &str, portal: &str, settings: &[(&str, String)]) -> Result<(), AgentError> {
    let node = ["-m", "node", "-T", iqn, "-p", portal];
    run("iscsiadm", &[&node[..], &["-o", "new"]].concat(), &[])?;
    for (key, value) in settings {
        run("iscsiadm", &[&node[..], &["-o", "update", "-n", key, "-v", value]].concat(), &[])
            .map_err(AgentError::step(format_args!("setting {key}")))?;
    }
    run("iscsiadm", &[&node[..], &["-l"]].concat(), &[SESSION_EXISTS])?;
    Ok(())
}

impl Host {
    pub fn here() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// Removes the links and the multipath device of a target, its sessions and its records.
    pub fn log_out(&self, iqn: &str) -> Result<(), AgentError> {
        if let Some(device) = self.device(iqn, 1) {
            if let Ok(map) = device.strip_prefix("/dev/mapper") {
                // Requests that wait for a path would keep the map in use.
                let map = map.to_string_lossy();
                run("multipathd", &["disablequeueing", "map", &map], &[])?;
                run("multipath", &["-R", FLUSH_RETRIES, "-f", &map], &[])
                    .map_err(AgentError::step(format_args!("{} is in use: unmount it first", device.display())))?;
            }
            self.unlink(&device)?;
        }
        run("iscsiadm", &["-m", "node", "-T", iqn, "-u"], &[NO_OBJECTS_FOUND])?;
        run("iscsiadm", &["-m", "node", "-T", iqn, "-o", "delete"], &[NO_OBJECTS_FOUND])?;
        Ok(())
    }

    /// Writes the section of multipath.conf, and starts multipathd or makes it read the section.
    pub fn configure_multipath(&self, section: &str) -> Result<(), AgentError> {
        let file = self.root.join(MULTIPATH_FILE);
        let is_new = std::fs::read_to_string(&file).ok().as_deref() != Some(section);
        if is_new {
            let folder = file.parent().expect("the file is in a folder");
            let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, section));
            written.map_err(AgentError::io(format_args!("writing {}", file.display())))?;
        }
        if run("multipathd", &["show", "daemon"], &[]).is_err() {
            let (program, arguments): (&str, &[&str]) = if self.root.join("run/systemd/system").is_dir() {
                ("systemctl", &["enable", "--now", "multipathd"])
            } else {
                ("multipathd", &[])
            };
            start(program, arguments).map_err(AgentError::step("starting multipathd"))?;
        } else if is_new {
            run("multipathd", &["reconfigure"], &[])?;
        }
        Ok(())
    }

    /// Waits for the block device of a target: the multipath device over the disks of all paths if there are several.
    pub fn await_device(&self, iqn: &str, paths: usize) -> Result<PathBuf, AgentError> {
        let begun = Instant::now();
        loop {
            if let Some(device) = self.device(iqn, paths).filter(|device| self.place(device).exists()) {
                return Ok(device);
            }
            if begun.elapsed() > DEVICE_TIMEOUT {
                let kind = if paths > 1 { "multipath device: see multipath -ll" } else { "disk" };
                return Err(AgentError::host(format_args!("after {} s it has no {kind}", DEVICE_TIMEOUT.as_secs())));
            }
            std::thread::sleep(DEVICE_INTERVAL);
        }
    }

    /// The device of a target: a multipath device over this number of disks or more, otherwise its disk if a single path is
    /// expected.
    fn device(&self, iqn: &str, paths: usize) -> Option<PathBuf> {
        let disks = self.disks(iqn);
        let block = self.root.join("sys/block");
        let maps: Vec<String> = disks.iter().flat_map(|disk| entries(&block.join(disk).join("holders"))).collect();
        let is_multipath =
            |map: &str| read(&block.join(map).join("dm/uuid")).is_some_and(|uuid| uuid.starts_with("mpath-"));
        let maps: Vec<&String> = maps.iter().filter(|map| is_multipath(map)).collect();
        let map = maps.first().filter(|_| maps.len() >= paths);
        let name = map.and_then(|map| read(&block.join(map).join("dm/name")));
        let disk = disks.first().filter(|_| paths == 1).map(|disk| Path::new("/dev").join(disk));
        name.map(|name| Path::new("/dev/mapper").join(name)).or(disk)
    }

    /// Names of the disks of a target, one for each session.
    fn disks(&self, iqn: &str) -> Vec<String> {
        let sessions = self.root.join("sys/class/iscsi_session");
        let own = entries(&sessions).into_iter().map(|name| sessions.join(name));
        let own = own.filter(|session| read(&session.join("targetname")).as_deref() == Some(iqn));
        let units =
            own.flat_map(|session| below(&session.join("device"), "target")).flat_map(|target| below(&target, ""));
        units.flat_map(|unit| entries(&unit.join("block"))).collect()
    }

    /// Makes or replaces the link of a consistent device path.
    pub fn link(&self, link: &Path, device: &Path) -> Result<(), AgentError> {
        let place = self.place(link);
        match std::fs::read_link(&place) {
            Ok(present) if present == device => return Ok(()),
            Err(_) if place.symlink_metadata().is_ok() => {
                return Err(AgentError::host(format_args!("{} exists and is not a link", link.display())));
            }
            _ => {}
        }
        let folder =
            place.parent().ok_or_else(|| AgentError::host(format_args!("{} has no folder", link.display())))?;
        let fresh = place.with_extension("new");
        let linked = std::fs::create_dir_all(folder).and_then(|()| match std::fs::remove_file(&fresh) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => std::os::unix::fs::symlink(device, &fresh).and_then(|()| std::fs::rename(&fresh, &place)),
        });
        linked.map_err(AgentError::io(format_args!("linking {}", link.display())))
    }

    /// Removes the consistent device paths of a device.
    fn unlink(&self, device: &Path) -> Result<(), AgentError> {
        let folder = self.place(Path::new("/dev/oracleoci"));
        let links = entries(&folder).into_iter().map(|name| folder.join(name));
        for link in links.filter(|link| std::fs::read_link(link).is_ok_and(|target| target == device)) {
            std::fs::remove_file(&link).map_err(AgentError::io(format_args!("removing {}", link.display())))?;
        }
        Ok(())
    }

    /// An absolute path below the root directory.
    fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// A line of `iscsiadm -m session`: `tcp: [1] 10.0.2.2:3260,1 iqn.2015-12.com.oracleiaas:1 (non-flash)`.
fn read_session(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace().skip(2);
    let portal = words.next()?.rsplit_once(',')?.0;
    Some((portal.to_owned(), words.next()?.to_owned()))
}

/// Names in a directory, in order; none if it is missing.
fn entries(folder: &Path) -> Vec<String> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = found.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Directories below a directory whose names begin so.
fn below(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|name| name.starts_with(prefix)).map(|name| folder.join(name)).collect()
}

fn read(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// Runs a program; the output, or the reason of a failure. Exit codes in `accepted` are no failures.
fn run(program: &str, arguments: &[&str], accepted: &[i32]) -> Result<String, AgentError> {
    let output = Command::new(program).args(arguments).output();
    let output = output
        .map_err(AgentError::io(format_args!("{program} cannot be started: install open-iscsi and multipath-tools")))?;
    if !output.status.success() && !output.status.code().is_some_and(|code| accepted.contains(&code)) {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let arguments = arguments.join(" ");
        return Err(AgentError::host(format_args!("{program} {arguments}: {reason} ({})", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Starts a daemon, which may keep its standard streams.
fn start(program: &str, arguments: &[&str]) -> Result<(), AgentError> {
    let mut command = Command::new(program);
    let status = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status =
        status.map_err(AgentError::io(format_args!("{program} cannot be started: install multipath-tools")))?;
    if status.success() { Ok(()) } else { Err(AgentError::host(format_args!("{program}: {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with sessions on disks, `sda` and so on, and a multipath device over those.
    fn host(name: &str, paths: usize, has_map: bool) -> Host {
        let root = std::env::temp_dir().join(format!("plimsoll-agent-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let write = |path: String, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for number in 0..paths {
            let disk = format!("sd{}", char::from(b'a' + u8::try_from(number).unwrap()));
            let session = format!("sys/class/iscsi_session/session{number}");
            write(format!("{session}/targetname"), "iqn.2015-12.com.oracleiaas:1\n");
            write(format!("{session}/device/target{number}:0:0/{number}:0:0:0/block/{disk}/size"), "1");
            write(format!("sys/block/{disk}/size"), "1");
            if has_map {
                write(format!("sys/block/{disk}/holders/dm-0"), "");
            }
        }
        if has_map {
            write("sys/block/dm-0/dm/uuid".into(), "mpath-360a\n");
            write("sys/block/dm-0/dm/name".into(), "mpatha\n");
        }
        Host { root }
    }

    #[test]
    fn device_of_several_paths_is_the_multipath_device() {
        let iqn = "iqn.2015-12.com.oracleiaas:1";
        let find = |host: &Host, paths| host.device(iqn, paths).map(|path| path.display().to_string());
        assert_eq!(find(&host("five", 5, true), 5).as_deref(), Some("/dev/mapper/mpatha"));
        assert_eq!(find(&host("early", 5, false), 5), None, "the map is not there yet");
        assert_eq!(find(&host("one", 1, false), 1).as_deref(), Some("/dev/sda"));
        assert_eq!(host("other", 1, false).device("iqn.else", 1), None);
    }

    #[test]
    fn link_is_replaced_and_removed_with_its_device() {
        let host = host("link", 1, false);
        let (link, device) = (Path::new("/dev/oracleoci/oraclevdb"), Path::new("/dev/mapper/mpatha"));
        let target = || std::fs::read_link(host.place(link)).ok();
        host.link(link, Path::new("/dev/sda")).unwrap();
        host.link(link, device).unwrap();
        assert_eq!(target().as_deref(), Some(device));
        host.unlink(Path::new("/dev/sda")).unwrap();
        assert_eq!(target().as_deref(), Some(device));
        host.unlink(device).unwrap();
        assert_eq!(target(), None);
        std::fs::write(host.place(link), "a file").unwrap();
        assert!(host.link(link, device).unwrap_err().to_string().contains("is not a link"));
    }

    #[test]
    fn sessions_are_read_from_the_list_of_iscsiadm() {
        let line = "tcp: [1] 10.0.2.2:3260,1 iqn.2015-12.com.oracleiaas:1 (non-flash)";
        assert_eq!(read_session(line), Some(("10.0.2.2:3260".into(), "iqn.2015-12.com.oracleiaas:1".into())));
        assert_eq!(read_session("iscsiadm: No active sessions."), None);
    }
}
