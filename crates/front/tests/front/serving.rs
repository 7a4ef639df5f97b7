//! A server on a separate thread, and its address.

use std::fs::File;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_device::Clock;
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk};
use plimsoll_front::{DataFiles, Handle, Limits, Offer, Server, TlsMode};
use plimsoll_units::Span;
use plimsoll_volume::{Export, Volumes};

/// Bytes of export 0, `data`.
pub const SIZE: u64 = 64 << 20;

pub struct Serving {
    pub handle: Handle,
    pub address: ExportAddress,
    directory: PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Serves the exports `data` and read-only `fixed`, in memory or in files.
    pub fn start(in_files: bool, limits: Limits) -> Self {
        Self::start_with(in_files, limits, TlsMode::Off)
    }

    pub fn start_with(in_files: bool, limits: Limits, tls: TlsMode) -> Self {
        Self::start_on(limits, tls, move |home| {
            let file = |number: u32| {
                let path = home.join(format!("data.{number}"));
                File::options().read(true).write(true).create_new(true).open(path).unwrap().into()
            };
            if in_files { DataFiles::given([file(0), file(1)]) } else { DataFiles::memory() }
        })
    }

    /// The same on files in a directory of the server.
    pub fn start_on(limits: Limits, tls: TlsMode, files: impl FnOnce(&Path) -> DataFiles + Send + 'static) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("plimsoll-front-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (told, handle) = channel();
        let home = directory.clone();
        let thread = std::thread::spawn(move || {
            let files = files(&home);
            let volumes = Volumes::plain([SIZE, 1 << 20], Span::ZERO);
            let mut server = Server::new(volumes, files, limits, Clock::start()).unwrap();
            server.set_tls(tls);
            server.offer(Offer::new(Export(0), "data", SIZE));
            let mut fixed = Offer::new(Export(1), "fixed", 1 << 20);
            fixed.access = plimsoll_volume::VolumeAccess::ReadOnly;
            server.offer(fixed);
            server.listen(UnixListener::bind(home.join("socket")).unwrap()).unwrap();
            told.send(server.handle()).unwrap();
            server.run().unwrap();
        });
        let handle = handle.recv().unwrap();
        let address = ExportAddress { host: NbdHost::Unix(directory.join("socket")), export: "data".into(), tls: None };
        Self { handle, address, directory, thread: Some(thread) }
    }

    pub fn talk(&self) -> Talk {
        Talk::begin(&self.address, Duration::from_secs(10)).unwrap()
    }

    pub fn socket(&self) -> &Path {
        match &self.address.host {
            NbdHost::Unix(path) => path,
            NbdHost::Tcp { .. } => unreachable!("the server listens on a Unix socket"),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let stopped = self.handle.send(Server::stop);
        let ended = self.thread.take().map(JoinHandle::join);
        std::fs::remove_dir_all(&self.directory).unwrap();
        if !std::thread::panicking() {
            stopped.unwrap();
            assert!(ended.is_some_and(|ended| ended.is_ok()), "the server has panicked");
        }
    }
}
