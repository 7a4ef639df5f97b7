//! The control of a service over HTTP/1.1: a thread that lets clients in, over Unix sockets and over TCP.
//!
//! Knows nothing about volumes: what a path means is said in `routes`. A client can neither hold the service up nor use
//! it up: their number, the size of what they send, and how long they take all have a limit.

mod metrics;
mod openapi;
mod routes;
mod token;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::WWW_AUTHENTICATE;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

pub use openapi::document as openapi;
pub use token::{Token, TokenError};

use crate::Service;
use plimsoll_front::sockets::{Listening, Place, SocketFile};

/// Clients at one entrance at the same time; others wait.
const CLIENTS: usize = 64;
/// How long a client may take for the head of a request, or for its body.
const PATIENCE: Duration = Duration::from_secs(10);
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
    let router = match &door.token {
        Some(token) => router.layer(middleware::from_fn_with_state(token.clone(), admitted)),
        None => router,
    };
    let seats = Arc::new(Semaphore::new(CLIENTS));
    let mut clients = JoinSet::new();
    while let Some(seat) = unless(&mut stopped, Arc::clone(&seats).acquire_owned()).await {
        let Some(accepted) = unless(&mut stopped, door.listener.accept()).await else { break };
        if let Ok(stream) = accepted {
            let (router, stopped) = (router.clone(), stopped.clone());
            clients.spawn(async move {
                attend(stream, router, stopped).await;
                drop(seat);
            });
        } else {
            tokio::time::sleep(BREATH).await;
        }
        while clients.try_join_next().is_some() {}
    }
    drop(door);
    let _ = tokio::time::timeout(FAREWELL, clients.join_all()).await;
}

/// What comes of a future; `None` when the end comes first.
async fn unless<T>(stopped: &mut watch::Receiver<bool>, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        _ = stopped.wait_for(|stopped| *stopped) => None,
        done = future => Some(done),
    }
}

/// Answers the requests of one client.
async fn attend(stream: Box<dyn Stream>, router: Router, mut stopped: watch::Receiver<bool>) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
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

/// Answers 401 and tells nothing, unless the token is shown.
async fn admitted(State(token): State<Token>, request: Request, next: Next) -> Response {
    if token.admits(request.headers()) {
        next.run(request).await
    } else {
        (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response()
    }
}
