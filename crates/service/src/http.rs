//! The control of a service over HTTP/1.1: a thread that lets clients in, over Unix sockets and over TCP.
//!
//! Knows nothing about volumes: what a path means is said in `routes`. A client can neither hold the service up nor use
//! it up: their number, the size of what they send, and how long they take all have a limit.

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

/// Clients at one entrance at the same time; others wait. Where a token is needed these are clients that have shown it.
const CLIENTS: usize = 64;
/// Clients that have shown the token and wait for one of these seats; one more is told that the service is busy.
const WAITING: usize = 64;
/// Clients at one entrance that have not shown its token yet; one more ends the connection of the first of them.
const STRANGERS: usize = 64;
/// How long a client may take for the head of a request, or for its body.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for the head of a request of a client that has not shown the token.
const STRANGER_PATIENCE: Duration = Duration::from_secs(2);
/// How long a connection lasts before it is asked to end.
const LIFETIME: Duration = Duration::from_secs(60);
/// How long an answer may take once the end was asked for.
const FAREWELL: Duration = Duration::from_secs(5);
/// Threads that wait for the service.
const WORKERS: usize = 8;
/// How long to wait when no client can be let in, as with too many open files.
const BREATH: Duration = Duration::from_millis(100);

/// An entrance for clients.
#[derive(Debug)]
pub struct Entrance {
    /// Where.
    pub listening: Listening,
    /// What they have to show; everybody who can reach a socket without one may do everything.
    pub token: Option<Token>,
}

/// The thread that answers clients; it ends when this is dropped.
#[derive(Debug)]
pub struct Control {
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Control {
    /// Lets clients of the service in.
    ///
    /// # Errors
    /// The system has no thread or no event queue for it, or a socket is none.
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

/// Lets nobody in any more, waits for the answers that are under way, and removes the sockets.
impl Drop for Control {
    fn drop(&mut self) {
        // A thread that is gone listens to nothing and needs no word.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An entrance on the runtime.
struct Door {
    listener: Listener,
    token: Option<Token>,
    /// Removed with the door.
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

/// Lets clients in at one door until the end, then waits for those that are in.
async fn admit(door: Door, router: Router, mut stopped: watch::Receiver<bool>) {
    let (seats, queue) = (Arc::new(Semaphore::new(CLIENTS)), Arc::new(Semaphore::new(WAITING)));
    let mut clients = JoinSet::new();
    let mut strangers = Strangers::default();
    loop {
        // Where a token is needed, a seat is taken when it was shown.
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

/// A client at an entrance that needs a token.
struct Guest {
    token: Token,
    seats: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// It has shown the token, whether or not a seat is free.
    authenticated: AtomicBool,
    /// Its seat, from the first request on that shows the token.
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

    /// Waits for a seat, unless it has one; false when there is none in time, or too many wait.
    async fn seated(&self) -> bool {
        if self.seat.initialized() {
            return true;
        }
        let Ok(_place) = self.queue.try_acquire() else { return false };
        let seat = self.seat.get_or_try_init(|| Arc::clone(&self.seats).acquire_owned());
        matches!(tokio::time::timeout(PATIENCE, seat).await, Ok(Ok(_)))
    }
}

/// Connections over which no token was shown, the first one at the front.
#[derive(Default)]
struct Strangers(VecDeque<(Arc<Guest>, AbortHandle)>);

impl Strangers {
    /// Adds one, and ends the connection of the first when there are too many.
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

/// What comes of a future; `None` when the end comes first.
async fn unless<T>(stopped: &mut watch::Receiver<bool>, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => None,
        done = future => Some(done),
    }
}

/// Answers the requests of one client.
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
    // What a client does not read in this time is lost to it.
    let _ = tokio::time::timeout(FAREWELL, connection).await;
}

/// Answers 401 and ends the connection, unless the token is shown. The body of the request is not read before.
async fn admitted(State(guest): State<Arc<Guest>>, request: Request, next: Next) -> Response {
    if !guest.token.admits(request.headers()) {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer"), (CONNECTION, "close")]).into_response();
    }
    guest.authenticated.store(true, Ordering::Relaxed);
    if guest.seated().await {
        return next.run(request).await;
    }
    // A connection that is kept without a seat would count nowhere.
    ([(CONNECTION, "close")], routes::busy()).into_response()
}
