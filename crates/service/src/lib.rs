//! The volume service: volumes by name, the products that they are like, what happens to them over time, and the control
//! of all this over HTTP.
//!
//! Joins the catalogue (what a configuration means), the volumes (when they answer, where their bytes are) and the
//! fronts (who asks). The ring loop of the front serves clients; all else happens beside it and reaches it by errands.

pub mod api;
mod attach;
mod bill;
pub mod client;
mod faults;
mod floor;
mod fsck;
mod group;
pub mod http;
mod levels;
mod life;
mod manage;
mod moment;
mod names;
mod open;
mod product;
mod recording;
mod refusal;
mod remembered;
mod scrub;
mod service;
mod volume;
mod watch;

pub use attach::mounted_file;
pub use fsck::{AddChecksums, Check, CheckedVolume, DamagedBlock, Repair, fsck};
pub use refusal::{Kind, OpenError, Refusal};
pub use service::{Options, Service};
