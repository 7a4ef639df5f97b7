//! Turnarounds: the time from an answer to the client's next request. For a client without think time it is the latency of
//! the path, there and back.
//!
//! The median is subtracted from the response times of the models, up to the latency of a loop without a model on this host
//! ([`Floor`]): think time of the client is no latency of the path.

use std::collections::VecDeque;

use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Export, Lead};

use super::Server;
use crate::floor::Floor;
use crate::service::Service;

/// Maximum latency of a path where the floor of the host is unknown.
const UNKNOWN_MAX: Span = Span::from_micros(30);

/// An estimate takes `SAMPLES` turnarounds or `ROUNDS` times the queue depth, whichever is more, or `SAMPLES_MIN` after
/// `INTERVAL`.
const SAMPLES: usize = 64;
const ROUNDS: usize = 4;
const SAMPLES_MIN: usize = 16;
const INTERVAL: Span = Span::from_millis(250);

/// Maximum distance of the median from the 10th percentile: a larger one is think time of the client. Requests in flight
/// that are answered together queue on the path, which adds to it.
const SPREAD_MAX: Span = Span::from_micros(15);

/// Maximum of remembered answers of one client.
const LEFT_MAX: usize = 1024;

/// Requests over which the queue depth of a client is determined.
const DEPTH_REQUESTS: u32 = 256;

/// The answers of one client that were not followed by a request yet.
#[derive(Debug, Default)]
pub(super) struct Unfollowed {
    left: VecDeque<Instant>,
    /// Requests in flight at most, of the last ones and of those before them.
    depth: u32,
    depth_before: u32,
    requests: u32,
}

impl Unfollowed {
    /// An answer leaves.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant) {
        if self.left.len() == LEFT_MAX {
            self.left.pop_front();
        }
        self.left.push_back(now);
    }

    /// A request came, and so many are in flight. Returns how long it took since the answer that it followed, and how many
    /// requests the client has in flight.
    #[inline]
    pub(super) fn came(&mut self, now: Instant, in_flight: u32) -> Option<(Span, u32)> {
        self.requests += 1;
        self.depth = self.depth.max(in_flight);
        let depth = self.depth.max(self.depth_before);
        // An idle client follows its last answer, a client at its depth has followed all of them.
        let answered = if in_flight <= 1 { self.left.pop_back() } else { self.left.pop_front() };
        if in_flight <= 1 || in_flight >= depth {
            self.left.clear();
        }
        if self.requests == DEPTH_REQUESTS {
            (self.requests, self.depth_before, self.depth) = (0, self.depth, 0);
        }
        answered.map(|answered| (now.since(answered), depth))
    }
}

/// The turnarounds of one export.
#[derive(Debug, Default)]
pub(super) struct Turnarounds {
    samples: Vec<Span>,
    begun: Instant,
    path: Option<Span>,
}

impl Turnarounds {
    /// One more of a client with so many requests in flight. Returns a new estimate when there is one.
    #[inline]
    pub(super) fn add(&mut self, now: Instant, (span, depth): (Span, u32), floor: Option<&Floor>) -> Option<Span> {
        if self.samples.is_empty() {
            self.begun = now;
        }
        self.samples.push(span);
        let round = ROUNDS * depth as usize;
        let enough = self.samples.len() >= SAMPLES.max(round)
            || (self.samples.len() >= SAMPLES_MIN && now.since(self.begun) >= INTERVAL);
        enough.then(|| self.estimate(now, depth, floor))
    }

    fn estimate(&mut self, now: Instant, depth: u32, floor: Option<&Floor>) -> Span {
        let count = self.samples.len();
        let samples = &mut self.samples;
        let mut quantile = |share: usize| *samples.select_nth_unstable(count * share / 100).1;
        let others = u64::from(depth.saturating_sub(1));
        let queue = floor.map_or(Span::ZERO, |floor| Span::from_secs(others) / floor.iops.max(1) / 2);
        let typical = quantile(50).min(quantile(10) + SPREAD_MAX + queue);
        // Little's law: how long the requests were in flight.
        let wait = now.since(self.begun) * u64::from(depth) / count as u64;
        let most = floor.map_or(UNKNOWN_MAX, |floor| floor.beyond(wait) * 5 / 4 + queue);
        let found = typical.min(most);
        self.samples.clear();
        let path = self.path.map_or(found, |path| (path * 3 + found) / 4);
        self.path = Some(path);
        path
    }
}

impl<S: Service> Server<S> {
    /// A client of an export, whose counts are in `row`, followed an answer with a request.
    #[inline]
    pub(super) fn followed(&mut self, export: Export, row: u32, turnaround: Option<(Span, u32)>) {
        let Some(turnaround) = turnaround else { return };
        let Some(turnarounds) = self.counts.turnarounds(row) else { return };
        if let Some(path) = turnarounds.add(self.now, turnaround, self.floor.as_ref()) {
            self.service.set_lead(export, Lead { path, front: self.waker.lateness_p50() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Span = Span::from_micros;

    fn floor() -> Floor {
        let ms = Span::from_millis;
        Floor {
            iops: 100_000,
            waits: [(US(50), US(20)), (US(250), US(30)), (ms(1), US(40)), (ms(10), US(80))],
            ..Floor::default()
        }
    }

    /// The estimate for a client that keeps `depth` requests in flight, each answered after 500 us, and follows an answer
    /// after what `turnaround` says.
    fn estimate(depth: u64, turnaround: impl Fn(u64) -> Span, floor: Option<&Floor>) -> Span {
        let (mut unfollowed, mut turnarounds) = (Unfollowed::default(), Turnarounds::default());
        let mut lead = None;
        let mut came = Instant::ZERO;
        let mut in_flight = 0;
        for number in 0..2_000 {
            if number >= depth {
                in_flight -= 1;
                unfollowed.answered(came + US(500));
                came += US(500) + turnaround(number);
            }
            in_flight += 1;
            let sample = unfollowed.came(came, in_flight);
            lead = sample.and_then(|sample| turnarounds.add(came, sample, floor)).or(lead);
        }
        lead.unwrap()
    }

    #[test]
    fn a_client_that_asks_at_once_shows_the_path() {
        for depth in [1, 32] {
            let lead = estimate(depth, |number| US(24 + number % 3), Some(&floor()));
            assert!(lead.as_nanos().abs_diff(25_000) <= 1_000, "depth {depth}: {lead}");
        }
    }

    #[test]
    fn the_time_of_the_client_itself_is_not_taken_for_the_path() {
        let lead = estimate(1, |number| US(25 + number * 7 % 400), Some(&floor()));
        assert!(lead <= floor().beyond(US(725)) * 5 / 4, "{lead}");
        assert_eq!(estimate(1, |_| US(200), None), UNKNOWN_MAX);
    }

    #[test]
    fn answers_that_were_never_followed_are_forgotten() {
        let mut unfollowed = Unfollowed::default();
        for number in 1..=4 {
            assert_eq!(unfollowed.came(Instant::ZERO, number), None);
        }
        for at in [10, 20, 30, 500] {
            unfollowed.answered(Instant::ZERO + US(at));
        }
        let came = unfollowed.came(Instant::ZERO + US(525), 1);
        assert_eq!(came, Some((US(25), 4)));
        assert_eq!(unfollowed.came(Instant::ZERO + US(530), 2), None);
    }
}
