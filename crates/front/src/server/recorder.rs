//! Traces of the requests of exports: the loop hands whole pages to a thread that writes them, and never waits for it.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use plimsoll_record::{Action, TraceEntry, TraceWriter};
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Command, Export, Request, Slow, Space};

use super::{Handle, Server, ServerEnded};

const PAGE: usize = 1_024;
/// Maximum of pages that wait to be written, 8 MiB in all. Operations beyond that are dropped and counted.
const PAGES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedTrace {
    pub operations: u64,
    /// Operations that were dropped, as writing was too slow.
    pub dropped: u64,
}

/// A recording could not begin.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The export is being recorded.
    #[error("this volume is being recorded: stop that recording first")]
    Already,
    /// No thread could be started.
    #[error("starting a thread that writes the recording")]
    Thread(#[source] io::Error),
}

/// A recording in progress.
#[derive(Debug)]
pub struct TraceRecorder {
    slow: Slow,
    page: Vec<TraceEntry>,
    pages: SyncSender<Vec<TraceEntry>>,
    dropped: Arc<AtomicU64>,
    writer: JoinHandle<io::Result<u64>>,
}

impl TraceRecorder {
    fn begin(slow: Slow, sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (pages, written) = sync_channel(PAGES);
        let dropped = Arc::new(AtomicU64::new(0));
        let missing = Arc::clone(&dropped);
        let work = move || write(&written, sink, &missing);
        let writer = std::thread::Builder::new().name("recorder".into()).spawn(work)?;
        Ok(Self { slow, page: Vec::with_capacity(PAGE), pages, dropped, writer })
    }

    #[inline]
    fn note(&mut self, now: Instant, request: &Request) {
        // In model time, which a replay uses.
        let at = self.slow.model(now).since(Instant::ZERO);
        self.page.push(trace_entry(at, request));
        if self.page.len() == PAGE {
            self.hand_over();
        }
    }

