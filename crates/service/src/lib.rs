//! The volume service: named volumes, their products and automation, and their control over HTTP.
//!
//! Joins the catalogue (configurations), the volumes (timing and data) and the fronts (protocols). The ring loop of the
//! front serves clients; all other work runs on other threads and sends calls to the loop.

mod admission;
mod attach;
mod automation;
mod autotune;
mod bill;
pub mod block_device;
pub mod client;
mod clients;
mod damages;
mod faults;
mod floor;
mod fsck;
mod group;
mod groups;
mod health;
pub mod http;
pub mod initiator;
mod iscsi;
mod levels;
mod manage;
mod metadata;
mod minutes;
mod moment;
mod names;
pub mod observed;
mod open;
mod options;
mod otlp;
mod placement;
mod product;
mod recent;
mod recording;
mod refusal;
mod schemas;
mod scrub;
mod service;
pub mod settings;
mod snapshots;
pub mod staged;
mod summary;
mod tags;
mod targets;
mod ticker;
mod volume;
mod watch;

pub use admission::{ChapSecret, Initiators};
pub use attach::mounted_file;
pub use floor::convert_floor;
pub use fsck::{AddChecksums, Repair, fsck};
pub use iscsi::IscsiOptions;
pub use options::{LevelChanges, ServiceOptions};
pub use otlp::{OtlpEndpoint, OtlpError};
pub use plimsoll_api as api;
pub use plimsoll_api::DamagedBlock;
pub use plimsoll_catalogue::MachineShape;
pub use refusal::{OpenError, Refusal, RefusalKind};
pub use schemas::SCHEMAS;
pub use service::Service;
pub use snapshots::Snapshot;
pub use summary::{GroupSummary, MachineLimit, MachineSummary, VolumeSummary};
pub use tags::{Initial, Tags};
