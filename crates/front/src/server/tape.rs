//! What exports are asked, recorded as traces: the loop hands whole pages to a thread that writes them, and never waits
//! for it.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use plimsoll_record::{Action, Asked, TraceWriter};
use plimsoll_units::{Instant, Span};
use plimsoll_volume::{Command, Export, NotTaken, Request, Slow, Space, Ticket};

use super::{Ended, Handle, Server};
use crate::service::Service;

/// Operations that are handed over together.
const PAGE: usize = 1_024;
/// Pages that wait to be written, 8 MiB in all. What comes while there are so many is dropped, and counted.
const PAGES: usize = 256;

/// What a recording came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Operations that were written.
    pub operations: u64,
    /// Operations that came faster than they could be written.
    pub dropped: u64,
}

/// A recording cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is one already.
    #[error("this volume is being recorded: stop that recording first")]
    Already,
    /// There is no thread for it.
    #[error("starting a thread that writes the recording")]
    Thread(#[source] io::Error),
}

/// A recording that goes on until it is finished, or dropped.
#[derive(Debug)]
pub struct Tape {
    slow: Slow,
    page: Vec<Asked>,
    pages: SyncSender<Vec<Asked>>,
    dropped: Arc<AtomicU64>,
    writer: JoinHandle<io::Result<u64>>,
}

impl Tape {
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
        // In the model's time: a replay knows no other.
        let at = self.slow.model(now).since(Instant::ZERO);
        self.page.push(asked(at, request));
        if self.page.len() == PAGE {
            self.hand_over();
        }
    }

    /// Gives what is there to the thread, or drops it when that has too much to do.
    fn hand_over(&mut self) {
        let page = std::mem::replace(&mut self.page, Vec::with_capacity(PAGE));
        let count = page.len() as u64;
        if count > 0 && self.pages.try_send(page).is_err() {
            self.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Ends the recording, and waits until all of it is written. Not for the thread of the loop.
    ///
    /// # Errors
    /// It could not be written to its end, such as for want of space.
    pub fn finish(self) -> io::Result<Kept> {
        let Self { page, pages, dropped, writer, .. } = self;
        // Fails only when the thread has: its error is told below.
        let _ = pages.send(page);
        drop(pages);
        let operations = writer.join().map_err(|_| io::Error::other("the recorder has panicked"))??;
        Ok(Kept { operations, dropped: dropped.load(Ordering::Relaxed) })
    }
}

/// The thread: writes pages until nobody can send more.
fn write(pages: &Receiver<Vec<Asked>>, sink: impl Write, dropped: &AtomicU64) -> io::Result<u64> {
    let mut trace = TraceWriter::new(BufWriter::with_capacity(1 << 16, sink))?;
    let mut operations = 0;
    for page in pages {
        page.iter().try_for_each(|asked| trace.write(asked))?;
        trace.flush()?;
        operations += page.len() as u64;
    }
    trace.end(dropped.load(Ordering::Relaxed))?;
    Ok(operations)
}

/// A request as a trace has it: by what the model is asked. A hint that bytes will be read is a read of none.
fn asked(at: Span, request: &Request) -> Asked {
    let most = u64::from(u32::MAX);
    let Request { command, offset, length, fua } = *request;
    let (action, offset, length) = match command {
        Command::Read => (Action::Read, offset, length.min(most)),
        Command::Cache => (Action::Read, offset, 0),
        Command::Write | Command::WriteZeroes { space: Space::Keep } => {
            (if fua { Action::DurableWrite } else { Action::Write }, offset, length.min(most))
        }
        Command::Trim | Command::WriteZeroes { space: Space::Free } => (Action::Trim, offset, length),
        Command::Flush => (Action::Flush, 0, 0),
    };
    Asked { at, action, offset, length }
}

impl<S: Service + 'static> Server<S> {
    /// Records what an export is asked from now on, as a trace written to `sink`, in the time of a model that runs
    /// `slow`. It goes on, whoever comes and goes, until [`Server::stop_recording`] or the end of the server.
    pub fn record(&mut self, export: Export, slow: Slow, sink: impl Write + Send + 'static) -> Result<(), RecordError> {
        if self.is_recorded(export) {
            return Err(RecordError::Already);
        }
        self.tapes.push((export, Tape::begin(slow, sink).map_err(RecordError::Thread)?));
        Ok(())
    }

    /// Whether an export is being recorded.
    pub fn is_recorded(&self, export: Export) -> bool {
        self.tapes.iter().any(|(recorded, _)| *recorded == export)
    }

    /// Takes the recording of an export out of the loop, to be finished elsewhere. `None` when there is none.
    pub fn stop_recording(&mut self, export: Export) -> Option<Tape> {
        let at = self.tapes.iter().position(|(recorded, _)| *recorded == export)?;
        Some(self.tapes.swap_remove(at).1)
    }

    /// Has the service take a request in, whoever it is from, and notes it where the export is recorded.
    #[inline]
    pub(super) fn put(&mut self, export: Export, ticket: Ticket, request: &Request) -> Result<(), NotTaken> {
        let taken = self.service.accept(self.now, export, ticket, request, &mut self.jobs);
        if !self.tapes.is_empty() && taken.is_ok() {
            self.note(export, request);
        }
        taken
    }

    /// The same for a request whose payload is moved in parts.
    pub(super) fn put_timing(&mut self, export: Export, ticket: Ticket, request: &Request) -> Result<(), NotTaken> {
        let taken = self.service.accept_timing(self.now, export, ticket, request);
        if !self.tapes.is_empty() && taken.is_ok() {
            self.note(export, request);
        }
        taken
    }

    #[cold]
    fn note(&mut self, export: Export, request: &Request) {
        let tape = self.tapes.iter_mut().find(|(recorded, _)| *recorded == export);
        if let Some((_, tape)) = tape {
            tape.note(self.now, request);
        }
    }

    /// Hands over what was recorded of late, so that a quiet volume's trace grows, too.
    pub(super) fn turn_pages(&mut self) {
        self.tapes.iter_mut().for_each(|(_, tape)| tape.hand_over());
    }

    /// Ends all recordings; the loop has ended.
    pub(super) fn finish_recordings(&mut self) {
        for (_, tape) in self.tapes.drain(..) {
            // What could not be written is missing at the end of the trace, where a reader sees it.
            let _ = tape.finish();
        }
    }
}

