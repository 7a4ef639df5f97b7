//! A server in a child process that can be killed at any time: this test program, started again.
//!
//! Serves every volume of a data directory over NBD and iSCSI, as an export named by its number, and executes edits from a
//! socket of its parent. Ends when the parent closes the socket.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use plimsoll_device::Clock;
use plimsoll_device::nbd::wire::option;
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk};
use plimsoll_front::iscsi::{TargetSettings, Targets};
use plimsoll_front::{Checksums, DataFiles, Handle, Limits, Offer, Server, SocketProtocol};
use plimsoll_units::Span;
use plimsoll_volume::{Durability, Edit, Export, Geometry, Serving, Slow, Store, VolumeAccess, VolumeId, Volumes};

/// Directory of the server; set in the child process.
const HOME: &str = "PLIMSOLL_KILLED_HOME";
/// A file that enables checksums.
pub const CHECKSUMS: &str = "checksums";
/// Initial capacity of the store in bytes.
const CAPACITY: u64 = 1 << 30;
/// Small, so that few requests touch many clusters and files.
const GEOMETRY: Geometry = Geometry { cluster_bytes: 4096, clusters_per_file: 64 };
/// Timeout of server start and replies.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of volume 0, which a new directory gets.
pub const SIZE: u64 = 256 << 10;

/// A server process.
pub struct Killed {
    child: Child,
    listener: UnixListener,
    control: Option<BufReader<UnixStream>>,
    base: PathBuf,
}

impl Killed {
    /// Starts a server on `base/data`; [`Killed::ready`] waits for it.
    pub fn start(base: &Path) -> Self {
        Self::start_as(base, Command::new(std::env::current_exe().unwrap()))
    }

    /// The same with a command that runs this program with the appended arguments.
    pub fn start_as(base: &Path, mut command: Command) -> Self {
        std::fs::create_dir_all(base.join("data")).unwrap();
        let _ = std::fs::remove_file(base.join("control"));
        let listener = UnixListener::bind(base.join("control")).unwrap();
        listener.set_nonblocking(true).unwrap();
        command.args(["--exact", "killed::killable_server", "--nocapture"]).env(HOME, base);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        Self { child, listener, control: None, base: base.to_path_buf() }
    }

