//! Control API over HTTP/1.1: a thread that serves clients on Unix and TCP sockets.
//!
//! Independent of volumes: `routes` maps paths to actions. Clients cannot block or exhaust the service: their number,
//! the size of requests, and all waits are limited.

mod accept;
mod body;
mod metrics;
mod openapi;
mod routes;
mod token;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use hyper::header::CONTENT_TYPE;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use accept::{AcceptRules, Listener, accept_clients};
pub use body::read_body;
pub use openapi::build_document as openapi;
pub use token::{Token, TokenError, check_private};

use crate::Service;
use plimsoll_front::sockets::{Listening, SocketFile};

/// Concurrent clients per listener.
const MAX_CLIENTS: usize = 64;
/// Timeout for the head of a request, and for its body.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum age of a connection before graceful shutdown.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(60);
/// Threads for blocking calls of the service.
const BLOCKING_THREADS: usize = 8;

/// Router of the control API, without access rules: the caller has to authenticate its clients.
pub fn create_router(service: &Service) -> Router {
    routes::build_router(service)
}

/// A router that answers GET of `path` with the present text: figures for Prometheus.
pub fn text_router(path: &'static str, text: Arc<Mutex<String>>) -> Router {
    let read = move || {
        let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        std::future::ready(([(CONTENT_TYPE, metrics::TYPE)], text))
    };
    Router::new().route(path, get(read))
}

/// A listener with its access rule.
#[derive(Debug)]
pub struct Entrance {
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
        Self::serve(routes::build_router(service), entrances)
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
    file: Option<SocketFile>,
}

impl BoundListener {
    fn new(Entrance { listening, token }: Entrance) -> io::Result<Self> {
        let Listening { socket, place, file, .. } = listening;
        Ok(Self { listener: Listener::new(socket, &place)?, token, file })
    }
}

async fn serve(listeners: Vec<BoundListener>, router: &Router, stopped: &watch::Receiver<bool>) {
    let mut accepting = JoinSet::new();
    for BoundListener { listener, token, file } in listeners {
        let rules = AcceptRules { token, tls: None, clients: MAX_CLIENTS, age_max: Some(MAX_CONNECTION_AGE) };
        let (router, stopped) = (router.clone(), stopped.clone());
        accepting.spawn(async move {
            accept_clients((listener, file), rules, router, stopped).await;
        });
    }
    while accepting.join_next().await.is_some() {}
}
