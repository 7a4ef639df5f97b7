//! Serves exports over NBD and FUSE, for tests with clients:
//! `serve [SIZE_MIB] [--dir DIR [--checksums]] [--model NOTATION [--like CONFIG]] [--unix PATH] [--tcp PORT] [--mount DIR] [-s]`.
//!
//! Without a model the exports are plain files; with one, `--model 'limit(3000)'`, a volume of a store.
#![allow(clippy::unwrap_used, clippy::print_stderr, unsafe_code)]

use std::os::fd::{FromRawFd, OwnedFd};

use plimsoll_device::Clock;
use plimsoll_device::nbd::Emulation;
use plimsoll_front::{Checksums, DataFiles, DirectoryContents, Limits, Offer, Server};
use plimsoll_units::Span;
use plimsoll_volume::{Edit, Export, Geometry, Serving, Slow, Store, VolumeId, Volumes};

struct Arguments(Vec<String>);

impl Arguments {
    fn after(&self, name: &str) -> Option<&str> {
        let at = self.0.iter().position(|argument| argument == name)?;
        self.0.get(at + 1).map(String::as_str)
    }

    fn checksums(&self) -> Checksums {
        let is_wanted = self.0.iter().any(|argument| argument == "--checksums");
        if is_wanted { Checksums::Required } else { Checksums::AsMade }
    }

    fn size(&self) -> u64 {
        self.0.first().and_then(|size| size.parse::<u64>().ok()).unwrap_or(1024) << 20
    }
}

fn main() {
    let arguments = Arguments(std::env::args().skip(1).collect());
    let size = arguments.size();
    if let Some(model) = arguments.after("--model") {
        let (files, contents) = match arguments.after("--dir") {
            Some(directory) => DataFiles::directory(directory.as_ref(), arguments.checksums()).unwrap(),
            None => (DataFiles::memory(), DirectoryContents::empty()),
        };
        serve_volumes(&arguments, model, files, contents, size);
    } else {
        let files = arguments.after("--dir").map_or_else(DataFiles::memory, |directory| {
            let path = |number| std::path::Path::new(directory).join(format!("data.{number}"));
            let open = |path| std::fs::File::options().read(true).write(true).create(true).truncate(false).open(path);
            DataFiles::given([0, 1].map(|number| open(path(number)).unwrap().into()))
        });
        let volumes = Volumes::plain([size, 64 << 20], Span::ZERO);
        let mut server = Server::new(volumes, files, Limits::default(), Clock::start()).unwrap();
        server.offer(Offer::new(Export(0), "", size));
        let mut second = Offer::new(Export(1), "small", 64 << 20);
        second.description = "a second export".into();
        server.offer(second);
        serve(&arguments, &mut server);
    }
}

fn serve_volumes(arguments: &Arguments, model: &str, files: DataFiles, contents: DirectoryContents, size: u64) {
    let capacity = 64 << 30;
    let mut pending = Vec::new();
    let store = if contents.log.commits.is_empty() {
        Store::new(Geometry::default(), capacity)
    } else {
        let recovered =
            Store::recover(contents.log.commits, &contents.lengths, capacity, contents.unreferenced).unwrap();
        pending = recovered.jobs;
        recovered.store
    };
    let exists = store.about(VolumeId(0)).is_some();
    let clock = Clock::start();
    let mut server = Server::new(Volumes::new(store, Slow::NOT), files, Limits::default(), clock).unwrap();
    server.volumes().2.append(&mut pending);
    let serving = Serving {
        volume: VolumeId(0),
        model: plimsoll_model::parse(model).unwrap(),
        seed: 1,
        limits: plimsoll_volume::Limits { requests: 4096, bytes: 256 << 20, payload: 64 << 20, block: 1 },
        group: None,
    };
    let like = arguments.after("--like").map(str::to_owned);
    let emulation = Emulation { like, model: serving.model.to_string(), slow: 1 };
    let open = move |server: &mut Server| {
        let (volumes, now, _) = server.volumes();
        let export = volumes.serve(now, &serving).unwrap();
        server.offer(Offer::new(export, "", size).emulated(&emulation));
    };
    if exists {
        open(&mut server);
    } else {
        let create = Edit::Create { size, text: String::new() };
        server.edit(&create, move |server, outcome| outcome.map(|()| open(server)).unwrap()).unwrap();
    }
    serve(arguments, &mut server);
}

fn serve(arguments: &Arguments, server: &mut Server) {
    if let Some(path) = arguments.after("--unix") {
        let _ = std::fs::remove_file(path);
        server.listen(std::os::unix::net::UnixListener::bind(path).unwrap()).unwrap();
    }
    if let Some(port) = arguments.after("--tcp") {
        server.listen(std::net::TcpListener::bind(format!("127.0.0.1:{port}")).unwrap()).unwrap();
    }
    if arguments.0.iter().any(|argument| argument == "-s") {
        // SAFETY: nothing else in this program uses standard input and output.
        let (input, output) = unsafe { (OwnedFd::from_raw_fd(0), OwnedFd::from_raw_fd(1)) };
        server.serve(input, Some(output)).unwrap();
    }
    let mountpoint = arguments.after("--mount").map(|directory| {
        plimsoll_front::fuse::clear_stale(directory.as_ref()).unwrap();
        let (device, mountpoint) = plimsoll_front::fuse::mount(directory.as_ref()).unwrap();
        server.mount(Export(0), device).unwrap();
        mountpoint
    });
    server.run().unwrap();
    drop(mountpoint);
}
