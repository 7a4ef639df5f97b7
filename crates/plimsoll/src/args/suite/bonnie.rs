//! Flags of `plimsoll suite bonnie`.

use std::str::FromStr;

use clap::Args;
use plimsoll_suite::recipes::bonnie::{Bonnie, BonnieOptions, SmallFiles};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Bytes;

use super::{Place, PlaceArgs, Suite};

/// `plimsoll suite bonnie`
#[derive(Debug, Args)]
pub struct BonnieArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Size of the file; twice the memory by default, so that the page cache cannot hold it (-s)
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Bytes of a chunk: a power of two from 256 B to 1 MiB
    #[arg(long, value_name = "SIZE", default_value = "8KiB")]
    pub chunk: Bytes,
    /// Leave out the phases of one byte at a time (-f)
    #[arg(long)]
    pub fast: bool,
    /// Small files: thousands (of 1024), largest, least size and directories; 0 for none (-n)
    #[arg(long, value_name = "N[:MAX[:MIN[:DIRS]]]", default_value = "16")]
    pub files: FilesWord,
    /// An fsync after each write (-b)
    #[arg(long)]
    pub flushed: bool,
    /// Past the page cache (-D)
    #[arg(long)]
    pub direct: bool,
    /// How often all of it is done (-x)
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub rounds: u32,
    /// What the machine is called in the listings (-m)
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
}

/// Small files, as `-n` names them.
#[derive(Clone, Copy, Debug)]
pub struct FilesWord(pub SmallFiles);

impl FromStr for FilesWord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not NUMBER[:LARGEST[:LEAST[:DIRECTORIES]]]: write 16, or 16:4096:512:4");
        let parts: Vec<u64> = text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let files = match parts[..] {
            [units] => SmallFiles { units, ..SmallFiles::default() },
            [units, largest] => SmallFiles { units, largest, ..SmallFiles::default() },
            [units, largest, least] => SmallFiles { units, largest, least, ..SmallFiles::default() },
            [units, largest, least, directories] => SmallFiles { units, largest, least, directories },
            _ => return Err(wrong()),
        };
        Ok(Self(files))
    }
}

impl Suite for BonnieArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let usual = BonnieOptions::default();
        let chunk = u32::try_from(self.chunk.get()).map_err(|_| "a chunk is at most 1 MiB: write --chunk 8KiB")?;
        let options = BonnieOptions {
            machine: self.machine.clone().unwrap_or_else(host_name),
            size: self.size,
            memory: self.place.memory(facts),
            chunk,
            per_char: usual.per_char.filter(|_| !self.fast),
            small_files: self.files.0,
            flushed: self.flushed,
            direct: self.direct,
            rounds: self.rounds,
            ..usual
        };
        Ok(Box::new(Bonnie::new(options, facts)?))
    }
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { BonnieOptions::default().machine } else { name.trim().to_owned() }
}
