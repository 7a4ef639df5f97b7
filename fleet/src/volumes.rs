//! The volumes of a fleet: a CSV file that owners can edit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::folder::{Folder, write_atomically};

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetVolume {
    /// Its number, which points refer to. Never changes.
    pub volume: u32,
    /// The provider's identifier, such as `vol-0a1`.
    pub id: String,
    /// Its configuration as `quote` reads it, such as `aws/gp3:100GiB,iops=5000`; empty if unknown.
    #[serde(default)]
    pub config: String,
    /// Region of its price; empty for the region of the command line.
    #[serde(default)]
    pub region: String,
    /// Account of its owner; may be empty.
    #[serde(default)]
    pub account: String,
    /// Team of its owner; may be empty.
    #[serde(default)]
    pub team: String,
    /// Its name in the metrics, such as that of its claim, if that is not the identifier; may be empty.
    #[serde(default)]
    pub name: String,
}

/// All volumes of a fleet, by number.
#[derive(Debug, Default)]
pub struct FleetVolumes {
    path: PathBuf,
    /// The volumes; volume `n` is at index `n`.
    pub list: Vec<FleetVolume>,
    numbers: HashMap<String, u32>,
}

impl FleetVolumes {
    /// Reads the volumes of a folder; none in a new one.
    pub fn open(folder: &Folder) -> Result<Self> {
        let path = folder.root.join("volumes.csv");
        let mut volumes = Self { path: path.clone(), ..Self::default() };
        if path.exists() {
            let mut reader = csv::Reader::from_path(&path)?;
            for row in reader.deserialize() {
                let volume: FleetVolume = row.with_context(|| format!("read {}", path.display()))?;
                let expected = volumes.list.len();
                ensure!(
                    volume.volume as usize == expected,
                    "{}: volume {} is in the place of {expected}: restore the order of the numbers",
                    path.display(),
                    volume.volume
                );
                let other = volumes.numbers.insert(volume.id.clone(), volume.volume);
                ensure!(other.is_none(), "{}: {} is listed twice: restore the file", path.display(), volume.id);
                volumes.list.push(volume);
            }
        }
        Ok(volumes)
    }

    /// The number of a volume, a new one if the identifier is new. A name that it has stays.
    pub fn number(&mut self, id: &str, name: &str) -> u32 {
        let number = self.numbers.get(id).copied().unwrap_or_else(|| {
            let number = self.list.len() as u32;
            self.numbers.insert(id.to_owned(), number);
            self.list.push(FleetVolume { volume: number, id: id.to_owned(), ..FleetVolume::default() });
            number
        });
        let volume = &mut self.list[number as usize];
        if volume.name.is_empty() {
            name.clone_into(&mut volume.name);
        }
        number
    }

    /// Adds volumes, or replaces their properties, from a CSV file with the columns `id`, `config`, `region`, `account`,
    /// `team`; all but `id` are optional, and properties without a column stay. Returns the number of volumes.
    pub fn read_inventory(&mut self, path: &Path) -> Result<usize> {
        let name = path.display();
        let mut reader = csv::Reader::from_path(path).with_context(|| format!("open {name}"))?;
        let header = reader.headers().with_context(|| format!("read {name}"))?.clone();
        let position =
            |column: &str| header.iter().position(|name| name.trim().trim_start_matches('\u{feff}') == column);
        let id = position("id").with_context(|| format!("{name} has no column id: add it"))?;
        let columns = ["config", "region", "account", "team"].map(position);
        ensure!(
            columns.iter().any(Option::is_some),
            "{name} has none of the columns config, region, account and team: add config"
        );
        let mut lines: HashMap<u32, u64> = HashMap::new();
        for row in reader.records() {
            let row = row.with_context(|| format!("read {name}"))?;
            let line = row.position().map_or(0, csv::Position::line);
            let field = |position: usize| row.get(position).unwrap_or_default().trim();
            ensure!(!field(id).is_empty(), "{name}, line {line}: the id is empty: fill it in");
            let number = self.number(field(id), "");
            let volume = &mut self.list[number as usize];
            let before = volume.clone();
            let fields = [&mut volume.config, &mut volume.region, &mut volume.account, &mut volume.team];
            for (property, column) in fields.into_iter().zip(columns) {
                if let Some(column) = column {
                    field(column).clone_into(property);
                }
            }
            if let Some(other) = lines.insert(number, line) {
                let is_same = *volume == before;
                ensure!(
                    is_same,
                    "{name}: lines {other} and {line} contradict each other about {}: remove one",
                    volume.id
                );
            }
        }
        Ok(lines.len())
    }

    /// Writes the file.
    pub fn save(&self) -> Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for volume in &self.list {
            writer.serialize(volume)?;
        }
        write_atomically(&self.path, &writer.into_inner()?)
    }
}
