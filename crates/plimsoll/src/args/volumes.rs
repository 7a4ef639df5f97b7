//! The flags of the commands about emulated volumes: `serve` and `volume`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_front::sockets::Place;
use plimsoll_service::client::Address;
use plimsoll_units::{Bytes, Span};

use super::TlsArgs;
use crate::words::Share;

pub(super) const SERVE_EXAMPLES: &str = "\
Examples:
  plimsoll serve                                      volumes in the default directory, over Unix sockets
  plimsoll serve /srv/volumes --listen tcp:0.0.0.0:10809
  plimsoll serve --control-tcp 127.0.0.1:7070 --token-file token
  plimsoll serve --slow 10                            a product that is faster than this host, in slow motion";

pub(super) const VOLUME_EXAMPLES: &str = "\
Examples:
  plimsoll volume create data --like oci:50GB@0vpu
  plimsoll volume level data 20                       20 VPUs per GB from now on
  plimsoll volume attach data /mnt/data --mkfs xfs    a block device of this host, with a filesystem (as root)
  plimsoll volume snapshot data before; plimsoll volume restore data before
  plimsoll volume clone data test --like aws/gp3:50GiB
  plimsoll volume autotune data --default 0 --most 50 --detached-after 336h
  plimsoll volume record data data.trace; plimsoll volume record data --stop
  plimsoll volume faults data --spikes 0.1% --spike 50ms --seed 7
  plimsoll volume fsck                                is the data directory sound? (while there is no service)
  plimsoll volume scrub data                          are its data what was written? (with checksums)
  plimsoll volume top";

/// `plimsoll serve`
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The data directory, made when it is not there; by default /var/lib/plimsoll for root, else ~/.local/share/plimsoll
    pub directory: Option<PathBuf>,
    /// Where NBD clients come in: unix:PATH or tcp:HOST:PORT, as often as wished; by default nbd.sock in the data directory
    #[arg(long, value_name = "PLACE")]
    pub listen: Vec<Place>,
    /// The Unix socket of the control API; by default control.sock in the data directory
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,
    /// The control API over TCP too, for those who show the token
    #[arg(long, value_name = "HOST:PORT", requires = "token_file")]
    pub control_tcp: Option<String>,
    /// The token of the control over TCP: a file of one line that only its owner may read
    #[arg(long, value_name = "FILE", requires = "control_tcp")]
    pub token_file: Option<PathBuf>,
    /// Bytes that data may use; by default what the filesystem has
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// Keep a checksum of each 4 KiB of data, so that damaged data are never served; of a new data directory, and for good
    #[arg(long)]
    pub checksums: bool,
    /// Let the model's time run so many times slower than the clock, for products that are faster than this host
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub slow: u32,
    /// Run with real-time priority (needs the right to it)
    #[arg(long)]
    pub rt: bool,
    /// Attach again what an earlier run left attached: the same volumes at the same mount points (as root)
    #[arg(long)]
    pub reattach: bool,
    /// Record what each volume that is there is asked, as NAME-MOMENT.trace in this folder; later ones: plimsoll volume record
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
    /// A folder of product files of one's own
    #[arg(long, value_name = "FOLDER")]
    pub products: Option<PathBuf>,
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// `plimsoll volume`
#[derive(Debug, Args)]
pub struct VolumeArgs {
    #[command(flatten)]
    pub reach: ReachArgs,
    /// What to do
    #[command(subcommand)]
    pub command: VolumeCommand,
}

