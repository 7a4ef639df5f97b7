//! Lists of volumes and groups.

use plimsoll_api::{Group, Volume};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::page::{Block, Cell, Column, ColumnKind, Page, Table};
use crate::words::volume as words;

/// All volumes, a row each.
pub fn volumes(volumes: &[Volume]) -> Page {
    let column = |name, kind, priority| Column::new(name, "", kind, priority);
    let mut notes = vec![label!("every volume is emulated; prices are list prices").to_owned()];
    if let Some(first) = volumes.first() {
        notes.extend(first.slow.map(words::time));
        notes.extend(first.trouble.as_ref().map(|trouble| say!("FAILED: {trouble}")));
    }
    let table = Table::rows(label!("Volumes"), volumes)
        .column(column(label!("name"), ColumnKind::Text, 0), |volume| volume.name.as_str())
        .column(column(label!("size"), ColumnKind::Text, 0), |volume| {
            Cell::figure(Bytes::new(volume.size_bytes).to_string(), volume.size_bytes as f64)
        })
        .column(column(label!("like"), ColumnKind::Text, 0), |volume| volume.like.as_str())
        .column(column(label!("level"), ColumnKind::Share, 4), |volume| volume.level.map(|level| level.to_string()))
        .column(column(label!("clients"), ColumnKind::Share, 3), |volume| volume.clients.to_string())
        .column(column(label!("a month"), ColumnKind::Money, 1), |volume| {
            Cell::money(volume.cost.as_ref().and_then(|cost| words::parse_money(&cost.monthly, &cost.currency)))
        })
        .column(column(label!("of"), ColumnKind::Text, 5), |volume| {
            volume.of.as_ref().map(|of| if volume.writable { of.clone() } else { say!("{of} (snapshot)") })
        })
        .column(column(label!("device"), ColumnKind::Text, 2), |volume| device(volume))
        .table()
        .with_notes(notes);
    Page::of_table(table, label!("no volumes yet: plimsoll volume create NAME --like oci:50GB@0vpu"))
}

fn device(volume: &Volume) -> Option<String> {
    let attachment = volume.attachment.as_ref()?;
    let place = attachment.mountpoint.as_ref().or(attachment.device.as_ref()).or(attachment.file.as_ref())?;
    Some(if attachment.dead { say!("{place} (dead)") } else { place.clone() })
}

/// All groups, with their volumes.
pub fn groups(groups: &[Group], volumes: &[Volume]) -> Page {
    let members = |group: &Group| {
        let of = volumes.iter().filter(|volume| volume.group.as_ref() == Some(&group.name));
        of.map(|volume| volume.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let table = Table::rows(label!("Groups"), groups)
        .column(Column::text(label!("group"), 0), |group| group.name.as_str())
        .column(Column::text(label!("like"), 0), |group| group.like.as_str())
        .column(Column::text(label!("volumes"), 0), |group| members(group))
        .table();
    Page::of_table(
        table,
        label!(
            "none yet: plimsoll instance create NAME --shape SHAPE, or plimsoll volume group create NAME --like MACHINE"
        ),
    )
}

pub fn created_group(group: &Group) -> Page {
    let Group { name, like } = group;
    let create = format!("plimsoll volume create VOLUME --like CONFIG --group {name}");
    let page = Page::of_block(say!("Group {name}"), Block::Text(say!("{name}: volumes share the limits of {like}")));
    Page { next: vec![(label!("next").to_owned(), create)], ..page }
}

#[cfg(test)]
mod tests {
    use plimsoll_api::Cost;

    use super::*;
    use crate::{TextStyle, page_text};

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
        let page = volumes(&[data.clone(), snapshot]);
        let text = page_text(&page, &TextStyle { width: 100, ..TextStyle::default() });
        let expected = "name  size    like           level  clients  a month   of               device\n\
            data  50 GiB  oci:50GB@0vpu      0        2  1.28 USD  –                –\n\
            old   0 B     limit(3000)        –        0     –      data (snapshot)  –\n\
            every volume is emulated; prices are list prices\n\
            10 times slower than the clock: every figure is in the model's time\n";
        assert_eq!(text, expected);
        let machine = Group { name: "vm".into(), like: "limit(1000)".into() };
        let member = Volume { group: Some("vm".into()), ..data };
        let text = page_text(&groups(&[machine], &[member]), &TextStyle::default());
        assert!(text.contains("vm     limit(1000)  data\n"));
    }
}
