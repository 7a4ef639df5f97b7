//! A folder that results are written into: a new one, so that nothing that is there is lost.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::trouble::Trouble;

/// A folder that was made for results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes it; one that is empty will do.
    pub fn new(path: &Path) -> Result<Self, Trouble> {
        std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let mut entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        if entries.next().is_some() {
            return Err(Trouble::usage(format!("{}: it is not empty: name a new folder", path.display())));
        }
        Ok(Self { path: path.to_path_buf() })
    }

    /// Writes a file of this name.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        let path = self.path.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(())
    }
}
