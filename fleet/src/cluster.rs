//! Scheduler, executors and submission: a cluster of processes of this program.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_server};
use clap::Args;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};

use crate::folder::WorkFolder;
use crate::replay::{ABORTS_AFTER_WRITE, CLAIMED_VERSION, FleetCodec, PAUSE, count_rows};
use crate::tls::{Tls, TlsOptions};

/// Options of `scheduler`.
#[derive(Debug, Args)]
pub struct SchedulerOptions {
    /// Address at which the other processes reach this one; TLS is needed outside of loopback
    #[arg(long, default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Name by which the other processes reach this one, in place of the address
    #[arg(long)]
    pub host: Option<String>,
    /// Port
    #[arg(long, default_value_t = 50_050)]
    pub port: u16,
    /// Seconds without a sign of life after which an executor is lost, and its buckets run again elsewhere
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(3..=3_600))]
    pub executor_timeout: u64,
    #[command(flatten)]
    pub tls: TlsOptions,
}

/// Options of `executor`.
#[derive(Debug, Args)]
pub struct ExecutorOptions {
    /// Address at which the other processes reach this one; TLS is needed outside of loopback
    #[arg(long, default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Name by which the other processes reach this one, in place of the address
    #[arg(long)]
    pub host: Option<String>,
    /// Port of results
    #[arg(long, default_value_t = 50_061)]
    pub port: u16,
    /// Port of commands; not used with TLS
    #[arg(long, default_value_t = 50_062)]
    pub command_port: u16,
    /// Address or name of the scheduler, and its port
    #[arg(long, default_value = "127.0.0.1:50050")]
    pub scheduler: SchedulerAddress,
    /// Folder for temporary results. A new folder is made in it at each start, and removed at the end
    #[arg(long)]
    pub work: PathBuf,
    /// Buckets at a time
    #[arg(long, default_value_t = 1)]
    pub cores: usize,
    /// Seconds between signs of life; at most 5 with TLS
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub heartbeat: u64,
    /// Wait for each batch of points in milliseconds, to exercise the loss of an executor
    #[arg(long, hide = true)]
    pub pause_ms: Option<u64>,
    /// End after the results of a bucket are written, to exercise the loss of an executor
    #[arg(long, hide = true)]
    pub abort_after_write: bool,
    /// Version to claim, to exercise clusters of several versions
    #[arg(long, hide = true)]
    pub claim_version: Option<String>,
    #[command(flatten)]
    pub tls: TlsOptions,
}

/// The place of a scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerAddress {
    /// Name or address; IPv6 in brackets.
    host: String,
    port: u16,
}

impl FromStr for SchedulerAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = parts.filter(|(host, _)| !host.is_empty()).ok_or("write HOST:PORT, as in 10.0.0.1:50050")?;
        let is_bare_ipv6 = host.contains(':') && !host.starts_with('[');
        if is_bare_ipv6 {
            Err("write [ADDRESS]:PORT for IPv6".to_owned())
        } else {
            Ok(Self { host: host.to_owned(), port })
        }
    }
}

/// Seconds after which temporary results of finished jobs are removed.
const RESULT_TTL_S: u64 = 3_600;
/// Busy executors that fetch their tasks give a sign of life every 5 s.
const MIN_TIMEOUT_WITH_TLS_S: u64 = 10;
/// Maximum bytes of a message: a plan has the names of all files.
const MAX_MESSAGE: usize = 256 << 20;

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build()?.block_on(work)
}

/// An address as a part of a URL: Ballista appends a colon and the port.
fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Runs a scheduler until the process ends.
pub fn run_scheduler(options: &SchedulerOptions) -> Result<()> {
    let (timeout, tls) = (options.executor_timeout, options.tls.read_for(options.bind, options.host.as_deref())?);
    ensure!(
        tls.is_none() || timeout >= MIN_TIMEOUT_WITH_TLS_S,
        "--executor-timeout {timeout}: choose {MIN_TIMEOUT_WITH_TLS_S} or more with TLS"
    );
    let config = SchedulerConfig {
        bind_host: host_of(options.bind),
        external_host: options.host.clone().unwrap_or_else(|| host_of(options.bind)),
        bind_port: options.port,
        executor_timeout_seconds: timeout,
        expire_dead_executor_interval_seconds: (timeout / 3).max(1),
        // Not below the timeout: a job waits for executors to come back.
        no_executors_grace_period_seconds: timeout + timeout / 2,
        scheduling_policy: policy_of(tls.as_ref()),
        override_create_grpc_client_endpoint: tls.as_ref().map(Tls::endpoint_override),
        override_physical_codec: Some(Arc::new(FleetCodec::default())),
        grpc_server_max_decoding_message_size: MAX_MESSAGE as u32,
        grpc_server_max_encoding_message_size: MAX_MESSAGE as u32,
        grpc_client_max_message_size: MAX_MESSAGE as u32,
        ..SchedulerConfig::default()
    };
    let address = SocketAddr::new(options.bind, options.port);
    block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await?;
        let context = || format!("scheduler on {address}");
        let Some(tls) = tls else {
            return start_server(cluster, address, Arc::new(config)).await.with_context(context);
        };
        config.validate()?;
        let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await?;
        let service = SchedulerGrpcServer::new(scheduler)
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(MAX_MESSAGE);
        tls.server()?.add_service(service).serve(address).await.with_context(context)
    })
}

