//! Flags of `plimsoll serve` and `plimsoll volume`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_front::sockets::ListenAddress;
use plimsoll_service::client::ControlAddress;
use plimsoll_service::settings::{CommitInterval, FaultShare, SizeText};
use plimsoll_units::{Bytes, Span};

use super::forms::json_before_names;
use super::iscsi::{parse_portal, parse_target_name};
use super::{ChapArgs, CloudArgs, FormArgs, TlsArgs};

pub(super) const SERVE_EXAMPLES: &str = "\
Examples:
  plimsoll serve                                      volumes in the default directory, over Unix sockets
  plimsoll serve /srv/volumes --listen tcp:0.0.0.0:10809
  plimsoll serve --iscsi 10.0.0.5:3260 --iscsi 10.0.1.5:3260    each volume is an iSCSI target with two paths
  plimsoll serve --control-tcp 127.0.0.1:7070 --token-file token
  plimsoll serve --oci 127.0.0.1:9471 --ec2 127.0.0.1:9472    control planes for the oci and aws CLI
  plimsoll serve --slow 10                            models 10 times slower, for products faster than this host";

pub(super) const VOLUME_EXAMPLES: &str = "\
Examples:
  plimsoll volume create data --like oci:50GB@0vpu
  plimsoll volume level data 20                       change to 20 VPUs per GB
  plimsoll volume attach data /mnt/data --mkfs xfs    as a block device with a filesystem (as root)
  plimsoll volume attach data /mnt/data --iscsi       show the commands for another machine
  plimsoll volume snapshot data before; plimsoll volume restore data before
  plimsoll volume clone data test --like aws/gp3:50GiB
  plimsoll volume autotune data --default 0 --most 50 --detached-after 336h
  plimsoll volume record data data.trace; plimsoll volume record data --stop
  plimsoll volume faults data --spikes 0.1% --spike 50ms --seed 7
  plimsoll volume fsck                                check the data directory (while no service runs)
  plimsoll volume scrub data                          compare data with checksums
  plimsoll volume top";

pub(super) const WEB_EXAMPLES: &str = "\
Examples:
  plimsoll web                                        the console of the default data directory; prints its URL
  plimsoll web /srv/volumes --web 127.0.0.1:0         another directory, on any free port
  plimsoll web --url                                  another URL of the running console, if the first is lost
  ssh -L 7580:127.0.0.1:7580 db1 plimsoll web         the console of another host";

/// `plimsoll web`
#[derive(Debug, Args)]
pub struct WebArgs {
    /// Print a further URL of the console that runs for the data directory, which opens it once
    #[arg(long)]
    pub url: bool,
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// `plimsoll serve`
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Data directory, created if missing; by default /var/lib/plimsoll for root, otherwise ~/.local/share/plimsoll
    pub directory: Option<PathBuf>,
    /// Listening address of NBD, unix:PATH or tcp:HOST:PORT; repeatable; by default nbd.sock in the data directory
    #[arg(long, value_name = "PLACE")]
    pub listen: Vec<ListenAddress>,
    /// Portal of the iSCSI targets of all volumes, repeatable: each is a path; none by default
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_portal)]
    pub iscsi: Vec<ListenAddress>,
    /// Address that iSCSI discovery returns, repeatable; by default those of the portals
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_portal, requires = "iscsi")]
    pub iscsi_advertise: Vec<ListenAddress>,
    /// Prefix of the names of iSCSI targets, unless the product defines it
    #[arg(long, value_name = "IQN", default_value = "iqn.2026-01.local.plimsoll", value_parser = parse_target_name)]
    pub iscsi_prefix: String,
    /// Commands in flight of an iSCSI session, unless the product defines it
    #[arg(long, value_name = "COMMANDS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub iscsi_queue_depth: u32,
    /// The Unix socket of the control API; by default control.sock in the data directory
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
    /// Additional TCP address of the control API, for clients with the token
    #[arg(long, value_name = "HOST:PORT", requires = "token_file")]
    pub control_tcp: Option<String>,
    /// File with the token of the control API over TCP: a single line, readable by its owner only
    #[arg(long, value_name = "FILE", requires = "control_tcp")]
    pub token_file: Option<PathBuf>,
    /// Maximum space of data, in clusters of 64 KiB: a scattered block of 4 KiB takes a whole one; by default limited by
    /// the filesystem
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// Store a checksum for each 4 KiB of data and never serve damaged data; set permanently when the data directory is
    /// created
    #[arg(long)]
    pub checksums: bool,
    #[command(flatten)]
    pub durability: DurabilityArgs,
    /// Run models N times slower than the clock, for products faster than this host
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub slow: u32,
    /// Use real-time priority (requires the privilege)
    #[arg(long)]
    pub rt: bool,
    /// Leave volumes attached when told to stop, and attach them again at the same mount points (as root)
    #[arg(long)]
    pub reattach: bool,
    /// Record requests of each existing volume as NAME-TIME.trace in this directory; for later volumes use plimsoll
    /// volume record
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
    /// Format of the log on standard error: a line for each change, refusal, failure, and change of the number of clients
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Directory with additional product files
    #[arg(long, value_name = "FOLDER")]
    pub products: Option<PathBuf>,
    /// The web console at this address; prints a URL that opens it once. With `plimsoll web` 127.0.0.1:7580; an address
    /// that other hosts reach requires --tls-certificates
    #[arg(long, value_name = "HOST:PORT")]
    pub web: Option<String>,
    /// Name or address by which browsers on other hosts open the web console, repeatable; by default the host of --web
    #[arg(long, value_name = "HOST")]
    pub web_name: Vec<String>,
    #[command(flatten)]
    pub cloud: CloudArgs,
    #[command(flatten)]
    pub tls: TlsArgs,
    #[command(flatten)]
    pub chap: ChapArgs,
}

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Time, level, message and fields.
    Text,
    /// An object in each line.
    Json,
}

