//! Recording of a volume's requests as a trace on the service's host. A recording ends with the service.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use plimsoll_front::RecordedTrace;
use plimsoll_language::say;

use crate::api;
use crate::refusal::{Refusal, RefusalKind};
use crate::service::Service;
use crate::volume::Volume;

impl Service {
    /// Records the requests of all clients from now on. The file must not exist.
    pub fn record(&self, name: &str, recording: &api::Recording) -> Result<api::Volume, Refusal> {
        let mut state = self.state();
        let volume = state.volume_mut(name)?;
        if let Some(file) = &volume.recording {
            return Err(Refusal::conflict(say!(
                "{name} is recorded to {file} already: end that first (plimsoll volume record {name} --stop)"
            )));
        }
        let path = Path::new(&recording.file);
        if !path.is_absolute() {
            return Err(Refusal::bad(say!("{} is not an absolute path: begin it with /", path.display())));
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
            Refusal::bad(say!("{}: {error}: name a new file where the service can write", path.display()))
        })?;
        let (export, slow) = (volume.export, self.inner.options.slow);
        let begun = self.inner.handle.call(move |server| server.record(export, slow, file))?;
        begun.map_err(|error| Refusal::new(RefusalKind::Failed, error.to_string()))?;
        tracing::info!(volume = name, file = recording.file, "recording started");
        volume.recording = Some(recording.file.clone());
        self.show(volume)
    }

    /// Ends the recording of a volume, and waits until the trace is written.
    pub fn stop_recording(&self, name: &str) -> Result<api::Recorded, Refusal> {
        let mut state = self.state();
        let recorded = self.end_recording(state.volume_mut(name)?)?;
        recorded.ok_or_else(|| Refusal::conflict(say!("{name} is not recorded: there is nothing to end")))
    }

    /// Ends the recording of a volume, if there is a recording.
    pub(crate) fn end_recording(&self, volume: &mut Volume) -> Result<Option<api::Recorded>, Refusal> {
        let Some(file) = volume.recording.take() else { return Ok(None) };
        let ended = self.inner.handle.stop_recording(volume.export)?;
        match ended {
            None => Ok(None),
            Some(Ok(RecordedTrace { operations, dropped })) => {
                tracing::info!(volume = volume.name(), file, operations, dropped, "recording ended");
                Ok(Some(api::Recorded { file, operations, dropped }))
            }
            Some(Err(error)) => Err(Refusal::new(
                RefusalKind::Failed,
                say!("{file} ends before the recording did ({error}): record again where there is room"),
            )),
        }
    }
}
