//! The flag table: every command, flag and help text, once. Help, man page, completions and the reference are made of
//! it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use plimsoll_record::Objective;
use plimsoll_units::{Bytes, Iops, Span};

mod collect;
mod demand;
mod diagnose;
mod fio;
mod forms;
mod help;
mod inputs;
mod iscsi;
mod nbd;
mod offers;
mod size;
mod suite;
mod volumes;

use collect::COLLECT_EXAMPLES;
pub use collect::{CollectArgs, CollectCommand, CollectMysql, CollectOracle, CollectPostgres, SamplingArgs};
use demand::DEMAND_EXAMPLES;
pub use demand::DemandArgs;
use diagnose::DIAGNOSE_EXAMPLES;
pub use diagnose::DiagnoseArgs;
use fio::FIO_EXAMPLES;
pub use fio::FioArgs;
pub use forms::FormArgs;
pub use help::command;
pub use inputs::InputArgs;
use iscsi::ISCSI_EXAMPLES;
pub use iscsi::{ChapArgs, IscsiArgs};
use nbd::NBD_EXAMPLES;
pub use nbd::{ImageArgs, NbdArgs, TlsArgs, TlsWord};
use offers::{CATALOGUE_EXAMPLES, EXPLAIN_EXAMPLES, FIT_EXAMPLES, MATCH_EXAMPLES, QUOTE_EXAMPLES};
pub use offers::{CatalogueArgs, CatalogueCommand, ExplainArgs, FitArgs, MatchArgs, QuoteArgs, TermsArgs};
use size::SIZE_EXAMPLES;
pub use size::{SizeArgs, WhatIfWord};
use suite::SUITE_EXAMPLES;
pub use suite::{DatabaseArgs, MakeArgs, PhaseWord, Place, SuiteArgs};
pub use volumes::{
    AttachArgs, AutotuneArgs, FaultsArgs, GroupCommand, MakeFs, ReachArgs, ServeArgs, VolumeArgs, VolumeCommand,
};
use volumes::{SERVE_EXAMPLES, VOLUME_EXAMPLES};

use crate::words::{BlockSizes, Percent, WorkingSet};

/// Finds the load line of storage: the highest load that it carries within a latency objective.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, max_term_width = 100, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure storage: its latency curve to saturation, its load line, and what limits it
    #[command(after_help = MEASURE_EXAMPLES)]
    Measure(Box<Measure>),
    /// Run the same load against a model, in virtual time
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(Box<Simulate>),
    /// Show the limits, price and binding limit of storage configurations
    #[command(after_help = QUOTE_EXAMPLES)]
    Quote(QuoteArgs),
    /// List storage products, show one, or check a product file
    #[command(after_help = CATALOGUE_EXAMPLES)]
    Catalogue(CatalogueArgs),
    /// List products that carry the load line of a run, cheapest first, and those that the storage resembles
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
    /// Run a classic benchmark (crystaldiskmark, dd, bonnie, slob, ...) in its own layout, with an explanation
    #[command(after_help = SUITE_EXAMPLES)]
    Suite(Box<SuiteArgs>),
    /// Run fio's job files and command lines on plimsoll's engines, with fio's output formats
    #[command(after_help = FIO_EXAMPLES, disable_help_flag = true, disable_version_flag = true)]
    Fio(FioArgs),
    /// Compare a run with the theoretical figures of a configuration, with likely causes of differences
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Fit a model to runs and write it as a product file
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Serve emulated volumes: real data, with the response times of a product
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Create, list, change and monitor the volumes of a service
    #[command(after_help = VOLUME_EXAMPLES)]
    Volume(VolumeArgs),
    /// Serve one image, or memory, over NBD, optionally with the response times of a product
    #[command(after_help = NBD_EXAMPLES)]
    Nbd(Box<NbdArgs>),
    /// Serve one image, or memory, as an iSCSI target, optionally with the response times of a product
    #[command(after_help = ISCSI_EXAMPLES)]
    Iscsi(Box<IscsiArgs>),
    /// Check an NBD server's conformance to the protocol, and its timing
    #[command(after_help = NBD_CHECK_EXAMPLES)]
    NbdCheck(NbdCheckArgs),
    /// Show kept runs, one or several in one report
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Compare runs: whether the load line changed, by how much, and how certain that is
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Compare),
    /// List the runs that were kept
    #[command(after_help = RUNS_EXAMPLES)]
    Runs(FormArgs),
    /// List the presets, or show one as a file to start from
    #[command(after_help = PRESETS_EXAMPLES)]
    Presets {
        /// The preset to show
        name: Option<String>,
    },
    /// Print shell completions, the man page, the reference or a file format
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate {
        /// What to print
        #[arg(value_enum)]
        what: Generated,
    },
}

