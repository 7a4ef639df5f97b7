//! Communication with the service manager through its environment variables.

use plimsoll_front::notify::{News, notify};
use plimsoll_front::sockets::{Activation, Listening};

use crate::cli_error::CliError;

/// The sockets passed by the service manager, if any.
pub fn sockets() -> Result<Vec<Listening>, CliError> {
    let [pid, count, names] = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(|name| std::env::var(name).ok());
    Activation { pid, count, names }.take().map_err(|error| CliError::usage(error.to_string()))
}

/// Notifies the service manager, if requested.
pub fn tell(news: News<'_>) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) {
        // The service runs without notifications.
        let _ = notify(&socket, news);
    }
}
