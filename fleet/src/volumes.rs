//! The volumes of a fleet: a CSV file that owners can edit.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::folder::{AtomicFile, Folder};
use crate::points::{HASH_START, hash_bytes, hash_word};

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
    /// Numbers by the hash of the identifier, or a later one where it is taken.
    numbers: HashMap<u64, u32>,
}

/// The rows of `volumes.csv`, one in memory. At the end it fails if an identifier was listed twice.
#[derive(Default)]
pub struct VolumeRows {
    path: PathBuf,
    rows: Option<csv::DeserializeRecordsIntoIter<File, FleetVolume>>,
    /// Of the identifiers so far.
    hashes: Vec<u64>,
}

impl VolumeRows {
    /// The volumes of a folder; none in a new one.
    pub fn open(folder: &Folder) -> Result<Self> {
        let path = folder.root.join("volumes.csv");
        let open = || csv::Reader::from_path(&path).with_context(|| format!("open {}", path.display()));
        let rows = path.exists().then(open).transpose()?.map(csv::Reader::into_deserialize);
        Ok(Self { path, rows, hashes: Vec::new() })
    }

    fn read(&mut self) -> Result<Option<FleetVolume>> {
        let name = self.path.display();
        let row = self.rows.as_mut().and_then(Iterator::next).transpose();
        let Some(volume) = row.with_context(|| format!("read {name}"))? else {
            self.rows = None;
            return self.check_identifiers().map(|()| None);
        };
        let expected = self.hashes.len();
        ensure!(
            volume.volume as usize == expected,
            "{name}: volume {} is in the place of {expected}: restore the order of the numbers",
            volume.volume
        );
        self.hashes.push(hash_bytes(HASH_START, volume.id.as_bytes()));
        Ok(Some(volume))
    }

    /// Compares identifiers of the same hash.
    fn check_identifiers(&mut self) -> Result<()> {
        self.hashes.sort_unstable();
        let pairs = self.hashes.windows(2).filter(|pair| pair[0] == pair[1]);
        let repeated: HashSet<u64> = pairs.map(|pair| pair[0]).collect();
        self.hashes.clear();
        if repeated.is_empty() {
            return Ok(());
        }
        let mut found = HashSet::new();
        for row in csv::Reader::from_path(&self.path)?.into_deserialize() {
            let FleetVolume { id, .. } = row?;
            if repeated.contains(&hash_bytes(HASH_START, id.as_bytes())) {
                ensure!(!found.contains(&id), "{}: {id} is listed twice: restore the file", self.path.display());
                found.insert(id);
            }
        }
        Ok(())
    }
}

impl Iterator for VolumeRows {
    type Item = Result<FleetVolume>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.as_ref()?;
        self.read().transpose()
    }
}

impl FleetVolumes {
    /// Reads the volumes of a folder; none in a new one.
    pub fn open(folder: &Folder) -> Result<Self> {
        let mut volumes = Self { path: folder.root.join("volumes.csv"), ..Self::default() };
        for volume in VolumeRows::open(folder)? {
            let volume = volume?;
            // The rows fail at their end if an identifier is not new.
            if let Err(free) = volumes.find(&volume.id) {
                volumes.numbers.insert(free, volume.volume);
            }
            volumes.list.push(volume);
        }
        Ok(volumes)
    }

    /// The number of a volume, a new one if the identifier is new. A name that it has stays.
    pub fn number(&mut self, id: &str, name: &str) -> u32 {
        let number = self.find(id).unwrap_or_else(|free| {
            let number = self.list.len() as u32;
            self.numbers.insert(free, number);
            self.list.push(FleetVolume { volume: number, id: id.to_owned(), ..FleetVolume::default() });
            number
        });
        let volume = &mut self.list[number as usize];
        if volume.name.is_empty() {
            name.clone_into(&mut volume.name);
        }
        number
    }

    /// The number of a volume, or the free hash for a new one.
    fn find(&self, id: &str) -> Result<u32, u64> {
        let mut hash = hash_bytes(HASH_START, id.as_bytes());
        while let Some(number) = self.numbers.get(&hash) {
            if self.list[*number as usize].id == id {
                return Ok(*number);
            }
            hash = hash_word(hash, 1);
        }
        Err(hash)
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
        let mut writer = csv::Writer::from_writer(AtomicFile::create(&self.path)?);
        for volume in &self.list {
            writer.serialize(volume)?;
        }
        finish_table(writer)
    }
}

/// Puts a file of CSV into place.
pub fn finish_table(table: csv::Writer<AtomicFile>) -> Result<()> {
    table.into_inner().map_err(csv::IntoInnerError::into_error)?.finish()
}
