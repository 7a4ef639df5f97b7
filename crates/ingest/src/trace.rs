//! Traces of single operations on block devices, in the formats of many tools.
//!
//! A dialect converts bytes to operations, which are used in two ways: as an input format, counted into the demand of
//! each second, and as [`crate::Requests`] for replay. Values that a dialect lacks (times, kinds, sizes) stay absent:
//! a list of pages has a working set but no demand.
//!
//! A new dialect with lines of fixed columns is a constant in `columns`, with records of a fixed size a constant in
//! `records`; others implement [`Dialect`], or `lines::LineDialect` if each line is an operation.

mod biosnoop;
mod columns;
mod figures;
mod lines;
mod linux;
mod logs;
mod misses;
mod records;
mod tally;

pub(crate) use columns::{ALIBABA, CLOUDPHYSICS, CYDONIA, CYDONIA_CACHE, FIU, MSR, SIMULATORS, SPC, SYSTOR, TENCENT};
pub(crate) use records::{ORACLE, VSCSI};

use self::lines::{LineDialect, LineSplitter, resembles};
use self::tally::OpCounter;
use crate::builder::Builder;
use crate::dialect::Dialect;
use crate::form::{Form, Format, FormatInput, Takes};
use crate::refusal::Refusal;

/// Traces recorded by plimsoll.
pub(crate) const OWN: Form = rows::<logs::Own>("trace-plimsoll", "plimsoll trace");
/// Records of `blktrace`.
pub(crate) const BLKTRACE: Form =
    Form::trace("trace-blktrace", "blktrace", Takes::Bytes, linux::is_blktrace, || Box::<linux::Blktrace>::default());
/// The default output of `blkparse`.
pub(crate) const BLKPARSE: Form = rows::<linux::Blkparse>("trace-blkparse", "blkparse trace");
/// The output of `blkparse -f`.
pub(crate) const BLKPARSE_FORMATTED: Form = rows::<linux::Formatted>("trace-blkparse", "blkparse trace");
pub(crate) const BIOSNOOP: Form = rows::<biosnoop::Biosnoop>("trace-biosnoop", "biosnoop trace");
/// fio's log of its operations.
pub(crate) const IOLOG: Form = rows::<logs::Iolog>("trace-fio-iolog", "fio I/O log");
/// Tables of objects for cache simulators.
pub(crate) const OBJECTS: Form = rows::<columns::Objects>("trace-objects", "libCacheSim trace (CSV)");
pub(crate) const PAGES: Form = rows::<columns::PageNumbers>("trace-pages", "trace of page numbers");

const fn rows<R: LineDialect + Default + 'static>(id: &'static str, name: &'static str) -> Form {
    let open = || -> Box<dyn Dialect> { Box::new(LineSplitter::new(R::default())) };
    Form::trace(id, name, Takes::Text, |head| resembles(R::default(), head), open)
}

/// Counts a trace incrementally, and reports its demand at the end.
pub(crate) struct TraceCounting {
    dialect: Box<dyn Dialect>,
    tally: OpCounter,
    input: FormatInput,
}

impl TraceCounting {
    pub(crate) fn new(dialect: Box<dyn Dialect>, input: &FormatInput) -> Self {
        Self { dialect, tally: OpCounter::default(), input: input.clone() }
    }
}

impl Format for TraceCounting {
    fn feed(&mut self, bytes: &[u8], _: &mut Builder) -> Result<(), Refusal> {
        self.dialect.feed(bytes, &mut self.tally);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.dialect.end(&mut self.tally);
        figures::emit(std::mem::take(&mut self.tally), &self.dialect.about(), &self.input, out)
    }
}
