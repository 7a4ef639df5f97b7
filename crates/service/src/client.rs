//! Client of the control API, in the types of [`api`](crate::api).

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode, body::Incoming};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use plimsoll_language::{Language, say};

use crate::api::{ErrorBody, Period, Stats, TooFast};
use crate::http::Token;

/// Name of the control socket in a data directory.
pub const CONTROL_SOCKET: &str = "control.sock";
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout and retry interval while the listen queue is full.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_RETRY: Duration = Duration::from_millis(50);
/// Timeout of a response to metrics, as in exporters of OpenTelemetry.
const METRICS_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of requests for statistics.
const STATS_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum length of a response.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Address of a service's control API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlAddress {
    /// Path of its Unix socket.
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
}

/// Text that is not an address of a service.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the address of a service: write the path of its control socket, or http://HOST:PORT")]
pub struct NoControlAddress(String);

impl FromStr for ControlAddress {
    type Err = NoControlAddress;

    fn from_str(text: &str) -> Result<Self, NoControlAddress> {
        if let Some(rest) = text.strip_prefix("http://") {
            let authority = rest.trim_end_matches('/');
            let port = authority.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
            let is_port = port.is_some_and(|port| port.parse::<u16>().is_ok());
            let is_plain = authority.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
            return if is_port && is_plain {
                Ok(Self::Tcp(authority.to_owned()))
            } else {
                Err(NoControlAddress(text.to_owned()))
            };
        }
        let path = text.strip_prefix("unix:").unwrap_or(text);
        if path.is_empty() || path.contains("://") {
            return Err(NoControlAddress(text.to_owned()));
        }
        Ok(Self::Unix(path.into()))
    }
}

impl fmt::Display for ControlAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp(authority) => write!(f, "http://{authority}"),
        }
    }
}

/// Failure of a request.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection failed.
    #[error(
        "no service answers at {address} ({source}): start one with `plimsoll serve`, or name another with --service"
    )]
    NoService {
        address: ControlAddress,
        /// Error of the connection.
        source: io::Error,
    },
    /// The listen queue is full.
    #[error(
        "the service at {0} is busy: as many clients as it takes are connected to its control; try again, or end those \
         that keep connections open (ss -xp shows them)"
    )]
    Busy(ControlAddress),
    /// The token is missing or wrong.
    #[error("the service at {0} refused the token: give its token file with --token-file")]
    Stranger(ControlAddress),
    /// The service refused the request.
    #[error("{message}")]
    Refused {
        status: u16,
        /// Cause and remedy, in one line.
        message: String,
        too_fast: Option<TooFast>,
    },
    /// The peer is not a plimsoll service, or the connection broke.
    #[error("{address} is not a plimsoll service: {why}")]
    Broken {
        address: ControlAddress,
        /// Received response or error.
        why: String,
    },
}

impl ClientError {
    /// True for errors of the caller: wrong address, token or request. Nothing was changed.
    pub const fn is_mistake(&self) -> bool {
        match self {
            Self::NoService { .. } | Self::Stranger(_) => true,
            Self::Refused { status, .. } => *status < 500,
            Self::Busy(_) | Self::Broken { .. } => false,
        }
    }
}

/// A client. Each request opens a new connection.
#[derive(Debug)]
pub struct Client {
    address: ControlAddress,
    token: Option<Token>,
    timeout: Duration,
    runtime: tokio::runtime::Runtime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseBody(pub Vec<u8>);

impl Client {
    /// Creates a client for the service at `address`.
    ///
    /// # Errors
    /// The runtime has no event queue.
    pub fn new(address: ControlAddress, token: Option<Token>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        Ok(Self { address, token, timeout: RESPONSE_TIMEOUT, runtime })
    }

    /// Creates a client for the service of a data directory on this host.
    ///
    /// # Errors
    /// The runtime has no event queue.
    pub fn of_directory(directory: &Path) -> io::Result<Self> {
        Self::new(ControlAddress::Unix(directory.join(CONTROL_SOCKET)), None)
    }

    pub const fn address(&self) -> &ControlAddress {
        &self.address
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str) -> Result<ResponseBody, ClientError> {
        self.ask(Method::GET, path, Vec::new())
    }

    /// Sends a GET request, and deserialises the response.
    pub fn fetch<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.read(&self.get(path)?)
    }

    /// Sends a POST request.
    pub fn post(&self, path: &str, body: &impl Serialize) -> Result<ResponseBody, ClientError> {
        self.ask(Method::POST, path, written(body))
    }

    /// Sends a PUT request.
    pub fn put(&self, path: &str, body: &impl Serialize) -> Result<ResponseBody, ClientError> {
        self.ask(Method::PUT, path, written(body))
    }

    /// Sends a DELETE request.
    pub fn delete(&self, path: &str) -> Result<ResponseBody, ClientError> {
        self.ask(Method::DELETE, path, Vec::new())
    }

    /// Deserialises a response.
    pub fn read<T: DeserializeOwned>(&self, answer: &ResponseBody) -> Result<T, ClientError> {
        serde_json::from_slice(&answer.0).map_err(|error| self.broken(&error))
    }

    fn ask(&self, method: Method, path: &str, body: Vec<u8>) -> Result<ResponseBody, ClientError> {
        self.runtime.block_on(async {
            tokio::time::timeout(self.timeout, self.exchange(method, path, body))
                .await
                .unwrap_or_else(|_| Err(self.broken(&say!("no response for {} s", self.timeout.as_secs()))))
        })
    }

