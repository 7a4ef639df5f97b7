//! Test fixture: a service with its control API, and raw requests.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_catalogue::Catalogue;
use plimsoll_front::Checksums;
use plimsoll_front::sockets::{ListenAddress, SocketAccess};
use plimsoll_service::api::Floor;
use plimsoll_service::client::{Client, ControlAddress};
use plimsoll_service::http::{Control, Entrance, Token};
use plimsoll_service::{Service, ServiceOptions};
use plimsoll_volume::Slow;

/// Timeout that suffices on a busy host.
pub const DEADLINE: Duration = Duration::from_secs(60);
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A service with a private directory, on a separate thread.
pub struct Serving {
    pub socket: PathBuf,
    /// `host:port` of the TCP listener of the control API.
    pub port: String,
    service: Service,
    directory: PathBuf,
    control: Option<Control>,
    thread: Option<JoinHandle<()>>,
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
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("plimsoll-control-{}-{number}", std::process::id()));
        let options = ServiceOptions {
            directory: directory.clone(),
            capacity: Some(1 << 40),
            slow: Slow::NOT,
            listens: vec!["nbd+unix:///?socket=nbd.sock".into()],
            products: Catalogue::built_in(),
            iscsi: None,
            realtime: false,
            floor: Floor::default(),
            checksums: Checksums::AsMade,
            log: |_| (),
            made_by: "plimsoll test".into(),
        };
        let (told, opened) = channel();
        let home = directory.clone();
        // The server is not `Send`.
        let thread = std::thread::spawn(move || {
            let (service, mut server) = Service::open(options).unwrap();
            // Without a listener the server would end at once.
            let nbd = ListenAddress::Unix(home.join("nbd.sock")).listen(SocketAccess::Owner).unwrap();
            server.listen(nbd.socket).unwrap();
            told.send(service).unwrap();
            server.run().unwrap();
        });
        let service = opened.recv().unwrap();
        let unix = ListenAddress::Unix(directory.join("control.sock")).listen(SocketAccess::Owner).unwrap();
        let tcp = "tcp:127.0.0.1:0".parse::<ListenAddress>().unwrap().listen(SocketAccess::Owner).unwrap();
        let port = tcp.place.to_string().trim_start_matches("tcp:").to_owned();
        let entrances =
            vec![Entrance { listening: unix, token: None }, Entrance { listening: tcp, token: Token::new(TOKEN) }];
        let control = Some(Control::open(&service, entrances).unwrap());
        Self { socket: directory.join("control.sock"), port, service, directory, control, thread: Some(thread) }
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
        &self.directory
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.close_control();
        self.service.close();
        let ended = self.thread.take().unwrap().join();
        let _ = std::fs::remove_dir_all(&self.directory);
        assert!(ended.is_ok() || std::thread::panicking(), "the server broke off");
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
