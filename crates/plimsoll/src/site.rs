//! Resolves the target of a suite: a directory, file, device, export or product.

use std::path::{Path, PathBuf};

use plimsoll_device::nbd::ExportAddress;
use plimsoll_drive::PageCache;
use plimsoll_language::say;
use plimsoll_measure::{NamedModel, Offers, open_disk, open_export, read_model};
use plimsoll_record::{Source, Subject};
use plimsoll_suite::{Facts, Ground, Model, Nature};

use crate::cli_error::CliError;
use crate::volumes::home::find_volume;

/// The named target and permissions.
#[derive(Debug)]
pub struct Site<'a> {
    /// A path, the URI of an export, a configuration of the catalogue, or stages.
    pub place: &'a str,
    /// Paths and URIs that may be overwritten.
    pub destroy: &'a [PathBuf],
    /// Seed of a model's random streams.
    pub seed: u64,
    /// Simulated page cache in front of a model.
    pub page_cache: Option<PageCache>,
}

impl Site<'_> {
    /// Prepares the target. Nothing is written.
    pub fn ground(&self, offers: impl FnOnce() -> Result<Offers, CliError>) -> Result<Box<dyn Ground>, CliError> {
        if ExportAddress::is_meant(self.place) {
            return Ok(open_export(self.place, self.destroy)?);
        }
        let path = Path::new(self.place);
        if path.exists() {
            return Ok(open_disk(path, self.destroy, &find_volume)?);
        }
        self.model(offers).map_err(|error| match error {
            // A text with a slash is more likely a missing path than a product.
            CliError::Usage(_) if self.place.contains('/') && path.parent().is_some_and(Path::is_dir) => {
                CliError::usage(say!("{}: no such directory, file or device", self.place))
            }
            // A plain name may be meant as a path or a product.
            CliError::Usage(why) if !self.place.contains([':', '(']) => {
                CliError::usage(say!("{}: no such directory, file or device, and {why}", self.place))
            }
            other => other,
        })
    }

    fn model(&self, offers: impl FnOnce() -> Result<Offers, CliError>) -> Result<Box<dyn Ground>, CliError> {
        let named = read_model(self.place, offers)?;
        let (size, kind) = (named.size(), named.kind());
        let (credits, doubts) = (named.credits(), named.doubts());
        let NamedModel { name, model, .. } = named;
        let subject = Subject { name, kind: kind.into(), size, device: None };
        let source = Source::Simulated { model: model.to_string(), credits };
        let facts = Facts { stages: model.names(), ..Facts::new(Nature::Model, source, subject) };
        let model = Model::new(&model, self.seed, facts).doubted(doubts);
        Ok(Box::new(match self.page_cache {
            Some(settings) => model.with_page_cache(settings),
            None => model,
        }))
    }
}
