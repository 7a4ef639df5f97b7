//! The latency floor of this host: the ring loop of a server, a socket pair, and the client that measures over NBD.
//!
//! No model and no device is involved: faster products cannot be emulated here, and slightly slower ones are distorted.
//! Both sides have the scheduling of the calling thread, so a thread with real-time priority measures the floor of a
//! server with real-time priority.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use plimsoll_device::nbd::{Connection, Remote, Socket};
use plimsoll_device::{Clock, Shape, sharpen_timers};
use plimsoll_drive::{Rules, drive_streams};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Span};
use plimsoll_volume::{Export, Volumes};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};

use crate::files::DataFiles;
use crate::offer::Offer;
use crate::server::{Floor, Limits, Server};

/// Size of the export: fits into processor caches, so that memory latency is excluded.
const SIZE: Bytes = Bytes::mib(1);

/// Response delays of the timer measurements, and the share of the time for each. Processors wake more slowly from
/// longer sleeps, so several delays are measured.
const WAITS: [(Span, f64); 4] = [
    (Span::from_micros(50), 0.08),
    (Span::from_micros(250), 0.12),
    (Span::from_millis(1), 0.3),
    (Span::from_millis(10), 0.2),
];

/// Share of the time for each measurement without a delay, at queue depths 1 and 32.
const AT_ONCE: f64 = 0.15;

/// Result of a load on a server.
#[derive(Debug)]
struct FloorResult {
    service: Bins,
    lateness: Bins,
    iops: f64,
}

impl Floor {
    /// Measures the floor within `span`; half a second is sufficient.
    ///
    /// # Errors
    /// The kernel does not provide or permit `io_uring`, or a thread or socket could not be created.
    pub fn measure(span: Span) -> io::Result<Self> {
        let share = |share: f64| Span::from_secs_f64(span.as_secs_f64() * share);
        let of = |bins: &Bins, quantile| bins.quantile(quantile).unwrap_or_default();
        let single = run(Span::ZERO, 1, share(AT_ONCE))?;
        let many = run(Span::ZERO, 32, share(AT_ONCE))?;
        let mut waits = [(Span::ZERO, Span::ZERO); WAITS.len()];
        let mut timers = Bins::default();
        for (found, (wait, part)) in waits.iter_mut().zip(WAITS) {
            let looked = run(wait, 1, share(part))?;
            let response = of(&looked.service, 0.5);
            *found = (wait, response - wait.min(response));
            if wait >= Span::from_millis(1) {
                timers.merge(&looked.lateness);
            }
        }
        Ok(Self {
            round_trip_p50: of(&single.service, 0.5),
            round_trip_p99: of(&single.service, 0.99),
            timer_p50: of(&timers, 0.5),
            timer_p99: of(&timers, 0.99),
            waits,
            iops: many.iops as u64,
        })
    }
}

/// Offers reads for `lasts` to a server that delays each answer by `wait`.
fn run(wait: Span, depth: u32, lasts: Span) -> io::Result<FloorResult> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    for timeout in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
        sockopt::set_socket_timeout(&ours, timeout, Some(std::time::Duration::from_secs(10)))?;
    }
    let server = std::thread::Builder::new().name("floor".into()).spawn(move || serve(wait, theirs))?;
    let observed = offer(ours, depth, lasts);
    // The client is gone, so the server ends; its error explains that of the client.
    let lateness = server.join().expect("a server does not panic")?;
    let (service, iops) = observed?;
    Ok(FloorResult { service, lateness, iops })
}

/// Serves a client until it disconnects, and returns the lateness of the replies.
fn serve(wait: Span, client: OwnedFd) -> io::Result<Bins> {
    let volumes = Volumes::plain([SIZE.get()], wait);
    let mut server = Server::new(volumes, DataFiles::memory(), Limits::default(), Clock::start())?;
    server.offer(Offer::new(Export(0), "", SIZE.get()));
    server.serve(client, None)?;
    server.run()?;
    Ok(server.take_count(Export(0)).lateness)
}

fn offer(server: OwnedFd, depth: u32, lasts: Span) -> io::Result<(Bins, f64)> {
    sharpen_timers();
    let block = Bytes::kib(4);
    let stream = StreamSpec {
        name: String::new(),
        mix: Mix { sizes: BlockMix::one(block), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(SIZE),
        pace: Pace::Closed { depth },
    };
    let clock = Clock::start();
    let shape = Shape::reading(depth, block);
    let connection = Connection::over(Socket::from(server), "").map_err(io::Error::other)?;
    let mut target = Remote::new(vec![connection], &shape, clock).map_err(io::Error::other)?;
    let start = clock.now();
    let phase = StreamPhase { end: start + lasts, ..StreamPhase::unbounded(start) };
    let mut load = Streams::new(&[stream], 0, phase).expect("a MiB holds a block");
    let observed = drive_streams(&mut target, &mut load, &Rules::new(depth, lasts), &mut |_| ControlFlow::Continue(()))
        .map_err(|torn| io::Error::other(torn.fault))?;
    let mut service = Bins::default();
    let (mut operations, mut span) = (0, Span::ZERO);
    for slice in &observed.series {
        service.merge(&slice.tally.service());
        operations += slice.tally.operations();
        span += slice.span;
    }
    Ok((service, operations as f64 / span.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_is_measured() {
        let floor = Floor::measure(Span::from_millis(400)).unwrap();
        assert!(floor.iops > 100, "{floor:?}");
        assert!(floor.round_trip_p50 > Span::ZERO && floor.round_trip_p50 <= floor.round_trip_p99, "{floor:?}");
        assert!(floor.timer_p50 <= floor.timer_p99 && floor.timer_p50 < Span::from_millis(100), "{floor:?}");
        assert!(floor.waits.iter().all(|(wait, beyond)| *wait > Span::ZERO && *beyond > Span::ZERO), "{floor:?}");
    }
}