/// When writes become durable.
#[derive(Debug, Args)]
pub struct DurabilityArgs {
    /// Maximum time until acknowledged writes are durable without a flush, 1s to 1h; `none`: only by a flush, when the
    /// client disconnects, and after much data
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub commit_interval: CommitInterval,
    /// Acknowledge each write when it is durable, as OCI and EBS volumes do; each waits for the disk of the data directory
    #[arg(long)]
    pub durable_writes: bool,
}

/// `plimsoll volume`
#[derive(Debug, Args)]
#[command(mut_arg("json", json_before_names))]
pub struct VolumeArgs {
    #[command(flatten)]
    pub reach: ReachArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    /// Subcommand
    #[command(subcommand)]
    pub command: VolumeCommand,
}

/// Address of the service.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Service")]
pub struct ReachArgs {
    /// The service: control socket, data directory, or http://HOST:PORT; by default `PLIMSOLL_SERVICE`, otherwise the
    /// socket in the default data directory
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub service: Option<ControlAddress>,
    /// File with the token of a service over TCP
    #[arg(long, global = true, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Subcommands of `plimsoll volume`.
#[derive(Debug, Subcommand)]
pub enum VolumeCommand {
    /// Create a volume that emulates a product
    Create {
        /// Name: up to 64 letters, digits, `-`, `_` and `.`, starting with a letter or digit
        name: String,
        /// What it is like: a configuration of the catalogue, or stages of a model
        #[arg(long, value_name = "CONFIG|MODEL")]
        like: String,
        /// Size, if different from the product's capacity; required for stages. GB and TB are those of the vendor
        #[arg(long, value_name = "SIZE")]
        size: Option<SizeText>,
        /// Group with shared limits
        #[arg(long)]
        group: Option<String>,
        /// Seed of the model's service times; by default derived from the name
        #[arg(long)]
        seed: Option<u64>,
        /// Create it even if it answers faster than the timers of this host; the volume shows this
        #[arg(long)]
        force: bool,
    },
    /// List volumes and snapshots
    List,
    /// Show a volume: product, model, cost and fidelity
    Show {
        /// Name of the volume
        name: String,
    },
    /// Change the level or product of a volume online
    Level {
        /// Name of the volume
        name: String,
        /// Level number, settings (20vpu, iops=12000, P40), or a whole configuration
        to: String,
        /// Disconnect clients if the real product requires detaching for the change
        #[arg(long)]
        force_detach: bool,
    },
    /// Enlarge a volume online
    Resize {
        /// Name of the volume
        name: String,
        /// New size; GB and TB are those of the product's vendor
        size: SizeText,
    },
    /// Create a snapshot of a volume
    Snapshot {
        /// Name of the volume
        name: String,
        /// Name of the snapshot
        snapshot: String,
    },
    /// Create an independent volume with the content of another, immediately, sharing unchanged data
    Clone {
        /// Name of the source
        name: String,
        /// Name of the clone
        clone: String,
        /// Product to emulate; by default that of the source
        #[arg(long, value_name = "CONFIG|MODEL")]
        like: Option<String>,
    },
    /// Replace the content of a volume by that of a snapshot or another volume
    Restore {
        /// Name of the volume to replace
        name: String,
        /// Name of the source
        from: String,
        /// Do not ask for confirmation; required for a source that is no snapshot of the volume if standard input is not a
        /// terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Attach a volume as a block device of this host, optionally with a mounted filesystem
    Attach(AttachArgs),
    /// Detach a volume: unmount it and remove the block device
    Detach {
        /// Name of the volume
        name: String,
        /// Remove the attachments of a killed service, while no service runs
        #[arg(long)]
        offline: bool,
    },
    /// Make the other controller the owner of a volume with asymmetric paths over iSCSI
    Failover {
        /// Its name
        name: String,
    },
    /// Delete volumes or snapshots with their data
    Delete {
        /// Names
        #[arg(required = true)]
        names: Vec<String>,
        /// Do not ask for confirmation; required if standard input is not a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Check a data directory that is not in use
    Fsck {
        /// The data directory; by default that of the service
        directory: Option<PathBuf>,
        /// Repair: unusable data are moved to a file, missing data read as zeros
        #[arg(long)]
        repair: bool,
        /// Add checksums, computed from the present data, to a directory without them
        #[arg(long)]
        add_checksums: bool,
    },
    /// Compare data with their checksums while the service runs
    Scrub {
        /// The volume or snapshot; all by default
        name: Option<String>,
        /// Maximum bytes per second
        #[arg(long, value_name = "SIZE", default_value = "100MiB")]
        rate: Bytes,
    },
    /// Show the counters and the fidelity of a volume
    Stats {
        /// Name of the volume
        name: String,
        /// Write the counters as log page 0xD0 of an Amazon EBS volume, 4,096 bytes, and print nothing else (- for standard output)
        #[arg(long, value_name = "FILE")]
        ebs: Option<PathBuf>,
    },
    /// Monitor volumes: activity, limits and fidelity (q quits)
    Top {
        /// Names; all by default
        names: Vec<String>,
        /// Print a single sample of one second
        #[arg(long)]
        once: bool,
    },
    /// Let the level of a volume follow its load, or drop while it is detached
    Autotune(AutotuneArgs),
    /// Inject faults into the requests of a volume
    Faults(FaultsArgs),
    /// Record the requests of a volume as a trace, for `plimsoll simulate --replay`
    Record {
        /// Name of the volume
        name: String,
        /// New file on the service's host
        #[arg(conflicts_with = "stop")]
        file: Option<PathBuf>,
        /// Stop the recording
        #[arg(long)]
        stop: bool,
    },
    /// Groups of volumes with shared limits, such as those of an instance
    Group {
        /// Subcommand
        #[command(subcommand)]
        command: GroupCommand,
    },
}

/// `plimsoll volume attach`
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// Name of the volume
    pub name: String,
    /// Mount point, created if missing
    pub mountpoint: Option<PathBuf>,
    /// Create a filesystem first; refused if the volume is not empty
    #[arg(long, value_name = "KIND")]
    pub mkfs: Option<MakeFs>,
    /// Options for mount, such as noatime
    #[arg(long, value_name = "OPTIONS", requires = "mountpoint")]
    pub mount_options: Option<String>,
    /// Expose the volume as a file only, without a block device
    #[arg(long, conflicts_with_all = ["mountpoint", "mkfs"])]
    pub file: bool,
    /// Print the commands that attach it over iSCSI, on any machine
    #[arg(long, conflicts_with_all = ["file", "mkfs", "mount_options"])]
    pub iscsi: bool,
}

/// A filesystem type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MakeFs {
    /// ext4
    Ext4,
    /// XFS, which can grow while mounted
    Xfs,
}

/// `plimsoll volume autotune`
#[derive(Debug, Args)]
pub struct AutotuneArgs {
    /// Name of the volume
    pub name: String,
    /// Default level
    #[arg(long, value_name = "LEVEL", requires = "max")]
    pub default: Option<u32>,
    /// Maximum level
    #[arg(long = "most", value_name = "LEVEL", requires = "default")]
    pub max: Option<u32>,
    /// Size of a step; by default that of the product, or 10
    #[arg(long, value_name = "LEVELS", requires = "max")]
    pub step: Option<u32>,
    /// Throttled time before a step up
    #[arg(long, value_name = "TIME", requires = "max")]
    pub up_after: Option<Span>,
    /// Idle time before the first step down
    #[arg(long, value_name = "TIME", requires = "max")]
    pub down_first: Option<Span>,
    /// Idle time before each further step down
    #[arg(long, value_name = "TIME", requires = "max")]
    pub down_next: Option<Span>,
    /// Time without clients before the lowest level; OCI waits for 336h
    #[arg(long, value_name = "TIME")]
    pub detached_after: Option<Span>,
    /// Disable autotuning
    #[arg(long, conflicts_with_all = ["default", "detached_after"])]
    pub off: bool,
}

/// `plimsoll volume faults`
#[derive(Debug, Args)]
pub struct FaultsArgs {
    /// Name of the volume
    pub name: String,
    /// Seed that selects the affected requests
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only requests of this kind: read, write, flush or trim
    #[arg(long, value_name = "KIND")]
    pub only: Option<String>,
    /// Share of requests that fail with EIO, such as 0.1% or 50ppm
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub errors: FaultShare,
    /// Share of delayed requests
    #[arg(long, value_name = "SHARE", default_value = "0%", requires = "spike")]
    pub spikes: FaultShare,
    /// Delay
    #[arg(long, value_name = "TIME", requires = "spikes")]
    pub spike: Option<Span>,
    /// Share of requests that close the connection instead of a reply
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub tears: FaultShare,
    /// Stop replies for this time, starting now
    #[arg(long, value_name = "TIME")]
    pub stall: Option<Span>,
    /// Disable all faults
    #[arg(long, conflicts_with_all = ["only", "errors", "spikes", "spike", "tears", "stall"])]
    pub off: bool,
}

/// Subcommands of `plimsoll volume group`.
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// Create a group
    Create {
        /// Name of the group
        name: String,
        /// A machine of the catalogue, or stages of a model
        #[arg(long, value_name = "MACHINE|MODEL")]
        like: String,
    },
    /// List groups
    List,
    /// Delete a group without volumes
    Delete {
        /// Name of the group
        name: String,
    },
}
