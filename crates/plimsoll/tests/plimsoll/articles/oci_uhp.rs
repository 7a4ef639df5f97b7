//! The article "OCI ultra high performance, measured with fio".

use plimsoll_suite::recipes::articles::published::article as published;

use crate::articles::command::{Printed, run};
use crate::articles::figure::{Article, Figure, Published::Exactly};

const MACHINE: &str = "oci/VM.Standard.E4.Flex:16ocpu";

/// Reads of fio's jobs on the volume of this size.
fn fio(size: u32, vpu: &str) -> Printed {
    // The VPUs were changed online, with all paths attached; the runs were ended after a few seconds.
    let config = format!("oci:{size}GB@{vpu}vpu,multipath=yes on {MACHINE}");
    run(format!("plimsoll suite articles --article oci-uhp '{config}' --measure 5s --details"))
}

/// VPUs, and the means of three samples of IOPS and of MiB/s.
fn samples() -> [(String, f64, f64); 3] {
    let tables = published("oci-uhp");
    let table = tables.table("fio");
    let iops = table.figures::<3>("Random read, 4 KiB");
    let rates = tables.table("throughput").figures::<3>("throughput");
    std::array::from_fn(|column| (table.columns[column][1].clone(), iops[column], rates[column]))
}

pub fn article() -> Article {
    let mut figures = requirements();
    for (vpu, iops, rate) in samples() {
        let (place, jobs) = (format!("fio, VPU {vpu}, mean of three lines"), fio(256, &vpu));
        let reads = Figure::new(&*place, "random reads of 4 KiB", Exactly(iops), "IOPS");
        figures.push(reads.simulated(jobs.line("Random read, 4 KiB"), 0.04));
        let word = jobs.word("Random read, 4 KiB, 4 jobs at depth 256", 1, "MiB/s");
        figures.push(Figure::new(place, "throughput", Exactly(rate), "MiB/s").simulated(word, 0.04));
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
    // A smaller machine gets a single path, with a caution.
    let smaller =
        run(format!("plimsoll quote 'oci:256GB@100vpu on {}' --details", MACHINE.replace("16ocpu", "15ocpu")));
    let needed = smaller.after(&["supported", "machines", "from"]);
    vec![
        Figure::new("requirements", "fewest OCPUs that suffice", Exactly(16.0), "OCPU").quoted(needed, 0.0),
        Figure::new("lsblk", "paths of the volume", Exactly(5.0), "").missing(
            "the vendor does not publish the number of paths of its agent; the volume's ceilings bind, so the capacity of a path cannot be derived",
        ),
        Figure::new("lsblk, fdisk and df", "size of the volume", Exactly(512.0), "GiB")
            .missing("not the volume that was measured: 256 GB, as in the text, fit all three levels"),
        Figure::new("lsblk", "size of the boot disk", Exactly(46.6), "GiB")
            .missing("units: images are sized in 10^9 bytes, of which 50 are 46.6 GiB; a volume of 50 GB has 50 GiB"),
    ]
}

fn missed() -> Vec<String> {
    let reads = fio(256, "120");
    let (rate, wait) =
        (reads.line("Random read, 4 KiB"), reads.word("Random read, 4 KiB, 4 jobs at depth 256", 2, "read us"));
    vec![
        "The output of lsblk, fdisk and df is from a different volume than the text: it shows 512 GiB, and the \
         measured IOPS are those of 256 GB at each of the three levels."
            .into(),
        format!(
            "1,024 reads in flight on a volume of {} IOPS ({}) wait {:.0} ms each ({}): depth adds only latency, which the article does not show.",
            rate.value,
            rate.how,
            wait.value / 1e3,
            wait.how
        ),
        "The runs were stopped after a few seconds, the first of them 4 % above the limit of VPU 0: too short to distinguish a burst \
         from noise."
            .into(),
    ]
}

#[test]
fn the_measured_volume_has_256_gb_not_512() {
    for (vpu, iops, _) in samples() {
        let error = |size| iops / fio(size, &vpu).line("Random read, 4 KiB").value - 1.0;
        assert!(error(256).abs() < 0.04, "VPU {vpu}: {}", error(256));
        assert!((-0.51..-0.46).contains(&error(512)), "VPU {vpu}: {}", error(512));
    }
}
