//! Counters of a running source as loads: the reader of snapshots computes the load between two readings.

use std::time::{Duration, Instant, SystemTime};

use plimsoll_choose::watch::{LoadSample, read_samples};
use plimsoll_choose::what_if::keep_parts;
use plimsoll_ingest::{Demand, FormatInput, Ingest, Outcome};
use plimsoll_suite::collect::{CounterSource, SourceError};
use plimsoll_suite::snapshots::{FORMAT, line};
use plimsoll_units::Span;
use serde_json::{Map, Value, json};

/// Reads a page of counters, such as that of an exporter; a failure is a sentence with its remedy.
pub type PageReader<'a> = Box<dyn FnMut() -> Result<Vec<u8>, String> + 'a>;

/// Reason why there is no load.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The source does not answer; the next reading connects again.
    #[error("{0}")]
    NoCounters(String),
    /// The counters have no load, or not that of the chosen device.
    #[error("{name}: the counters have no load{of}: name a device of the source with --device")]
    NoLoad {
        name: &'static str,
        /// The chosen device, if any.
        of: String,
    },
    /// The source has the counters of several hosts.
    #[error("the source has several hosts ({0}): watch the exporter of one of them")]
    SeveralHosts(String),
    #[error("stopped")]
    Stopped,
}

enum FeedInput<'a> {
    Counters {
        source: Box<dyn CounterSource + 'a>,
        /// `None` while not connected.
        head: Option<Map<String, Value>>,
    },
    Pages(PageReader<'a>),
    /// Pages that each contain the counters of the latest time.
    Ranges(PageReader<'a>),
}

/// The load of a source between successive readings.
pub struct LoadFeed<'a> {
    name: &'static str,
    input: FeedInput<'a>,
    /// The only device that counts.
    device: Option<String>,
    /// The previous reading.
    before: Option<(Instant, Vec<u8>)>,
    /// Connections to the database and their maximum, at the latest reading.
    connections: Option<[f64; 2]>,
    /// Time spent on readings.
    reading: Duration,
    /// Start of the first reading.
    started: Option<Instant>,
}

impl<'a> LoadFeed<'a> {
    /// From a source of snapshots; with `device`, only that device.
    pub fn of_counters(source: Box<dyn CounterSource + 'a>, device: Option<String>) -> Self {
        Self::new(source.name(), FeedInput::Counters { source, head: None }, device)
    }

    pub fn of_pages(read: PageReader<'a>, device: Option<String>) -> Self {
        Self::new("exporter", FeedInput::Pages(read), device)
    }

    /// From answers of Prometheus to a range query that ends now.
    pub fn of_ranges(read: PageReader<'a>, device: Option<String>) -> Self {
        Self::new("Prometheus", FeedInput::Ranges(read), device)
    }

    fn new(name: &'static str, input: FeedInput<'a>, device: Option<String>) -> Self {
        Self { name, input, device, before: None, connections: None, reading: Duration::ZERO, started: None }
    }

    /// Share of time that readings took, 0 to 1: an upper bound of the load on the source. `None` before the second reading.
    pub fn cost(&self) -> Option<f64> {
        let elapsed = self.started?.elapsed();
        (elapsed > self.reading).then(|| self.reading.as_secs_f64() / elapsed.as_secs_f64())
    }

    /// Reads the counters, and returns the load since the previous reading. `Ok(None)` for the first reading, and where the
    /// counters were reset in between. `stop` returns true when the user stops the watch.
    ///
    /// # Errors
    /// The source does not answer, or its counters have no load.
    pub fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<LoadSample>, FeedError> {
        let started = Instant::now();
        self.started.get_or_insert(started);
        let text = self.read(stop).inspect_err(|_| self.before = None)?;
        if matches!(self.input, FeedInput::Ranges(_)) {
            return self.load_between(&[], &text, None);
        }
        let Some((at, before)) = self.before.replace((started, text)) else { return Ok(None) };
        let after = self.before.as_ref().map(|(_, after)| after.as_slice()).unwrap_or_default();
        self.load_between(&before, after, Some(started.duration_since(at)))
    }

