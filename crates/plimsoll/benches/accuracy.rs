//! Accuracy of emulated volumes compared with other ways to slow storage down, in interleaved rounds of a single run.
//!
//! `cargo bench --bench accuracy` prints the tables of `docs/performance.md`: caps, fixed delays, and five products of
//! the catalogue over NBD against their simulation. `-- caps`, `-- delays` and `-- front` print one of them.
//! `PLIMSOLL_BENCH_PAIRS` is the number of rounds (3), `PLIMSOLL_BENCH_SECONDS` the length of each measurement (10);
//! `PLIMSOLL_BENCH_RT=1` sets real-time priority. Peers that are not installed are skipped, and all of them with
//! `PLIMSOLL_BENCH_PEERS=0`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "accuracy/front.rs"]
mod front;
#[path = "accuracy/offered.rs"]
mod offered;
#[path = "accuracy/own.rs"]
mod own;
#[path = "accuracy/servers.rs"]
mod servers;
#[path = "accuracy/throttle.rs"]
mod throttle;

use plimsoll_front::Floor;
use plimsoll_units::Span;

use crate::offered::Observation;
use crate::servers::Server;

/// Requested behaviour of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Like {
    Iops(u64),
    BytesPerSecond(u64),
    Delay(Span),
}

/// A row of a table with the results of every server.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub like: Like,
    pub depth: u32,
}

/// Duration of the floor measurement before every measurement.
pub const FLOOR: Span = Span::from_secs(1);

/// Bytes of each read.
pub const BLOCK: u64 = 4096;

impl Case {
    /// Exact operations per second.
    pub fn ideal_iops(&self) -> f64 {
        match self.like {
            Like::Iops(iops) => iops as f64,
            Like::BytesPerSecond(bytes) => bytes as f64 / BLOCK as f64,
            Like::Delay(delay) => f64::from(self.depth) / delay.as_secs_f64(),
        }
    }

    pub fn ideal_response(&self) -> Span {
        Span::from_secs_f64(f64::from(self.depth) / self.ideal_iops())
    }

