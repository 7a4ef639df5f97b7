//! The flag table: the only definition of commands, flags and help texts. Help, man page, completions and reference are
//! generated from it.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use plimsoll_load::Arrival;
use plimsoll_measure::{
    BlockSizes, EffortLevel, EngineChoice, LoadOptions, MeasurementRequest, PatternWord, Percent, ReplayOptions,
    RunLabel, SimulationRequest, SweepOptions, WorkingSet,
};
use plimsoll_record::Objective;
use plimsoll_units::{Bytes, Iops, Span};

use plimsoll_service::OtlpEndpoint;

mod check;
mod cloud;
mod collect;
mod demand;
mod diagnose;
mod doctor;
mod fio;
mod forms;
mod help;
mod inputs;
mod iscsi;
mod kubernetes;
mod nbd;
mod offers;
mod size;
mod suite;
mod translate;
mod volumes;
mod watch;

use check::CHECK_EXAMPLES;
pub use check::CheckArgs;
pub use cloud::{
    CloudArgs, Ec2KeyArgs, InstanceArgs, InstanceCommand, OciAgentArgs, OciConfigArgs, OciKeyArgs, OciKeyCommand,
};
use cloud::{EC2_KEY_EXAMPLES, INSTANCE_EXAMPLES, OCI_AGENT_EXAMPLES, OCI_CONFIG_EXAMPLES, OCI_KEY_EXAMPLES};
use collect::COLLECT_EXAMPLES;
pub use collect::{CollectArgs, CollectCommand, SamplingArgs};
use demand::DEMAND_EXAMPLES;
pub use demand::DemandArgs;
use diagnose::DIAGNOSE_EXAMPLES;
pub use diagnose::DiagnoseArgs;
use doctor::{DOCTOR_EXAMPLES, TRY_EXAMPLES};
pub use doctor::{DoctorArgs, TryArgs};
use fio::FIO_EXAMPLES;
pub use fio::FioArgs;
pub use forms::{FormArgs, GateArgs};
pub use help::{build_command, describe_commands};
use iscsi::ISCSI_EXAMPLES;
pub use iscsi::{ChapArgs, IscsiArgs};
pub use kubernetes::{ClaimJobArgs, ClaimRunArgs, KubernetesArgs, KubernetesCommand};
use nbd::NBD_EXAMPLES;
pub use nbd::{ImageArgs, NbdArgs, TlsArgs, TlsWord};
use offers::{CATALOGUE_EXAMPLES, EXPLAIN_EXAMPLES, FIT_EXAMPLES, MATCH_EXAMPLES, PRICES_EXAMPLES, QUOTE_EXAMPLES};
pub use offers::{
    CatalogueArgs, CatalogueCommand, ExplainArgs, FitArgs, MatchArgs, PricesArgs, PricesCommand, QuoteArgs, TermsArgs,
};
use size::SIZE_EXAMPLES;
pub use size::{SizeArgs, WhatIfWord};
use suite::SUITE_EXAMPLES;
pub use suite::{DatabaseArgs, MakeArgs, SuiteArgs, SuiteTarget};
pub use translate::{translate, translate_layout, translate_text};
pub use volumes::{
    AttachArgs, AutotuneArgs, FaultsArgs, GroupCommand, LogFormat, MakeFs, ReachArgs, ServeArgs, VolumeArgs,
    VolumeCommand, WebArgs,
};
use volumes::{SERVE_EXAMPLES, VOLUME_EXAMPLES, WEB_EXAMPLES};
use watch::WATCH_EXAMPLES;
pub use watch::WatchArgs;

