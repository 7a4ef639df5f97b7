//! What hosts say of their disks: iostat, sar, sadf and vmstat, as text and as JSON.
//!
//! All of them print the same measures under much the same names (`column`), one row for each device and sample (`disks`).
//! Devices lie over one another, so only one layer of them is taken (`crate::layers`). What begins with a mean since the host was
//! started says so nowhere: the first report of a run is left out unless there is no other.

mod column;
mod digits;
mod disks;
mod iostat;
mod json;
mod noted;
mod refused;
mod reports;
mod sadf;
mod sar;
mod timeline;
mod vmstat;

pub(crate) use iostat::FORM as IOSTAT;
pub(crate) use json::FORM as JSON;
pub(crate) use refused::{BINARY, FOREIGN, XML};
pub(crate) use sadf::FORM as SADF;
pub(crate) use sar::FORM as SAR;
pub(crate) use vmstat::FORM as VMSTAT;
