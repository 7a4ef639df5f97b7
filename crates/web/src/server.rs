//! The listening socket: a thread with its own runtime that accepts a limited number of clients.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::{ConsoleState, WebTls, routes};

/// Concurrent connections; further ones wait.
const MAX_CONNECTIONS: usize = 96;
/// Timeout for the handshake, for the head of a request, and of an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of responses in progress at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// Threads for blocking work.
const BLOCKING_THREADS: usize = 8;
/// Pause after a failed `accept`, for instance with too many open files.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Starts the thread. It ends when `stopped` becomes true.
pub fn start(
    listener: TcpListener,
    tls: Option<WebTls>,
    shared: Arc<ConsoleState>,
    stopped: watch::Receiver<bool>,
) -> io::Result<JoinHandle<()>> {
    let tls = tls.map(|tls| TlsAcceptor::from(tls.config));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("web-work")
        .build()?;
    listener.set_nonblocking(true)?;
    let listener = {
        let _entered = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let work = move || {
        let router = routes::router(&shared, &stopped);
        let sampler = runtime.spawn(routes::background(&shared));
        runtime.block_on(accept(listener, tls, router, stopped));
        sampler.abort();
        // A measurement in progress ends at its next step; the runtime does not wait for it.
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    };
    std::thread::Builder::new().name("web".into()).spawn(work)
}

async fn accept(
    listener: tokio::net::TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut clients = JoinSet::new();
    loop {
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            next = next => next,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        let (tls, router, stopped) = (tls.clone(), router.clone(), stopped.clone());
        clients.spawn(async move {
            let _ = stream.set_nodelay(true);
            match tls {
                None => serve(stream, router, stopped).await,
                Some(tls) => {
                    let encrypted = tokio::time::timeout(HEAD_TIMEOUT, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = encrypted {
                        serve(stream, router, stopped).await;
                    }
                }
            }
            drop(permit);
        });
        while clients.try_join_next().is_some() {}
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, clients.join_all()).await;
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Send + Unpin, router: Router, mut stopped: watch::Receiver<bool>) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, connection).await;
}