    /// Waits until it serves. `None` if it ended.
    pub fn ready(&mut self) -> Option<()> {
        let begun = Instant::now();
        let control = loop {
            match self.listener.accept() {
                Ok((control, _)) => break control,
                Err(_) if self.child.try_wait().unwrap().is_some() => return None,
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
            assert!(begun.elapsed() < TIMEOUT, "the server has not started");
        };
        control.set_nonblocking(false).unwrap();
        control.set_read_timeout(Some(TIMEOUT)).unwrap();
        let control = self.control.insert(BufReader::new(control));
        (hear(control)? == "ready").then_some(())
    }

    pub fn control(&mut self) -> &mut BufReader<UnixStream> {
        self.control.as_mut().expect("it is ready")
    }

    /// Executes a command, which has to succeed.
    pub fn order(&mut self, line: &str) -> String {
        let answer = say(self.control(), line).expect("the server goes on");
        answer.strip_prefix("ok").unwrap_or_else(|| panic!("{line}: {answer}")).trim_start().to_owned()
    }

    /// Its volumes: number, bytes, and whether it is a snapshot.
    pub fn list(&mut self) -> Vec<(u32, u64, bool)> {
        let list = self.order("list");
        let volume = |text: &str| {
            let mut parts = text.split(':');
            let mut next = || parts.next().unwrap();
            (next().parse().unwrap(), next().parse().unwrap(), next() == "ro")
        };
        list.split_whitespace().map(volume).collect()
    }

    /// A client of a volume, with structured replies.
    pub fn talk(&self, volume: u32) -> Talk {
        let (host, export) = (NbdHost::Unix(self.base.join("socket")), volume.to_string());
        let mut talk = Talk::begin(&ExportAddress { host, export: export.clone(), tls: None }, TIMEOUT).unwrap();
        talk.option(option::STRUCTURED_REPLY, &[]).unwrap();
        talk.choose(&export, true).unwrap();
        talk
    }

    /// Kills the process and waits for its end.
    pub fn kill(&mut self) {
        let ended = self.child.try_wait().unwrap();
        assert!(ended.is_none(), "the server has ended: {ended:?}");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a line and waits for the reply; `None` if the server has ended.
pub fn say(control: &mut BufReader<UnixStream>, line: &str) -> Option<String> {
    control.get_mut().write_all(format!("{line}\n").as_bytes()).ok()?;
    hear(control)
}

fn hear(control: &mut BufReader<UnixStream>) -> Option<String> {
    let mut line = String::new();
    match control.read_line(&mut line) {
        Ok(0) => None,
        Ok(_) => line.ends_with('\n').then(|| line.trim_end().to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("the server does not answer"),
        Err(_) => None,
    }
}

/// The child process of [`Killed`], not a test.
#[test]
fn killable_server() {
    let Some(base) = std::env::var_os(HOME).map(PathBuf::from) else { return };
    let checksums = if base.join(CHECKSUMS).exists() { Checksums::Required } else { Checksums::AsMade };
    let (files, contents) = DataFiles::directory(&base.join("data"), checksums).unwrap();
    let mut pending = Vec::new();
    let mut store = if contents.log.commits.is_empty() {
        Store::new(GEOMETRY, CAPACITY)
    } else {
        let recovered =
            Store::recover(contents.log.commits, &contents.lengths, CAPACITY, contents.unreferenced).unwrap();
        pending = recovered.jobs;
        recovered.store
    };
    store.set_records_kept(64);
    let volumes: Vec<VolumeId> = store.volumes().map(|about| about.volume).collect();
    let mut server = Server::new(Volumes::new(store, Slow::NOT), files, Limits::default(), Clock::start()).unwrap();
    server.volumes().2.append(&mut pending);
    let mut exports: BTreeMap<VolumeId, Export> =
        volumes.into_iter().map(|volume| (volume, serve(&mut server, volume))).collect();
    let _ = std::fs::remove_file(base.join("socket"));
    server.listen(UnixListener::bind(base.join("socket")).unwrap()).unwrap();
    let _ = std::fs::remove_file(base.join("iscsi"));
    let targets = SocketProtocol::Iscsi(Targets::new(TargetSettings::default()));
    server.listen_for(UnixListener::bind(base.join("iscsi")).unwrap(), targets).unwrap();
    let handle = server.handle();
    std::thread::spawn(move || {
        obey(&handle, &base, &mut exports);
        std::process::exit(0);
    });
    server.run().unwrap();
}

fn serve(server: &mut Server, volume: VolumeId) -> Export {
    let limits = plimsoll_volume::Limits { requests: 256, bytes: 64 << 20, payload: 32 << 20, block: 512 };
    let model = plimsoll_model::parse("link(20us)").unwrap();
    let (volumes, now, _) = server.volumes();
    let export = volumes.serve(now, &Serving { volume, model, seed: 1, limits, group: None }).unwrap();
    let about = volumes.store().about(volume).unwrap();
    let (size, access) = (about.size, about.access);
    let mut offer = Offer::new(export, volume.0.to_string(), size);
    offer.access = access;
    server.offer(offer);
    export
}

/// Executes commands of the parent until it closes the socket.
fn obey(handle: &Handle, base: &Path, exports: &mut BTreeMap<VolumeId, Export>) {
    let Ok(stream) = UnixStream::connect(base.join("control")) else { return };
    let mut control = BufReader::new(stream);
    if exports.is_empty() {
        done(handle, "create", exports).unwrap();
    }
    let mut answer = "ready".to_owned();
    loop {
        if control.get_mut().write_all(format!("{answer}\n").as_bytes()).is_err() {
            return;
        }
        let Some(line) = hear(&mut control) else { return };
        answer = match done(handle, &line, exports) {
            Ok(text) => format!("ok {text}"),
            Err(why) => format!("no {why}"),
        };
    }
}

fn done(handle: &Handle, line: &str, exports: &mut BTreeMap<VolumeId, Export>) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let volume = |at: usize| VolumeId(number(at) as u32);
    let text = String::new();
    let edit = match words[0] {
        "create" => Edit::Create { size: SIZE, text },
        "snapshot" => Edit::Fork { of: volume(1), access: VolumeAccess::ReadOnly, text },
        "clone" => Edit::Fork { of: volume(1), access: VolumeAccess::ReadWrite, text },
        "restore" => Edit::Restore { volume: volume(1), from: volume(2) },
        "grow" => Edit::Grow { volume: volume(1), size: number(2), text: None },
        "delete" => {
            let export = exports.remove(&volume(1)).ok_or("it is not served")?;
            handle.call(move |server| withdraw(server, export)).unwrap();
            Edit::Delete { volume: volume(1) }
        }
        "capacity" => {
            let capacity = number(1);
            handle.call(move |server| server.volumes().0.set_capacity(capacity)).unwrap();
            return Ok(String::new());
        }
        "durability" => {
            let (durability, interval) = match words[1] {
                "changes" => (Durability::Changes, None),
                _ => (Durability::Flushes, Some(Span::from_secs(1))),
            };
            handle.call(move |server| server.volumes().0.set_durability(durability, interval)).unwrap();
            return Ok(String::new());
        }
        "health" => return Ok(handle.call(|server| format!("{:?}", server.volumes().0.health())).unwrap()),
        "ballast" => return Ok(fill_disk(&Path::new(words[1]).join("ballast"))),
        "unballast" => {
            let removed = std::fs::remove_file(Path::new(words[1]).join("ballast"));
            return removed.map(|()| String::new()).map_err(|error| error.to_string());
        }
        "pending" => {
            let is_pending = |server: &mut Server| {
                let volumes = server.volumes().0;
                volumes.store().has_changes() || volumes.is_flushing()
            };
            return Ok(handle.call(is_pending).unwrap().to_string());
        }
        _ => return Ok(handle.call(listed).unwrap()),
    };
    let is_made = matches!(edit, Edit::Create { .. } | Edit::Fork { .. });
    let volume = handle.edit(edit).map_err(|error| error.to_string())?;
    if is_made {
        exports.insert(volume, handle.call(move |server| serve(server, volume)).unwrap());
    }
    Ok(volume.0.to_string())
}

/// Fills the filesystem of a file; returns the error.
fn fill_disk(path: &Path) -> String {
    let mut file = std::fs::File::create(path).unwrap();
    let error = std::iter::repeat_with(|| file.write_all(&[1; 4096])).find_map(Result::err).unwrap();
    error.to_string()
}

fn withdraw(server: &mut Server, export: Export) {
    server.retract(export);
    server.volumes().0.withdraw(export);
}

fn listed(server: &mut Server) -> String {
    let name = |access| if access == VolumeAccess::ReadOnly { "ro" } else { "rw" };
    let volumes = server.volumes().0.store().volumes();
    let texts: Vec<String> =
        volumes.map(|about| format!("{}:{}:{}", about.volume.0, about.size, name(about.access))).collect();
    texts.join(" ")
}
