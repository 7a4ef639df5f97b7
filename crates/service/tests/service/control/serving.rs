//! Test fixture: a service with its control API, and raw requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_front::sockets::{ListenAddress, SocketAccess};
use plimsoll_service::ServiceOptions;
use plimsoll_service::client::{Client, ControlAddress};
use plimsoll_service::http::{Control, Entrance, Token};

use crate::home::{Home, create_directory, options};

/// Timeout that suffices on a busy host.
pub const DEADLINE: Duration = Duration::from_secs(60);
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A service with a private directory and its control API, which ends first.
pub struct Serving {
    control: Option<Control>,
    pub socket: PathBuf,
    /// `host:port` of the TCP listener of the control API.
    pub port: String,
    home: Home,
}

/// A raw response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Serving {
    pub fn start() -> Self {
        let directory = create_directory();
        let home = Home::open(ServiceOptions { capacity: Some(1 << 40), ..options(&directory) });
        let unix = ListenAddress::Unix(directory.join("control.sock")).listen(SocketAccess::Owner).unwrap();
        let tcp = "tcp:127.0.0.1:0".parse::<ListenAddress>().unwrap().listen(SocketAccess::Owner).unwrap();
        let port = tcp.place.to_string().trim_start_matches("tcp:").to_owned();
        let entrances =
            vec![Entrance { listening: unix, token: None }, Entrance { listening: tcp, token: Token::new(TOKEN) }];
        let control = Some(Control::open(&home.service, entrances).unwrap());
        Self { control, socket: directory.join("control.sock"), port, home }
    }

    /// A client on the Unix socket.
    pub fn client(&self) -> Client {
        Client::new(ControlAddress::Unix(self.socket.clone()), None).unwrap()
    }

    /// A client over TCP with an optional token.
    pub fn client_over_tcp(&self, token: Option<&str>) -> Client {
        Client::new(ControlAddress::Tcp(self.port.clone()), token.and_then(Token::new)).unwrap()
    }

    /// Sends bytes over the Unix socket, and reads until the service closes the connection.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        let stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        exchange(stream, bytes)
    }

    /// Like `send`, over TCP.
    pub fn send_over_tcp(&self, bytes: &[u8]) -> Answer {
        let stream = TcpStream::connect(&self.port).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        exchange(stream, bytes)
    }

    /// Sends a request with a body on a new connection.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        self.send((head + body).as_bytes())
    }

    /// Stops only the control API.
    pub fn close_control(&mut self) {
        drop(self.control.take());
    }

    pub fn directory(&self) -> &Path {
        &self.home.directory
    }
}

fn exchange(mut stream: impl Read + Write, bytes: &[u8]) -> Answer {
    // The service closes the connection before it has read everything if it refuses early.
    let _ = stream.write_all(bytes);
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    // An early close may also reset reads; the bytes before it are the response.
    while let Ok(1..) = stream.read(&mut piece).inspect(|read| text.extend_from_slice(&piece[..*read])) {}
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}
