//! The diagram over the front: products of the catalogue simulated in virtual time, and measured over NBD as volumes.

use plimsoll_catalogue::{Catalogue, Config, Date, PriceTerms};
use plimsoll_drive::{Onward, Rules, Simulated, drive};
use plimsoll_front::Floor;
use plimsoll_load::{StreamPhase, Streams};
use plimsoll_model::{Chain, ChainSpec};
use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Instant, Span};

use crate::offered::{Observation, SIZE, connect_remote, observe, reads};
use crate::servers::Running;
use crate::{Case, FLOOR, Like, lasts, median, own, read_rounds, span};

const PRODUCTS: [&str; 6] = [
    "generic/hdd-7200",
    "oci:1024GB@10vpu",
    "aws/gp3:500GiB",
    "netapp/aff-c800",
    "netapp/aff-a800",
    "sakura/iodrive-320",
];
const DEPTHS: [u32; 3] = [1, 8, 32];

pub fn table() {
    let catalogue = Catalogue::built_in();
    println!("\n## Simulated, and measured through the front, 4 KiB reads\n");
    println!(
        "| product | depth | floor | p50: model | measured | difference | p90: model | measured | difference \
         | IOPS, measured over simulated |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for product in PRODUCTS {
        let model = model_of(&catalogue, product);
        for depth in DEPTHS {
            let alone = simulated(&model, depth);
            let median = alone.0.quantile(0.5).unwrap();
            let rounds = (0..read_rounds()).map(|_| {
                let floor = Floor::measure(FLOOR).unwrap().beyond(median);
                (measure_front(&model, depth), floor)
            });
            println!("| {product} | {depth} | {}", compared(&rounds.collect::<Vec<_>>(), &alone));
        }
    }
}

fn model_of(catalogue: &Catalogue, product: &str) -> ChainSpec {
    let config: Config = product.parse().unwrap();
    let as_of: Date = "2026-11-21".parse().unwrap();
    let terms = PriceTerms { as_of, currency: None, region: None };
    catalogue.offer(&config, &terms).unwrap().model().unwrap()
}

fn simulated(model: &ChainSpec, depth: u32) -> (Bins, f64) {
    let mut target = Simulated::new(Chain::new(model, own::SEED));
    let phase = StreamPhase { end: Instant::ZERO + lasts(), ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(&[reads(SIZE, depth)], 1, phase).unwrap();
    let rules = Rules::new(depth, Span::from_millis(100));
    let result = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).unwrap();
    let mut response = Bins::default();
    result.series.iter().for_each(|slice| response.merge(&slice.tally.response()));
    let iops = response.count as f64 / lasts().as_secs_f64();
    (response, iops)
}

fn measure_front(model: &ChainSpec, depth: u32) -> Observation {
    let socket = std::env::temp_dir().join(format!("plimsoll-front-{}.sock", std::process::id()));
    let _running = Running::start(own::build_command(model, Bytes::gib(64).get(), &socket), socket.clone()).unwrap();
    // Only the ideal of a case depends on what it is like, and no ideal is asked for here.
    let case = Case { like: Like::Iops(1), depth };
    observe(&mut connect_remote(&socket, depth).unwrap(), &case)
}

/// The rest of a row, after product and depth.
fn compared(rounds: &[(Observation, Span)], (simulated, iops): &(Bins, f64)) -> String {
    let floor = span(median(rounds.iter().map(|(_, floor)| floor.as_nanos() as f64)));
    let mut row = format!("{floor} |");
    for (quantile, of) in [
        (0.5, (|observation: &Observation| observation.p50) as fn(&Observation) -> f64),
        (0.9, |observation: &Observation| observation.p90),
    ] {
        let ideal = simulated.quantile(quantile).unwrap();
        let found = median(rounds.iter().map(|(observation, _)| of(observation)));
        let difference = (found / ideal.as_nanos() as f64 - 1.0) * 100.0;
        row += &format!(" {ideal} | {} | {difference:+.1} % |", span(found));
    }
    let measured = median(rounds.iter().map(|(observation, _)| observation.iops));
    row + &format!(" {:.3} |", measured / iops)
}
