//! Our own server, as a process of its own: this program, started again with other arguments.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use plimsoll_device::Clock;
use plimsoll_front::{DataFiles, Floor, Limits, Offer, Server};
use plimsoll_model::ChainSpec;
use plimsoll_units::Span;
use plimsoll_volume::{Edit, Geometry, Serving, Slow, Store, VolumeId, Volumes};

/// Marks that the program is to serve.
pub const SERVE: &str = "--serve";

/// What the models' random streams are made of; a simulation that is compared has it too.
pub const SEED: u64 = 1;

/// The command that serves a volume of `size` bytes as `data`.
pub fn build_command(model: &ChainSpec, size: u64, socket: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(SERVE).arg(model.to_string()).arg(size.to_string()).arg(socket);
    command
}

/// Serves until it is killed.
pub fn serve(arguments: &[String]) {
    let [model, size, socket] = arguments else { panic!("{SERVE} MODEL SIZE SOCKET") };
    let size: u64 = size.parse().unwrap();
    let serving = Serving {
        volume: VolumeId(0),
        model: plimsoll_model::parse(model).unwrap(),
        seed: SEED,
        limits: plimsoll_volume::Limits { requests: 4096, bytes: 256 << 20, payload: 64 << 20, block: 1 },
        group: None,
    };
    let volumes = Volumes::new(Store::new(Geometry::default(), 1 << 40), Slow::NOT);
    let mut server = Server::new(volumes, DataFiles::memory(), Limits::default(), Clock::start()).unwrap();
    server.set_floor(Floor::measure(Span::from_millis(500)).unwrap());
    let create = Edit::Create { size, text: String::new() };
    let offer = move |server: &mut Server, created: Result<(), _>| {
        created.unwrap();
        let (volumes, now, _) = server.volumes();
        let export = volumes.serve(now, &serving).unwrap();
        server.offer(Offer::new(export, "data", size));
    };
    server.edit(&create, offer).unwrap();
    server.listen(UnixListener::bind(socket).unwrap()).unwrap();
    server.run().unwrap();
}
