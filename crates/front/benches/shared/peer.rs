//! Parts of all comparisons: the measured server in memory, the processor time of a peer, medians.

use std::process::{Child, Command, Stdio};

use plimsoll_device::Clock;
use plimsoll_front::{DataFiles, Limits, Offer, Server};
use plimsoll_volume::{Edit, Geometry, Serving, Slow, Store, VolumeId, Volumes};

/// A server process, killed on drop.
pub struct Process(pub Child);

impl Process {
    /// Starts a server without input; `None` if the program is not installed.
    pub fn start(command: &mut Command) -> Option<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().ok().map(Self)
    }

    /// Processor time of all threads in microseconds.
    pub fn processor_us(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        // User and system time.
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        ticks as f64 * 1e6 / rustix::param::clock_ticks_per_second() as f64
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn number(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Median and range as text.
pub fn format_median(mut values: Vec<f64>, digits: usize) -> (String, String) {
    values.sort_by(f64::total_cmp);
    let (middle, last) = (values.len() / 2, values.len() - 1);
    let median = if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
    (format!("{median:.digits$}"), format!("{:.digits$} to {:.digits$}", values[0], values[last]))
}

/// Serves a volume of `size` bytes in memory; `listen` adds the listening socket.
pub fn serve(model: &'static str, size: u64, listen: impl FnOnce(&mut Server)) {
    let volumes = Volumes::new(Store::new(Geometry::default(), 8 * size), Slow::NOT);
    let mut server = Server::new(volumes, DataFiles::memory(), Limits::default(), Clock::start()).unwrap();
    let open = move |server: &mut Server| {
        let limits = plimsoll_volume::Limits { requests: 4096, bytes: 256 << 20, payload: 64 << 20, block: 1 };
        let model = plimsoll_model::parse(model).unwrap();
        let (volumes, now, _) = server.volumes();
        let serving = Serving { volume: VolumeId(0), model, seed: 1, limits, group: None };
        let export = volumes.serve(now, &serving).unwrap();
        server.offer(Offer::new(export, "", size));
    };
    let create = Edit::Create { size, text: String::new() };
    server.edit(&create, move |server, outcome| outcome.map(|()| open(server)).unwrap()).unwrap();
    listen(&mut server);
    server.run().unwrap();
}