/// With TLS executors fetch their tasks, because Ballista's server of executors has no TLS.
fn policy_of(tls: Option<&Tls>) -> TaskSchedulingPolicy {
    if tls.is_some() { TaskSchedulingPolicy::PullStaged } else { TaskSchedulingPolicy::PushStaged }
}

/// Settings of a client's or an executor's connections.
fn session_with(tls: Option<&Tls>) -> SessionConfig {
    let session = SessionConfig::new_with_ballista();
    match tls {
        Some(tls) => session
            .with_ballista_use_tls(true)
            .with_ballista_override_create_grpc_client_endpoint(tls.endpoint_override()),
        None => session,
    }
}

/// The server of an executor's results.
fn encrypted_results(tls: Tls) -> Arc<ArrowFlightServerProvider> {
    Arc::new(move |work, address, mut shutdown, _| {
        let tls = tls.clone();
        tokio::spawn(async move {
            let service = FlightServiceServer::new(BallistaFlightService::new(work))
                .max_decoding_message_size(MAX_MESSAGE)
                .max_encoding_message_size(MAX_MESSAGE);
            let mut server = tls.server().map_err(|error| BallistaError::General(format!("{error:#}")))?;
            let work = server.add_service(service).serve_with_shutdown(address, shutdown.recv());
            work.await.map_err(BallistaError::TonicError)
        })
    })
}

/// Runs an executor until the process ends.
pub fn run_executor(options: &ExecutorOptions) -> Result<()> {
    if let Some(pause) = options.pause_ms {
        PAUSE.get_or_init(|| Duration::from_millis(pause));
    }
    ABORTS_AFTER_WRITE.store(options.abort_after_write, Ordering::Relaxed);
    if let Some(version) = &options.claim_version {
        CLAIMED_VERSION.get_or_init(|| version.clone());
    }
    let tls = options.tls.read_for(options.bind, options.host.as_deref())?;
    let own_tls = tls.clone();
    // The folder of an earlier process would serve results that the scheduler has given up.
    let work = WorkFolder::create(&options.work)?;
    let config = ExecutorProcessConfig {
        bind_host: host_of(options.bind),
        external_host: Some(options.host.clone().unwrap_or_else(|| host_of(options.bind))),
        port: options.port,
        grpc_port: options.command_port,
        scheduler_host: options.scheduler.host.clone(),
        scheduler_port: options.scheduler.port,
        scheduler_connect_timeout_seconds: 30,
        vcores: options.cores,
        work_dir: Some(work.path.display().to_string()),
        job_data_ttl_seconds: RESULT_TTL_S,
        job_data_clean_up_interval_seconds: 60,
        executor_heartbeat_interval_seconds: options.heartbeat,
        task_scheduling_policy: policy_of(tls.as_ref()),
        override_create_grpc_client_endpoint: tls.as_ref().map(Tls::endpoint_override),
        override_arrow_flight_service: tls.map(encrypted_results),
        override_config_producer: Some(Arc::new(move || session_with(own_tls.as_ref()))),
        override_physical_codec: Some(Arc::new(FleetCodec::default())),
        grpc_max_decoding_message_size: MAX_MESSAGE as u32,
        grpc_max_encoding_message_size: MAX_MESSAGE as u32,
        ..ExecutorProcessConfig::default()
    };
    block_on(async {
        start_executor_process(Arc::new(config)).await.context("executor")?;
        Ok(())
    })
}

/// Runs a plan on the cluster of a scheduler, and returns the number of its rows.
pub async fn submit(scheduler: &str, tls: &TlsOptions, plan: Arc<dyn ExecutionPlan>) -> Result<usize> {
    let tls = tls.read()?;
    // A task takes one bucket: the loss of an executor breaks off no more.
    let session = session_with(tls.as_ref())
        .set_usize("ballista.scheduler.max_partitions_per_task", 1)
        .set_usize("ballista.client.grpc_max_message_size", MAX_MESSAGE);
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (url, codec) = (format!("{scheme}://{scheduler}"), FleetCodec::default());
    let id = format!("fleet-{}", std::process::id());
    let config = session.ballista_config();
    let run = async {
        let stream = execute_physical_plan::<PhysicalPlanNode>(url, &config, plan, &codec, id, session).await?;
        count_rows(stream).await
    };
    run.await.map_err(|error| {
        // The reason why an executor rejects a task is in its log only.
        let is_rejected = error.to_string().contains("rejected by executor");
        let remedy = if is_rejected { "run client, scheduler and executors of one version" } else { "start it again" };
        let text =
            format!("run on the cluster of {scheduler}; finished buckets stay: {remedy}, and repeat the command");
        anyhow::Error::new(error).context(text)
    })
}
