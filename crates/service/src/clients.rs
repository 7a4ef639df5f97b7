//! The log of clients that come, go and are refused.

use plimsoll_front::{ClientEvent, ClientNotice, ClientNotices};
use plimsoll_volume::Export;

use crate::service::ServiceState;
use crate::volume::Volume;

/// Logs what happened to clients since the last call.
pub(crate) fn log_clients(state: &ServiceState, ClientNotices { notices, dropped }: ClientNotices) {
    for ClientNotice { protocol, address, encrypted, event } in notices {
        let address = address.map_or_else(|| "local".to_owned(), |address| address.to_string());
        match event {
            ClientEvent::Connected(export) => {
                tracing::info!(volume = name_of(state, export), protocol, address, encrypted, "client connected");
            }
            ClientEvent::Disconnected(export, reason) => {
                tracing::info!(volume = name_of(state, export), protocol, address, %reason, "client disconnected");
            }
            ClientEvent::Refused(reason) => tracing::warn!(protocol, address, reason, "client refused"),
        }
    }
    if dropped > 0 {
        tracing::warn!(events = dropped, "further events of clients within a second are not logged");
    }
}

/// The volume with this export; `None` if it was deleted.
fn name_of(state: &ServiceState, export: Export) -> Option<&str> {
    state.volumes.values().find(|volume| volume.export == export).map(Volume::name)
}