    fn name(&self) -> String {
        match self.like {
            Like::Iops(iops) => format!("{iops} IOPS"),
            Like::BytesPerSecond(bytes) => format!("{} MB/s", bytes as f64 / 1e6),
            Like::Delay(delay) => delay.to_string(),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` passes --test: there are no tests here.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    if let [first, rest @ ..] = &arguments[..]
        && first == own::SERVE
    {
        return own::serve(rest);
    }
    let required = |name: &str| arguments.iter().all(|argument| argument.starts_with('-') || argument == name);
    conditions();
    if required("caps") {
        caps();
    }
    if required("delays") {
        delays();
    }
    if required("front") {
        front::table();
    }
}

/// Rounds of each case.
pub fn read_rounds() -> usize {
    number("PLIMSOLL_BENCH_PAIRS", 3)
}

/// Duration of each measurement.
pub fn lasts() -> Span {
    Span::from_secs(number("PLIMSOLL_BENCH_SECONDS", 10) as u64)
}

pub fn is_realtime() -> bool {
    number("PLIMSOLL_BENCH_RT", 0) == 1
}

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn conditions() {
    if is_realtime() {
        plimsoll_device::realtime().unwrap();
    }
    let priority = if is_realtime() { "real-time (SCHED_FIFO 1)" } else { "usual" };
    println!("{} rounds of {}, medians; priority: {priority}\n", read_rounds(), lasts());
}

fn caps() {
    let capped = |like, depth| Case { like, depth };
    let cases = [
        capped(Like::Iops(500), 32),
        capped(Like::Iops(3_000), 32),
        capped(Like::Iops(3_000), 1),
        capped(Like::Iops(25_000), 32),
        capped(Like::BytesPerSecond(12_500_000), 32),
        capped(Like::BytesPerSecond(100_000_000), 32),
    ];
    println!("## Caps, 4 KiB reads\n");
    println!(
        "| cap | depth | server | rate error | first second | worst 100 ms, median and worst round | ideal | p50 | p99 \
         | p99/p50 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for case in cases {
        for (server, observations) in in_turns(&case) {
            let head = format!("| {} | {} | {} |", case.name(), case.depth, server.name());
            let observations = match observations {
                Ok(observations) => observations,
                Err(why) => {
                    println!("{head} {why} | | | | | | |");
                    continue;
                }
            };
            let of =
                |value: fn(&Observation) -> f64| median(observations.iter().map(|(observation, _)| value(observation)));
            let worst = observations.iter().map(|(observation, _)| observation.worst).fold(0.0, f64::max);
            println!(
                "{head} {:+.2} % | {:.2}x | {:.1} % and {:.1} % | {} | {} | {} | {:.2} |",
                (of(|observation| observation.iops) / case.ideal_iops() - 1.0) * 100.0,
                of(|observation| observation.first),
                of(|observation| observation.worst) * 100.0,
                worst * 100.0,
                case.ideal_response(),
                span(of(|observation| observation.p50)),
                span(of(|observation| observation.p99)),
                of(|observation| observation.p99 / observation.p50),
            );
        }
    }
}

fn delays() {
    let delayed = |micros, depth| Case { like: Like::Delay(Span::from_micros(micros)), depth };
    let cases = [
        delayed(100, 1),
        delayed(500, 1),
        delayed(1_000, 1),
        delayed(5_000, 1),
        delayed(500, 32),
        delayed(1_000, 32),
        delayed(5_000, 128),
    ];
    println!("\n## Fixed delays, 4 KiB reads\n");
    println!(
        "| delay | depth | server | p50 | p99 | p50 less delay | within max(2 %, 15 us) | floor | IOPS of ideal |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for case in cases {
        for (server, observations) in in_turns(&case) {
            let head = format!("| {} | {} | {} |", case.name(), case.depth, server.name());
            let observations = match observations {
                Ok(observations) => observations,
                Err(why) => {
                    println!("{head} {why} | | | | | |");
                    continue;
                }
            };
            let of =
                |value: fn(&Observation) -> f64| median(observations.iter().map(|(observation, _)| value(observation)));
            let ideal = case.ideal_response().as_nanos() as f64;
            let floor =
                median(observations.iter().map(|(_, floor)| floor.beyond(case.ideal_response()).as_nanos() as f64));
            println!(
                "{head} {} | {} | {:+.1} us | {:.1} % | {:.1} us | {:.1} % |",
                span(of(|observation| observation.p50)),
                span(of(|observation| observation.p99)),
                (of(|observation| observation.p50) - ideal) / 1e3,
                of(|observation| observation.within) * 100.0,
                floor / 1e3,
                of(|observation| observation.iops) / case.ideal_iops() * 100.0,
            );
        }
    }
}

/// Results of each round with the floor at that time, or the reason why the server does not support the case.
type Rounds = Result<Vec<(Observation, Floor)>, String>;

/// Measures all servers in every round, so that drift affects all equally.
fn in_turns(case: &Case) -> Vec<(Server, Rounds)> {
    let servers = if number("PLIMSOLL_BENCH_PEERS", 1) == 0 { &Server::ALL[..1] } else { &Server::ALL };
    let mut all: Vec<(Server, Rounds)> = servers.iter().map(|server| (*server, Ok(Vec::new()))).collect();
    for round in 0..read_rounds() {
        let count = all.len();
        for turn in 0..count {
            let (server, rounds) = &mut all[(turn + round) % count];
            let Ok(observations) = rounds else { continue };
            let floor = Floor::measure(FLOOR).unwrap();
            match server.measure(case) {
                Ok(one) => observations.push((one, floor)),
                Err(why) => *rounds = Err(why),
            }
        }
    }
    all
}

/// The median, the lower of the two middle values for an even number.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

pub fn span(nanos: f64) -> Span {
    Span::from_nanos(nanos as u64)
}
