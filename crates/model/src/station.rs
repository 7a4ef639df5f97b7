//! A station: servers with one queue, first come first served.
//!
//! An operation starts when the server that is free first is free (Lindley's recurrence for many servers, Kiefer and
//! Wolfowitz 1955), so that its departure is known as soon as it arrives.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use fastrand::Rng;
use plimsoll_units::{Instant, Span};

use crate::stage::Service;

#[derive(Clone, Debug)]
pub(crate) struct Station {
    /// When each server is free.
    free: BinaryHeap<Reverse<Instant>>,
    mean: Span,
    spread: Spread,
    rng: Rng,
}

#[derive(Clone, Copy, Debug)]
enum Spread {
    Constant,
    Exponential,
    /// `exp(mu + sigma * normal)` has mean 1.
    LogNormal {
        mu: f64,
        sigma: f64,
    },
}

impl Station {
    pub(crate) fn new(servers: u32, mean: Span, service: Service, seed: u64) -> Self {
        let spread = match service {
            Service::Constant => Spread::Constant,
            Service::Exponential => Spread::Exponential,
            Service::LogNormal(scv) => {
                let variance = libm::log1p(scv);
                Spread::LogNormal { mu: -variance / 2.0, sigma: libm::sqrt(variance) }
            }
        };
        let free = (0..servers).map(|_| Reverse(Instant::ZERO)).collect();
        Self { free, mean, spread, rng: Rng::with_seed(seed) }
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Instant) -> Instant {
        let service = self.service();
        let mut first = self.free.peek_mut().expect("a station has at least one server");
        let leaves = now.max(first.0) + service;
        *first = Reverse(leaves);
        leaves
    }

    #[inline]
    fn service(&mut self) -> Span {
        let factor = match self.spread {
            Spread::Constant => return self.mean,
            Spread::Exponential => -libm::log(1.0 - self.rng.f64()),
            Spread::LogNormal { mu, sigma } => libm::exp(mu + sigma * self.normal()),
        };
        Span::from_nanos((self.mean.as_nanos() as f64 * factor + 0.5) as u64)
    }

    /// A standard normal variate (Box and Muller 1958; the second of the pair is not kept).
    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.rng.f64()));
        radius * libm::cos(core::f64::consts::TAU * self.rng.f64())
    }
}
