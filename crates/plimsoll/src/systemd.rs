//! The service manager that started this process, as far as the environment tells of one.

use plimsoll_front::notify::{News, notify};
use plimsoll_front::sockets::{Handover, Listening};

use crate::trouble::Trouble;

/// What it tells in the environment, and what no other program that is started here may believe.
pub const TOLD: [&str; 4] = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET"];

/// The sockets that it made for this process; none where there is no such thing.
pub fn sockets() -> Result<Vec<Listening>, Trouble> {
    let [pid, count, names, _] = TOLD.map(|name| std::env::var(name).ok());
    Handover { pid, count, names }.take().map_err(|error| Trouble::usage(error.to_string()))
}

/// Tells it something, where it wants to know.
pub fn tell(news: News<'_>) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) {
        // That it cannot be told is no reason to stop.
        let _ = notify(&socket, news);
    }
}
