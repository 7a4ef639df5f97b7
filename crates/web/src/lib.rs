//! The web console: pages of volumes, measurements, choices and models, served to a browser over HTTP.
//!
//! Listens on the loopback interface, or with TLS on others, and needs no network. Figures come from the service, the
//! catalogue and `choose`; commands that need other parts of the program are passed in as functions.

mod answer;
mod assets;
mod case;
mod case_history;
mod choose;
mod choose_pages;
mod commands;
mod events;
mod figures;
mod guard;
mod jobs;
mod layout;
mod live;
mod models;
mod origin;
mod pages;
mod reports;
mod routes;
mod runs;
mod server;
mod session;
mod sources;
mod threads;

use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_catalogue::Catalogue;
use plimsoll_measure::RunStore;
use plimsoll_service::Service;
use tokio::sync::watch;

pub use origin::WebTls;

pub use commands::{ArticleRequest, Commands, CurvePoint, LineFigures, MeasureEvent, MeasureProgress, Observer};
pub use session::add_link;
pub use threads::Threads;

use crate::jobs::Jobs;
use crate::live::Live;
use crate::origin::WebOrigin;
use crate::reports::Reports;
use crate::session::Sessions;

/// Everything that the console needs.
#[derive(Debug)]
pub struct ConsoleOptions {
    /// Listening socket; on a loopback address unless there is TLS.
    pub listener: TcpListener,
    /// TLS; `None` for a loopback address.
    pub tls: Option<WebTls>,
    /// Directory of sessions and uploaded reports; created with mode 0700 if missing.
    pub directory: PathBuf,
    pub runs: RunStore,
    pub service: Service,
    /// Products of the catalogue and of the user.
    pub products: Catalogue,
    pub commands: Commands,
}

/// Thread that serves the console; dropping this stops it.
#[derive(Debug)]
pub struct WebConsole {
    stop: watch::Sender<bool>,
    shared: Arc<ConsoleState>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// State that all requests share.
#[derive(Debug)]
pub(crate) struct ConsoleState {
    pub origin: WebOrigin,
    pub directory: PathBuf,
    pub runs: RunStore,
    pub service: Service,
    pub products: Catalogue,
    pub commands: Commands,
    pub sessions: Sessions,
    pub live: Live,
    pub jobs: Jobs,
    pub reports: Reports,
    pub run_list: runs::RunList,
    pub articles: models::Articles,
}

impl WebConsole {
    /// Starts serving.
    ///
    /// # Errors
    /// Other hosts reach the address and there is no TLS, or the directory or the runtime cannot be created.
    pub fn open(options: ConsoleOptions) -> io::Result<Self> {
        let ConsoleOptions { listener, tls, directory, runs, service, products, commands } = options;
        let origin = WebOrigin::new(listener.local_addr()?, tls.as_ref())?;
        session::make_private(&directory)?;
        let sessions = Sessions::open(&directory, &origin.url())?;
        let reports = Reports::open(&directory)?;
        let live = Live::new(service.clone());
        let shared = ConsoleState {
            origin,
            directory,
            runs,
            service,
            products,
            commands,
            sessions,
            live,
            jobs: Jobs::default(),
            reports,
            run_list: runs::RunList::default(),
            articles: models::Articles::default(),
        };
        let shared = Arc::new(shared);
        let (stop, stopped) = watch::channel(false);
        let thread = server::start(listener, tls, Arc::clone(&shared), stopped)?;
        Ok(Self { stop, shared, thread: Some(thread) })
    }

    /// A URL that opens the console once.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn url(&self) -> io::Result<String> {
        self.shared.link()
    }
}

impl ConsoleState {
    /// A URL that opens the console once.
    pub fn link(&self) -> io::Result<String> {
        Ok(session::link_url(&self.origin.url(), &self.sessions.link()?))
    }
}

/// Stops accepting, ends event streams and measurements, and waits for responses in progress.
impl Drop for WebConsole {
    fn drop(&mut self) {
        self.shared.jobs.stop_all();
        // Fails only if the thread has already ended.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
