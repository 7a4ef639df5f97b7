//! Disks over several paths: how many of the paths are used at a time, from the kernel's table of multipath devices
//! (`dmsetup table`, for root) or from `/etc/multipath.conf`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::linux::{members, read};

const CONFIGURATION: &str = "/etc/multipath.conf";
const SETTING: &str = "path_grouping_policy";

/// The multipath devices of this host, by name, each with its paths, and where known with the number of paths in each
/// group and the queue depth of a path.
pub(super) fn multipaths() -> Map<String, Value> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut devices: Vec<String> = names.filter(|name| device_mapper(name, "uuid").starts_with("mpath-")).collect();
    devices.sort();
    if devices.is_empty() {
        return Map::new();
    }
    let (table, configuration) = (read_table(), fs::read_to_string(CONFIGURATION).unwrap_or_default());
    let found = devices.iter().map(|device| {
        let name = device_mapper(device, "name");
        let paths = members(device);
        let groups = groups_in_table(&table, &name).or_else(|| {
            let disk = Disk::of(paths.first()?, &name, &device_mapper(device, "uuid"));
            groups_of_policy(&find_policy(&configuration, &disk)?, paths.len())
        });
        let depths =
            paths.iter().filter_map(|path| read(&format!("/sys/block/{path}/device/queue_depth")).parse().ok());
        let depth: Option<u32> = depths.min();
        let mut fields = Map::from_iter([("paths".to_owned(), json!(paths))]);
        fields.extend(groups.map(|groups| ("groups".to_owned(), json!(groups))));
        fields.extend(depth.map(|depth| ("queue_depth".to_owned(), json!(depth))));
        (name, Value::Object(fields))
    });
    found.collect()
}

fn device_mapper(device: &str, file: &str) -> String {
    read(&Path::new("/sys/block").join(device).join("dm").join(file).to_string_lossy())
}