    fn read(&mut self, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, FeedError> {
        match &mut self.input {
            FeedInput::Pages(read) | FeedInput::Ranges(read) => {
                let started = Instant::now();
                let page = read().map_err(FeedError::NoCounters);
                self.reading += started.elapsed();
                page
            }
            FeedInput::Counters { source, head } => {
                if head.is_none() {
                    let mut connected = source.connect(stop).map_err(refuse)?;
                    connected.insert("format".to_owned(), json!(FORMAT));
                    connected.insert("source".to_owned(), json!(source.name()));
                    *head = Some(connected);
                }
                // Without the time to connect, which is spent once.
                let started = Instant::now();
                let sample = source.sample(stop).map_err(refuse).inspect_err(|_| *head = None)?;
                self.reading += started.elapsed();
                self.connections = count_connections(&sample);
                Ok(line(&sample).into_bytes())
            }
        }
    }

    /// The load of the last interval of a text, whose length is `elapsed` unless the text states it.
    fn load_between(
        &self,
        before: &[u8],
        after: &[u8],
        elapsed: Option<Duration>,
    ) -> Result<Option<LoadSample>, FeedError> {
        let interval = elapsed.map(|elapsed| Span::from_nanos(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)));
        let mut ingest = Ingest::new(FormatInput { interval, ..FormatInput::from(self.name) });
        if let FeedInput::Counters { head: Some(head), .. } = &self.input {
            ingest.feed(line(head).as_bytes());
        }
        ingest.feed(before);
        ingest.feed(after);
        let mut outcomes = ingest.finish();
        if let Some(device) = &self.device {
            for outcome in &mut outcomes {
                if let Outcome::Read(reading) = outcome {
                    keep_parts(reading, |part| part == device);
                }
            }
        }
        let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
        if let Some(refusal) = outcomes.iter().find_map(describe_refusal).filter(|_| readings.is_empty()) {
            return Err(FeedError::NoCounters(format!("{}: {refusal}", self.name)));
        }
        let demand = Demand::of(&readings);
        match demand.subjects.as_slice() {
            [] => Err(FeedError::NoLoad {
                name: self.name,
                of: self.device.as_ref().map_or_else(String::new, |device| format!(" of {device}")),
            }),
            // The clock of this host orders readings of any source.
            [subject] => Ok(read_samples(subject).pop().map(|sample| LoadSample {
                end: unix_time(),
                connections: self.connections,
                ..sample
            })),
            subjects => {
                let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).take(8).collect();
                Err(FeedError::SeveralHosts(names.join(", ")))
            }
        }
    }
}

/// Reads all sources: sessions are those of the first, the load that of the last.
///
/// # Errors
/// As [`LoadFeed::sample`].
pub fn sample_all(feeds: &mut [LoadFeed<'_>], stop: &dyn Fn() -> bool) -> Result<Option<LoadSample>, FeedError> {
    let mut merged: Option<LoadSample> = None;
    for feed in feeds {
        let sample = feed.sample(stop)?;
        let database = merged.take();
        merged = sample.map(|sample| LoadSample {
            sessions: sample.sessions.or(database.as_ref().and_then(|database| database.sessions)),
            connections: sample.connections.or(database.and_then(|database| database.connections)),
            ..sample
        });
    }
    Ok(merged)
}

/// Connections to all databases of a PostgreSQL server, and their maximum.
fn count_connections(sample: &Map<String, Value>) -> Option<[f64; 2]> {
    let maximum = sample.get("server")?.get("max_connections")?.as_f64()?;
    let databases = sample.get("pg_stat_database")?.as_array()?;
    let connected = databases.iter().filter_map(|database| database.get("numbackends")?.as_f64());
    Some([connected.sum(), maximum])
}

/// Time since 1970.
fn unix_time() -> plimsoll_units::Instant {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    plimsoll_units::Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

fn describe_refusal(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Refused { refusal, .. } => Some(refusal.to_string()),
        Outcome::Read(_) => None,
    }
}

fn refuse(error: SourceError) -> FeedError {
    match error {
        SourceError::Failed(why) => FeedError::NoCounters(why),
        SourceError::Stopped => FeedError::Stopped,
    }
}