/// Finds the load line of storage: the highest load that it carries within a latency objective.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, max_term_width = 100, propagate_version = true)]
pub struct Cli {
    /// Language of results and messages; default: that of `LC_ALL`, `LC_MESSAGES` or `LANG`. JSON and CSV are English
    #[arg(long, global = true, value_name = "LANGUAGE", help_heading = "Global options")]
    pub lang: Option<LanguageWord>,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// A language of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LanguageWord {
    /// English
    En,
    /// Japanese
    Ja,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure storage: its latency curve to saturation, its load line, and what limits it
    #[command(after_help = MEASURE_EXAMPLES)]
    Measure(Box<MeasureCommand>),
    /// Run the same load against a model, in virtual time
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(Box<Simulate>),
    /// Show the limits, price and binding limit of storage configurations
    #[command(after_help = QUOTE_EXAMPLES)]
    Quote(QuoteArgs),
    /// List storage products, show a product, or check a product file
    #[command(after_help = CATALOGUE_EXAMPLES)]
    Catalogue(CatalogueArgs),
    /// List the regions and dates of prices, or import price lists that clouds publish
    #[command(after_help = PRICES_EXAMPLES)]
    Prices(PricesArgs),
    /// List products that carry the load line of a run, cheapest first, and products that resemble the measured storage
    #[command(after_help = MATCH_EXAMPLES)]
    Match(MatchArgs),
    /// Extract the storage load from reports of databases and hosts, by class, with the source of each number
    #[command(after_help = DEMAND_EXAMPLES)]
    Demand(DemandArgs),
    /// Diagnose whether storage is the bottleneck of a database, and estimate the gain of faster storage
    #[command(after_help = DIAGNOSE_EXAMPLES)]
    Diagnose(DiagnoseArgs),
    /// Collect counters of a running database or host, as input for `plimsoll demand`
    #[command(after_help = COLLECT_EXAMPLES)]
    Collect(CollectArgs),
    /// Rank the configurations that carry the load of reports by price, with reasons
    #[command(after_help = SIZE_EXAMPLES)]
    Size(Box<SizeArgs>),
    /// Measure a volume claim of Kubernetes: print a Job, and collect its run
    #[command(name = "k8s")]
    Kubernetes(KubernetesArgs),
    /// Watch a database, host or file against the limits of its storage: headroom, burst credits, alerts, metrics
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(Box<WatchArgs>),
    /// Run a classic benchmark (crystaldiskmark, dd, bonnie, slob, ...) in its own layout, with an explanation
    #[command(after_help = SUITE_EXAMPLES)]
    Suite(Box<SuiteArgs>),
    /// Run fio's job files and command lines on plimsoll's engines, with fio's output formats
    #[command(after_help = FIO_EXAMPLES, disable_help_flag = true, disable_version_flag = true)]
    Fio(FioArgs),
    /// Check whether storage meets the published requirement of a product (etcd, vault, ...), on real storage or a model
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Compare a run with the theoretical figures of a configuration, with likely causes of differences
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Fit a model to runs and write it as a product file
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Serve emulated volumes: real data, with the response times of a product
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Open the web console: volumes, measurements, choices and models in a browser on this host
    #[command(after_help = WEB_EXAMPLES)]
    Web(Box<WebArgs>),
    /// Create, list, change and monitor the volumes of a service
    #[command(after_help = VOLUME_EXAMPLES)]
    Volume(VolumeArgs),
    /// Create, list and delete instances, whose limits their volumes share
    #[command(after_help = INSTANCE_EXAMPLES)]
    Instance(InstanceArgs),
    /// Register and list the keys of clients of `plimsoll serve --oci`
    #[command(after_help = OCI_KEY_EXAMPLES)]
    OciKey(OciKeyArgs),
    /// Make a key and the configuration of the oci CLI for `plimsoll serve --oci`
    #[command(after_help = OCI_CONFIG_EXAMPLES)]
    OciConfig(OciConfigArgs),
    /// On an instance of `plimsoll serve --oci`: log in to all paths of its volumes, set up multipath, link device paths
    #[command(after_help = OCI_AGENT_EXAMPLES)]
    OciAgent(OciAgentArgs),
    /// Make an access key for `plimsoll serve --ec2`, and print it as variables of the shell
    #[command(after_help = EC2_KEY_EXAMPLES)]
    Ec2Key(Ec2KeyArgs),
    /// Serve an image or memory over NBD, optionally with the response times of a product
    #[command(after_help = NBD_EXAMPLES)]
    Nbd(Box<NbdArgs>),
    /// Serve an image or memory as an iSCSI target, optionally with the response times of a product
    #[command(after_help = ISCSI_EXAMPLES)]
    Iscsi(Box<IscsiArgs>),
    /// Check an NBD server's conformance to the protocol, and its timing
    #[command(after_help = NBD_CHECK_EXAMPLES)]
    NbdCheck(NbdCheckArgs),
    /// Simulate, diagnose, size and emulate with samples, in about 15 s; leaves nothing behind
    #[command(after_help = TRY_EXAMPLES)]
    Try(TryArgs),
    /// Check what measurements and emulated volumes need on this host, with remedies
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Show kept runs: one run, or several in a common report
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Compare runs: verdict, size and certainty of the change
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Compare),
    /// List kept runs
    #[command(after_help = RUNS_EXAMPLES)]
    Runs(RunsArgs),
    /// Show the load line, or the response time of a named load, of the runs of a target over time, and when it changed
    #[command(after_help = HISTORY_EXAMPLES)]
    History(HistoryArgs),
    /// Print the configuration file, which has defaults of options
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(FormArgs),
    /// List the guides, or print a guide in Markdown
    #[command(after_help = GUIDE_EXAMPLES)]
    Guide {
        /// Name of the guide
        #[arg(value_parser = PossibleValuesParser::new(crate::guide::names()))]
        name: Option<String>,
    },
    /// List the presets, or print a preset as a template
    #[command(after_help = PRESETS_EXAMPLES, mut_arg("json", forms::json_before_names))]
    Presets {
        /// Name of the preset
        name: Option<String>,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Print shell completions, the man page, the reference or a file format
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate {
        /// Document to print
        #[arg(value_enum)]
        document: Generated,
        /// With schema: the result; `run` without it
        #[arg(value_name = "RESULT", value_parser = PossibleValuesParser::new(list_schemas()))]
        name: Option<String>,
    },
}

