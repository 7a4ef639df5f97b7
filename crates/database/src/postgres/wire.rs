//! A connection: framing of messages, and startup (PostgreSQL protocol 3.0).
//!
//! Blocking, with a single system call for a request and a single one for its reply: an event loop in a load generator
//! would only add latency. `postgres-protocol` encodes the messages and implements authentication.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::BytesMut;
use plimsoll_language::{label, say};
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::frontend;

use super::place::{PostgresHost, PostgresLocation};
use super::sqlstate::{ServerError, garbled, lost, unreachable};
use crate::failure::{Failure, FailureKind};

/// Timeout of connection and authentication.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Size of a read.
const CHUNK: usize = 32 << 10;
/// Maximum length of a message: values are limited to 1 GiB.
const MAX_MESSAGE_BYTES: usize = (1 << 30) + (1 << 20);

enum WireStream {
    Socket(UnixStream),
    Net(TcpStream),
}

pub(super) struct Wire {
    stream: WireStream,
    /// Pending output.
    pub(super) out: BytesMut,
    /// Received bytes; `start..end` is unread.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Backend PID, and the secret key for cancellation.
    pub(super) key: (i32, i32),
    /// Version as reported by the server.
    pub(super) version: String,
}

impl Wire {
    /// Connects and authenticates.
    pub(super) fn open(place: &PostgresLocation) -> Result<Self, Failure> {
        let stream = WireStream::open(place).map_err(|error| unreachable(&place.display(), &error))?;
        let mut wire = Self {
            stream,
            out: BytesMut::new(),
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            key: (0, 0),
            version: String::new(),
        };
        wire.begin(place)?;
        wire.stream.set_timeout(None).map_err(|error| lost(&error))?;
        Ok(wire)
    }

    /// Cancels the statement of a session through a new connection.
    pub(super) fn cancel(place: &PostgresLocation, key: (i32, i32)) -> io::Result<()> {
        let mut stream = WireStream::open(place)?;
        let mut out = BytesMut::new();
        frontend::cancel_request(key.0, key.1, &mut out);
        stream.write(&out)?;
        // The server closes the connection after it has sent the signal.
        stream.read(&mut [0; 1]).map(drop)
    }