/// How the service is reached, and how its answers are shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Service")]
pub struct ReachArgs {
    /// The service: its control socket or data directory, or http://HOST:PORT; by default `PLIMSOLL_SERVICE`, else the
    /// socket in the default data directory
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub service: Option<Address>,
    /// The token of a service over TCP: the file that it is in
    #[arg(long, global = true, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Print the answer of the API, as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print without colours
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// What `plimsoll volume` does.
#[derive(Debug, Subcommand)]
pub enum VolumeCommand {
    /// Make a volume that behaves like a product
    Create {
        /// Its name: at most 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit
        name: String,
        /// What it is like: a configuration of the catalogue, or stages of a model
        #[arg(long, value_name = "CONFIG|MODEL")]
        like: String,
        /// Its size, where that is not the product's capacity; needed for stages
        #[arg(long, value_name = "SIZE")]
        size: Option<Bytes>,
        /// A group whose limits it shares
        #[arg(long)]
        group: Option<String>,
        /// What determines the service times of its model; drawn from the name by default
        #[arg(long)]
        seed: Option<u64>,
    },
    /// List volumes and snapshots
    List,
    /// Show all that is known of a volume: product, model, cost, and how faithful it was
    Show {
        /// Its name
        name: String,
    },
    /// Change the level or the product of a volume while it is used
    Level {
        /// Its name
        name: String,
        /// A number for the product's level, settings (20vpu, iops=12000, P40), or a whole configuration
        to: String,
        /// Break clients off where the real product changes detached only
        #[arg(long)]
        force_detach: bool,
    },
    /// Make a volume larger while it is used
    Resize {
        /// Its name
        name: String,
        /// Its size from now on
        size: Bytes,
    },
    /// Keep the present content of a volume
    Snapshot {
        /// Whose content
        name: String,
        /// The name of the snapshot
        snapshot: String,
    },
    /// Make a volume of its own with the present content of another one: at once, sharing what stays the same
    Clone {
        /// Whose content
        name: String,
        /// The name of the clone
        clone: String,
        /// What it is like; as its origin by default
        #[arg(long, value_name = "CONFIG|MODEL")]
        like: Option<String>,
    },
    /// Give a volume the content of a snapshot, or of another volume
    Restore {
        /// Whose content is replaced
        name: String,
        /// Whose content it gets
        from: String,
    },
    /// Make a volume a block device of this host, and mount a filesystem on it
    Attach(AttachArgs),
    /// Undo that: unmount, take the device back, end the file
    Detach {
        /// Its name
        name: String,
        /// Clear what a service that was killed left, while there is none
        #[arg(long)]
        offline: bool,
    },
    /// Delete volumes or snapshots with their data
    Delete {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
        /// Without a question; needed where standard input is not a terminal
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Check a data directory while no service has it
    Fsck {
        /// The data directory; by default that of the service
        directory: Option<PathBuf>,
        /// Repair it: what cannot be used is kept as a file and cut off, and what is missing reads as zeros
        #[arg(long)]
        repair: bool,
        /// Compute checksums for all data, as they are, of a directory that was made without
        #[arg(long)]
        add_checksums: bool,
    },
    /// Compare data with their checksums, while the service runs
    Scrub {
        /// The volume or snapshot; all by default
        name: Option<String>,
        /// Bytes a second at most, so that clients are served meanwhile
        #[arg(long, value_name = "SIZE", default_value = "100MiB")]
        rate: Bytes,
    },
    /// Show the counts of a volume, and how faithful it was
    Stats {
        /// Its name
        name: String,
    },
    /// Watch volumes: what they do, what binds them, and how faithful they are (q ends it)
    Top {
        /// Their names; all by default
        names: Vec<String>,
        /// One look over a second, and no more
        #[arg(long)]
        once: bool,
    },
    /// Let the level of a volume follow its load, or sink while nobody has it
    Autotune(AutotuneArgs),
    /// Let the requests of a volume suffer
    Faults(FaultsArgs),
    /// Record what a volume is asked as a trace, for `plimsoll simulate --replay`
    Record {
        /// Its name
        name: String,
        /// A new file, on the service's host
        #[arg(conflicts_with = "stop")]
        file: Option<PathBuf>,
        /// End the recording
        #[arg(long)]
        stop: bool,
    },
    /// Instances whose limits several volumes share
    Group {
        /// What to do
        #[command(subcommand)]
        command: GroupCommand,
    },
}

/// `plimsoll volume attach`
#[derive(Debug, Args)]
pub struct AttachArgs {
    /// Its name
    pub name: String,
    /// The directory that the filesystem on it is mounted at; made where there is none
    pub mountpoint: Option<PathBuf>,
    /// Make a filesystem on it first; refused where the volume carries something already
    #[arg(long, value_name = "KIND")]
    pub mkfs: Option<MakeFs>,
    /// Options for mount, such as noatime
    #[arg(long, value_name = "OPTIONS", requires = "mountpoint")]
    pub mount_options: Option<String>,
    /// Show it as a file only, without a block device
    #[arg(long, conflicts_with_all = ["mountpoint", "mkfs"])]
    pub file: bool,
}

/// A kind of filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MakeFs {
    /// The usual one
    Ext4,
    /// Grows while it is mounted, also without the right to resource limits
    Xfs,
}

/// `plimsoll volume autotune`
#[derive(Debug, Args)]
pub struct AutotuneArgs {
    /// Its name
    pub name: String,
    /// The level that it goes back to
    #[arg(long, value_name = "LEVEL", requires = "most")]
    pub default: Option<u32>,
    /// The level that it does not exceed
    #[arg(long, value_name = "LEVEL", requires = "default")]
    pub most: Option<u32>,
    /// How far one change goes; the product's by default, or 10
    #[arg(long, value_name = "LEVELS", requires = "most")]
    pub step: Option<u32>,
    /// Throttled for so long: one step up
    #[arg(long, value_name = "TIME", requires = "most")]
    pub up_after: Option<Span>,
    /// Idle for so long: the first step down
    #[arg(long, value_name = "TIME", requires = "most")]
    pub down_first: Option<Span>,
    /// And for so long: each further one
    #[arg(long, value_name = "TIME", requires = "most")]
    pub down_next: Option<Span>,
    /// Without a client for so long: the lowest level, until one comes; OCI waits for 336h
    #[arg(long, value_name = "TIME")]
    pub detached_after: Option<Span>,
    /// Leave its level as it is from now on
    #[arg(long, conflicts_with_all = ["default", "detached_after"])]
    pub off: bool,
}

/// `plimsoll volume faults`
#[derive(Debug, Args)]
pub struct FaultsArgs {
    /// Its name
    pub name: String,
    /// Which requests are met: the same seed meets the same ones
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only these: read, write, flush or trim
    #[arg(long, value_name = "KIND")]
    pub only: Option<String>,
    /// Share of requests that fail with EIO, such as 0.1% or 50ppm
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub errors: Share,
    /// Share of requests that are answered later
    #[arg(long, value_name = "SHARE", default_value = "0%", requires = "spike")]
    pub spikes: Share,
    /// How much later
    #[arg(long, value_name = "TIME")]
    pub spike: Option<Span>,
    /// Share of requests whose connection is torn instead of an answer
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub tears: Share,
    /// Answer nothing for so long, from now on
    #[arg(long, value_name = "TIME")]
    pub stall: Option<Span>,
    /// Let its requests suffer nothing any more
    #[arg(long, conflicts_with_all = ["only", "errors", "spikes", "spike", "tears", "stall"])]
    pub off: bool,
}

/// What `plimsoll volume group` does.
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// Make a group
    Create {
        /// Its name
        name: String,
        /// A machine of the catalogue, or stages of a model
        #[arg(long, value_name = "MACHINE|MODEL")]
        like: String,
    },
    /// List groups
    List,
    /// Delete a group without volumes
    Delete {
        /// Its name
        name: String,
    },
}