/// Names of the results with a schema.
fn list_schemas() -> impl Iterator<Item = &'static str> {
    plimsoll_report::schema_names().chain(plimsoll_service::SCHEMAS.map(|(name, _)| name))
}

/// Generated documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// Completions for bash
    Bash,
    /// Completions for zsh
    Zsh,
    /// Completions for fish
    Fish,
    /// The man page
    Man,
    /// The reference of commands and flags, in Markdown
    Reference,
    /// The JSON Schema of a result
    Schema,
    /// The `OpenAPI` document of the volume API
    Openapi,
}

const MEASURE_EXAMPLES: &str = "\
Examples:
  plimsoll measure /var/lib/postgresql            temporary file in that directory, about 60 s
  plimsoll measure . --objective 'p99<=1ms'       load at which 99 % of operations take at most 1 ms
  plimsoll measure /dev/nvme1n1                   block device, read-only
  plimsoll measure nbd://db1/data                 export of an NBD server, read-only
  plimsoll measure /mnt/a --against /mnt/b        alternating comparison of two targets
  plimsoll measure . --preset redo --html r.html  commits of a log writer, with an HTML page
  plimsoll measure /mnt/new --replay db.trace     replay of a recorded load in a temporary file";

const NBD_CHECK_EXAMPLES: &str = "\
Examples:
  plimsoll nbd-check nbd://db1/data               read-only
  plimsoll nbd-check 'nbd+unix:///?socket=/run/nbd.sock' --destroy 'nbd+unix:///?socket=/run/nbd.sock'";

const REPORT_EXAMPLES: &str = "\
Examples:
  plimsoll report                                 the last run
  plimsoll report last~1 last --html both.html    the last two on one page";

const RUNS_EXAMPLES: &str = "\
Examples:
  plimsoll runs                                   kept runs with target, date and load line
  plimsoll runs label last before-upgrade         then: plimsoll compare before-upgrade last
  plimsoll runs delete 20261101                   a run by the beginning of its name
  plimsoll runs prune --keep 50                   all but the newest 50
  PLIMSOLL_RUNS=/srv/runs plimsoll runs           runs in another directory";

