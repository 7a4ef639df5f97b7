//! Traces of single operations: what was asked of a block device, one record each, in the dialects of many tools.
//!
//! A dialect turns bytes into operations and knows nothing of what becomes of them. They are used twice: as a form, where
//! they are counted into the demand of each second, and as [`Requests`], which hands them on to be replayed. What a dialect
//! does not say (times, kinds, sizes) stays unsaid: a list of pages has a working set and no demand.
//!
//! A new dialect is a file here that implements [`dialect::Dialect`], or [`rows::Row`] where each line is an operation;
//! its line in [`DIALECTS`]; and its line in `forms.rs`.

mod bench;
mod blkparse;
mod blktrace;
mod clouds;
mod cydonia;
mod dialect;
mod events;
mod fields;
mod figures;
mod fiu;
mod form;
mod iolog;
mod misses;
mod objects;
mod oracle;
mod own;
mod pages;
mod requests;
mod rows;
mod scsi;
mod servers;
mod simulators;
mod streams;
mod tally;
mod volumes;
mod vscsi;
mod windows;

pub use requests::{Request, Requests, TraceFault};

use self::dialect::{Known, known};
use self::rows::Rows;
use crate::format::Form;

/// Traces that plimsoll itself records.
pub(crate) const OWN: Form = known::<Rows<own::Own>>().form;
/// What `blktrace` writes.
pub(crate) const BLKTRACE: Form = known::<blktrace::Blktrace>().form;
/// What `blkparse` prints.
pub(crate) const BLKPARSE: Form = known::<Rows<blkparse::Blkparse>>().form;
/// What `blkparse` prints when it is told how.
pub(crate) const BLKPARSE_FORMATTED: Form = known::<Rows<blkparse::Formatted>>().form;
/// What fio records of its own operations.
pub(crate) const IOLOG: Form = known::<Rows<iolog::Iolog>>().form;
/// Servers of Microsoft Research in Cambridge.
pub(crate) const MSR: Form = known::<Rows<servers::Msr>>().form;
/// Virtual desktops of SYSTOR '17.
pub(crate) const SYSTOR: Form = known::<Rows<servers::Systor>>().form;
/// The Storage Performance Council's exchange format.
pub(crate) const SPC: Form = known::<Rows<bench::Spc>>().form;
/// Cloud disks of Alibaba.
pub(crate) const ALIBABA: Form = known::<Rows<clouds::Alibaba>>().form;
/// Cloud disks of Tencent.
pub(crate) const TENCENT: Form = known::<Rows<clouds::Tencent>>().form;
/// Hosts of Florida International University.
pub(crate) const FIU: Form = known::<Rows<fiu::Fiu>>().form;
/// Virtual disks of `CloudPhysics`, as text.
pub(crate) const CLOUDPHYSICS: Form = known::<Rows<vscsi::Table>>().form;
/// Virtual disks of `CloudPhysics`, as the hypervisor wrote them.
pub(crate) const VSCSI: Form = known::<vscsi::Vscsi>().form;
/// Virtual disks of `CloudPhysics`, as the Cydonia project prepares them.
pub(crate) const CYDONIA: Form = known::<Rows<cydonia::Blocks>>().form;
/// The same, cut into blocks of a cache.
pub(crate) const CYDONIA_CACHE: Form = known::<Rows<cydonia::Cached>>().form;
/// What simulators of disks and flash read.
pub(crate) const SIMULATORS: Form = known::<Rows<simulators::Ascii>>().form;
/// Tables of objects for cache simulators.
pub(crate) const OBJECTS: Form = known::<Rows<objects::Objects>>().form;
/// The same in binary.
pub(crate) const ORACLE: Form = known::<oracle::Oracle>().form;
/// Numbers of pages, and nothing else.
pub(crate) const PAGES: Form = known::<Rows<pages::Pages>>().form;

/// Every dialect that can be asked for by content.
const DIALECTS: &[Known] = &[
    known::<Rows<own::Own>>(),
    known::<blktrace::Blktrace>(),
    known::<Rows<blkparse::Blkparse>>(),
    known::<Rows<blkparse::Formatted>>(),
    known::<Rows<iolog::Iolog>>(),
    known::<Rows<servers::Msr>>(),
    known::<Rows<servers::Systor>>(),
    known::<Rows<bench::Spc>>(),
    known::<Rows<clouds::Alibaba>>(),
    known::<Rows<clouds::Tencent>>(),
    known::<Rows<fiu::Fiu>>(),
    known::<Rows<vscsi::Table>>(),
    known::<vscsi::Vscsi>(),
    known::<Rows<cydonia::Blocks>>(),
    known::<Rows<cydonia::Cached>>(),
    known::<Rows<simulators::Ascii>>(),
    known::<Rows<objects::Objects>>(),
    known::<oracle::Oracle>(),
    known::<Rows<pages::Pages>>(),
];
