//! Turnarounds: the time from an answer to the client's next request. For a client without think time it is the latency of
//! the path, there and back.
//!
//! The median is subtracted from the response times of the models, up to the latency of a loop without a model on this host
//! ([`Floor`]): think time of the client is no latency of the path.

use std::collections::VecDeque;

use plimsoll_units::{Instant, Span};
use plimsoll_volume::{LATENESS_LIMITS, Lead};

use super::Server;
use super::flight::ClientExport;

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

/// A client that does not reach its queue depth within `depth + DEPTH_REQUESTS` requests has a lower one now.
const DEPTH_REQUESTS: u32 = 16;

/// The latency floor of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// Median round trip of a 4 KiB read at queue depth 1.
    pub round_trip_p50: Span,
    /// 99th percentile of it.
    pub round_trip_p99: Span,
    /// Median lateness of answers with a delay of 1 ms or more.
    pub timer_p50: Span,
    /// 99th percentile of it.
    pub timer_p99: Span,
    /// Delays at the server in ascending order, each with the median excess of the response time over the delay.
    pub waits: [(Span, Span); 4],
    /// 4 KiB reads per second at queue depth 32.
    pub iops: u64,
}

impl Floor {
    /// The shortest response time whose emulation is faithful: its lateness is within [`LATENESS_LIMITS`], and it is not
    /// below the round trip.
    pub fn shortest_faithful(&self) -> Span {
        let lateness = [self.timer_p50, self.timer_p99].into_iter().zip(LATENESS_LIMITS);
        let exceeding = lateness.filter(|(late, (_, _, tolerated))| late > tolerated);
        let shortest = exceeding.map(|(late, (_, percent, _))| late * 100 / percent).max();
        shortest.unwrap_or(Span::ZERO).max(self.round_trip_p50)
    }

    /// The excess of the response time of an answer that is delayed by `wait`: linear between the measured delays, over
    /// the logarithm of the delay.
    pub fn beyond(&self, wait: Span) -> Span {
        let log = |span: Span| (span.as_nanos().max(1) as f64).ln();
        let [first, .., last] = self.waits;
        if wait <= first.0 {
            return first.1;
        }
        let around = self.waits.windows(2).find(|pair| wait <= pair[1].0);
        around.map_or(last.1, |pair| {
            let (low, high) = (pair[0], pair[1]);
            let part = (log(wait) - log(low.0)) / (log(high.0) - log(low.0));
            let (from, to) = (low.1.as_secs_f64(), high.1.as_secs_f64());
            Span::from_secs_f64(from + (to - from) * part)
        })
    }
}

/// The answers of one client that were not followed by a request yet.
#[derive(Debug, Default)]
pub(super) struct Unfollowed {
    left: VecDeque<Instant>,
    /// Queue depth of the client.
    depth: u32,
    /// Requests since it had that many in flight, and the maximum in flight with them.
    requests: u32,
    recent: u32,
}

impl Unfollowed {
    #[inline]
    pub(super) fn answered(&mut self, now: Instant) {
        if self.left.len() == LEFT_MAX {
            self.left.pop_front();
        }
        self.left.push_back(now);
    }

    /// A request came, and so many are in flight. Returns how long it took since the answer that it followed, and the
    /// queue depth of the client.
    #[inline]
    pub(super) fn came(&mut self, now: Instant, in_flight: u32) -> Option<(Span, u32)> {
        self.requests += 1;
        self.recent = self.recent.max(in_flight);
        if in_flight >= self.depth || self.requests >= self.depth + DEPTH_REQUESTS {
            (self.depth, self.requests, self.recent) = (self.recent, 0, 0);
            // A client follows as many answers as it keeps in flight: older ones are never followed.
            let unfollowed = (self.depth + 1 - in_flight) as usize;
            self.left.drain(..self.left.len().saturating_sub(unfollowed));
        }
        // An idle client follows its last answer, a client at its depth has followed all of them.
        let answered = if in_flight <= 1 { self.left.pop_back() } else { self.left.pop_front() };
        if in_flight <= 1 || in_flight >= self.depth {
            self.left.clear();
        }
        answered.map(|answered| (now.since(answered), self.depth))
    }
}

/// The turnarounds of one export.
#[derive(Debug, Default)]
pub(super) struct Turnarounds {
    samples: Vec<Span>,
    begun: Instant,
    /// Sum of the waits of requests since then, and their number.
    waited: (Span, u64),
    path: Option<Span>,
}

impl Turnarounds {
    /// A request was answered after this wait.
    #[inline]
    pub(super) fn waited(&mut self, wait: Span) {
        self.waited = (self.waited.0 + wait, self.waited.1 + 1);
    }

    /// Adds a turnaround of a client of this queue depth. Returns a new estimate when there is one.
    #[inline]
    pub(super) fn add(&mut self, now: Instant, (span, depth): (Span, u32), floor: Option<&Floor>) -> Option<Span> {
        if self.samples.is_empty() {
            self.begun = now;
        }
        self.samples.push(span);
        let round = ROUNDS * depth as usize;
        let enough = self.samples.len() >= SAMPLES.max(round)
            || (self.samples.len() >= SAMPLES_MIN && now.since(self.begun) >= INTERVAL);
        enough.then(|| self.estimate(depth, floor))
    }