const HISTORY_EXAMPLES: &str = "\
Examples:
  plimsoll history                                kept runs of the target and load of the last run
  plimsoll history nightly --html history.html    those of the run `nightly`, with a chart
  plimsoll history runs/*.json                    these runs, in the order of their start";

const CONFIG_EXAMPLES: &str = "\
Examples:
  plimsoll config                     the file and its path: PLIMSOLL_CONFIG, or ~/.config/plimsoll/config.toml,
                                      or, if there is none, /etc/plimsoll/config.toml

A file for prices in Japan and the providers of this company:
  currency = \"JPY\"                  for every command that has --currency
  details = true
  [size]                              for one command
  provider = [\"oci\", \"aws\"]";

const GUIDE_EXAMPLES: &str = "\
Examples:
  plimsoll guide                      the guides and their titles
  plimsoll guide inputs | less        formats that can be read, and how to create them";

const PRESETS_EXAMPLES: &str = "\
Examples:
  plimsoll presets
  plimsoll presets redo > mine.toml; plimsoll measure . --preset mine.toml";

const GENERATE_EXAMPLES: &str = "\
Examples:
  plimsoll generate bash > /etc/bash_completion.d/plimsoll
  plimsoll generate man > plimsoll.1
  plimsoll generate schema quote                  the JSON Schema of `plimsoll quote --json`";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  plimsoll simulate oci:256GB@50vpu
  plimsoll simulate netapp/aff-a800 netapp/aff-c800 --reads 100 --html both.html
  plimsoll simulate 'stripe(2,64KiB) of azure/2014:1023GB' --block-size 4KiB
  plimsoll simulate gp3:100GiB oci:256GB@20vpu --replay db.trace --objective 'p99<=5ms'
  plimsoll simulate 'limit(3000) then station(8, 80us, exponential)'
  plimsoll simulate 'station(32, 100us, lognormal 0.5) then link(25us, 1200MB/s)' --reads 100";

/// `plimsoll measure`
#[derive(Clone, Debug, Args)]
pub struct MeasureCommand {
    /// A directory (a temporary file is created in it), a file, a block device, or an export of an NBD server:
    /// `nbd://HOST:PORT/NAME`, `nbd+unix:///NAME?socket=PATH`
    #[arg(value_name = "PATH|URI")]
    pub path: PathBuf,
    /// Compare with this directory, file, device or export: passes alternate between both targets (A B B A), and the
    /// verdict on this target is printed first; loads of `--rate` or `--depth` are compared one by one
    #[arg(long, value_name = "PATH|URI", conflicts_with_all = ["replay", "hosts"])]
    pub against: Option<PathBuf>,
    /// Compare two settings of this path: passes alternate (A B B A), each after the shell command of its side, such as
    /// `sysctl vm.dirty_ratio=10`. A failing command ends the measurement. The settings of the last command remain
    #[arg(long, num_args = 2, value_names = ["COMMAND_A", "COMMAND_B"],
        conflicts_with_all = ["against", "destroy", "replay", "hosts"])]
    pub ab: Vec<String>,
    /// Keep the run under this label, a name for `report`, `compare` and other commands
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["against", "ab"])]
    pub label: Option<RunLabel>,
    /// Keep the run for `report`, `compare` and other commands. A run that cannot be kept gives exit code 1, or 3 with
    /// `required`, which also checks the directory of runs before the measurement
    #[arg(long, value_name = "WHETHER", value_enum, default_value_t = KeepWord::Yes)]
    pub keep: KeepWord,
    #[command(flatten)]
    pub sweep: SweepArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write metrics of the result for Prometheus: a file for the textfile collector of `node_exporter`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["against", "ab"], help_heading = "Output")]
    pub prometheus: Option<PathBuf>,
    /// Send metrics of the result to a collector of OpenTelemetry, such as `http://127.0.0.1:4318` (OTLP/HTTP, JSON)
    #[arg(long, value_name = "URL", conflicts_with_all = ["against", "ab"], help_heading = "Output")]
    pub otlp: Option<OtlpEndpoint>,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
}

impl MeasureCommand {
    /// The request of the measurement of the path.
    pub fn request(&self) -> MeasurementRequest {
        let TargetArgs { size, buffered, engine, hosts, destroy } = self.target.clone();
        MeasurementRequest {
            path: self.path.clone(),
            load: self.load.options(),
            sweep: self.sweep.options(),
            replay: self.replay.options(),
            size,
            buffered,
            engine: engine.choice(),
            hosts,
            destroy,
        }
    }
}

/// `plimsoll simulate`
#[derive(Debug, Args)]
pub struct Simulate {
    /// Configurations of the catalogue, or stages joined by `then`: limit(...), station(...), link(...)
    #[arg(required = true, value_name = "CONFIG|MODEL")]
    pub models: Vec<String>,
    /// Size of the address space; by default the capacity of the product, or 64 GiB for stages
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    #[command(flatten)]
    pub sweep: SweepArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
}

impl Simulate {
    /// The request of the simulation of each model.
    pub fn request(&self) -> SimulationRequest {
        SimulationRequest {
            load: self.load.options(),
            sweep: self.sweep.options(),
            replay: self.replay.options(),
            size: self.size,
        }
    }
}

/// A recorded load instead of a generated load.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replay")]
pub struct ReplayArgs {
    /// Replay this trace with its arrival times instead of a preset: a recording of plimsoll, blktrace, blkparse, fio
    /// I/O log, MSR, SPC or another known format, plain or gzip
    #[arg(long, value_name = "TRACE", conflicts_with_all = GENERATED_LOAD_FLAGS)]
    pub replay: Option<PathBuf>,
    /// Multiply the times between arrivals: 0.5 replays twice as fast
    #[arg(long, value_name = "FACTOR", requires = "replay")]
    pub time_scale: Option<f64>,
    /// Ignore arrival times and keep --depth operations (default 32) in flight
    #[arg(long, requires = "replay", conflicts_with = "time_scale")]
    pub as_fast_as_possible: bool,
    /// Omit writes and flushes, for storage whose data must be preserved
    #[arg(long, requires = "replay")]
    pub reads_only: bool,
}

impl ReplayArgs {
    /// The replay, if a trace is given.
    pub fn options(&self) -> Option<ReplayOptions> {
        Some(ReplayOptions {
            trace: self.replay.clone()?,
            time_scale: self.time_scale,
            as_fast_as_possible: self.as_fast_as_possible,
            reads_only: self.reads_only,
        })
    }
}

/// Flags that define a generated load or its duration; a trace contains both.
const GENERATED_LOAD_FLAGS: [&str; 15] = [
    "preset",
    "block_size",
    "reads",
    "pattern",
    "working_set",
    "durable",
    "flush_every",
    "quick",
    "thorough",
    "duration",
    "warm_up",
    "repetitions",
    "max_depth",
    "rate",
    "arrival",
];

/// The load.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Load: a built-in preset (oltp, redo, scan, backup, etcd, database), or a file in the format of `plimsoll presets
    /// NAME`
    #[arg(long, value_name = "NAME|FILE", default_value = "oltp")]
    pub preset: String,
    /// Block size of the preset's first stream, or sizes with weights: 8KiB, or 4KiB:30,16KiB:70
    #[arg(short, long, value_name = "SIZE[:SHARE],...")]
    pub block_size: Option<BlockSizes>,
    /// Percentage of reads of the first stream
    #[arg(short, long, value_name = "PERCENT")]
    pub reads: Option<Percent>,
    /// Access pattern of the first stream: sequential, uniform, zipf:THETA, or hot:OPERATIONS/SPACE in percent, such as
    /// hot:90/10
    #[arg(short, long)]
    pub pattern: Option<PatternWord>,
    /// Address only the first part of the space: a size or a percentage
    #[arg(short, long, value_name = "SIZE|PERCENT%")]
    pub working_set: Option<WorkingSet>,
    /// Make each write durable before it completes (O_DSYNC)
    #[arg(long)]
    pub durable: bool,
    /// Flush (fdatasync) after every N writes
    #[arg(long, value_name = "WRITES")]
    pub flush_every: Option<u32>,
    /// Compressibility of the written data in percent
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub compressible: Percent,
    /// Seed of the random streams; the same seed gives the same operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl LoadArgs {
    /// The options of the load.
    pub fn options(&self) -> LoadOptions {
        LoadOptions {
            preset: self.preset.clone(),
            block_size: self.block_size.as_ref().map(|BlockSizes(sizes)| sizes.clone()),
            reads: self.reads.map(|Percent(share)| share),
            pattern: self.pattern.map(|PatternWord(pattern)| pattern),
            working_set: self.working_set,
            durable: self.durable,
            flush_every: self.flush_every,
            compressible: self.compressible.0,
            seed: self.seed,
        }
    }
}

/// Duration and load points of the measurement.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Course")]
pub struct SweepArgs {
    /// Objective of the load line, such as 'p99<=1ms', 'mean<=500us' or 'read p99.9<=5ms'
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// Measure for about 15 seconds, with wide intervals
    #[arg(long, conflicts_with_all = ["thorough", "duration"])]
    pub quick: bool,
    /// Measure until intervals are narrow, up to about 10 minutes
    #[arg(long, conflicts_with = "duration")]
    pub thorough: bool,
    /// Total measuring time; on a busy host, a longer time leaves more undisturbed slots
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<Span>,
    /// Minimum warm-up of each point, excluded from all figures; extended until the run is steady
    #[arg(long, value_name = "TIME")]
    pub warm_up: Option<Span>,
    /// Measurements per point
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub repetitions: u32,
    /// Only closed loads at these queue depths: 1,4,16
    #[arg(long, value_name = "DEPTHS", value_delimiter = ',', conflicts_with = "rate")]
    pub depth: Option<Vec<u32>>,
    /// Maximum queue depth of the sweep
    #[arg(long, value_name = "DEPTH", conflicts_with_all = ["depth", "rate"])]
    pub max_depth: Option<u32>,
    /// Only open loads at these arrival rates: 5000,10k
    #[arg(long, value_name = "IOPS", value_delimiter = ',')]
    pub rate: Option<Vec<Iops>>,
    /// Spacing of open arrivals
    #[arg(long, value_enum, default_value_t = ArrivalWord::Poisson)]
    pub arrival: ArrivalWord,
    /// Load generator threads; a simulation requires 1
    #[arg(short, long, default_value_t = 1)]
    pub threads: u32,
    /// End the measurement at the first failed operation instead of counting errors
    #[arg(long)]
    pub stop_on_error: bool,
}

impl SweepArgs {
    /// The options of the sweep.
    pub fn options(&self) -> SweepOptions {
        let effort = match (self.quick, self.thorough, self.duration) {
            (true, ..) => EffortLevel::Quick,
            (_, true, _) => EffortLevel::Thorough,
            (.., Some(duration)) => EffortLevel::Within(duration),
            _ => EffortLevel::Standard,
        };
        SweepOptions {
            objective: self.objective,
            effort,
            warm_up: self.warm_up,
            repetitions: self.repetitions,
            depths: self.depth.clone(),
            max_depth: self.max_depth,
            rates: self.rate.clone(),
            arrival: match self.arrival {
                ArrivalWord::Poisson => Arrival::Poisson,
                ArrivalWord::Constant => Arrival::Constant,
            },
            threads: self.threads,
            stop_on_error: self.stop_on_error,
        }
    }
}

/// Spacing of open arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrivalWord {
    /// Random, as with many independent clients
    Poisson,
    /// Constant
    Constant,
}

/// The target and its access path.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetArgs {
    /// Size of the temporary file in a directory, filled completely; by default a quarter of the free space, at most 8
    /// GiB and as much as can be filled in the time
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Use the page cache instead of direct I/O
    #[arg(long)]
    pub buffered: bool,
    /// I/O engine
    #[arg(long, value_enum, default_value_t = EngineWord::Auto)]
    pub engine: EngineWord,
    /// Distribute the load over these hosts, with the path on each; each runs `fio --server`. Needs --engine fio and
    /// --size; direct I/O, and only reads unless --destroy names the path
    #[arg(long, value_name = "HOST[:PORT],...", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// Allow writing to this existing file, block device or export; repeat its path or URI. ITS DATA ARE LOST
    #[arg(long, value_name = "PATH|URI")]
    pub destroy: Vec<PathBuf>,
}

/// I/O engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineWord {
    /// `io_uring` if available, otherwise threads
    Auto,
    /// `io_uring`
    #[value(name = "io_uring")]
    IoUring,
    /// Threads with pread and pwrite
    Threads,
    /// An installed fio (3.20 or later) instead of plimsoll's generator, for comparison
    Fio,
}

impl EngineWord {
    const fn choice(self) -> EngineChoice {
        match self {
            Self::Auto => EngineChoice::Auto,
            Self::IoUring => EngineChoice::IoUring,
            Self::Threads => EngineChoice::Threads,
            Self::Fio => EngineChoice::Fio,
        }
    }
}

/// Output of the result.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[command(flatten)]
    pub forms: FormArgs,
    /// Write the curve as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print no progress and no report
    #[arg(short, long)]
    pub quiet: bool,
}

/// Whether a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepWord {
    /// After the measurement
    Yes,
    /// The directory of runs is checked before the measurement
    Required,
    /// Not at all
    No,
}

/// `plimsoll runs`
#[derive(Debug, Args)]
#[command(mut_arg("json", forms::json_before_names))]
pub struct RunsArgs {
    /// Subcommand; by default the list
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// `plimsoll history`
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// A run, for the kept runs of its target and load, or several runs; by default the last run
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// Changes of kept runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Rename a run to a label
    Label {
        /// The run: `last`, `last~1`, or the beginning of its name
        run: PathBuf,
        /// The label: letters, digits and hyphens
        label: RunLabel,
    },
    /// Remove runs
    Delete {
        /// The runs: `last`, `last~1`, or the beginnings of their names
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
    },
    /// Remove all but the newest runs
    Prune {
        /// Number of runs that stay
        #[arg(long, value_name = "N")]
        keep: usize,
    },
}

/// `plimsoll nbd-check`
#[derive(Debug, Args)]
#[command(mut_arg("json", forms::json_before_names))]
pub struct NbdCheckArgs {
    /// Export to check: `nbd://HOST:PORT/NAME` or `nbd+unix:///NAME?socket=PATH`; `nbds` for TLS, with
    /// `tls-certificates=DIR`
    pub uri: String,
    /// Allow writing to the export; repeat its URI. Overwritten data are restored unless the connection fails
    #[arg(long, value_name = "URI")]
    pub destroy: Option<String>,
    /// Show requests and responses of all features
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// `plimsoll report`
#[derive(Debug, Args)]
pub struct Report {
    /// Run files, or kept runs by name, unambiguous prefix, `last` or `last~1`; by default the last run
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  plimsoll compare last~1 last                    the last run with the previous run
  plimsoll compare a1 a2 a3 -- b1 b2 b3           three runs per side: verdict beyond the time of these runs
  plimsoll compare before.json after.json --exit-code && echo 'not worse'

Exit codes with --exit-code: 0 better or no difference, 1 worse (also if only at some loads), 2 usage error, 3 undetermined.";

/// `plimsoll compare`
#[derive(Debug, Args)]
#[command(
    override_usage = "plimsoll compare [OPTIONS] <BEFORE> <AFTER>\n       plimsoll compare [OPTIONS] <BEFORE>... -- <AFTER>...",
    mut_arg("json", |arg| arg.help("Write the comparison as JSON (- for standard output)")),
    mut_arg("csv", |arg| arg.help("Write the figures of both sides as CSV (- for standard output)"))
)]
pub struct Compare {
    /// The run before and the run after, or with `--` at least three runs before: files, or kept runs by name,
    /// unambiguous prefix, `last` or `last~1`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// At least three runs after
    #[arg(last = true, value_name = "AFTER")]
    pub after: Vec<PathBuf>,
    /// Return the verdict as exit code: 0 better or no difference, 1 worse, 2 usage error, 3 undetermined
    #[arg(long)]
    pub exit_code: bool,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
