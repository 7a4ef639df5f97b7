//! Availability zones.

use super::Ec2Result;
use super::error::Ec2Error;
use super::query::{Query, selects};
use super::xml::Element;
use crate::cloud::Operation;

/// Fields of a zone: the element, the filter, and the value if it is known.
struct Zone([(&'static str, &'static str, Option<String>); 7]);

/// `DescribeAvailabilityZones`.
pub(super) fn describe(operation: &Operation<'_>, query: &Query) -> Ec2Result {
    query.only(&["ZoneName.", "ZoneId.", "Filter.", "AllAvailabilityZones"])?;
    query.end_dry_run()?;
    let region = &operation.cloud.options.ec2_region;
    let names = operation.zones().into_iter();
    let zones: Vec<Zone> = names.zip(1..).map(|(name, number)| Zone::new(region, name, number)).collect();
    let selections = [
        ("zone-name", query.list("ZoneName"), "availability zone"),
        ("zone-id", query.list("ZoneId"), "availability zone-id"),
    ];
    for (filter, values, kind) in &selections {
        if let Some(unknown) = values.iter().find(|value| !zones.iter().any(|zone| zone.has(filter, value))) {
            let displayed: String = unknown.chars().take(100).collect();
            return Err(Ec2Error::value(format!("Invalid {kind}: [{displayed}]")));
        }
    }
    let is_named = |zone: &Zone| {
        selections.iter().all(|(_, values, _)| values.is_empty())
            || selections.iter().any(|(filter, values, _)| values.iter().any(|value| zone.has(filter, value)))
    };
    let filters = query.filters();
    let mut items = Vec::new();
    for zone in zones.iter().filter(|zone| is_named(zone)) {
        if selects(&filters, |filter| zone.values(filter))? {
            let fields = zone.0.iter().filter_map(|(name, _, value)| Some(Element::text(name, value.as_ref()?)));
            items.push(Element::item(fields.collect()));
        }
    }
    Ok(vec![Element::set("availabilityZoneInfo", items)])
}

impl Zone {
    fn new(region: &str, name: String, number: usize) -> Self {
        Self([
            ("zoneName", "zone-name", Some(name)),
            ("zoneId", "zone-id", zone_id(region, number)),
            ("zoneState", "state", Some("available".to_owned())),
            ("regionName", "region-name", Some(region.to_owned())),
            ("groupName", "group-name", Some(format!("{region}-zg-1"))),
            ("optInStatus", "opt-in-status", Some("opt-in-not-required".to_owned())),
            ("zoneType", "zone-type", Some("availability-zone".to_owned())),
        ])
    }

    /// Values of a filter; `None` for an unknown filter.
    fn values(&self, filter: &str) -> Option<Vec<String>> {
        let field = self.0.iter().find(|(_, name, _)| *name == filter);
        field.map(|(.., value)| value.iter().cloned().collect())
    }

    fn has(&self, filter: &str, value: &str) -> bool {
        self.values(filter).is_some_and(|values| values.iter().any(|own| own == value))
    }
}

/// Identifier of the zone: that of `us-east-1` and 2 is `use1-az2`. `None` for a region that is not named as those of AWS.
fn zone_id(region: &str, number: usize) -> Option<String> {
    let mut parts = region.split('-');
    let mut id = parts.next().filter(|area| area.len() == 2)?.to_owned();
    for part in parts {
        id.push_str(match part {
            "north" => "n",
            "northeast" => "ne",
            "east" => "e",
            "southeast" => "se",
            "south" => "s",
            "southwest" => "sw",
            "west" => "w",
            "northwest" => "nw",
            "central" => "c",
            "gov" => "g",
            digits if digits.parse::<u8>().is_ok() => digits,
            _ => return None,
        });
    }
    Some(format!("{id}-az{number}"))
}

#[cfg(test)]
mod tests {
    use super::zone_id;

    #[test]
    fn zone_ids_abbreviate_the_region() {
        for (region, expected) in [
            ("us-east-1", Some("use1-az2")),
            ("ap-northeast-1", Some("apne1-az2")),
            ("eu-central-2", Some("euc2-az2")),
            ("us-gov-west-1", Some("usgw1-az2")),
            ("eu-zurich-1", None),
            ("local", None),
        ] {
            assert_eq!(zone_id(region, 2).as_deref(), expected, "{region}");
        }
    }
}