/// What can be generated.
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
    /// The JSON Schema of run files
    Schema,
    /// The `OpenAPI` document of the control of volumes
    Openapi,
}

const MEASURE_EXAMPLES: &str = "\
Examples:
  plimsoll measure /var/lib/postgresql            a file of its own in that directory, about 60 s
  plimsoll measure . --objective 'p99<=1ms'       the load under which 99 % of operations answer in 1 ms
  plimsoll measure /dev/nvme1n1                   a block device: only reads, nothing is written
  plimsoll measure nbd://db1/data                 an export of an NBD server: only reads, too
  plimsoll measure /mnt/a --against /mnt/b        two targets in turns, and which carries more
  plimsoll measure . --preset redo --html r.html  commits of a log writer, with a page to look at
  plimsoll measure /mnt/new --replay db.trace     what a recorded load gets there, in a file as large as it reaches";

const NBD_CHECK_EXAMPLES: &str = "\
Examples:
  plimsoll nbd-check nbd://db1/data               reads only
  plimsoll nbd-check 'nbd+unix:///?socket=/run/nbd.sock' --destroy 'nbd+unix:///?socket=/run/nbd.sock'";

const REPORT_EXAMPLES: &str = "\
Examples:
  plimsoll report                                 the last run
  plimsoll report last~1 last --html both.html    the last two in one page";

const RUNS_EXAMPLES: &str = "\
Examples:
  plimsoll runs                                   kept runs with target, date and load line
  PLIMSOLL_RUNS=/srv/runs plimsoll runs           the runs of another folder";

const PRESETS_EXAMPLES: &str = "\
Examples:
  plimsoll presets
  plimsoll presets redo > mine.toml; plimsoll measure . --preset mine.toml";

const GENERATE_EXAMPLES: &str = "\
Examples:
  plimsoll generate bash > /etc/bash_completion.d/plimsoll
  plimsoll generate man > plimsoll.1";

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
pub struct Measure {
    /// A directory (a file is made in it and removed), a file, a block device, or an export of an NBD server:
    /// `nbd://HOST:PORT/NAME`, `nbd+unix:///NAME?socket=PATH`
    #[arg(value_name = "PATH|URI")]
    pub path: PathBuf,
    /// Compare with this directory, file, device or export: both are measured pass by pass in turns (A B B A), and the first
    /// line is the verdict on this one
    #[arg(long, value_name = "PATH|URI", conflicts_with_all = ["replay", "hosts", "quick", "depth", "rate", "repetitions"])]
    pub against: Option<PathBuf>,
    /// Compare two settings of this path: passes in turns (A B B A), each after the shell command of its side, such as
    /// `sysctl vm.dirty_ratio=10`. A command that fails ends the measurement. What the last one set stays
    #[arg(long, num_args = 2, value_names = ["COMMAND_A", "COMMAND_B"],
        conflicts_with_all = ["against", "destroy", "replay", "hosts", "quick", "depth", "rate", "repetitions"])]
    pub ab: Vec<String>,
    #[command(flatten)]
    pub course: CourseArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
}

/// `plimsoll simulate`
#[derive(Debug, Args)]
pub struct Simulate {
    /// Configurations of the catalogue, or stages joined by `then`: limit(...), station(...), link(...)
    #[arg(required = true, value_name = "CONFIG|MODEL")]
    pub models: Vec<String>,
    /// Size of the space that the load addresses; by default the product's capacity, or 64 GiB for bare stages
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    #[command(flatten)]
    pub course: CourseArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
}

