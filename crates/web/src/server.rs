//! The listening socket: a thread with its own runtime that accepts a limited number of clients.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_service::http::{AcceptRules, Listener, accept_clients};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::{ConsoleState, WebTls, routes};

/// Concurrent clients, event streams included; further ones wait.
const MAX_CLIENTS: usize = 96;
/// Timeout of work in progress at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
const BLOCKING_THREADS: usize = 8;

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
        Listener::Tcp(tokio::net::TcpListener::from_std(listener)?)
    };
    let work = move || {
        let router = routes::build_router(&shared, &stopped);
        let sampler = runtime.spawn(routes::run_sampler(&shared));
        // Event streams last as long as a page is open.
        let rules = AcceptRules { token: None, tls, clients: MAX_CLIENTS, age_max: None };
        runtime.block_on(accept_clients((listener, None), rules, router, stopped));
        sampler.abort();
        // A measurement in progress ends at its next step; the runtime does not wait for it.
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    };
    std::thread::Builder::new().name("web".into()).spawn(work)
}
