//! Control API over HTTP/1.1: a thread that serves clients on Unix and TCP sockets.
//!
//! Independent of volumes: `routes` maps paths to actions. Clients cannot block or exhaust the service: their number,
//! the size of requests, and all waits are limited.

mod body;
mod metrics;
mod openapi;
mod routes;
mod token;

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CONNECTION, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};

pub use body::read_body;
pub use openapi::document as openapi;
pub use token::{Token, TokenError};

use crate::Service;
use plimsoll_front::sockets::{ListenAddress, Listening, SocketFile};

/// Concurrent clients per listener; further clients wait. With a token, only authenticated clients count.
const MAX_CLIENTS: usize = 64;
/// Authenticated clients that wait for a permit; further clients receive "busy".
const MAX_WAITING: usize = 64;
/// Unauthenticated clients per listener; a further client disconnects the oldest.
const MAX_UNAUTHENTICATED: usize = 64;
/// Timeout for the head of a request, and for its body.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the head of a request of an unauthenticated client.
const UNAUTHENTICATED_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum age of a connection before graceful shutdown.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(60);
/// Timeout of graceful shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// Threads for blocking calls of the service.
const BLOCKING_THREADS: usize = 8;
/// Pause after a failed `accept`, for instance with too many open files.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Router of the control API, without access rules: the caller has to authenticate its clients.
pub fn router(service: &Service) -> Router {
    routes::router(service)
}

/// A listener with its access rule.
#[derive(Debug)]
pub struct Entrance {
    /// Listening socket.
    pub listening: Listening,
    /// Required token. Without a token, every client that can connect has full access.
    pub token: Option<Token>,
}