    fn estimate(&mut self, depth: u32, floor: Option<&Floor>) -> Span {
        let count = self.samples.len();
        let samples = &mut self.samples;
        let mut quantile = |share: usize| *samples.select_nth_unstable(count * share / 100).1;
        let others = u64::from(depth.saturating_sub(1));
        let queue = floor.map_or(Span::ZERO, |floor| Span::from_secs(others) / floor.iops.max(1) / 2);
        let typical = quantile(50).min(quantile(10) + SPREAD_MAX + queue);
        let (waits, answers) = std::mem::take(&mut self.waited);
        let wait = waits / answers.max(1);
        let max = floor.map_or(UNKNOWN_MAX, |floor| floor.beyond(wait) * 5 / 4 + queue);
        let found = typical.min(max);
        self.samples.clear();
        let path = self.path.map_or(found, |path| (path * 3 + found) / 4);
        self.path = Some(path);
        path
    }
}

impl Server {
    /// A client followed an answer with a request.
    #[inline]
    pub(super) fn followed(&mut self, session: ClientExport, turnaround: Option<(Span, u32)>) {
        let Some(turnaround) = turnaround else { return };
        let Some(turnarounds) = self.counts.turnarounds(session.row) else { return };
        if let Some(path) = turnarounds.add(self.now, turnaround, self.floor.as_ref()) {
            self.volumes.set_lead(session.export, Lead { path, front: self.waker.lateness_p50() });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

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

    /// Runs clients of one export for 4,000 answers. The request after answer `number` comes after `turnaround(number)`, unless
    /// the client has `depth(number)` others. Returns the estimates with their numbers.
    fn run(
        clients: usize,
        depth: impl Fn(u64) -> u64,
        turnaround: impl Fn(u64) -> Span,
        floor: Option<&Floor>,
    ) -> Vec<(u64, Span)> {
        let first = (0..clients as u64 * depth(0))
            .map(|n| Reverse((Instant::ZERO + US(15 * n), n, true, n as usize % clients)));
        let mut events: BinaryHeap<_> = first.collect();
        let (mut estimates, mut number, mut turnarounds) = (Vec::new(), 0, Turnarounds::default());
        let mut unfollowed: Vec<Unfollowed> = (0..clients).map(|_| Unfollowed::default()).collect();
        // Requests at the server, and on their way to it.
        let (mut in_flight, mut under_way) = (vec![0; clients], vec![depth(0); clients]);
        while let Some(Reverse((now, place, comes, client))) = events.pop().filter(|_| number < 4_000) {
            if comes {
                (in_flight[client], under_way[client]) = (in_flight[client] + 1, under_way[client] - 1);
                let sample = unfollowed[client].came(now, in_flight[client]);
                let estimate = sample.and_then(|sample| turnarounds.add(now, sample, floor));
                estimates.extend(estimate.map(|estimate| (number, estimate)));
                events.push(Reverse((now + US(500), place, false, client)));
            } else {
                in_flight[client] -= 1;
                unfollowed[client].answered(now);
                turnarounds.waited(US(500));
                number += 1;
                if u64::from(in_flight[client]) + under_way[client] < depth(number) {
                    under_way[client] += 1;
                    events.push(Reverse((now + turnaround(number), place, true, client)));
                }
            }
        }
        estimates
    }

    /// The last estimate for one client of this queue depth.
    fn estimate(depth: u64, turnaround: impl Fn(u64) -> Span, floor: Option<&Floor>) -> Span {
        run(1, |_| depth, turnaround, floor).last().unwrap().1
    }

    #[test]
    fn client_without_think_time_shows_the_path_latency() {
        for depth in [1, 32] {
            let lead = estimate(depth, |number| US(24 + number % 3), Some(&floor()));
            assert!(lead.as_nanos().abs_diff(25_000) <= 1_000, "depth {depth}: {lead}");
        }
    }

    #[test]
    fn think_time_is_no_path_latency() {
        let lead = estimate(1, |number| US(25 + number * 7 % 400), Some(&floor()));
        assert!(lead <= floor().beyond(US(725)) * 5 / 4, "{lead}");
        assert_eq!(estimate(1, |_| US(200), None), UNKNOWN_MAX);
    }

    #[test]
    fn earlier_queue_depth_does_not_lengthen_turnarounds() {
        let falls = |number| if number < 2_000 { 32 } else { 4 };
        for (number, lead) in run(1, falls, |_| US(25), Some(&floor())) {
            assert!(lead.as_nanos().abs_diff(25_000) <= 10_000, "{lead} at answer {number}");
        }
    }

    #[test]
    fn path_limit_is_independent_of_the_number_of_clients() {
        let think_time = |number| US(100 + number * 7 % 400);
        for clients in [1, 8] {
            let estimates = run(clients, |_| 1, think_time, Some(&floor()));
            assert_eq!(estimates.last().unwrap().1, floor().beyond(US(500)) * 5 / 4, "{clients} clients");
        }
    }

    #[test]
    fn unfollowed_answers_are_forgotten() {
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

    #[test]
    fn shortest_faithful_response_follows_from_the_lateness() {
        let shortest = |p50, p99| {
            Floor { round_trip_p50: US(20), timer_p50: US(p50), timer_p99: US(p99), ..floor() }.shortest_faithful()
        };
        assert_eq!(shortest(15, 100), US(20), "tolerated lateness: only the round trip counts");
        assert_eq!(shortest(16, 100), US(800));
        assert_eq!(shortest(16, 300), Span::from_millis(3));
    }

    #[test]
    fn excess_between_two_delays_is_interpolated() {
        let [us, ms] = [Span::from_micros, Span::from_millis];
        let waits = [(us(50), us(20)), (us(250), us(30)), (ms(1), us(50)), (ms(10), us(70))];
        let floor = Floor { waits, ..Floor::default() };
        let beyond = |wait: Span| (floor.beyond(wait).as_nanos() as f64 / 1e3).round() as u64;
        assert_eq!([us(10), us(50), us(500), ms(1), ms(10), ms(90)].map(beyond), [20, 20, 40, 50, 70, 70]);
    }
}