/// The kernel's table; empty without the program or the rights.
fn read_table() -> String {
    let mut command = Command::new("dmsetup");
    let output = command.args(["table", "--target", "multipath"]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// The paths of each group of a device, the group in use first:
/// `NAME: START LENGTH multipath FEATURES HANDLER GROUPS FIRST GROUP...`, where features and handler are counts followed
/// by words, and a group is `SELECTOR COUNT WORDS... PATHS WORDS-OF-A-PATH PATH...`
/// (Documentation/admin-guide/device-mapper of Linux, drivers/md/dm-mpath.c).
fn groups_in_table(table: &str, name: &str) -> Option<Vec<u32>> {
    let line = table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    let mut words = line.split_ascii_whitespace().skip(3);
    skip_counted(&mut words)?;
    skip_counted(&mut words)?;
    let groups: usize = words.next()?.parse().ok()?;
    let first: usize = words.next()?.parse().ok()?;
    let mut paths = Vec::new();
    for _ in 0..groups {
        words.next()?;
        skip_counted(&mut words)?;
        let (count, each): (u32, u32) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        (0..count.checked_mul(each.checked_add(1)?)?).try_for_each(|_| words.next().map(|_| ()))?;
        paths.push(count);
    }
    let used = first.saturating_sub(1).min(paths.len());
    paths.rotate_left(used);
    (!paths.is_empty()).then_some(paths)
}

/// Skips a count and as many words.
fn skip_counted<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<()> {
    let count: usize = words.next()?.parse().ok()?;
    (0..count).try_for_each(|_| words.next().map(|_| ()))
}

/// The groups of a policy that does not depend on priorities.
fn groups_of_policy(policy: &str, paths: usize) -> Option<Vec<u32>> {
    match policy {
        "multibus" => Some(vec![u32::try_from(paths).ok()?]),
        "failover" => Some(vec![1; paths]),
        _ => None,
    }
}

/// What sections of the configuration apply to.
struct Disk {
    vendor: String,
    product: String,
    wwid: String,
    alias: String,
}

impl Disk {
    fn of(path: &str, alias: &str, uuid: &str) -> Self {
        let file = |file: &str| read(&format!("/sys/block/{path}/device/{file}"));
        let wwid = uuid.trim_start_matches("mpath-").to_owned();
        Self { vendor: file("vendor"), product: file("model"), wwid, alias: alias.to_owned() }
    }

    /// Whether a block of `devices` or `multipaths` applies. Of the regular expressions of `devices` only anchors and
    /// `.*` are understood.
    fn is_meant(&self, section: &str, pairs: &[(String, String)]) -> bool {
        let value = |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        let fits = |pattern: Option<&str>, text: &str| {
            let literal = pattern.unwrap_or_default().trim_start_matches('^').trim_end_matches('$').replace(".*", "");
            text.contains(&literal)
        };
        match section {
            "devices" => fits(value("vendor"), &self.vendor) && fits(value("product"), &self.product),
            "multipaths" => value("wwid") == Some(&self.wwid) || value("alias") == Some(&self.alias),
            _ => true,
        }
    }
}

/// The grouping policy of a disk, if the configuration sets it. Without one, multipath-tools has defaults for known arrays,
/// and `failover` for all others.
fn find_policy(configuration: &str, disk: &Disk) -> Option<String> {
    /// Later sections take precedence.
    const SECTIONS: [&str; 4] = ["defaults", "devices", "overrides", "multipaths"];
    // The open sections, outermost first, each with its settings.
    let mut open: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let mut found: [Option<String>; 4] = [const { None }; 4];
    for line in configuration.lines() {
        match split_words(line).as_slice() {
            [section, brace] if brace == "{" => open.push((section.clone(), Vec::new())),
            [brace] if brace == "}" => {
                let Some((last, pairs)) = open.pop() else { continue };
                let section = open.first().map_or(last, |(outermost, _)| outermost.clone());
                let rank = SECTIONS.iter().position(|existing| *existing == section);
                let value = pairs.iter().find(|(key, _)| key == SETTING).map(|(_, value)| value.clone());
                if let Some(rank) = rank.filter(|_| value.is_some() && disk.is_meant(&section, &pairs)) {
                    found[rank] = value;
                }
            }
            [key, value] => {
                if let Some((_, pairs)) = open.last_mut() {
                    pairs.push((key.clone(), value.clone()));
                }
            }
            _ => {}
        }
    }
    found.into_iter().rev().flatten().next()
}

/// The words of a line, without quotation marks and comments.
fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | '!' if !is_quoted => break,
            ' ' | '\t' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the agent of OCI configures its volumes.
    const AGENT: &str = r#"# managed by the agent
defaults {
    user_friendly_names yes
    find_multipaths yes
    polling_interval 30
}
devices {
    device {
        vendor "ORACLE"
        product "BlockVolume.*"
        path_grouping_policy multibus   # all paths at once
        path_selector "queue-length 0"
        features "2 queue_mode bio"
    }
}
"#;

    fn block_volume() -> Disk {
        let [vendor, product, wwid, alias] = ["ORACLE", "BlockVolume", "360a1", "mpatha"].map(str::to_owned);
        Disk { vendor, product, wwid, alias }
    }

    #[test]
    fn the_table_of_the_kernel_has_the_groups() {
        let table = "mpathb: 0 104857600 multipath 0 0 5 1 service-time 0 1 2 8:16 1 1 service-time 0 1 2 8:32 1 1 \
                     service-time 0 1 2 8:48 1 1 service-time 0 1 2 8:64 1 1 service-time 0 1 2 8:80 1 1\n\
                     mpatha: 0 3145728000 multipath 2 queue_mode bio 0 1 1 queue-length 0 5 1 8:16 1 8:32 1 8:48 1 8:64 1 8:80 1\n\
                     alua: 0 2097152 multipath 1 queue_if_no_path 1 alua 2 2 service-time 0 2 2 8:16 1 1 8:32 1 1 \
                     service-time 0 1 2 8:48 1 1\n";
        assert_eq!(groups_in_table(table, "mpatha"), Some(vec![5]));
        assert_eq!(groups_in_table(table, "mpathb"), Some(vec![1; 5]));
        assert_eq!(groups_in_table(table, "alua"), Some(vec![1, 2]), "the second group is in use");
        assert_eq!(groups_in_table(table, "mpath"), None);
        assert_eq!(groups_in_table("mpatha: 0 8 multipath 3 a", "mpatha"), None);
    }

    #[test]
    fn the_most_specific_section_decides() {
        let check = |added: &str, expected: Option<&str>| {
            let text = format!("{AGENT}{added}");
            assert_eq!(find_policy(&text, &block_volume()).as_deref(), expected, "{added}");
        };
        check("", Some("multibus"));
        check("overrides {\n path_grouping_policy group_by_prio\n}\n", Some("group_by_prio"));
        check("multipaths {\n multipath {\n wwid 360a1\n path_grouping_policy failover\n }\n}\n", Some("failover"));
        check("multipaths {\n multipath {\n wwid 360a2\n path_grouping_policy failover\n }\n}\n", Some("multibus"));
        let other = Disk { vendor: "NETAPP".into(), ..block_volume() };
        assert_eq!(find_policy(AGENT, &other), None);
        assert_eq!(
            find_policy("defaults {\n path_grouping_policy \"failover\"\n}\n", &other).as_deref(),
            Some("failover")
        );
    }

    #[test]
    fn policies_by_priority_depend_on_the_storage() {
        assert_eq!(groups_of_policy("multibus", 5), Some(vec![5]));
        assert_eq!(groups_of_policy("failover", 3), Some(vec![1, 1, 1]));
        assert_eq!(groups_of_policy("group_by_prio", 3), None);
    }
}
