//! The list of all formats, and their readers.

use plimsoll_units::Bytes;

use crate::builder::Builder;
use crate::form::{Form, Format, FormatInput, FormatReader, LineFormat, ReadDocument, Takes};
use crate::reading::{Doubt, Fate, Origin};
use crate::refusal::{InputFault, Refusal};
use crate::text::cut::{LastLine, TextTail};
use crate::text::lines::{LineBuffer, without_return};
use crate::{
    atop, awr, bench, clouds, collectl, diskstats, dstat, ebs, fio, host, miner, mysql, nmon, pdh, postgres,
    prometheus, snapshots, sqlserver, table_series, trace,
};

/// All formats. Among formats that match an input, the first with the most marks is selected.
pub(crate) static FORMS: &[Form] = &[
    awr::HTML,
    awr::TEXT,
    awr::CELLS,
    awr::STATSPACK,
    diskstats::FORM,
    prometheus::TEXT,
    prometheus::ANSWER,
    clouds::CLOUDWATCH,
    clouds::COMMAND_LINE,
    clouds::STREAM,
    clouds::OCI,
    clouds::AZURE,
    clouds::CONSOLE,
    clouds::GOOGLE,
    clouds::INSIGHTS,
    clouds::ENHANCED,
    ebs::TEXT,
    ebs::PAGE,
    miner::FORM,
    bench::BONNIE,
    bench::CRYSTALDISKMARK,
    bench::DISKSPD_TEXT,
    bench::DISKSPD_XML,
    bench::HAMMERDB,
    bench::LOAD_CURVE,
    bench::ORION,
    bench::ORION_MATRIX,
    bench::PG_TEST_FSYNC,
    bench::PGBENCH,
    bench::SLOB,
    bench::SYSBENCH,
    bench::TIOTEST,
    host::IOSTAT,
    host::JSON,
    host::SAR,
    host::SADF,
    host::VMSTAT,
    host::PIDSTAT,
    host::BINARY,
    host::XML,
    host::FOREIGN,
    nmon::FORM,
    pdh::LOG,
    pdh::LIST,
    collectl::FORM,
    dstat::CSV,
    dstat::SCREEN,
    atop::LABELLED,
    atop::PAGE,
    table_series::FEATURES,
    table_series::FORM,
    snapshots::FORM,
    postgres::JSON,
    postgres::TEXT,
    mysql::STATUS,
    mysql::MONITOR,
    mysql::FILES,
    mysql::DIGESTS,
    sqlserver::FILES,
    fio::JSON,
    fio::TEXT,
    fio::TERSE,
    fio::LOG,
    fio::HISTOGRAM,
    trace::OWN,
    trace::BLKTRACE,
    trace::BLKPARSE,
    trace::BLKPARSE_FORMATTED,
    trace::BIOSNOOP,
    trace::IOLOG,
    trace::MSR,
    trace::SYSTOR,
    trace::SPC,
    trace::ALIBABA,
    trace::TENCENT,
    trace::FIU,
    trace::CLOUDPHYSICS,
    trace::VSCSI,
    trace::CYDONIA,
    trace::CYDONIA_CACHE,
    trace::SIMULATORS,
    trace::OBJECTS,
    trace::ORACLE,
    trace::PAGES,
];

/// Creates a reader for an input of a format.
pub(crate) fn create_reader(form: &Form, input: &FormatInput) -> Box<dyn Format> {
    match form.reader {
        FormatReader::Lines(open) => {
            Box::new(Lines { format: open(input), buffer: LineBuffer::default(), tail: TextTail::default() })
        }
        FormatReader::Document(read) | FormatReader::Bytes(read) => {
            Box::new(Document { read, takes: form.takes(), input: input.clone(), bytes: Vec::new() })
        }
        FormatReader::Trace(_, open) => Box::new(trace::TraceCounting::new(open(), input)),
        FormatReader::Refused(fault) => Box::new(RefusedInput(fault)),
    }
}

/// Passes the lines of a text to a format.
struct Lines {
    format: Box<dyn LineFormat>,
    buffer: LineBuffer,
    tail: TextTail,
}

impl Format for Lines {
    fn feed(&mut self, bytes: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        let Self { format, buffer, tail } = self;
        tail.push(bytes);
        buffer.feed(bytes, Form::MAX_LINE + 1, |line, number| hand_on(format.as_mut(), line, number, out))?;
        // A text without line ends is refused before it ends.
        buffer.last().map_or(Ok(()), |(line, number)| check_length(line, number, out))
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if let Some((line, number)) = self.buffer.last()
            && is_usable(&self.tail, number, out)
        {
            hand_on(self.format.as_mut(), line, number, out)?;
        }
        self.format.end(out)
    }
}

/// False for a last line that is cut within its last value.
fn is_usable(tail: &TextTail, number: u64, out: &mut Builder) -> bool {
    let origin = Some(Origin::line(number));
    match tail.last_line() {
        None => true,
        Some(LastLine::Doubtful(value, reason)) => {
            out.caution(origin, Doubt::LastValueMayBeCut { value, reason });
            true
        }
        Some(LastLine::Cut(value, reason)) => {
            out.caution(origin, Doubt::LastLineCut { value, reason });
            out.part("last line", Fate::Broken);
            false
        }
    }
}

fn hand_on(format: &mut dyn LineFormat, line: &[u8], number: u64, out: &mut Builder) -> Result<(), Refusal> {
    check_length(line, number, out)?;
    let line = without_return(line);
    match std::str::from_utf8(line) {
        Ok(line) => format.line(line, number, out),
        Err(_) => format.line(&String::from_utf8_lossy(line), number, out),
    }
}

fn check_length(line: &[u8], number: u64, out: &Builder) -> Result<(), Refusal> {
    if line.len() <= Form::MAX_LINE {
        return Ok(());
    }
    Err(out.unusable_at(Origin::line(number), InputFault::LongLine { limit: Form::MAX_LINE }))
}

/// Collects the bytes of a document or of a binary file.
struct Document {
    read: ReadDocument,
    takes: Takes,
    input: FormatInput,
    bytes: Vec<u8>,
}

impl Format for Document {
    fn feed(&mut self, bytes: &[u8], _: &mut Builder) -> Result<(), Refusal> {
        if self.bytes.len() + bytes.len() > Form::MAX_DOCUMENT {
            return Err(Refusal::TooLarge { limit: Bytes::new(Form::MAX_DOCUMENT as u64) });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let mut tail = TextTail::default();
        tail.push(&self.bytes);
        let ends = memchr::memchr_iter(b'\n', &self.bytes).count();
        if self.takes == Takes::Text && !is_usable(&tail, ends as u64 + 1, out) {
            let end = memchr::memrchr(b'\n', &self.bytes).map_or(0, |end| end + 1);
            self.bytes.truncate(end);
        }
        (self.read)(&self.input, &self.bytes, out)
    }
}

struct RefusedInput(&'static InputFault);

impl Format for RefusedInput {
    fn feed(&mut self, _: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        Err(out.unusable(self.0.clone()))
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        Err(out.unusable(self.0.clone()))
    }
}
