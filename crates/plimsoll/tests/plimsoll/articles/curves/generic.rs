//! Generic products against the medians of the published drives in their files, and against RAID 5 of such drives.

use super::{EIGHT_DISKS, RAID5, build_points, reads_over};
use crate::articles::scorecard::{Card, Point, Role};
use crate::articles::shelf::{model, offer};

/// Heading, product and tolerance.
const PRODUCTS: [(&str, &str, f64); 3] = [
    ("Disks of 7,200 turns, median", "generic/hdd-7200", 0.10),
    ("SATA SSDs, median", "generic/sata-ssd", 0.15),
    ("NVMe SSDs, median", "generic/nvme-tlc", 0.10),
];

pub fn cards() -> Vec<Card> {
    let medians = PRODUCTS.iter().map(|(title, product, allowed)| median(title, product, *allowed));
    medians.chain([raid5_of_generic_disks()]).collect()
}

/// Random reads of 4 KiB of the median drive. The product is calibrated with the lowest and the highest depth.
fn median(title: &'static str, product: &str, allowed: f64) -> Card {
    let spec = model(product);
    let typical = offer(product).typical();
    let published = typical.iter().find(|rates| rates.ask.reads > 0.0).expect("published drives");
    let ends = [published.ranges.first(), published.ranges.last()].map(|range| range.map(|range| range.depth));
    let point = |range: &plimsoll_catalogue::TypicalRange| Point {
        load: format!("depth {} ({:.0} to {:.0})", range.depth, range.lowest, range.highest),
        published: range.median,
        modelled: reads_over(&spec, range.depth, range.median, offer(product).capacity.get()),
        role: if ends.contains(&Some(range.depth)) { Role::Calibrated } else { Role::Predicted },
    };
    let names: Vec<&str> = published.drives.iter().map(|drive| drive.name.as_str()).collect();
    Card {
        title,
        about: "Random reads of 4 KiB on whole drives: the median of those that are published at each depth, and their range in parentheses.",
        model: format!(
            "`{product}`, calibrated with the medians at the lowest and the highest depth. The drives, with their sources in the \
             file of the product: {}.",
            names.join("; ")
        ),
        unit: "IOPS",
        points: published.ranges.iter().map(point).collect(),
        goal: None,
        allowed,
    }
}

fn raid5_of_generic_disks() -> Card {
    let config = "raid5(8,512KiB) of generic/hdd-7200:size=2000";
    let spec = model(config);
    Card {
        title: "RAID 5 of eight generic disks, reads",
        about: EIGHT_DISKS,
        model: format!(
            "`{config}`: the generic disk, of which only the positioning within a small part of the disk was calibrated here, at \
             depth 1. These disks gain more by their queue than the median."
        ),
        unit: "IOPS",
        points: build_points(&RAID5[0], &[1], |depth, about| reads_over(&spec, depth, about, 100_000_000_000)),
        goal: None,
        allowed: 0.30,
    }
}
