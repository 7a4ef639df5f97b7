//! Pages of emulated volumes: the volume, lists, counters and activity.

mod activity;
mod checks;
mod counters;
mod list;

use plimsoll_api::{Attachment, Recorded, Stats, Volume};
use plimsoll_language::{label, say};

pub use self::activity::{VolumeView, activity};
pub use self::checks::{checked_directory, scrub, scrub_progress};
pub use self::counters::counters;
pub use self::list::{created_group, groups, volumes};
use crate::page::Page;
use crate::words::volume as words;

/// A new volume, with the commands that use it.
pub fn created(volume: &Volume) -> Page {
    let facts = vec![
        (label!("size"), words::size(volume)),
        (label!("host"), words::host(volume)),
        (label!("model"), volume.model.clone()),
        (label!("cost"), volume.cost.as_ref().map(words::monthly).unwrap_or_default()),
        (label!("reach"), volume.uris.join(label!(", "))),
        ("iSCSI", volume.iscsi.as_ref().map(words::iscsi).unwrap_or_default()),
        (label!("durable"), words::durability(&volume.durability)),
        (label!("failed"), volume.trouble.clone().unwrap_or_default()),
    ];
    let facts = facts.into_iter().chain(doubts(volume)).chain([time_fact(volume)]);
    let commands = volume.uris.first().map(|uri| {
        [
            (label!("block device of this host"), format!("plimsoll volume attach {}", volume.name)),
            (label!("measure"), format!("plimsoll measure '{uri}'")),
            (label!("inspect"), format!("nbdinfo '{uri}'")),
        ]
    });
    let next = commands.into_iter().flatten().map(|(purpose, command)| (purpose.to_owned(), command)).collect();
    Page { next, ..page(volume, facts) }
}

/// The properties that commands change.
pub fn changed(volume: &Volume) -> Page {
    changed_with(volume, Vec::new())
}

/// The same, with the state of its device.
pub fn changed_with(volume: &Volume, device: Vec<(&'static str, String)>) -> Page {
    let facts = vec![
        (label!("size"), words::size(volume)),
        (label!("host"), words::host(volume)),
        (label!("level"), words::level(volume)),
        (label!("model"), volume.model.clone()),
        (label!("cost"), volume.cost.as_ref().map(words::cost).unwrap_or_default()),
        (label!("autotune"), volume.autotune.as_ref().map(words::autotune).unwrap_or_default()),
        (label!("faults"), volume.faults.as_ref().map(words::faults).unwrap_or_default()),
        (label!("record"), volume.recording.clone().unwrap_or_default()),
        time_fact(volume),
    ];
    page(volume, facts.into_iter().chain(device))
}

/// The place of a volume on this host.
pub fn attached(volume: &Volume) -> Page {
    let Attachment { file, device, mountpoint, .. } = volume.attachment.clone().unwrap_or_default();
    let facts = vec![
        (label!("size"), words::size(volume)),
        (label!("host"), words::host(volume)),
        (label!("model"), volume.model.clone()),
        (label!("file"), file.unwrap_or_default()),
        (label!("device"), device.unwrap_or_default()),
        (label!("mounted"), mountpoint.unwrap_or_default()),
        time_fact(volume),
    ];
    let next = vec![(label!("detach").to_owned(), format!("plimsoll volume detach {}", volume.name))];
    Page { next, ..page(volume, facts) }
}

/// A finished recording, with the command that replays it.
pub fn recorded(name: &str, recorded: &Recorded) -> Page {
    let Recorded { file, operations, dropped } = recorded;
    let lacking = match dropped {
        0 => String::new(),
        dropped => say!("{dropped} more came faster than they could be written"),
    };
    let facts = vec![(label!("record"), say!("{operations} operations in {file}")), (label!("lacking"), lacking)];
    let next = vec![(label!("replay").to_owned(), format!("plimsoll simulate CONFIG --replay {file}"))];
    Page { next, ..Page::of_facts(say!("Recording of {name}"), say!("Recording of {name} stopped"), facts) }
}

/// A volume with its counters.
pub fn details(volume: &Volume, stats: &Stats) -> Page {
    let clients = match volume.clients {
        1 => label!("1 client").to_owned(),
        clients => say!("{clients} clients"),
    };
    let mut facts = vec![
        (label!("size"), words::size(volume)),
        (label!("host"), words::host(volume)),
        (label!("level"), words::level(volume)),
        (label!("group"), volume.group.clone().unwrap_or_default()),
        (label!("of"), volume.of.as_ref().map(|of| say!("the content of {of} at its beginning")).unwrap_or_default()),
        (label!("made"), volume.created.clone()),
        (label!("model"), volume.model.clone()),
        (label!("reach"), say!("{}; {clients}", volume.uris.join(label!(", ")))),
        ("iSCSI", volume.iscsi.as_ref().map(words::iscsi).unwrap_or_default()),
        (label!("device"), volume.attachment.as_ref().map(words::format_device).unwrap_or_default()),
        (label!("autotune"), volume.autotune.as_ref().map(words::autotune).unwrap_or_default()),
        (label!("faults"), volume.faults.as_ref().map(words::faults).unwrap_or_default()),
        (label!("record"), volume.recording.clone().unwrap_or_default()),
        (label!("cost"), volume.cost.as_ref().map(words::cost).unwrap_or_default()),
        (label!("durable"), words::durability(&volume.durability)),
        (label!("failed"), volume.trouble.clone().unwrap_or_default()),
        (label!("binds"), words::binds(stats)),
        (label!("faithful"), words::faithful(stats)),
    ];
    facts.extend(words::damaged(stats).map(|text| (label!("damaged"), text)));
    facts.extend(doubts(volume));
    facts.push(time_fact(volume));
    page(volume, facts)
}

fn page(volume: &Volume, facts: impl IntoIterator<Item = (&'static str, String)>) -> Page {
    Page::of_facts(say!("Volume {}", volume.name), title(volume), facts)
}

fn time_fact(volume: &Volume) -> (&'static str, String) {
    (label!("time"), volume.slow.map(words::time).unwrap_or_default())
}

fn title(volume: &Volume) -> String {
    let kind = if volume.writable { label!("emulated, like") } else { label!("a snapshot, emulated like") };
    format!("{}: {kind} {}", volume.name, volume.like)
}

fn doubts(volume: &Volume) -> impl Iterator<Item = (&'static str, String)> {
    let words = std::iter::once(label!("doubts")).chain(std::iter::repeat(""));
    words.zip(volume.doubts.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextStyle, page_text};

    #[test]
    fn every_page_names_the_time_factor() {
        let volume = Volume { slow: Some(10), ..Volume::default() };
        for page in [created(&volume), changed(&volume), details(&volume, &Stats::default())] {
            let text = page_text(&page, &TextStyle::default());
            assert!(text.contains("10 times slower") && text.contains("emulated"), "{text}");
        }
    }
}