    /// True for a connection within this host.
    pub(super) fn is_local(&self) -> bool {
        match &self.stream {
            WireStream::Socket(_) => true,
            WireStream::Net(stream) => stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()),
        }
    }

    fn begin(&mut self, place: &PostgresLocation) -> Result<(), Failure> {
        let mut parameters = vec![
            ("user", place.user.as_str()),
            ("database", place.database.as_str()),
            ("application_name", "plimsoll"),
            ("client_encoding", "UTF8"),
            // Text formats independent of the server's settings.
            ("DateStyle", "ISO, MDY"),
            ("extra_float_digits", "1"),
        ];
        parameters.extend(place.options.as_deref().map(|options| ("options", options)));
        let unfit = |_| Failure::new(FailureKind::Unsupported, label!("the address has a zero byte"));
        frontend::startup_message(parameters, &mut self.out).map_err(unfit)?;
        let broken = |error: io::Error| unreachable(&place.display(), &error);
        self.send().map_err(broken)?;
        loop {
            let (tag, body) = self.next().map_err(broken)?;
            match tag {
                b'E' => return Err(ServerError::read(body).refusal()),
                b'R' => {
                    let body = body.to_vec();
                    self.authenticate(place, &body)?;
                }
                b'K' => {
                    let number = |at: usize| body.get(at..at + 4)?.try_into().ok().map(i32::from_be_bytes);
                    let key = number(0).zip(number(4)).ok_or_else(|| broken(garbled(label!("a key is too short"))))?;
                    self.key = key;
                }
                b'S' => {
                    let mut texts = body.split(|byte| *byte == 0);
                    if texts.next() == Some(b"server_version") {
                        let text = String::from_utf8_lossy(texts.next().unwrap_or_default()).into_owned();
                        self.version = text;
                    }
                }
                b'Z' => return Ok(()),
                // Notices, and protocol negotiation.
                _ => {}
            }
        }
    }

    /// Answers an authentication request.
    fn authenticate(&mut self, place: &PostgresLocation, body: &[u8]) -> Result<(), Failure> {
        let broken = |error: io::Error| unreachable(&place.display(), &error);
        let (kind, rest) =
            body.split_first_chunk::<4>().ok_or_else(|| broken(garbled(label!("a question is too short"))))?;
        let kind = i32::from_be_bytes(*kind);
        if kind == 0 || kind == 12 {
            return Ok(());
        }
        let Some(password) = place.password.as_deref() else {
            let line = say!("PostgreSQL wants a password of {}: set PGPASSWORD, or put it into the URL", place.user);
            return Err(Failure::new(FailureKind::Refused, line));
        };
        match kind {
            3 => frontend::password_message(password.as_bytes(), &mut self.out).map_err(broken)?,
            5 => {
                let salt = rest.first_chunk().ok_or_else(|| broken(garbled(label!("a salt is too short"))))?;
                let hash = md5_hash(place.user.as_bytes(), password.as_bytes(), *salt);
                frontend::password_message(hash.as_bytes(), &mut self.out).map_err(broken)?;
            }
            10 if rest.split(|byte| *byte == 0).any(|name| name == sasl::SCRAM_SHA_256.as_bytes()) => {
                return self.scram(password);
            }
            _ => {
                let line = label!(
                    "PostgreSQL requires authentication other than by password: allow scram-sha-256 for this user in pg_hba.conf"
                );
                return Err(Failure::new(FailureKind::Refused, line));
            }
        }
        self.send().map_err(broken)
    }

    /// SCRAM-SHA-256 (RFC 7677), which does not reveal the password to the server.
    fn scram(&mut self, password: &str) -> Result<(), Failure> {
        let refused = |_| {
            let line =
                label!("PostgreSQL did not authenticate that it knows the password either: is it the right server?");
            Failure::new(FailureKind::Refused, line)
        };
        let mut scram = sasl::ScramSha256::new(password.as_bytes(), sasl::ChannelBinding::unsupported());
        frontend::sasl_initial_response(sasl::SCRAM_SHA_256, scram.message(), &mut self.out)
            .map_err(|error| lost(&error))?;
        self.send().map_err(|error| lost(&error))?;
        scram.update(&self.next_sasl_message(11)?).map_err(refused)?;
        frontend::sasl_response(scram.message(), &mut self.out).map_err(|error| lost(&error))?;
        self.send().map_err(|error| lost(&error))?;
        scram.finish(&self.next_sasl_message(12)?).map_err(refused)
    }

    fn next_sasl_message(&mut self, order: i32) -> Result<Vec<u8>, Failure> {
        let (tag, body) = self.next().map_err(|error| lost(&error))?;
        match (tag, body.split_first_chunk::<4>()) {
            (b'E', _) => Err(ServerError::read(body).refusal()),
            (b'R', Some((kind, rest))) if i32::from_be_bytes(*kind) == order => Ok(rest.to_vec()),
            _ => Err(lost(&garbled(label!("an authentication message is invalid")))),
        }
    }

    /// Sends the pending output.
    pub(super) fn send(&mut self) -> io::Result<()> {
        let sent = self.stream.write(&self.out);
        self.out.clear();
        sent
    }

    /// Next message: type and body.
    pub(super) fn next(&mut self) -> io::Result<(u8, &[u8])> {
        let length = loop {
            let here = &self.buffer[self.start..self.end];
            let order = match here.first_chunk::<5>() {
                Some([_, length @ ..]) => u32::from_be_bytes(*length) as usize + 1,
                None => 5,
            };
            if !(5..MAX_MESSAGE_BYTES).contains(&order) {
                return Err(garbled(label!("a message has no length")));
            }
            if here.len() >= order {
                break order;
            }
            self.fill(order)?;
        };
        let begin = self.start;
        self.start += length;
        Ok((self.buffer[begin], &self.buffer[begin + 5..begin + length]))
    }

    /// Reads available bytes, with room for `order` bytes from `start`.
    fn fill(&mut self, order: usize) -> io::Result<()> {
        if self.buffer.len() - self.start < order.max(CHUNK / 2) {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < order {
            self.buffer.resize(order.next_power_of_two(), 0);
        }
        match self.stream.read(&mut self.buffer[self.end..])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        frontend::terminate(&mut self.out);
        // The connection may be lost already.
        let _ = self.send();
    }
}

impl WireStream {
    fn open(place: &PostgresLocation) -> io::Result<Self> {
        let stream = match &place.host {
            PostgresHost::Socket(_) => Self::Socket(UnixStream::connect(place.socket().unwrap_or_default())?),
            PostgresHost::Net(host) => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                let mut open = None;
                for address in (host.as_str(), place.port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, TIMEOUT) {
                        Ok(stream) => {
                            open = Some(stream);
                            break;
                        }
                        Err(error) => last = error,
                    }
                }
                let stream = open.ok_or(last)?;
                stream.set_nodelay(true)?;
                Self::Net(stream)
            }
        };
        stream.set_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    /// Timeout of a single call.
    fn set_timeout(&self, set_timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Socket(stream) => stream.set_read_timeout(set_timeout),
            Self::Net(stream) => stream.set_read_timeout(set_timeout),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(stream) => stream.write_all(bytes),
            Self::Net(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Socket(stream) => stream.read(bytes),
                Self::Net(stream) => stream.read(bytes),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}