    /// Hands the page to the thread, or drops it if the queue is full.
    fn hand_over(&mut self) {
        let page = std::mem::replace(&mut self.page, Vec::with_capacity(PAGE));
        let count = page.len() as u64;
        if count > 0 && self.pages.try_send(page).is_err() {
            self.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Ends the recording, and waits until it is written. Not for the thread of the loop.
    ///
    /// # Errors
    /// The trace could not be written completely, for example on a full disk.
    pub fn finish(self) -> io::Result<RecordedTrace> {
        let Self { page, pages, dropped, writer, .. } = self;
        // Fails only if the thread has failed: its error is returned below.
        let _ = pages.send(page);
        drop(pages);
        let operations = writer.join().map_err(|_| io::Error::other("the recorder has panicked"))??;
        Ok(RecordedTrace { operations, dropped: dropped.load(Ordering::Relaxed) })
    }
}

/// Body of the thread: writes pages until the recorder is gone.
fn write(pages: &Receiver<Vec<TraceEntry>>, sink: impl Write, dropped: &AtomicU64) -> io::Result<u64> {
    let mut trace = TraceWriter::new(BufWriter::with_capacity(1 << 16, sink))?;
    let mut operations = 0;
    for page in pages {
        page.iter().try_for_each(|entry| trace.write(entry))?;
        trace.flush()?;
        operations += page.len() as u64;
    }
    trace.end(dropped.load(Ordering::Relaxed))?;
    Ok(operations)
}

/// A request as a trace record, by its meaning for the model. A cache hint is a read of zero bytes.
fn trace_entry(at: Span, request: &Request) -> TraceEntry {
    let max = u64::from(u32::MAX);
    let Request { command, offset, length, fua } = *request;
    let (action, offset, length) = match command {
        Command::Read => (Action::Read, offset, length.min(max)),
        Command::Cache => (Action::Read, offset, 0),
        Command::Write | Command::WriteZeroes { space: Space::Keep } => {
            (if fua { Action::DurableWrite } else { Action::Write }, offset, length.min(max))
        }
        Command::Trim | Command::WriteZeroes { space: Space::Free } => (Action::Trim, offset, length),
        Command::Flush => (Action::Flush, 0, 0),
    };
    TraceEntry { at, action, offset, length }
}

impl Server {
    /// Records the requests of an export from now on, as a trace written to `sink`, in the time of a model that runs
    /// `slow`, until [`Server::stop_recording`] or the end of the server.
    pub fn record(&mut self, export: Export, slow: Slow, sink: impl Write + Send + 'static) -> Result<(), RecordError> {
        if self.is_recorded(export) {
            return Err(RecordError::Already);
        }
        self.recorders.push((export, TraceRecorder::begin(slow, sink).map_err(RecordError::Thread)?));
        Ok(())
    }

    /// Whether an export is being recorded.
    pub fn is_recorded(&self, export: Export) -> bool {
        self.recorders.iter().any(|(recorded, _)| *recorded == export)
    }

    /// Removes the recording of an export from the loop; [`TraceRecorder::finish`] it elsewhere. `None` if there is
    /// none.
    pub fn stop_recording(&mut self, export: Export) -> Option<TraceRecorder> {
        let at = self.recorders.iter().position(|(recorded, _)| *recorded == export)?;
        Some(self.recorders.swap_remove(at).1)
    }

    /// Records a request, if its export is recorded.
    #[cold]
    pub(super) fn record_request(&mut self, export: Export, request: &Request) {
        let recorder = self.recorders.iter_mut().find(|(recorded, _)| *recorded == export);
        if let Some((_, recorder)) = recorder {
            recorder.note(self.now, request);
        }
    }

    /// Hands over pages that are not full, so that the trace of a quiet volume grows as well.
    pub(super) fn flush_recorders(&mut self) {
        self.recorders.iter_mut().for_each(|(_, recorder)| recorder.hand_over());
    }

    /// Ends all recordings after the end of the loop.
    pub(super) fn finish_recordings(&mut self) {
        for (_, recorder) in self.recorders.drain(..) {
            // A failed write shows as a truncated trace.
            let _ = recorder.finish();
        }
    }
}

impl Handle {
    /// Ends the recording of an export, and waits until it is written. `None` if there is none.
    ///
    /// # Errors
    /// The server has ended. The inner error: the trace could not be written completely.
    pub fn stop_recording(&self, export: Export) -> Result<Option<io::Result<RecordedTrace>>, ServerEnded> {
        Ok(self.call(move |server| server.stop_recording(export))?.map(TraceRecorder::finish))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    use plimsoll_record::{Outline, TraceReader};

    use super::*;

    /// Shared memory that blocks writes until released.
    struct Slowly(Arc<Mutex<Vec<u8>>>, Receiver<()>);

    impl Write for Slowly {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The sender is gone: writes are released.
            let _ = self.1.recv();
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn slowly() -> (Slowly, Arc<Mutex<Vec<u8>>>, Sender<()>) {
        let (text, (leave, wait)) = (Arc::new(Mutex::new(Vec::new())), channel());
        (Slowly(Arc::clone(&text), wait), text, leave)
    }

    const READ: Request = Request { command: Command::Read, offset: 512, length: 4_096, fua: false };

    #[test]
    fn operations_beyond_a_slow_disk_are_dropped_and_counted() {
        let (sink, text, leave) = slowly();
        let mut recorder = TraceRecorder::begin(Slow::NOT, sink).unwrap();
        let submitted = (2 * PAGES * PAGE + 7) as u64;
        for n in 0..submitted {
            recorder.note(Instant::from_nanos(n), &READ);
        }
        drop(leave);
        let summary = recorder.finish().unwrap();
        assert_eq!(summary.operations + summary.dropped, submitted);
        assert!(summary.dropped >= ((PAGES - 2) * PAGE) as u64, "{summary:?}");
        let text = text.lock().unwrap();
        let outline = Outline::of(TraceReader::new(&text[..]).unwrap()).unwrap().unwrap();
        assert_eq!((outline.operations, outline.dropped), (summary.operations, summary.dropped));
        assert_eq!(outline.span, Span::from_nanos(submitted - 1), "the last page is waited for");
    }

    #[test]
    fn times_are_model_times() {
        let (sink, text, leave) = slowly();
        drop(leave);
        let mut recorder = TraceRecorder::begin(Slow::by(10), sink).unwrap();
        recorder.note(Instant::from_nanos(1_000), &READ);
        recorder.note(Instant::from_nanos(2_500), &READ);
        recorder.finish().unwrap();
        let text = String::from_utf8(text.lock().unwrap().clone()).unwrap();
        assert!(text.ends_with("\n0,read,512,4096\n150,read,512,4096\n#dropped 0\n"), "{text}");
    }

    struct FullDisk;

    impl Write for FullDisk {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn full_disk_ends_only_the_recording() {
        let mut recorder = TraceRecorder::begin(Slow::NOT, FullDisk).unwrap();
        for n in 0..(PAGES * PAGE) as u64 {
            recorder.note(Instant::from_nanos(n), &READ);
        }
        assert_eq!(recorder.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
