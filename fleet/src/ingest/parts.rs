//! Parts of the input files in order: blocks of rows, or whole reports.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Error, Result};

use super::blocks::{RowBlock, RowBlocks};
use super::declared::{ColumnPositions, DeclaredColumns};

/// A part of a file.
pub struct InputPart {
    /// Number of the file.
    pub file: usize,
    /// Its content.
    pub content: PartContent,
}

/// The content of a part.
pub enum PartContent {
    /// Rows of a CSV file.
    Rows(Arc<ColumnPositions>, RowBlock),
    /// The whole file.
    Report,
    /// The rest of the file cannot be read.
    Fault(String),
}

impl InputPart {
    fn fault(file: usize, error: &Error) -> Self {
        Self { file, content: PartContent::Fault(format!("{error:#}")) }
    }
}

/// A CSV file.
struct RowFile {
    file: usize,
    blocks: RowBlocks<File>,
    columns: Option<Arc<ColumnPositions>>,
}

/// The parts of all files. Each file has at least one.
pub struct InputParts<'a> {
    files: std::iter::Enumerate<std::slice::Iter<'a, PathBuf>>,
    columns: Option<&'a DeclaredColumns>,
    current: Option<RowFile>,
}

impl<'a> InputParts<'a> {
    /// The parts of CSV files with declared columns, or of reports.
    pub fn new(files: &'a [PathBuf], columns: Option<&'a DeclaredColumns>) -> Self {
        Self { files: files.iter().enumerate(), columns, current: None }
    }
}

impl RowFile {
    fn open(file: usize, path: &Path) -> Result<Self> {
        let opened = File::open(path).context("open it")?;
        Ok(Self { file, blocks: RowBlocks::new(opened), columns: None })
    }

    /// The next block; `None` at the end of the file.
    fn read_part(&mut self, columns: &DeclaredColumns) -> Result<Option<PartContent>> {
        let Some(block) = self.blocks.read_block()? else {
            self.columns.as_ref().context("it is empty: copy it again")?;
            return Ok(None);
        };
        let positions = match self.columns.take() {
            Some(positions) => positions,
            None => Arc::new(ColumnPositions::of(columns, &block)?),
        };
        self.columns = Some(Arc::clone(&positions));
        Ok(Some(PartContent::Rows(positions, block)))
    }
}

impl Iterator for InputParts<'_> {
    type Item = InputPart;

    fn next(&mut self) -> Option<InputPart> {
        loop {
            let Some(columns) = self.columns else {
                let (file, _) = self.files.next()?;
                return Some(InputPart { file, content: PartContent::Report });
            };
            let mut current = if let Some(current) = self.current.take() {
                current
            } else {
                let (file, path) = self.files.next()?;
                match RowFile::open(file, path) {
                    Ok(opened) => opened,
                    Err(error) => return Some(InputPart::fault(file, &error)),
                }
            };
            let file = current.file;
            match current.read_part(columns) {
                Ok(Some(content)) => {
                    self.current = Some(current);
                    return Some(InputPart { file, content });
                }
                Ok(None) => {}
                Err(error) => return Some(InputPart::fault(file, &error)),
            }
        }
    }
}