    async fn exchange(&self, method: Method, path: &str, body: Vec<u8>) -> Result<ResponseBody, ClientError> {
        let no_service = |source| ClientError::NoService { address: self.address.clone(), source };
        let request = self.request(method, path, body);
        let answer = match &self.address {
            ControlAddress::Unix(path) => self.sent(self.connect(path).await?, request).await,
            ControlAddress::Tcp(at) => self.sent(TcpStream::connect(at).await.map_err(no_service)?, request).await,
        };
        let answer = answer.map_err(|error| self.broken(&error))?;
        let status = answer.status();
        let bytes = Limited::new(answer.into_body(), MAX_RESPONSE_BYTES).collect().await;
        let bytes = bytes.map_err(|error| self.broken(&error))?.to_bytes();
        if status.is_success() {
            return Ok(ResponseBody(bytes.into()));
        }
        if status == StatusCode::UNAUTHORIZED {
            return Err(ClientError::Stranger(self.address.clone()));
        }
        let ErrorBody { error, too_fast } = serde_json::from_slice(&bytes).map_err(|_| self.broken(&status))?;
        Err(ClientError::Refused { status: status.as_u16(), message: error, too_fast })
    }

    /// Connects to a Unix socket, and retries while its listen queue is full.
    async fn connect(&self, path: &Path) -> Result<UnixStream, ClientError> {
        let end = tokio::time::Instant::now() + CONNECT_TIMEOUT;
        loop {
            match UnixStream::connect(path).await {
                Ok(stream) => return Ok(stream),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Err(ClientError::NoService { address: self.address.clone(), source: error });
                }
                Err(_) if tokio::time::Instant::now() >= end => return Err(ClientError::Busy(self.address.clone())),
                Err(_) => tokio::time::sleep(CONNECT_RETRY).await,
            }
        }
    }

    fn request(&self, method: Method, path: &str, body: Vec<u8>) -> Request<Full<Bytes>> {
        let host = match &self.address {
            ControlAddress::Unix(_) => "localhost",
            ControlAddress::Tcp(authority) => authority,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, host)
            .header(ACCEPT_LANGUAGE, Language::current().tag());
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token.bearer());
        }
        request.body(Full::new(body.into())).expect("paths are encoded, tokens and authorities were checked")
    }

    async fn sent<S>(&self, stream: S, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // Errors of the connection surface in the response.
        tokio::spawn(connection);
        sender.send_request(request).await
    }

    fn broken(&self, why: &impl fmt::Display) -> ClientError {
        ClientError::Broken { address: self.address.clone(), why: why.to_string() }
    }
}

/// GETs a page of another HTTP server at `authority`, `host:port`.
///
/// # Errors
/// The server does not answer, or not with a page.
pub fn fetch_page(authority: &str, path: &str) -> Result<Vec<u8>, ClientError> {
    connect_to(authority)?.get(path).map(|body| body.0)
}

/// POSTs metrics in JSON to another HTTP server at `authority`, `host:port`, and returns its response.
///
/// # Errors
/// The server does not answer within ten seconds, or not with success.
pub(crate) fn post_metrics(authority: &str, path: &str, json: Vec<u8>) -> Result<Vec<u8>, ClientError> {
    let client = Client { timeout: METRICS_TIMEOUT, ..connect_to(authority)? };
    client.ask(Method::POST, path, json).map(|body| body.0)
}

/// A client of another HTTP server, without a token.
fn connect_to(authority: &str) -> Result<Client, ClientError> {
    let address = ControlAddress::Tcp(authority.to_owned());
    Client::new(address.clone(), None).map_err(|source| ClientError::NoService { address, source })
}

/// The next complete seconds of a volume under load, at least `count`, without that in which the load begins; `None` if
/// `is_over` before.
///
/// # Errors
/// The service does not answer.
pub fn next_busy_seconds(
    client: &Client,
    volume: &str,
    count: usize,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<Vec<Period>>, ClientError> {
    let path = volume_path(volume, "stats");
    let from_s = client.fetch::<Stats>(&path)?.now_s + 1;
    while !is_over() {
        let stats: Stats = client.fetch(&path)?;
        let is_under_load = |period: &Period| (from_s..stats.now_s).contains(&period.start_s) && period.ops > 0;
        let seconds: Vec<Period> = stats.periods.into_iter().filter(is_under_load).skip(1).collect();
        if seconds.len() >= count {
            return Ok(Some(seconds));
        }
        thread::sleep(STATS_INTERVAL);
    }
    Ok(None)
}

/// Path of a volume or of a resource below it: `/v1/volumes/NAME/stats`.
pub fn volume_path(name: &str, below: &str) -> String {
    let below = if below.is_empty() { String::new() } else { format!("/{below}") };
    format!("/v1/volumes/{}{below}", encoded(name))
}

pub fn group_path(name: &str) -> String {
    format!("/v1/groups/{}", encoded(name))
}

/// Percent-encodes a name as a single path segment.
fn encoded(name: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        // `..` would change the path.
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(one).collect()
}

fn written(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("requests have string keys and finite numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(
            text.parse::<ControlAddress>().ok().map(|address| address.to_string()).as_deref(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn address_is_path_or_http_url() {
        check("/run/plimsoll/control.sock", Some("/run/plimsoll/control.sock"));
        check("unix:control.sock", Some("control.sock"));
        check("http://db1:7070/", Some("http://db1:7070"));
        check("http://[::1]:7070", Some("http://[::1]:7070"));
        for wrong in ["", "http://db1", "http://:80", "https://db1:1", "http://a:b", "http://a b:1", "http://a/b:1"] {
            check(wrong, None);
        }
    }

    #[test]
    fn names_stay_within_their_part_of_the_path() {
        assert_eq!(volume_path("data.1", "stats"), "/v1/volumes/data%2E1/stats");
        assert_eq!(volume_path("../groups?", ""), "/v1/volumes/%2E%2E%2Fgroups%3F");
    }
}
