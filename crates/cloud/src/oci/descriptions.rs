//! Collections that scripts read around volumes: shapes, regions, compartments, and those that are always empty here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use hyper::{Method, StatusCode};
use plimsoll_service::MachineShape;
use serde_json::{Value, json};

use super::error::OciError;
use super::page::{Compartment, in_subtree, is_root, known_compartment, page};
use super::{OciResult, etag_of, found};
use crate::cloud::Operation;
use crate::keys::TENANCY;
use crate::record::Provider;
use crate::web::{Reply, Request};

/// Collections of objects that are not emulated.
const EMPTY: [&str; 5] = ["images", "vcns", "subnets", "blockVolumeReplicas", "bootVolumeReplicas"];

const REGION_KEYS: &str = include_str!("../../data/regions.toml");
const TENANCY_NAME: &str = "plimsoll";

/// Operations of these collections; `None` for another collection.
pub(super) fn route(
    operation: &Operation<'_>,
    request: &Request,
    collection: &str,
    rest: &[&str],
) -> Option<OciResult> {
    let get = request.method == Method::GET;
    let reply = match (collection, rest) {
        ("shapes", []) if get => {
            let views = operation.service().machines("oci").iter().map(|machine| shape_view(&machine.shape)).collect();
            page(request, views, Compartment::Required)
        }
        ("regions", []) if get => {
            let region = operation.region();
            let views = region_key(region).map(|key| json!({ "key": key, "name": region }));
            Ok(Reply::json(StatusCode::OK, &Vec::from_iter(views).into()))
        }
        ("tenancies", [id]) if get => tenancy(id).map(|()| {
            let view = json!({ "id": TENANCY, "name": TENANCY_NAME, "homeRegionKey": region_key(operation.region()) });
            found(&view, etag_of(id))
        }),
        ("tenancies", [id, "regionSubscriptions"]) if get => tenancy(id).map(|()| {
            let region = operation.region();
            let view =
                |key: &str| json!({ "regionKey": key, "regionName": region, "status": "READY", "isHomeRegion": true });
            Reply::json(StatusCode::OK, &Vec::from_iter(region_key(region).map(view)).into())
        }),
        ("compartments", []) if get => compartments(operation, request),
        ("compartments", [id]) if get => {
            known_compartment(id).map(|()| found(&compartment_view(id, TENANCY), etag_of(id)))
        }
        (collection, []) if get && EMPTY.contains(&collection) => page(request, Vec::new(), Compartment::Optional),
        (collection, [id]) if get && EMPTY.contains(&collection) => {
            Err(OciError::not_found(collection.trim_end_matches('s'), id))
        }
        ("shapes" | "regions" | "tenancies" | "compartments", _) => Err(OciError::method()),
        (collection, [] | [_]) if EMPTY.contains(&collection) => Err(OciError::method()),
        _ => return None,
    };
    Some(reply)
}

/// Compartments of the objects that there are. All are children of the root, which is not listed.
fn compartments(operation: &Operation<'_>, request: &Request) -> OciResult {
    in_subtree(request)?;
    if request.parameter("accessLevel").is_some_and(|level| !["ANY", "ACCESSIBLE"].contains(&level)) {
        return Err(OciError::invalid("accessLevel is ANY or ACCESSIBLE"));
    }
    let objects = &operation.state.objects;
    let of_volumes = operation.volumes(Provider::Oci).into_iter().map(|volume| volume.record.compartment);
    let of_groups = objects.groups.values().map(|group| group.compartment.clone());
    let of_backups = objects.group_backups.values().map(|backup| backup.compartment.clone());
    let ids: BTreeSet<String> = of_volumes.chain(of_groups).chain(of_backups).filter(|id| !is_root(id)).collect();
    let root = request.parameter("compartmentId").filter(|id| is_root(id)).unwrap_or(TENANCY);
    page(request, ids.iter().map(|id| compartment_view(id, root)).collect(), Compartment::Required)
}

fn compartment_view(id: &str, root: &str) -> Value {
    let unique = id.rsplit('.').next().unwrap_or_default();
    let name = if is_root(id) { TENANCY_NAME.to_owned() } else { format!("compartment-{unique}") };
    json!({ "id": id, "compartmentId": root, "name": name, "lifecycleState": "ACTIVE" })
}

/// Checks the tenancy of the service.
fn tenancy(id: &str) -> Result<(), OciError> {
    if id == TENANCY { Ok(()) } else { Err(OciError::not_found("tenancy", id)) }
}

/// Key of a region of OCI; `None` for another name.
fn region_key(region: &str) -> Option<&'static str> {
    static KEYS: LazyLock<BTreeMap<String, String>> =
        LazyLock::new(|| toml::from_str(REGION_KEYS).expect("the data of this crate are valid"));
    KEYS.get(region).map(String::as_str)
}

/// A shape with its default options. An OCPU of x86-64 has two virtual processors.
fn shape_view(shape: &MachineShape) -> Value {
    let name = shape.name.trim_start_matches("oci/");
    let threads = if shape.arm { 1.0 } else { 2.0 };
    json!({
        "id": shape.name,
        "shape": name,
        "ocpus": shape.vcpus.map(|vcpus| vcpus / threads),
        "memoryInGBs": shape.memory.map(|memory| memory.get() >> 30),
        "networkingBandwidthInGbps": shape.network_bits_per_second.map(|rate| rate / 1e9),
        "isFlexible": name.ends_with(".Flex"),
    })
}

#[cfg(test)]
mod tests {
    use super::region_key;

    #[test]
    fn regions_have_the_keys_of_oci_or_none() {
        for (region, key) in [
            ("eu-zurich-1", Some("ZRH")),
            ("us-ashburn-1", Some("IAD")),
            ("us-phoenix-1", Some("PHX")),
            ("ap-osaka-1", Some("KIX")),
            ("us-gov-ashburn-1", Some("RIC")),
            ("us-east-1", None),
            ("local", None),
        ] {
            assert_eq!(region_key(region), key, "{region}");
        }
    }
}