/// Thread that serves clients; dropping this stops it.
#[derive(Debug)]
pub struct Control {
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Control {
    /// Starts serving clients of the control API.
    ///
    /// # Errors
    /// The runtime cannot be created, or a socket is invalid.
    pub fn open(service: &Service, entrances: Vec<Entrance>) -> io::Result<Self> {
        Self::serve(routes::router(service), entrances)
    }

    /// Starts serving clients of any API, with the same limits of clients and waits.
    ///
    /// # Errors
    /// The runtime cannot be created, or a socket is invalid.
    pub fn serve(router: Router, entrances: Vec<Entrance>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("control-work")
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let entered = runtime.enter();
        let listeners = entrances.into_iter().map(BoundListener::new).collect::<io::Result<Vec<BoundListener>>>()?;
        drop(entered);
        let work = move || runtime.block_on(serve(listeners, &router, &stopped));
        let thread = std::thread::Builder::new().name("control".into()).spawn(work)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

/// Stops accepting, waits for responses in progress, and removes the sockets.
impl Drop for Control {
    fn drop(&mut self) {
        // Fails only if the thread has already ended.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A listener registered with the runtime.
struct BoundListener {
    listener: Listener,
    token: Option<Token>,
    /// Removes the socket file on drop.
    _file: Option<SocketFile>,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

trait HttpStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> HttpStream for T {}

impl BoundListener {
    fn new(Entrance { listening, token }: Entrance) -> io::Result<Self> {
        let Listening { socket, place, file, .. } = listening;
        Ok(Self { listener: Listener::new(socket, &place)?, token, _file: file })
    }
}

impl Listener {
    fn new(socket: OwnedFd, place: &ListenAddress) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(match place {
            ListenAddress::Unix(_) => Self::Unix(UnixListener::from_std(socket.into())?),
            ListenAddress::Tcp { .. } => Self::Tcp(TcpListener::from_std(socket.into())?),
        })
    }

    async fn accept(&self) -> io::Result<Box<dyn HttpStream>> {
        Ok(match self {
            Self::Unix(listener) => Box::new(listener.accept().await?.0),
            Self::Tcp(listener) => Box::new(listener.accept().await?.0),
        })
    }
}

async fn serve(listeners: Vec<BoundListener>, router: &Router, stopped: &watch::Receiver<bool>) {
    let mut accepting = JoinSet::new();
    for bound in listeners {
        accepting.spawn(accept_clients(bound, router.clone(), stopped.clone()));
    }
    while accepting.join_next().await.is_some() {}
}

/// Accepts clients of a listener until shutdown, then waits for the connected clients.
async fn accept_clients(bound: BoundListener, router: Router, mut stopped: watch::Receiver<bool>) {
    let (permits, queue) = (Arc::new(Semaphore::new(MAX_CLIENTS)), Arc::new(Semaphore::new(MAX_WAITING)));
    let mut clients = JoinSet::new();
    let mut unauthenticated = Unauthenticated::default();
    loop {
        // With a token, the permit is acquired after authentication.
        let permit = match bound.token {
            Some(_) => None,
            None => match unless_stopped(&mut stopped, Arc::clone(&permits).acquire_owned()).await {
                Some(permit) => permit.ok(),
                None => break,
            },
        };
        let Some(accepted) = unless_stopped(&mut stopped, bound.listener.accept()).await else { break };
        let Ok(stream) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        let (router, stopped) = (router.clone(), stopped.clone());
        match &bound.token {
            Some(token) => {
                let client = Arc::new(TokenClient::new(token, &permits, &queue));
                let router = router.layer(middleware::from_fn_with_state(Arc::clone(&client), require_token));
                unauthenticated
                    .add(client, clients.spawn(serve_client(stream, router, stopped, UNAUTHENTICATED_TIMEOUT)));
            }
            None => {
                clients.spawn(async move {
                    serve_client(stream, router, stopped, CLIENT_TIMEOUT).await;
                    drop(permit);
                });
            }
        }
        while clients.try_join_next().is_some() {}
    }
    drop(bound);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, clients.join_all()).await;
}

/// A client of a listener that requires a token.
struct TokenClient {
    token: Token,
    permits: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// Whether the token was presented, with or without a permit.
    authenticated: AtomicBool,
    /// Permit, from the first authenticated request on.
    permit: OnceCell<OwnedSemaphorePermit>,
}

impl TokenClient {
    fn new(token: &Token, permits: &Arc<Semaphore>, queue: &Arc<Semaphore>) -> Self {
        Self {
            token: token.clone(),
            permits: Arc::clone(permits),
            queue: Arc::clone(queue),
            authenticated: AtomicBool::new(false),
            permit: OnceCell::new(),
        }
    }

    /// Waits for a permit unless it is held; false on timeout or with too many waiting clients.
    async fn acquire_permit(&self) -> bool {
        if self.permit.initialized() {
            return true;
        }
        let Ok(_place) = self.queue.try_acquire() else { return false };
        let permit = self.permit.get_or_try_init(|| Arc::clone(&self.permits).acquire_owned());
        matches!(tokio::time::timeout(CLIENT_TIMEOUT, permit).await, Ok(Ok(_)))
    }
}

/// Unauthenticated connections, oldest first.
#[derive(Default)]
struct Unauthenticated(VecDeque<(Arc<TokenClient>, AbortHandle)>);

impl Unauthenticated {
    /// Adds a connection, and aborts the oldest if there are too many.
    fn add(&mut self, client: Arc<TokenClient>, connection: AbortHandle) {
        self.0
            .retain(|(client, connection)| !client.authenticated.load(Ordering::Relaxed) && !connection.is_finished());
        if self.0.len() == MAX_UNAUTHENTICATED
            && let Some((_, first)) = self.0.pop_front()
        {
            first.abort();
        }
        self.0.push_back((client, connection));
    }
}

/// Output of a future; `None` if shutdown comes first.
async fn unless_stopped<T>(stopped: &mut watch::Receiver<bool>, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => None,
        done = future => Some(done),
    }
}

/// Serves the requests of a client.
async fn serve_client(
    stream: Box<dyn HttpStream>,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    head_timeout: Duration,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let within = tokio::time::timeout(MAX_CONNECTION_AGE, connection.as_mut());
    if let Some(Ok(_)) = unless_stopped(&mut stopped, within).await {
        return;
    }
    connection.as_mut().graceful_shutdown();
    // Unread responses are dropped after the timeout.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, connection).await;
}

/// Authentication middleware: answers 401 and closes the connection without a valid token, before the body is read.
async fn require_token(State(client): State<Arc<TokenClient>>, request: Request, next: Next) -> Response {
    if !client.token.admits(request.headers()) {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer"), (CONNECTION, "close")]).into_response();
    }
    client.authenticated.store(true, Ordering::Relaxed);
    if client.acquire_permit().await {
        return next.run(request).await;
    }
    // Closes the connection: without a permit it would not be counted.
    ([(CONNECTION, "close")], routes::busy()).into_response()
}
