//! The storage below a server created for a run on an emulated volume.

use std::io::Write;
use std::path::Path;

use plimsoll_device::{disk_counters, host_time};
use plimsoll_language::say;
use plimsoll_measure::{STAGES_SPACE, read_model};
use plimsoll_record::Finding;
use plimsoll_service::staged::{ServiceCommand, StageMonitor, StageRequest, StagedVolume};
use plimsoll_suite::{StorageSample, UnderlyingStorage};
use plimsoll_units::Span;

use crate::args::MakeArgs;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::offers::read_offers;
use crate::volumes::show_progress;

/// An emulated volume; detached and deleted on drop, with messages about failures.
pub struct EmulatedStorage(StagedVolume);

impl EmulatedStorage {
    /// Creates and mounts the requested volume, with progress on the console.
    ///
    /// # Errors
    /// Unknown product, host too slow, not root, or a missing program. Everything is cleaned up.
    pub fn make(server: &MakeArgs, like: &str, console: &mut Console) -> Result<Self, CliError> {
        let size_bytes = size_of(like, server)?;
        let program = crate::own_program()?;
        let service =
            ServiceCommand { program: &program, products: server.terms.products.as_deref(), slow: server.slow };
        let request = StageRequest { path: &server.path, like, size_bytes, changes: server.changes.clone(), service };
        let interrupted = console.interrupted_flag();
        let mut monitor = StageMonitor {
            is_interrupted: &|| interrupted.load(std::sync::atomic::Ordering::Relaxed),
            tell: &mut |text| console.print_notice(text),
            progress: &show_progress,
        };
        Ok(Self(StagedVolume::create(request, &mut monitor)?))
    }

    /// Mount point of the filesystem.
    pub fn point(&self) -> &Path {
        self.0.point()
    }

    /// Stages of the measured model.
    pub fn model(&self) -> &str {
        self.0.model()
    }
}

impl Drop for EmulatedStorage {
    fn drop(&mut self) {
        for (at, level) in self.0.remaining_changes() {
            let late = say!("plimsoll: --change {at}={level}: the sessions ended before");
            let _ = writeln!(std::io::stderr(), "{late}");
        }
        if let Err(error) = self.0.remove().map_err(CliError::from) {
            // Drop cannot return an error.
            let _ = writeln!(std::io::stderr(), "{}", say!("plimsoll: cannot remove the emulated volume: {error}"));
        }
    }
}

impl UnderlyingStorage for EmulatedStorage {
    fn look(&mut self) -> StorageSample {
        StorageSample {
            disk: self.0.device().and_then(disk_counters),
            host: host_time(),
            bound_by: self.0.bound_by().into_iter().map(|bound| (bound.limit, bound.count)).collect(),
        }
    }

    fn is_fast(&self) -> bool {
        self.0.is_fast()
    }

    fn begin_measuring(&mut self) -> Result<(), String> {
        self.0.begin_measuring()
    }

    fn change(&mut self, elapsed: Span) -> Option<String> {
        self.0.change(elapsed)
    }

    fn findings(&self) -> Vec<Finding> {
        self.0.findings()
    }
}

/// Size in bytes of a volume of stages, which have no capacity; `None` for a product. Fails for an unknown model before
/// anything is created.
fn size_of(like: &str, server: &MakeArgs) -> Result<Option<u64>, CliError> {
    let mut offers = read_offers(&server.terms)?;
    let named = read_model(like, || Ok::<_, CliError>(&mut offers));
    let named = named.map_err(|error| CliError::usage(format!("--like {like}: {error}")))?;
    Ok(named.offer.is_none().then_some(STAGES_SPACE.get()))
}
