//! The volumes of a fleet: a CSV file that owners can edit.

use std::collections::HashMap;
use std::path::PathBuf;

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
}

/// A row of an inventory.
#[derive(Debug, Deserialize)]
struct InventoryRow {
    id: String,
    #[serde(default)]
    config: String,
    #[serde(default)]
    region: String,
    #[serde(default)]
    account: String,
    #[serde(default)]
    team: String,
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
                volumes.numbers.insert(volume.id.clone(), volume.volume);
                volumes.list.push(volume);
            }
        }
        Ok(volumes)
    }

    /// The number of a volume, a new one if the identifier is new.
    pub fn number(&mut self, id: &str) -> u32 {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.numbers.insert(id.to_owned(), number);
        self.list.push(FleetVolume { volume: number, id: id.to_owned(), ..FleetVolume::default() });
        number
    }

    /// Adds volumes, or replaces their properties, from a CSV file with the columns `id`, `config`, `region`, `account`,
    /// `team`; all but `id` are optional. Returns the number of rows.
    pub fn read_inventory(&mut self, path: &std::path::Path) -> Result<usize> {
        let mut reader = csv::Reader::from_path(path).with_context(|| format!("open {}", path.display()))?;
        let mut count = 0;
        for row in reader.deserialize() {
            let row: InventoryRow = row.with_context(|| format!("read {}: it needs the column id", path.display()))?;
            let volume = self.number(&row.id);
            let InventoryRow { id, config, region, account, team } = row;
            self.list[volume as usize] = FleetVolume { volume, id, config, region, account, team };
            count += 1;
        }
        Ok(count)
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
