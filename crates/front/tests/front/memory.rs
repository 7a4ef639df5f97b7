//! A server of volumes in memory, on a separate thread.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_device::Clock;
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk};
use plimsoll_front::{DataFiles, Handle, Limits, Offer, Server};
use plimsoll_volume::{Edit, Geometry, Serving, Slow, Store, VolumeAccess, VolumeId, Volumes};

/// Bytes of each export.
pub const SIZE: u64 = 1 << 20;
/// Timeout of all waits.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A server with the exports `data` and read-only `fixed`.
pub struct Memory {
    pub handle: Handle,
    pub socket: PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl Memory {
    /// Starts it with a store of the given capacity in bytes.
    pub fn start(capacity: u64) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let socket = std::env::temp_dir().join(format!("plimsoll-memory-{}-{number}", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        let (told, ready) = channel();
        let listener = UnixListener::bind(&socket).unwrap();
        let thread = std::thread::spawn(move || {
            let geometry = Geometry { cluster_bytes: 4096, clusters_per_file: 1 << 20 };
            let volumes = Volumes::new(Store::new(geometry, capacity), Slow::NOT);
            let mut server = Server::new(volumes, DataFiles::memory(), Limits::default(), Clock::start()).unwrap();
            server.listen(listener).unwrap();
            told.send(server.handle()).unwrap();
            server.run().unwrap();
        });
        let handle = ready.recv().unwrap();
        let volume = handle.edit(Edit::Create { size: SIZE, text: String::new() }).unwrap();
        let fork = Edit::Fork { of: volume, access: VolumeAccess::ReadOnly, text: String::new() };
        let fixed = handle.edit(fork).unwrap();
        handle
            .call(move |server| [(volume, "data"), (fixed, "fixed")].map(|(of, name)| serve(server, of, name)))
            .unwrap();
        Self { handle, socket, thread: Some(thread) }
    }

    /// Creates a volume and offers it by this name.
    pub fn create(&self, name: &'static str) {
        self.create_of(name, SIZE);
    }

    /// The same with a size in bytes.
    pub fn create_of(&self, name: &'static str, size: u64) {
        let volume = self.handle.edit(Edit::Create { size, text: String::new() }).unwrap();
        self.handle.call(move |server| serve(server, volume, name)).unwrap();
    }

    /// A client of an export.
    pub fn talk(&self, export: &str) -> Talk {
        let mut talk = self.begin();
        talk.choose(export, true).unwrap();
        talk
    }

    /// A client that has not chosen an export.
    pub fn begin(&self) -> Talk {
        let address = ExportAddress { host: NbdHost::Unix(self.socket.clone()), export: String::new(), tls: None };
        Talk::begin(&address, TIMEOUT).unwrap()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = self.handle.send(Server::stop);
        let ended = self.thread.take().map(JoinHandle::join);
        let _ = std::fs::remove_file(&self.socket);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server has panicked");
    }
}

fn serve(server: &mut Server, volume: VolumeId, name: &str) {
    let limits = plimsoll_volume::Limits { requests: 64, bytes: 64 << 20, payload: 64 << 20, block: 1 };
    let model = plimsoll_model::parse("link(1us)").unwrap();
    let (volumes, now, _) = server.volumes();
    let export = volumes.serve(now, &Serving { volume, model, seed: 1, limits, group: None }).unwrap();
    let about = volumes.store().about(volume).unwrap();
    let offer = Offer { access: about.access, ..Offer::new(export, name, about.size) };
    server.offer(offer);
}
