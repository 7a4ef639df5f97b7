//! Resolves the target of a suite: a directory, file, device, export or product.

use std::path::{Path, PathBuf};

use plimsoll_device::nbd::wire::flag;
use plimsoll_device::nbd::{Connection, Emulation, ExportAddress, NoNbdAddress, TalkError};
use plimsoll_device::{Direct, SubjectKind, claim, classify, describe_disk, describe_host};
use plimsoll_drive::PageCache;
use plimsoll_measure::checks;
use plimsoll_record::{Source, Subject};
use plimsoll_suite::{Disk, DiskPlace, Export, Facts, Ground, Model, Nature};
use plimsoll_units::Bytes;

use crate::cli_error::CliError;
use crate::offers::{NamedModel, Offers};

/// Space left free on a filesystem.
const SPARE: Bytes = Bytes::mib(256);

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
            return self.export();
        }
        let path = Path::new(self.place);
        if path.exists() {
            return self.disk(path);
        }
        self.model(offers).map_err(|trouble| match trouble {
            // A text with a slash is more likely a missing path than a product.
            CliError::Usage(_) if self.place.contains('/') && path.parent().is_some_and(Path::is_dir) => {
                CliError::usage(format!("{}: no such directory, file or device", self.place))
            }
            // A plain name may be meant as a path or a product.
            CliError::Usage(why) if !self.place.contains([':', '(']) => {
                CliError::usage(format!("{}: no such directory, file or device, and {why}", self.place))
            }
            other => other,
        })
    }

    fn disk(&self, path: &Path) -> Result<Box<dyn Ground>, CliError> {
        let subject = classify(path).map_err(usage)?;
        let is_directory = subject.kind == SubjectKind::Directory;
        let named = self.destroy.iter().any(|named| named == path);
        if is_directory && named {
            return Err(CliError::usage(format!(
                "--destroy {}: in a directory plimsoll writes only to temporary files: omit --destroy",
                path.display()
            )));
        }
        let findings = checks::check_placement(&subject);
        let claim = (!is_directory && named).then(|| claim(path, self.destroy)).transpose().map_err(usage)?;
        let space = match subject.available {
            Some(available) => Bytes::new(available.get().saturating_sub(SPARE.get())),
            None => subject.size,
        };
        let grid = subject.direct.alignment().map_or(512, |alignment| u64::from(alignment.offset.max(1)));
        let described = Subject {
            name: path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string(),
            kind: subject.kind.name().into(),
            size: if is_directory { space } else { subject.size },
            device: Some(describe_disk(&subject)),
        };
        let nature = if is_directory { Nature::Directory } else { Nature::Blocks };
        let facts = Facts {
            host: Some(describe_host()),
            space,
            grid: if matches!(subject.direct, Direct::Refused) { 1 } else { grid },
            read_only: subject.read_only || (!is_directory && claim.is_none()),
            // Steps record their own engines.
            ..Facts::new(nature, Source::Measured { engine: "suite".into() }, described)
        };
        let place = match subject.kind {
            SubjectKind::Directory => DiskPlace::Directory(path.to_owned()),
            SubjectKind::File | SubjectKind::BlockDevice => DiskPlace::Whole(path.to_owned(), claim),
        };
        Ok(Box::new(Disk::new(place, facts, self.destroy.to_vec()).doubted(findings)))
    }

    fn export(&self) -> Result<Box<dyn Ground>, CliError> {
        let address: ExportAddress = self.place.parse().map_err(|error: NoNbdAddress| usage(error))?;
        let unreachable = |error: TalkError| {
            CliError::usage(format!(
                "{address}: {:#}: start the server, or correct the address",
                anyhow::Error::new(error)
            ))
        };
        let chosen = Connection::open(&address).map_err(unreachable)?.chosen().clone();
        let named = self.destroy.iter().any(|named| named == Path::new(self.place));
        let emulation: Option<Emulation> = chosen.description.as_deref().and_then(|text| text.parse().ok());
        let name = emulation.as_ref().and_then(|emulation| emulation.like.clone());
        let source = match &emulation {
            Some(emulation) => Source::Emulated { model: emulation.model.clone() },
            None => Source::Measured { engine: "NBD".into() },
        };
        let name = name.unwrap_or_else(|| address.to_string());
        let subject = Subject { name, kind: "NBD export".into(), size: Bytes::new(chosen.size), device: None };
        let facts = Facts {
            host: Some(describe_host()),
            grid: chosen.blocks.map_or(512, |[least, ..]| u64::from(least.max(1))),
            read_only: !named || chosen.flags & flag::READ_ONLY != 0,
            ..Facts::new(Nature::Export, source, subject)
        };
        Ok(Box::new(Export::new(address, facts)))
    }

    fn model(&self, offers: impl FnOnce() -> Result<Offers, CliError>) -> Result<Box<dyn Ground>, CliError> {
        let named = NamedModel::read(self.place, offers)?;
        let (size, kind) = (named.size(), named.kind());
        let NamedModel { name, model, .. } = named;
        let subject = Subject { name, kind: kind.into(), size, device: None };
        let source = Source::Simulated { model: model.to_string() };
        let facts = Facts { stages: model.names(), ..Facts::new(Nature::Model, source, subject) };
        let model = Model::new(&model, self.seed, facts);
        Ok(Box::new(match self.page_cache {
            Some(settings) => model.with_page_cache(settings),
            None => model,
        }))
    }
}

fn usage(error: impl std::fmt::Display) -> CliError {
    CliError::usage(error.to_string())
}
