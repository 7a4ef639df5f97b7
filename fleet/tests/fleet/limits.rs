//! Limits of the replay are those of the catalogue.

use plimsoll_catalogue::Ask;
use plimsoll_fleet_engine::{LevelLimits, Point, VolumeState};
use plimsoll_units::Bytes;

use plimsoll_catalogue::{Catalogue, PriceTerms};
use plimsoll_fleet::limits::limits_of;

/// Longer than full credits of the configurations last.
const SECONDS: i64 = 60_000;

/// The replay agrees with the catalogue about rates, and about the time for which full credits last.
#[test]
fn a_replay_has_the_limits_of_the_catalogue() {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: "2026-11".parse().unwrap(), currency: None, region: None };
    let configs = [
        "aws/gp3:500GiB,iops=6000,throughput=300",
        "aws/gp2:100GiB",
        "aws/gp2:334GiB",
        "oci/block-volume:300GB,vpu=20",
        // The machine has less throughput than the volume.
        "aws/gp3:500GiB,iops=16000,throughput=1000 on aws/m5.4xlarge",
    ];
    for config in configs {
        let offer = catalogue.offer(&config.parse().unwrap(), &terms).unwrap();
        let limits = LevelLimits::fixed(limits_of(&offer).unwrap());
        for block in [4_096, 65_536, 1_048_576] {
            let ask = Ask { block: Bytes::new(block), reads: 1.0, sequential: false };
            let standing = offer.standing(&ask);
            let lasting = standing.binding().unwrap().iops;
            let peak = standing.peak.map_or((lasting, 0.0), |peak| (peak.bound.iops, peak.seconds));
            let (mut state, offered) = (VolumeState::new(0), (peak.0 * 1.2) as i64);
            let mut first_backlog = None;
            for at in (0..SECONDS).step_by(10) {
                let demand = Some([10 * offered, 0, 10 * offered * block as i64, 0]);
                state.step(&limits, &Point { at, period: 10, demand, has_bytes: true, exceeded: None }).unwrap();
                let expected = (offered as f64 - peak.0) * (at + 10) as f64;
                let excess = state.backlog()[0] as f64 - expected;
                if excess > expected * 0.01 + lasting * 0.01 + 2.0 {
                    first_backlog.get_or_insert(at);
                }
            }
            let credits_end = first_backlog.unwrap_or(0) as f64;
            let is_near = |a: f64, b: f64| (a - b).abs() <= 0.05 * b + 2.0;
            assert!(peak.1 == 0.0 || is_near(credits_end, peak.1), "{config} {block}: {credits_end} s, {peak:?}");
            // In the long run the limit is the lasting rate.
            let served = |state: &VolumeState| offered * SECONDS - state.backlog()[0];
            let ideal = peak.0 * peak.1 + lasting * (SECONDS as f64 - peak.1);
            assert!(is_near(served(&state) as f64, ideal), "{config} {block}: {} of {ideal}", served(&state));
        }
    }
}
