//! The log of clients that come, go and are refused.

use plimsoll_front::{ClientEvent, ClientNotice, ClientNotices};
use plimsoll_volume::Export;

/// Logs events of clients since the last call. `name_of` is the name of an export's volume; `None` if that was
/// deleted.
pub(crate) fn log_clients<'a>(
    ClientNotices { notices, dropped }: ClientNotices,
    name_of: impl Fn(Export) -> Option<&'a str>,
) {
    for ClientNotice { protocol, address, encrypted, event } in notices {
        let address = address.map_or_else(|| "local".to_owned(), |address| address.to_string());
        match event {
            ClientEvent::Connected(export) => {
                tracing::info!(volume = name_of(export), protocol, address, encrypted, "client connected");
            }
            ClientEvent::Disconnected(export, reason) => {
                tracing::info!(volume = name_of(export), protocol, address, %reason, "client disconnected");
            }
            ClientEvent::Refused(reason) => tracing::warn!(protocol, address, reason, "client refused"),
        }
    }
    if dropped > 0 {
        tracing::warn!(events = dropped, "further events of clients within a second are not logged");
    }
}
