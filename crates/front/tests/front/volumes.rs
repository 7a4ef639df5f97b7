//! Volumes of a store behind a server: durability, edits with connected clients, and the model's timing.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_device::Clock;
use plimsoll_device::nbd::wire::{Style, command, command_flag};
use plimsoll_device::nbd::{ExportAddress, NbdHost, Talk, WireRequest};
use plimsoll_front::{Checksums, DataFiles, DirectoryError, Handle, Limits, Offer, Server};
use plimsoll_units::Span;
use plimsoll_volume::{Edit, Geometry, Serving, Slow, Store, VolumeAccess, VolumeId, Volumes};

const SIZE: u64 = 64 << 20;

struct Service {
    handle: Handle,
    directory: PathBuf,
    thread: Option<JoinHandle<()>>,
}

/// Serves the volumes of the directory; a new directory gets volume 0.
fn start(directory: &Path, model: &str) -> Service {
    let (told, handle) = channel();
    let (home, model) = (directory.to_path_buf(), model.to_owned());
    let thread = std::thread::spawn(move || {
        let (files, contents) = DataFiles::directory(&home, Checksums::AsMade).unwrap();
        let is_new = contents.log.commits.is_empty();
        let capacity = 1 << 30;
        let store = if is_new {
            Store::new(Geometry::default(), capacity)
        } else {
            Store::recover(contents.log.commits, &contents.lengths, capacity, contents.unreferenced).unwrap().store
        };
        let volumes = Volumes::new(store, Slow::NOT);
        let mut server = Server::new(volumes, files, Limits::default(), Clock::start()).unwrap();
        let path = home.join("socket");
        let _ = std::fs::remove_file(&path);
        server.listen(std::os::unix::net::UnixListener::bind(path).unwrap()).unwrap();
        if is_new {
            let create = Edit::Create { size: SIZE, text: "data".into() };
            server.edit(&create, |_, outcome| outcome.unwrap()).unwrap();
        }
        let ready = move |server: &mut Server| serve(server, VolumeId(0), "data", &model);
        told.send((server.handle(), Box::new(ready) as Box<dyn FnOnce(&mut Server) + Send>)).unwrap();
        server.run().unwrap();
    });
    let (handle, ready) = handle.recv().unwrap();
    // A volume exists once its edit is durable; this edit without effect completes after it.
    let describe = Edit::Describe { volume: VolumeId(0), text: "data".into() };
    while handle.edit(describe.clone()).is_err() {}
    handle.call(ready).unwrap();
    Service { handle, directory: directory.to_path_buf(), thread: Some(thread) }
}

fn serve(server: &mut Server, volume: VolumeId, name: &str, model: &str) {
    let limits = plimsoll_volume::Limits { requests: 256, bytes: 64 << 20, payload: 32 << 20, block: 1 };
    let model = plimsoll_model::parse(model).unwrap();
    let (volumes, now, _) = server.volumes();
    let export = volumes.serve(now, &Serving { volume, model, seed: 1, limits, group: None }).unwrap();
    let access = volumes.store().about(volume).unwrap().access;
    let mut offer = Offer::new(export, name, SIZE);
    offer.access = access;
    server.offer(offer);
}

impl Service {
    fn talk(&self, export: &str) -> Talk {
        let address =
            ExportAddress { host: NbdHost::Unix(self.directory.join("socket")), export: export.into(), tls: None };
        let mut talk = Talk::begin(&address, Duration::from_secs(10)).unwrap();
        talk.choose(export, true).unwrap();
        talk
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.handle.send(Server::stop);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server has panicked");
    }
}

fn create_home(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("plimsoll-volumes-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn write(talk: &mut Talk, offset: u64, data: &[u8], flags: u16) {
    let request = WireRequest { flags, command: command::WRITE, cookie: 1, offset, length: data.len() as u64 };
    talk.request(Style::Simple, &request, data).unwrap();
    assert_eq!(talk.chunk(0).unwrap().errno(), 0);
}

fn read(talk: &mut Talk, offset: u64, length: u32) -> Vec<u8> {
    let request = WireRequest { flags: 0, command: command::READ, cookie: 2, offset, length: length.into() };
    talk.request(Style::Simple, &request, &[]).unwrap();
    let answer = talk.chunk(length).unwrap();
    assert_eq!(answer.errno(), 0);
    answer.payload
}

#[test]
fn flushed_data_survive_a_restart() {
    let directory = create_home("again");
    {
        let service = start(&directory, "link(10us)");
        assert!(
            matches!(DataFiles::directory(&directory, Checksums::AsMade), Err(DirectoryError::InUse(_))),
            "the directory is locked"
        );
        let mut talk = service.talk("data");
        write(&mut talk, 0, &[1; 4096], 0);
        write(&mut talk, 10 << 20, &vec![2; 1 << 20], command_flag::FUA);
        let flush = WireRequest { command: command::FLUSH, ..WireRequest::default() };
        talk.request(Style::Simple, &flush, &[]).unwrap();
        assert_eq!(talk.chunk(0).unwrap().errno(), 0);
    }
    let service = start(&directory, "link(10us)");
    let mut talk = service.talk("data");
    assert_eq!(read(&mut talk, 0, 8192), [vec![1; 4096], vec![0; 4096]].concat());
    assert_eq!(read(&mut talk, 10 << 20, 1 << 20), vec![2; 1 << 20]);
    drop(service);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn snapshot_keeps_its_data() {
    let directory = create_home("snapshot");
    let service = start(&directory, "link(10us)");
    let mut talk = service.talk("data");
    write(&mut talk, 4096, &[1; 8192], 0);
    let fork = |access| Edit::Fork { of: VolumeId(0), access, text: String::new() };
    let snapshot = service.handle.edit(fork(VolumeAccess::ReadOnly)).unwrap();
    let clone = service.handle.edit(fork(VolumeAccess::ReadWrite)).unwrap();
    write(&mut talk, 4096, &[2; 100], 0);
    for (volume, name) in [(snapshot, "snapshot"), (clone, "clone")] {
        service.handle.call(move |server| serve(server, volume, name, "link(10us)")).unwrap();
    }
    let (mut old, mut copy) = (service.talk("snapshot"), service.talk("clone"));
    write(&mut copy, 4096, &[3; 50], 0);
    assert_eq!(read(&mut old, 4096, 8192), vec![1; 8192]);
    assert_eq!(read(&mut talk, 4096, 8192), [vec![2; 100], vec![1; 8092]].concat());
    assert_eq!(read(&mut copy, 4096, 8192), [vec![3; 50], vec![1; 8142]].concat());
    assert!(
        service.handle.edit(Edit::Grow { volume: VolumeId(0), size: 1, text: None }).is_err(),
        "volumes do not shrink"
    );
    drop(service);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn no_answer_before_its_due_time() {
    let directory = create_home("moment");
    let service = start(&directory, "limit(1000) then link(2ms)");
    let mut talk = service.talk("data");
    let clock = Clock::start();
    let begin = clock.now();
    for number in 0..50 {
        let request =
            WireRequest { command: command::READ, cookie: number, offset: number << 12, length: 4096, flags: 0 };
        talk.request(Style::Simple, &request, &[]).unwrap();
    }
    for _ in 0..50 {
        talk.chunk(4096).unwrap();
    }
    let took = clock.now().since(begin);
    assert!(took >= Span::from_millis(49 + 2), "{took}");
    let late = service.handle.call(|server| server.take_count(plimsoll_volume::Export(0)).lateness).unwrap();
    assert_eq!(late.count, 50);
    drop(service);
    std::fs::remove_dir_all(directory).unwrap();
}
