//! Control API over HTTP/1.1: a thread that serves clients on Unix and TCP sockets.
//!
//! Independent of volumes: `routes` maps paths to actions. Clients cannot block or exhaust the service: their number,
//! the size of requests, and all waits are limited.

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

pub use openapi::document as openapi;
pub use token::{Token, TokenError};

use crate::Service;
use plimsoll_front::sockets::{Listening, Place, SocketFile};

/// Concurrent clients per listener; further clients wait. With a token, only authenticated clients count.
const CLIENTS: usize = 64;
/// Authenticated clients that wait for a permit; further clients receive "busy".
const WAITING: usize = 64;
/// Unauthenticated clients per listener; a further client disconnects the oldest.
const STRANGERS: usize = 64;
/// Timeout for the head of a request, and for its body.
const PATIENCE: Duration = Duration::from_secs(10);
/// Timeout for the head of a request of an unauthenticated client.
const STRANGER_PATIENCE: Duration = Duration::from_secs(2);
/// Maximum age of a connection before graceful shutdown.
const LIFETIME: Duration = Duration::from_secs(60);
/// Timeout of graceful shutdown.
const FAREWELL: Duration = Duration::from_secs(5);
/// Threads for blocking calls of the service.
const WORKERS: usize = 8;
/// Pause after a failed `accept`, for instance with too many open files.
const BREATH: Duration = Duration::from_millis(100);

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
    /// Starts serving clients.
    ///
    /// # Errors
    /// The runtime cannot be created, or a socket is invalid.
    pub fn open(service: &Service, entrances: Vec<Entrance>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(WORKERS)
            .thread_name("control-work")
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let router = routes::router(service);
        let entered = runtime.enter();
        let doors = entrances.into_iter().map(Door::new).collect::<io::Result<Vec<Door>>>()?;
        drop(entered);
        let work = move || runtime.block_on(serve(doors, &router, &stopped));
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
struct Door {
    listener: Listener,
    token: Option<Token>,
    /// Removes the socket file on drop.
    _file: Option<SocketFile>,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Door {
    fn new(Entrance { listening, token }: Entrance) -> io::Result<Self> {
        let Listening { socket, place, file, .. } = listening;
        Ok(Self { listener: Listener::new(socket, &place)?, token, _file: file })
    }
}

impl Listener {
    fn new(socket: OwnedFd, place: &Place) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(match place {
            Place::Unix(_) => Self::Unix(UnixListener::from_std(socket.into())?),
            Place::Tcp { .. } => Self::Tcp(TcpListener::from_std(socket.into())?),
        })
    }

    async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Unix(listener) => Box::new(listener.accept().await?.0),
            Self::Tcp(listener) => Box::new(listener.accept().await?.0),
        })
    }
}

async fn serve(doors: Vec<Door>, router: &Router, stopped: &watch::Receiver<bool>) {
    let mut admitting = JoinSet::new();
    for door in doors {
        admitting.spawn(admit(door, router.clone(), stopped.clone()));
    }
    while admitting.join_next().await.is_some() {}
}

/// Accepts clients of a listener until shutdown, then waits for the connected clients.
async fn admit(door: Door, router: Router, mut stopped: watch::Receiver<bool>) {
    let (seats, queue) = (Arc::new(Semaphore::new(CLIENTS)), Arc::new(Semaphore::new(WAITING)));
    let mut clients = JoinSet::new();
    let mut strangers = Strangers::default();
    loop {
        // With a token, the permit is acquired after authentication.
        let seat = match door.token {
            Some(_) => None,
            None => match unless(&mut stopped, Arc::clone(&seats).acquire_owned()).await {
                Some(seat) => seat.ok(),
                None => break,
            },
        };
        let Some(accepted) = unless(&mut stopped, door.listener.accept()).await else { break };
        let Ok(stream) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let (router, stopped) = (router.clone(), stopped.clone());
        match &door.token {
            Some(token) => {
                let guest = Arc::new(Guest::new(token, &seats, &queue));
                let router = router.layer(middleware::from_fn_with_state(Arc::clone(&guest), admitted));
                strangers.add(guest, clients.spawn(attend(stream, router, stopped, STRANGER_PATIENCE)));
            }
            None => {
                clients.spawn(async move {
                    attend(stream, router, stopped, PATIENCE).await;
                    drop(seat);
                });
            }
        }
        while clients.try_join_next().is_some() {}
    }
    drop(door);
    let _ = tokio::time::timeout(FAREWELL, clients.join_all()).await;
}

/// A client of a listener that requires a token.
struct Guest {
    token: Token,
    seats: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// Whether the token was presented, with or without a permit.
    authenticated: AtomicBool,
    /// Permit, from the first authenticated request on.
    seat: OnceCell<OwnedSemaphorePermit>,
}

impl Guest {
    fn new(token: &Token, seats: &Arc<Semaphore>, queue: &Arc<Semaphore>) -> Self {
        Self {
            token: token.clone(),
            seats: Arc::clone(seats),
            queue: Arc::clone(queue),
            authenticated: AtomicBool::new(false),
            seat: OnceCell::new(),
        }
    }

    /// Waits for a permit unless it is held; false on timeout or with too many waiting clients.
    async fn seated(&self) -> bool {
        if self.seat.initialized() {
            return true;
        }
        let Ok(_place) = self.queue.try_acquire() else { return false };
        let seat = self.seat.get_or_try_init(|| Arc::clone(&self.seats).acquire_owned());
        matches!(tokio::time::timeout(PATIENCE, seat).await, Ok(Ok(_)))
    }
}

/// Unauthenticated connections, oldest first.
#[derive(Default)]
struct Strangers(VecDeque<(Arc<Guest>, AbortHandle)>);

impl Strangers {
    /// Adds a connection, and aborts the oldest if there are too many.
    fn add(&mut self, guest: Arc<Guest>, connection: AbortHandle) {
        self.0.retain(|(guest, connection)| !guest.authenticated.load(Ordering::Relaxed) && !connection.is_finished());
        if self.0.len() == STRANGERS
            && let Some((_, first)) = self.0.pop_front()
        {
            first.abort();
        }
        self.0.push_back((guest, connection));
    }
}

/// Output of a future; `None` if shutdown comes first.
async fn unless<T>(stopped: &mut watch::Receiver<bool>, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => None,
        done = future => Some(done),
    }
}

/// Serves the requests of a client.
async fn attend(stream: Box<dyn Stream>, router: Router, mut stopped: watch::Receiver<bool>, head_patience: Duration) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_patience)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let within = tokio::time::timeout(LIFETIME, connection.as_mut());
    if let Some(Ok(_)) = unless(&mut stopped, within).await {
        return;
    }
    connection.as_mut().graceful_shutdown();
    // Unread responses are dropped after the timeout.
    let _ = tokio::time::timeout(FAREWELL, connection).await;
}

/// Authentication middleware: answers 401 and closes the connection without a valid token. Runs before the body is
/// read.
async fn admitted(State(guest): State<Arc<Guest>>, request: Request, next: Next) -> Response {
    if !guest.token.admits(request.headers()) {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer"), (CONNECTION, "close")]).into_response();
    }
    guest.authenticated.store(true, Ordering::Relaxed);
    if guest.seated().await {
        return next.run(request).await;
    }
    // Closes the connection: without a permit it would not be counted.
    ([(CONNECTION, "close")], routes::busy()).into_response()
}
