//! The accept loop of all HTTP listeners: the control API, the control planes of clouds, and the web console.
//!
//! A client counts against the limit of clients once it has sent a complete request (with a token: once it has
//! authenticated). Clients before that have places of their own, where a further client disconnects the oldest, so
//! incomplete requests never delay complete ones.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::body::{Bytes, Frame, SizeHint};
use hyper::header::{CONNECTION, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use super::{CLIENT_TIMEOUT, Token, routes};
use plimsoll_front::descriptors;
use plimsoll_front::sockets::{ListenAddress, SocketFile};

/// Admitted clients that wait for a permit; further clients receive "busy".
const MAX_WAITING: usize = 64;
/// Clients per listener without a complete request; a further client disconnects the oldest.
const MAX_INCOMPLETE: usize = 64;
/// Timeout for the head of a request of an unauthenticated client.
const UNAUTHENTICATED_TIMEOUT: Duration = Duration::from_secs(2);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a failed `accept`, for instance with too many open files.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A listening socket registered with the runtime.
#[derive(Debug)]
pub enum Listener {
    /// Unix socket.
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// Access and limits of a listener.
pub struct AcceptRules {
    /// Required token. Without a token, every client that can connect has full access.
    pub token: Option<Token>,
    /// TLS; `None` without encryption.
    pub tls: Option<TlsAcceptor>,
    /// Concurrent clients with a complete request; further clients wait.
    pub clients: usize,
    /// Maximum age of a connection before graceful shutdown; `None` for no maximum.
    pub age_max: Option<Duration>,
}

trait HttpStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> HttpStream for T {}

impl Listener {
    /// Registers a listening socket; called within the runtime.
    ///
    /// # Errors
    /// The socket is invalid.
    pub fn new(socket: OwnedFd, place: &ListenAddress) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(match place {
            ListenAddress::Unix(_) => Self::Unix(UnixListener::from_std(socket.into())?),
            ListenAddress::Tcp { .. } => Self::Tcp(TcpListener::from_std(socket.into())?),
        })
    }

    /// Accepts a client; `None` if it was refused for want of descriptors.
    async fn accept(&self) -> io::Result<Option<Box<dyn HttpStream>>> {
        Ok(Some(match self {
            Self::Unix(listener) => {
                let stream = listener.accept().await?.0;
                if !descriptors::admits(&stream) {
                    return Ok(None);
                }
                Box::new(stream)
            }
            Self::Tcp(listener) => {
                let stream = listener.accept().await?.0;
                if !descriptors::admits(&stream) {
                    return Ok(None);
                }
                // Best effort: small replies leave at once.
                let _ = stream.set_nodelay(true);
                Box::new(stream)
            }
        }))
    }
}

/// Accepts clients of a listener until shutdown, then waits for the connected clients.
pub async fn accept_clients(
    listener: (Listener, Option<SocketFile>),
    rules: AcceptRules,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let (permits, queue) = (Arc::new(Semaphore::new(rules.clients)), Arc::new(Semaphore::new(MAX_WAITING)));
    let mut clients = JoinSet::new();
    let mut incomplete = Incomplete::default();
    loop {
        let Some(accepted) = unless_stopped(&mut stopped, listener.0.accept()).await else { break };
        let stream = match accepted {
            Ok(Some(stream)) => stream,
            Ok(None) => continue,
            Err(_) => {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        let client = Arc::new(HttpClient::new(rules.token.as_ref(), &permits, &queue));
        let router = router.clone().layer(middleware::from_fn_with_state(Arc::clone(&client), admit));
        let head_timeout = if rules.token.is_some() { UNAUTHENTICATED_TIMEOUT } else { CLIENT_TIMEOUT };
        let (tls, stopped, age_max) = (rules.tls.clone(), stopped.clone(), rules.age_max);
        let connection = clients.spawn(async move {
            let Some(stream) = encrypted(stream, tls).await else { return };
            serve_client(stream, router, stopped, (head_timeout, age_max)).await;
        });
        incomplete.add(client, connection);
        while clients.try_join_next().is_some() {}
    }
    drop(listener);
    // Not `join_all`, which panics for a disconnected client.
    let ended = async { while clients.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, ended).await;
}

/// The stream after its TLS handshake, if there is TLS.
async fn encrypted(stream: Box<dyn HttpStream>, tls: Option<TlsAcceptor>) -> Option<Box<dyn HttpStream>> {
    let Some(tls) = tls else { return Some(stream) };
    let stream = tokio::time::timeout(CLIENT_TIMEOUT, tls.accept(stream)).await.ok()?.ok()?;
    Some(Box::new(stream))
}

struct HttpClient {
    token: Option<Token>,
    permits: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// Whether it has authenticated, or sent a complete request if there is no token; with or without a permit.
    admitted: AtomicBool,
    permit: OnceCell<OwnedSemaphorePermit>,
}

impl HttpClient {
    fn new(token: Option<&Token>, permits: &Arc<Semaphore>, queue: &Arc<Semaphore>) -> Self {
        Self {
            token: token.cloned(),
            permits: Arc::clone(permits),
            queue: Arc::clone(queue),
            admitted: AtomicBool::new(false),
            permit: OnceCell::new(),
        }
    }

    /// Waits for a permit unless one is acquired already; false on timeout or with too many waiting clients.
    async fn acquire_permit(&self) -> bool {
        self.admitted.store(true, Ordering::Relaxed);
        if self.permit.initialized() {
            return true;
        }
        let Ok(_place) = self.queue.try_acquire() else { return false };
        let permit = self.permit.get_or_try_init(|| Arc::clone(&self.permits).acquire_owned());
        matches!(tokio::time::timeout(CLIENT_TIMEOUT, permit).await, Ok(Ok(_)))
    }
}

/// Connections of clients that are not admitted, oldest first.
#[derive(Default)]
struct Incomplete {
    connections: VecDeque<(Arc<HttpClient>, AbortHandle)>,
    /// Number of aborted connections.
    aborted: u64,
}

impl Incomplete {
    /// Adds a connection, and aborts the oldest if there are too many.
    fn add(&mut self, client: Arc<HttpClient>, connection: AbortHandle) {
        self.connections
            .retain(|(client, connection)| !client.admitted.load(Ordering::Relaxed) && !connection.is_finished());
        if self.connections.len() == MAX_INCOMPLETE
            && let Some((_, first)) = self.connections.pop_front()
        {
            first.abort();
            self.aborted += 1;
            log_sparsely(self.aborted, "half-sent requests were closed to make place for others");
        }
        self.connections.push_back((client, connection));
    }
}

/// Logs how often something has happened whenever that has doubled: anybody who reaches the port can cause it.
fn log_sparsely(times: u64, message: &str) {
    if times.is_power_of_two() {
        tracing::warn!(times, "{message}");
    }
}

/// Output of a future; `None` if shutdown comes first.
async fn unless_stopped<T>(stopped: &mut watch::Receiver<bool>, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => None,
        done = future => Some(done),
    }
}

async fn serve_client(
    stream: Box<dyn HttpStream>,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    (head_timeout, age_max): (Duration, Option<Duration>),
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let within = async {
        if let Some(age_max) = age_max {
            return tokio::time::timeout(age_max, connection.as_mut()).await.is_ok();
        }
        // A broken connection has ended as well.
        let _ = connection.as_mut().await;
        true
    };
    if unless_stopped(&mut stopped, within).await == Some(true) {
        return;
    }
    connection.as_mut().graceful_shutdown();
    // Unread responses are dropped after the timeout.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, connection).await;
}

/// Admission middleware: with a token, answers 401 and closes the connection without a valid one, before the body is
/// read; without a token, admits a client when its request is complete.
async fn admit(State(client): State<Arc<HttpClient>>, request: Request, next: Next) -> Response {
    if client.token.as_ref().is_some_and(|token| !token.admits(request.headers())) {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer"), (CONNECTION, "close")]).into_response();
    }
    let is_admitted = client.token.is_some() || request.body().is_end_stream();
    if is_admitted && !client.acquire_permit().await {
        return busy();
    }
    let request = if is_admitted {
        request
    } else {
        let admitting = Arc::clone(&client);
        let permit = Box::pin(async move { admitting.acquire_permit().await });
        request.map(|body| Body::new(AdmittingBody { body, permit: Some(permit) }))
    };
    let response = next.run(request).await;
    // A complete body without a permit was refused.
    let is_refused = client.admitted.load(Ordering::Relaxed) && !client.permit.initialized();
    if is_refused { busy() } else { response }
}

/// Closes the connection: without a permit it would not be counted.
fn busy() -> Response {
    static REFUSED: AtomicU64 = AtomicU64::new(0);
    log_sparsely(REFUSED.fetch_add(1, Ordering::Relaxed) + 1, "requests were refused, as too many others wait");
    ([(CONNECTION, "close")], routes::busy()).into_response()
}

/// A body that ends when its client has a permit.
struct AdmittingBody {
    body: Body,
    /// Admission; `None` afterwards.
    permit: Option<Pin<Box<dyn Future<Output = bool> + Send>>>,
}

impl HttpBody for AdmittingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.body.is_end_stream()
            && let frame @ (Poll::Pending | Poll::Ready(Some(_))) = Pin::new(&mut self.body).poll_frame(context)
        {
            return frame;
        }
        let Some(permit) = &mut self.permit else { return Poll::Ready(None) };
        let Poll::Ready(is_admitted) = permit.as_mut().poll(context) else { return Poll::Pending };
        self.permit = None;
        Poll::Ready((!is_admitted).then(|| Err(axum::Error::new("the service is busy"))))
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
