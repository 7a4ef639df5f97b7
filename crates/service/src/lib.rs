//! The volume service: named volumes, their products and automation, and their control over HTTP.
//!
//! Joins the catalogue (configurations), the volumes (timing and data) and the fronts (protocols). The ring loop of the
//! front serves clients; all other work runs on other threads and sends calls to the loop.

pub mod api;
mod attach;
mod automation;
mod bill;
pub mod client;
mod clients;
mod faults;
mod floor;
mod fsck;
mod glance;
mod group;
mod health;
pub mod http;
mod iscsi;
mod levels;
mod manage;
mod metadata;
mod minutes;
mod moment;
mod names;
mod open;
mod product;
mod recording;
mod refusal;
mod scrub;
mod service;
mod snapshots;
mod tags;
mod volume;
mod watch;

pub use attach::mounted_file;
pub use fsck::{AddChecksums, Check, CheckedVolume, DamagedBlock, Repair, fsck};
pub use glance::{GroupGlance, MachineGlance, MachineLimit, VolumeGlance};
pub use iscsi::{ChapSecret, Initiators, IscsiOptions};
pub use plimsoll_catalogue::MachineShape;
pub use refusal::{OpenError, Refusal, RefusalKind};
pub use service::{LevelChanges, Service, ServiceOptions};
pub use snapshots::Snapshot;
pub use tags::{Initial, Tags};
