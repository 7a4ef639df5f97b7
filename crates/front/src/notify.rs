//! State notifications to a service manager by the protocol of `sd_notify(3)`: one datagram.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Environment variables of a service manager, which child processes must not inherit.
pub const MANAGER_VARIABLES: [&str; 5] =
    ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News<'a> {
    /// Clients are served; with a sentence for `systemctl status`.
    Ready(&'a str),
    /// The server is about to end.
    Stopping,
}

/// Notifies the service manager, if the environment names its socket. A server continues without it.
pub fn notify_systemd(news: News<'_>) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()) {
        let _ = notify(&socket, news);
    }
}

/// Notifies the service manager at `socket`, the value of `NOTIFY_SOCKET`.
///
/// # Errors
/// The notification could not be sent. A server continues without it.
pub fn notify(socket: &OsStr, news: News<'_>) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let message = match news {
        News::Ready(status) => format!("READY=1\nSTATUS={}\n", status.replace('\n', " ")),
        News::Stopping => "STOPPING=1\n".into(),
    };
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(drop)
}
