//! Volumes and groups in tables. Pure.

use plimsoll_report::{Column, ColumnKind, TextStyle, grid};
use plimsoll_service::api::{Group, Volume};
use plimsoll_units::Bytes;

use super::show;

const fn column(name: &'static str, kind: ColumnKind, priority: u8) -> Column {
    Column::new(name, "", kind, priority)
}

const VOLUMES: [Column; 8] = [
    column("name", ColumnKind::Text, 0),
    column("size", ColumnKind::Text, 0),
    column("like", ColumnKind::Text, 0),
    column("level", ColumnKind::Share, 3),
    column("clients", ColumnKind::Share, 2),
    column("a month", ColumnKind::Text, 4),
    column("of", ColumnKind::Text, 5),
    column("device", ColumnKind::Text, 1),
];

const GROUPS: [Column; 3] =
    [column("group", ColumnKind::Text, 0), column("like", ColumnKind::Text, 0), column("volumes", ColumnKind::Text, 0)];

/// All volumes, a row each.
pub fn volumes(volumes: &[Volume], style: &TextStyle) -> String {
    if volumes.is_empty() {
        return "no volumes yet: plimsoll volume create NAME --like oci:50GB@0vpu\n".into();
    }
    let mut notes = vec!["every volume is emulated; prices are list prices".to_owned()];
    notes.extend(volumes[0].slow.map(show::time));
    notes.extend(volumes[0].trouble.as_ref().map(|trouble| format!("FAILED: {trouble}")));
    grid(&VOLUMES, &volumes.iter().map(row).collect::<Vec<_>>(), &notes, style)
}

fn row(volume: &Volume) -> Vec<String> {
    let none = || "–".to_owned();
    let attachment = volume.attachment.as_ref();
    let place = attachment.and_then(|at| at.mountpoint.clone().or(at.device.clone()).or(at.file.clone()));
    let is_dead = attachment.is_some_and(|at| at.dead);
    let device = place.map(|place| if is_dead { format!("{place} (dead)") } else { place });
    let of = volume.of.as_ref().map(|of| if volume.writable { of.clone() } else { format!("{of} (snapshot)") });
    vec![
        volume.name.clone(),
        Bytes::new(volume.size_bytes).to_string(),
        volume.like.clone(),
        volume.level.map_or_else(none, |level| level.to_string()),
        volume.clients.to_string(),
        volume.cost.as_ref().map_or_else(none, |cost| show::format_money(&cost.monthly, &cost.currency)),
        of.unwrap_or_else(none),
        device.unwrap_or_else(none),
    ]
}

/// All groups, with their volumes.
pub fn groups(groups: &[Group], volumes: &[Volume], style: &TextStyle) -> String {
    if groups.is_empty() {
        return "no groups yet: plimsoll volume group create NAME --like MACHINE\n".into();
    }
    let members = |group: &Group| {
        let of = volumes.iter().filter(|volume| volume.group.as_ref() == Some(&group.name));
        of.map(|volume| volume.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let rows: Vec<_> =
        groups.iter().map(|group| vec![group.name.clone(), group.like.clone(), members(group)]).collect();
    grid(&GROUPS, &rows, &[], style)
}

#[cfg(test)]
mod tests {
    use plimsoll_service::api::Cost;

    use super::*;

    #[test]
    fn volumes_stand_in_rows() {
        let cost = Cost { currency: "USD".into(), monthly: "1.275000".into(), ..Cost::default() };
        let data = Volume {
            name: "data".into(),
            like: "oci:50GB@0vpu".into(),
            level: Some(0),
            size_bytes: 50 << 30,
            writable: true,
            slow: Some(10),
            clients: 2,
            cost: Some(cost),
            ..Volume::default()
        };
        let snapshot =
            Volume { name: "old".into(), of: Some("data".into()), like: "limit(3000)".into(), ..Volume::default() };
        let text = volumes(&[data.clone(), snapshot], &TextStyle { width: 100, ..TextStyle::default() });
        let expected = "name  size    like           level  clients  a month   of               device\n\
            data  50 GiB  oci:50GB@0vpu      0        2  1.28 USD  –                –\n\
            old   0 B     limit(3000)        –        0  –         data (snapshot)  –\n\
            every volume is emulated; prices are list prices\n\
            10 times slower than the clock: every figure is in the model's time\n";
        assert_eq!(text, expected);
        let machine = Group { name: "vm".into(), like: "limit(1000)".into() };
        let member = Volume { group: Some("vm".into()), ..data };
        assert!(groups(&[machine], &[member], &TextStyle::default()).contains("vm     limit(1000)  data\n"));
    }
}
