//! Commands that owners can run.

use plimsoll_catalogue::Offer;

use super::decide::number;
use crate::volumes::FleetVolume;

/// Types that `modify-volume` changes into each other.
const EBS_TYPES: [&str; 6] = ["gp2", "gp3", "io1", "io2", "st1", "sc1"];

/// The command that changes a volume from `today` to `offer`; `None` if the provider's command line has none.
pub fn change_command(volume: &FleetVolume, region: &str, today: &Offer, offer: &Offer) -> Option<String> {
    let (provider, product) = offer.product().name().split_once('/')?;
    let (own, present) = today.product().name().split_once('/')?;
    let id = quote(&volume.id);
    match provider {
        "aws" if own == "aws" && EBS_TYPES.contains(&product) && EBS_TYPES.contains(&present) => {
            let mut command = format!("aws ec2 modify-volume --volume-id {id} --volume-type {product}");
            for (option, flag) in [("iops", "--iops"), ("throughput", "--throughput")] {
                let value = number(offer, option);
                command.extend(value.map(|value| format!(" {flag} {value}")));
            }
            if number(offer, "size") != number(today, "size") {
                command.extend(number(offer, "size").map(|size| format!(" --size {size}")));
            }
            if !region.is_empty() && !region.contains(',') {
                command.push_str(&format!(" --region {}", quote(region)));
            }
            Some(command)
        }
        "oci" if own == "oci" && product == "block-volume" && present == "block-volume" => {
            let mut command = format!("oci bv volume update --volume-id {id}");
            command.extend(number(offer, "vpu").map(|vpu| format!(" --vpus-per-gb {vpu}")));
            if number(offer, "size") != number(today, "size") {
                command.extend(number(offer, "size").map(|size| format!(" --size-in-gbs {size}")));
            }
            Some(command)
        }
        _ => None,
    }
}

/// An argument of a shell: identifiers come from files of others.
fn quote(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.:/".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
