//! The article "OCI ultra high performance, measured with fio".

use plimsoll_drive::{Onward, Rules, Simulated, drive};
use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamPhase, StreamSpec, Streams};
use plimsoll_model::Chain;
use plimsoll_units::{Bytes, Instant, Span};

use crate::articles::figure::{Article, By, Figure, Published::Exactly};
use crate::articles::oci_levels::{iops, offer, try_offer};

/// VPU, and three results of fio in IOPS and in MiB/s.
const MEASURED: [(u32, [f64; 3], [f64; 3]); 3] = [
    (0, [532.0, 514.0, 547.0], [2129.0 / 1024.0, 2057.0 / 1024.0, 2189.0 / 1024.0]),
    (50, [30_400.0, 30_500.0, 30_900.0], [119.0, 119.0, 121.0]),
    (120, [57_500.0, 56_900.0, 57_500.0], [225.0, 222.0, 225.0]),
];
const MACHINE: &str = "oci/VM.Standard.E4.Flex:16ocpu";
/// Virtual seconds of each run.
const SECONDS: u64 = 5;

fn config(size: u32, vpu: u32) -> String {
    // The VPUs were changed online, with all paths attached.
    format!("oci:{size}GB@{vpu}vpu,multipath=yes on {MACHINE}")
}

/// `fio --rw=randread --bs=4k --iodepth=256 --numjobs=4`: reads per second.
fn fio(config: &str) -> f64 {
    let offer = offer(config);
    let job = |number: u32| StreamSpec {
        name: format!("job {number}"),
        mix: Mix { sizes: BlockMix::one(Bytes::kib(4)), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(offer.capacity),
        pace: Pace::Closed { depth: 256 },
    };
    let phase = StreamPhase { end: Instant::ZERO + Span::from_secs(SECONDS), ..StreamPhase::unbounded(Instant::ZERO) };
    let mut load = Streams::new(&[1, 2, 3, 4].map(job), 4, phase).expect("the region holds a block");
    let mut target = Simulated::new(Chain::new(&offer.model().expect("it has a model"), 4));
    let rules = Rules::new(4 * 256, Span::from_secs(1));
    let seen = drive(&mut target, &mut load, &rules, &mut |_| Onward::Continue(())).expect("no faults");
    let whole = seen.series.iter().skip(1).take(SECONDS as usize - 1);
    whole.map(|slice| slice.tally.operations()).sum::<u64>() as f64 / (SECONDS - 1) as f64
}

fn mean(samples: [f64; 3]) -> f64 {
    samples.iter().sum::<f64>() / 3.0
}

pub fn article() -> Article {
    let mut figures = requirements();
    for (vpu, samples, rates) in MEASURED {
        let (place, reads) = (format!("fio, VPU {vpu}, mean of three lines"), fio(&config(256, vpu)));
        let given = |what, published, unit, value| {
            let figure = Figure::new(&*place, what, Exactly(published), unit);
            figure.given(By::Simulation, format!("4 x 256 reads of 4 KiB on {}", config(256, vpu)), value, 0.04)
        };
        figures.push(given("random reads of 4 KiB", mean(samples), "IOPS", reads));
        figures.push(given("throughput", mean(rates), "MiB/s", reads * 4.0 / 1024.0));
    }
    Article {
        title: "OCI ultra high performance, measured with fio",
        about: "A consultant, in English, undated (a day in May): a volume of 256 GB at three levels on a machine of 16 OCPUs, \
                with fio's own lines.",
        figures,
        missed: missed(),
    }
}

fn requirements() -> Vec<Figure> {
    let least = (1..=64).find(|ocpus| is_supported(*ocpus)).map_or(f64::NAN, f64::from);
    let ocpus = Figure::new("requirements", "fewest OCPUs that suffice", Exactly(16.0), "OCPU");
    let boot = Figure::new("lsblk", "size of the boot disk", Exactly(46.6), "GiB");
    vec![
        ocpus.given(By::Quote, format!("oci:256GB@100vpu on {}", MACHINE.replace("16ocpu", "...")), least, 0.0),
        Figure::new("lsblk", "paths of the volume", Exactly(5.0), "").missing(
            "the vendor does not publish the number of paths of its agent; the volume's ceilings bind, so the capacity of a path cannot be derived",
        ),
        Figure::new("lsblk, fdisk and df", "size of the volume", Exactly(512.0), "GiB").missing(format!(
            "not the volume that was measured: 512 GB would have read {:.0}, {:.0} and {:.0} times a second; 256 GB, as in the text, fit all three levels",
            iops(&config(512, 0)),
            iops(&config(512, 50)),
            iops(&config(512, 120)),
        )),
        boot.given(By::Law, "50 GB of 10^9 bytes in GiB: units of boot images and volumes differ", 50e9 / 1024f64.powi(3), 0.001),
    ]
}

/// True without a caution about the machine: a smaller one gets a single path.
fn is_supported(ocpus: u32) -> bool {
    let offer = try_offer(&format!("oci:256GB@100vpu on oci/VM.Standard.E4.Flex:{ocpus}ocpu"));
    offer.is_ok_and(|offer| offer.doubts().iter().all(|doubt| !doubt.text.contains("from 16 OCPUs")))
}

fn missed() -> Vec<String> {
    vec![
        "The output of lsblk, fdisk and df is from a different volume than the text: it shows 512 GiB, and the \
         measured IOPS are those of 256 GB at each of the three levels."
            .into(),
        format!(
            "1,024 reads in flight on a volume of {:.0} IOPS wait {:.0} ms each: depth adds only latency, which the article does not show.",
            iops(&config(256, 120)),
            1024.0 / iops(&config(256, 120)) * 1e3
        ),
        "The runs were stopped after a few seconds, the first of them 4 % above the limit of VPU 0: too short to distinguish a burst \
         from noise."
            .into(),
    ]
}

#[test]
fn the_measured_volume_has_256_gb_not_512() {
    for (vpu, samples, _) in MEASURED {
        let error = |size| mean(samples) / iops(&config(size, vpu)) - 1.0;
        assert!(error(256).abs() < 0.04, "VPU {vpu}: {}", error(256));
        assert!((-0.51..-0.46).contains(&error(512)), "VPU {vpu}: {}", error(512));
    }
}
