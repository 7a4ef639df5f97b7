//! What a server on this host can do at best: its own ring loop, a socket pair, and the client that measures over NBD.
//!
//! No model and no device takes part, so whatever is faster than this cannot be emulated here, and what is not much
//! slower is blurred by it. Both sides have the scheduling of the thread that asks: one with real-time priority learns
//! what a server with real-time priority can do.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use plimsoll_device::nbd::{Connection, Remote, Socket};
use plimsoll_device::{Clock, Shape, sharpen_timers};
use plimsoll_drive::{Rules, drive};
use plimsoll_load::{Mix, Pace, Pattern, Phase, Region, Split, StreamSpec, Streams};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Span};
use plimsoll_volume::Export;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};

use crate::files::Files;
use crate::nbd::Offer;
use crate::plain::Plain;
use crate::server::{Limits, Server};

/// What is read from: small enough to stay in the processor's caches, as the floor is not about memory.
const SIZE: Bytes = Bytes::mib(1);

/// What the timers are asked for: long enough that the processor goes to sleep, as it does between answers of a disk.
const WAIT: Span = Span::from_millis(1);

/// What a server on this host can do at best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// Median round trip of a 4 KiB read, one at a time.
    pub round_trip_p50: Span,
    /// 99th percentile of it.
    pub round_trip_p99: Span,
    /// How late half of the answers leave that were to leave at a given moment.
    pub timer_p50: Span,
    /// How late 99 of 100 of them leave at most.
    pub timer_p99: Span,
    /// 4 KiB reads a second, 32 at a time.
    pub iops: u64,
}

/// What came of one load on one server.
#[derive(Debug)]
struct Looked {
    /// How long answers took.
    service: Bins,
    /// How late the server was with them.
    lateness: Bins,
    iops: f64,
}

impl Floor {
    /// Measures it, for `span` in all: half a second is enough.
    ///
    /// # Errors
    /// The kernel has no `io_uring`, or does not allow it; no thread or socket can be had.
    pub fn measure(span: Span) -> io::Result<Self> {
        let single = look(Span::ZERO, 1, span / 4)?;
        let many = look(Span::ZERO, 32, span / 4)?;
        let waits = look(WAIT, 1, span / 2)?;
        let of = |bins: &Bins, quantile| bins.quantile(quantile).unwrap_or_default();
        Ok(Self {
            round_trip_p50: of(&single.service, 0.5),
            round_trip_p99: of(&single.service, 0.99),
            timer_p50: of(&waits.lateness, 0.5),
            timer_p99: of(&waits.lateness, 0.99),
            iops: many.iops as u64,
        })
    }
}

/// Offers reads for `lasts` to a server that answers each `wait` after it could.
fn look(wait: Span, depth: u32, lasts: Span) -> io::Result<Looked> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    for timeout in [sockopt::Timeout::Recv, sockopt::Timeout::Send] {
        sockopt::set_socket_timeout(&ours, timeout, Some(std::time::Duration::from_secs(10)))?;
    }
    let server = std::thread::Builder::new().name("floor".into()).spawn(move || serve(wait, theirs))?;
    let seen = offer(ours, depth, lasts);
    // The client is gone, so the server ends; its trouble explains the client's.
    let lateness = server.join().expect("a server does not panic")?;
    let (service, iops) = seen?;
    Ok(Looked { service, lateness, iops })
}

/// Serves one client to its end, and says how late the answers were.
fn serve(wait: Span, client: OwnedFd) -> io::Result<Bins> {
    let service = Plain::after(wait, [SIZE.get()]);
    let mut server = Server::new(service, Files::memory(), Limits::default(), Clock::start())?;
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
        mix: Mix { sizes: Split::one(block), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(SIZE),
        pace: Pace::Closed { depth },
    };
    let clock = Clock::start();
    let shape = Shape { depth, largest: block, writes: false, compressible: 0.0, seed: 0 };
    let connection = Connection::over(Socket::from(server), "").map_err(io::Error::other)?;
    let mut target = Remote::new(vec![connection], &shape, clock).map_err(io::Error::other)?;
    let start = clock.now();
    let phase = Phase { end: start + lasts, ..Phase::unbounded(start) };
    let mut load = Streams::new(&[stream], 0, phase).expect("a MiB holds a block");
    let seen = drive(&mut target, &mut load, &Rules::new(depth, lasts), &mut |_| ControlFlow::Continue(()))
        .map_err(|torn| io::Error::other(torn.fault))?;
    let mut service = Bins::default();
    let (mut operations, mut span) = (0, Span::ZERO);
    for slice in &seen.series {
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
    fn a_server_has_a_floor() {
        let floor = Floor::measure(Span::from_millis(400)).unwrap();
        assert!(floor.iops > 100, "{floor:?}");
        assert!(floor.round_trip_p50 > Span::ZERO && floor.round_trip_p50 <= floor.round_trip_p99, "{floor:?}");
        assert!(floor.timer_p50 <= floor.timer_p99 && floor.timer_p50 < Span::from_millis(100), "{floor:?}");
    }
}
