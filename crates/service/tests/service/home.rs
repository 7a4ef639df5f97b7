//! Test fixture: a service with a private directory, its server on a thread, and NBD clients.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plimsoll_catalogue::Catalogue;
use plimsoll_device::nbd::wire::{Style, command, command_flag};
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk, WireRequest};
use plimsoll_front::Checksums;
use plimsoll_service::{LevelChanges, Service, ServiceOptions, api};
use plimsoll_volume::{Durability, Slow};

/// Timeout of all waits.
pub const TIMEOUT: Duration = Duration::from_secs(30);

pub struct Home {
    pub service: Service,
    pub directory: PathBuf,
    thread: Option<JoinHandle<()>>,
}

pub fn options(directory: &Path) -> ServiceOptions {
    ServiceOptions {
        directory: directory.to_path_buf(),
        capacity: Some(64 << 30),
        slow: Slow::NOT,
        listens: vec![format!("nbd+unix:///?socket={}", directory.join("nbd").display())],
        products: Catalogue::built_in(),
        iscsi: None,
        realtime: false,
        floor: api::Floor::default(),
        measure_floor: || None,
        checksums: Checksums::AsMade,
        level_changes: LevelChanges::Detached,
        durability: Durability::Flushes,
        commit_interval: None,
        made_by: "test".into(),
    }
}

pub fn create_directory() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("plimsoll-service-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// Copies the files of a data directory. The superblock is copied first: it is never ahead of the rest. A log that is
/// being replaced is skipped: it may be renamed meanwhile, and the old log exists until then.
pub fn copy_files(from: &Path) -> PathBuf {
    let copy = create_directory();
    std::fs::create_dir_all(&copy).unwrap();
    let files = std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path());
    let is_data = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        ["data.", "sums.", "intent."].iter().any(|kind| name.starts_with(kind))
            || (name.starts_with("log") && name != "log.new")
    };
    for path in std::iter::once(from.join("superblock")).chain(files.filter(is_data)) {
        let to = copy.join(path.file_name().unwrap());
        let copied = std::process::Command::new("cp").arg("--sparse=always").arg(&path).arg(to).status();
        assert!(copied.unwrap().success());
    }
    copy
}

impl Home {
    pub fn new() -> Self {
        Self::open(options(&create_directory()))
    }

    pub fn open(options: ServiceOptions) -> Self {
        let directory = options.directory.clone();
        let socket = directory.join("nbd");
        let (sender, opened) = channel();
        let thread = std::thread::spawn(move || {
            let (service, mut server) = Service::open(options).unwrap();
            let _ = std::fs::remove_file(&socket);
            server.listen(UnixListener::bind(socket).unwrap()).unwrap();
            sender.send(service).unwrap();
            server.run().unwrap();
        });
        let service = opened.recv().unwrap();
        Self { service, directory, thread: Some(thread) }
    }

    /// Stops the service and opens its directory again.
    pub fn again(self) -> Self {
        Self::open(options(&self.keep()))
    }

    /// A service on a copy of the directory, as after a kill at this moment.
    pub fn after_a_kill(&self) -> Self {
        Self::open(options(&copy_files(&self.directory)))
    }

    /// Stops the service and returns its directory.
    pub fn keep(mut self) -> PathBuf {
        self.end();
        std::mem::take(&mut self.directory)
    }

    fn end(&mut self) {
        self.service.close();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()), "the server has panicked");
    }

    pub fn create(&self, name: &str, like: &str) -> api::Volume {
        let size_bytes = like.contains('(').then_some(64 << 20);
        let create = api::Create { name: name.into(), like: like.into(), size_bytes, ..api::Create::default() };
        self.service.create(&create).unwrap()
    }

    pub fn level(&self, name: &str, to: &str) -> Result<api::Volume, String> {
        let level = api::Level { to: to.into(), force_detach: false };
        self.service.level(name, &level).map_err(|refusal| refusal.message)
    }

    /// A connection before the choice of an export.
    pub fn talk(&self, name: &str) -> Talk {
        let address = ExportAddress { host: NbdHost::Unix(self.directory.join("nbd")), export: name.into(), tls: None };
        Talk::begin(&address, TIMEOUT).unwrap()
    }

    pub fn client(&self, name: &str) -> Client {
        let mut talk = self.talk(name);
        let size = talk.choose(name, true).unwrap().size;
        Client { talk, size }
    }

    /// Polls a volume until `condition` holds.
    pub fn until(&self, name: &str, condition: impl Fn(&api::Volume) -> bool) -> api::Volume {
        let end = Instant::now() + TIMEOUT;
        loop {
            let volume = self.service.volume(name).unwrap();
            if condition(&volume) {
                return volume;
            }
            assert!(Instant::now() < end, "{volume:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end();
        }
        if !self.directory.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// An NBD connection.
pub struct Client {
    talk: Talk,
    pub size: u64,
}

impl Client {
    fn ask(&mut self, command: u16, flags: u16, offset: u64, length: u64, payload: &[u8]) {
        let request = WireRequest { flags, command, cookie: 1, offset, length };
        self.talk.request(Style::Simple, &request, payload).unwrap();
    }

    pub fn write(&mut self, offset: u64, data: &[u8]) {
        assert_eq!(self.try_write(offset, data), 0);
    }

    /// Durable write; returns the NBD error.
    pub fn try_write(&mut self, offset: u64, data: &[u8]) -> u32 {
        self.ask(command::WRITE, command_flag::FUA, offset, data.len() as u64, data);
        self.talk.chunk(0).unwrap().errno()
    }

    /// Write that is answered without being durable.
    pub fn write_unflushed(&mut self, offset: u64, data: &[u8]) {
        self.ask(command::WRITE, 0, offset, data.len() as u64, data);
        assert_eq!(self.talk.chunk(0).unwrap().errno(), 0);
    }

    pub fn trim(&mut self, offset: u64, length: u64) {
        self.ask(command::TRIM, command_flag::FUA, offset, length, &[]);
        assert_eq!(self.talk.chunk(0).unwrap().errno(), 0);
    }

    pub fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        self.try_read(offset, length).unwrap()
    }

    /// Data, or the NBD error.
    pub fn try_read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
        self.ask(command::READ, 0, offset, length.into(), &[]);
        let answer = self.talk.chunk(length).unwrap();
        if answer.errno() == 0 { Ok(answer.payload) } else { Err(answer.errno()) }
    }

    /// Reads of 4 KiB at a depth; returns the elapsed time.
    pub fn reads(&mut self, count: u32, depth: u32) -> Duration {
        let begin = Instant::now();
        for _ in 0..depth.min(count) {
            self.ask(command::READ, 0, 0, 4096, &[]);
        }
        for done in 0..count {
            self.talk.chunk(4096).unwrap();
            if done + depth < count {
                self.ask(command::READ, 0, 0, 4096, &[]);
            }
        }
        begin.elapsed()
    }

    /// True if the server has closed the connection.
    pub fn is_torn(&mut self) -> bool {
        let request = WireRequest { command: command::READ, length: 4096, ..WireRequest::default() };
        self.talk.request(Style::Simple, &request, &[]).is_err() || self.talk.chunk(4096).is_err()
    }
}