/// A recorded load in place of a generated one.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replay")]
pub struct ReplayArgs {
    /// Offer the operations of this trace, as they arrived, instead of a preset: a recording of plimsoll's, blktrace,
    /// blkparse, fio's I/O log, MSR, SPC or another known dialect, plain or compressed with gzip
    #[arg(long, value_name = "TRACE", conflicts_with_all = OF_A_GENERATED_LOAD)]
    pub replay: Option<PathBuf>,
    /// Multiply the times between arrivals: 0.5 is twice as fast as recorded
    #[arg(long, value_name = "FACTOR", requires = "replay")]
    pub time_scale: Option<f64>,
    /// Ask for one operation after the other, with --depth in flight (32), instead of as they arrived
    #[arg(long, requires = "replay", conflicts_with = "time_scale")]
    pub as_fast_as_possible: bool,
    /// Leave out what writes or flushes, for storage whose data are to stay
    #[arg(long, requires = "replay")]
    pub reads_only: bool,
}

/// Flags that say what a load is, or for how long it is offered: a trace says both.
const OF_A_GENERATED_LOAD: [&str; 15] = [
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

/// What is asked of the storage.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// A load by name (oltp, redo, scan, backup, etcd, database) or a file like the one `plimsoll presets NAME` shows
    #[arg(long, value_name = "NAME|FILE", default_value = "oltp")]
    pub preset: String,
    /// Block size of the preset's first stream, or sizes with shares: 8KiB, or 4KiB:30,16KiB:70
    #[arg(short, long, value_name = "SIZE[:SHARE],...")]
    pub block_size: Option<BlockSizes>,
    /// Share of reads of the first stream, in percent
    #[arg(short, long, value_name = "PERCENT")]
    pub reads: Option<Percent>,
    /// Where operations of the first stream go: sequential, uniform, zipf:THETA, hot:OPERATIONS/SPACE in percent, such as hot:90/10
    #[arg(short, long)]
    pub pattern: Option<crate::words::PatternWord>,
    /// Address only the first part of the space: a size, or a percentage
    #[arg(short, long, value_name = "SIZE|PERCENT%")]
    pub working_set: Option<WorkingSet>,
    /// Make each write durable before it answers (O_DSYNC)
    #[arg(long)]
    pub durable: bool,
    /// Flush (fdatasync) after every so many writes
    #[arg(long, value_name = "WRITES")]
    pub flush_every: Option<u32>,
    /// Share of the written data that compresses away, in percent
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub compressible: Percent,
    /// What determines the random streams: the same seed gives the same operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// How the measurement proceeds.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Course")]
pub struct CourseArgs {
    /// What the load line has to meet, such as 'p99<=1ms', 'mean<=500us' or 'read p99.9<=5ms'
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// About 15 seconds: wide intervals
    #[arg(long, conflicts_with_all = ["thorough", "duration"])]
    pub quick: bool,
    /// As long as tight intervals need, up to about 10 minutes
    #[arg(long, conflicts_with = "duration")]
    pub thorough: bool,
    /// Measuring time in all, instead of a budget
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<Span>,
    /// Time at the start of each point that is in no figure; more is cut where the run is still settling
    #[arg(long, value_name = "TIME")]
    pub warm_up: Option<Span>,
    /// How often each point is measured
    #[arg(long, value_name = "TIMES", default_value_t = 1)]
    pub repetitions: u32,
    /// Closed loads at these queue depths, and nothing else: 1,4,16
    #[arg(long, value_name = "DEPTHS", value_delimiter = ',', conflicts_with = "rate")]
    pub depth: Option<Vec<u32>>,
    /// The deepest queue that is tried
    #[arg(long, value_name = "DEPTH", conflicts_with_all = ["depth", "rate"])]
    pub max_depth: Option<u32>,
    /// Open loads at these arrival rates, and nothing else: 5000,10k
    #[arg(long, value_name = "IOPS", value_delimiter = ',')]
    pub rate: Option<Vec<Iops>>,
    /// How open loads arrive
    #[arg(long, value_enum, default_value_t = ArrivalWord::Poisson)]
    pub arrival: ArrivalWord,
    /// Loops that share the load, each on a thread of its own; a simulation needs one
    #[arg(short, long, default_value_t = 1)]
    pub threads: u32,
    /// End the measurement at the first operation that fails, instead of counting it
    #[arg(long)]
    pub stop_on_error: bool,
}

/// How open loads arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrivalWord {
    /// Independently of each other, as many clients do
    Poisson,
    /// Evenly
    Constant,
}