impl<S: Service + 'static> Handle<S> {
    /// Ends the recording of an export, and waits until all of it is written. `None` when there is none.
    ///
    /// # Errors
    /// The server has ended. The inner error: the trace could not be written to its end.
    pub fn stop_recording(&self, export: Export) -> Result<Option<io::Result<Kept>>, Ended> {
        Ok(self.call(move |server| server.stop_recording(export))?.map(Tape::finish))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    use plimsoll_record::{Outline, TraceReader};

    use super::*;

    /// Memory that can be read from outside, and that waits for leave to be written to.
    struct Slowly(Arc<Mutex<Vec<u8>>>, Receiver<()>);

    impl Write for Slowly {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The sender is gone: from now on there is leave.
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
    fn what_a_slow_disk_cannot_take_is_dropped_and_counted() {
        let (sink, text, leave) = slowly();
        let mut tape = Tape::begin(Slow::NOT, sink).unwrap();
        let asked = (2 * PAGES * PAGE + 7) as u64;
        for n in 0..asked {
            tape.note(Instant::from_nanos(n), &READ);
        }
        drop(leave);
        let kept = tape.finish().unwrap();
        assert_eq!(kept.operations + kept.dropped, asked);
        assert!(kept.dropped >= ((PAGES - 2) * PAGE) as u64, "{kept:?}");
        let text = text.lock().unwrap();
        let outline = Outline::of(TraceReader::new(&text[..]).unwrap()).unwrap().unwrap();
        assert_eq!((outline.operations, outline.dropped), (kept.operations, kept.dropped));
        assert_eq!(outline.span, Span::from_nanos(asked - 1), "the last page is waited for");
    }

    #[test]
    fn moments_are_those_of_a_slower_model() {
        let (sink, text, leave) = slowly();
        drop(leave);
        let mut tape = Tape::begin(Slow::by(10), sink).unwrap();
        tape.note(Instant::from_nanos(1_000), &READ);
        tape.note(Instant::from_nanos(2_500), &READ);
        tape.finish().unwrap();
        let text = String::from_utf8(text.lock().unwrap().clone()).unwrap();
        assert!(text.ends_with("\n0,read,512,4096\n150,read,512,4096\n#dropped 0\n"), "{text}");
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_ends_the_recording_alone() {
        let mut tape = Tape::begin(Slow::NOT, Full).unwrap();
        for n in 0..(PAGES * PAGE) as u64 {
            tape.note(Instant::from_nanos(n), &READ);
        }
        assert_eq!(tape.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