/// What is measured, and how it is reached.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetArgs {
    /// Size of the file that is made in a directory, filled however long that takes; by default a quarter of the free space,
    /// at most 8 GiB, as much of it as can be filled in the time
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Go through the page cache, to see what it does
    #[arg(long)]
    pub buffered: bool,
    /// What issues the operations
    #[arg(long, value_enum, default_value_t = EngineWord::Auto)]
    pub engine: EngineWord,
    /// Share the load among these hosts, on the path as it is there: each runs `fio --server`. Needs --engine fio and --size;
    /// direct I/O, and only reads unless --destroy names the path
    #[arg(long, value_name = "HOST[:PORT],...", value_delimiter = ',')]
    pub hosts: Vec<String>,
    /// Allow writing to this existing file, block device or export: the same path or URI again. ITS DATA ARE LOST
    #[arg(long, value_name = "PATH|URI")]
    pub destroy: Vec<PathBuf>,
}

/// What issues the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineWord {
    /// `io_uring` where the kernel allows it, else threads
    Auto,
    /// An `io_uring` ring
    #[value(name = "io_uring")]
    IoUring,
    /// Threads with pread and pwrite
    Threads,
    /// An installed fio (3.20 or newer) in place of plimsoll's own loops, as a cross-check of them
    Fio,
}

/// What becomes of the result.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write the run as JSON (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page with pictures, complete in one file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write it as Markdown (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the figures as CSV (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the curve as a picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print no progress and no report
    #[arg(short, long)]
    pub quiet: bool,
    /// Print without colours; the environment variable `NO_COLOR` does the same
    #[arg(long)]
    pub no_color: bool,
}

/// `plimsoll nbd-check`
#[derive(Debug, Args)]
pub struct NbdCheckArgs {
    /// The export: `nbd://HOST:PORT/NAME` or `nbd+unix:///NAME?socket=PATH`; `nbds` for TLS, with `tls-certificates=DIR`
    pub uri: String,
    /// Allow writing to it: the same URI again. What is overwritten is put back, if nothing breaks in between
    #[arg(long, value_name = "URI")]
    pub destroy: Option<String>,
    /// Show what was sent and got for every feature
    #[arg(long)]
    pub all: bool,
}

/// `plimsoll report`
#[derive(Debug, Args)]
pub struct Report {
    /// Run files, or kept runs by name, unambiguous beginning, `last` or `last~1`; the last run when there are none
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  plimsoll compare last~1 last                    the last run with the one before
  plimsoll compare a1 a2 a3 -- b1 b2 b3           three runs on each side: certain beyond these minutes
  plimsoll compare before.json after.json --exit-code && echo 'no worse'

Exit codes with --exit-code: 0 better or no difference, 1 worse (at some loads is enough), 2 usage, 3 cannot say.";

/// `plimsoll compare`
#[derive(Debug, Args)]
#[command(
    override_usage = "plimsoll compare [OPTIONS] <BEFORE> <AFTER>\n       plimsoll compare [OPTIONS] <BEFORE>... -- <AFTER>...",
    mut_arg("json", |arg| arg.help("Write the comparison as JSON (- for standard output)")),
    mut_arg("csv", |arg| arg.help("Write the figures of both sides as CSV (- for standard output)"))
)]
pub struct Compare {
    /// The run before and the run after, or with `--` at least three before: files, or kept runs by name, unambiguous
    /// beginning, `last` or `last~1`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// At least three runs after
    #[arg(last = true, value_name = "AFTER")]
    pub after: Vec<PathBuf>,
    /// End with an exit code that states the verdict: 0 better or no difference, 1 worse, 2 usage, 3 cannot say
    #[arg(long)]
    pub exit_code: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}
