//! Construction of a reading.

mod distributions;
mod parts;
mod rates;

use std::collections::btree_map::{BTreeMap, Entry};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use plimsoll_language::label;
use plimsoll_units::Span;

use self::distributions::Distributions;
pub(crate) use self::rates::{Risen, between};
use crate::coarsen::{Coarsening, coarsen};
use crate::layers::Layer;
use crate::reading::{
    AnalysedPeriod, CacheAdvice, CapEvidence, CapLimit, Caution, Class, Counted, Database, DatabaseTime, Doubt, Fate,
    Figure, FormatName, HostTime, InputPart, LatencyBin, LatencyHistogram, Measure, MissCurve, Multipath, Origin,
    Reading, ReadingEvidence, ReadingScope, ReadingWindow, ResourceFigure, Snapshot, Statistic, Wait, WindowCount,
};
use crate::refusal::{InputFault, Refusal};
use crate::text::dates::{DateEvidence, DateOrder, StampOrder};
use crate::text::timestamp::{self, LocalClock, Stamp};

/// Collects the content of one input. Equal scopes, windows and texts are kept once.
#[derive(Debug)]
pub struct Builder {
    reading: Reading,
    scopes: BTreeMap<ReadingScope, u32>,
    texts: BTreeSet<Arc<str>>,
    /// The first and the last snapshot of each scope.
    retained: BTreeMap<u32, (usize, Option<usize>)>,
    /// Indices of metrics of limits that count time.
    caps: HashMap<(u32, CapLimit), usize>,
    /// Time and age of the snapshots at the end of the last window.
    until: (Option<DateTime>, Option<Span>),
    /// Indices of windows by begin, once they are out of order.
    timed: Option<BTreeMap<(DateTime, Span), u32>>,
    /// Figures of windows that were left, once an earlier window is returned to: copies of samples do not add up.
    placed: Option<BTreeSet<FigureKey>>,
    /// The current window, and its figures since it was entered.
    entered: (Option<u32>, BTreeSet<FigureKey>),
    /// How neighbouring windows were joined, if there were too many.
    joined: Option<Coarsening>,
    /// Distributions at the resolution of the input, once windows are joined, and the number of figures in them.
    distributions: (Distributions, usize),
    /// Number of figures and windows above which neighbours are joined.
    room: usize,
    /// Time zone of times without an offset.
    zone: TimeZone,
    /// The last time without an offset.
    clock: LocalClock,
    /// Order of day and month of its dates.
    dates: DateEvidence,
    /// The last line that was skipped.
    skipped: Option<u64>,
    /// The builder's own first refusal, kept because formats do not check every figure.
    refusal: Option<Refusal>,
}

impl Builder {
    /// Maximum figures of an input, at 64 bytes each.
    pub const MAX_FIGURES: usize = 8 << 20;
    /// Figures and windows above which neighbouring windows are joined: about 32 MB.
    pub const MAX_FINE: usize = 1 << 19;
    /// Maximum value of a figure, in its unit: a petabyte per second. Sums and products of such values stay finite.
    pub const MAX_VALUE: f64 = 1e15;
    /// Maximum listed sections of an input.
    pub const MAX_PARTS: usize = 10_000;
    /// Maximum cautions of an input, which a file with an error in every line reaches.
    pub const MAX_CAUTIONS: usize = 100;

    pub(crate) fn new(name: &str, zone: Option<TimeZone>, kind: FormatName) -> Self {
        let reading = Reading { name: name.to_owned(), kind, ..Reading::default() };
        Self { zone: zone.unwrap_or(TimeZone::UTC), ..Self::with(reading) }
    }

    fn with(reading: Reading) -> Self {
        let scopes = reading.scopes.iter().cloned().zip(0..).collect();
        let counted = reading.caps.iter().enumerate().filter(|(_, cap)| cap.time.is_some());
        let caps = counted.map(|(index, cap)| ((cap.scope, cap.limit), index)).collect();
        Self {
            caps,
            reading,
            scopes,
            texts: BTreeSet::new(),
            retained: BTreeMap::new(),
            until: (None, None),
            timed: None,
            placed: None,
            entered: (None, BTreeSet::new()),
            joined: None,
            distributions: (Distributions::default(), 0),
            room: Self::MAX_FINE,
            zone: TimeZone::UTC,
            clock: LocalClock::default(),
            dates: DateEvidence::default(),
            skipped: None,
            refusal: None,
        }
    }

    /// Joins no windows.
    pub(crate) fn keep_windows(&mut self) {
        self.room = usize::MAX;
    }

    /// The builder of an input named `test`.
    #[cfg(test)]
    pub(crate) fn test() -> Self {
        Self::new("test", None, FormatName { id: "test", name: "test" })
    }

    /// A refusal of the whole input.
    pub fn unusable(&self, fault: impl Into<InputFault>) -> Refusal {
        Refusal::Unusable { kind: self.reading.kind, origin: None, fault: Box::new(fault.into()) }
    }

    /// A refusal of the input at a place.
    pub fn unusable_at(&self, origin: Origin, fault: impl Into<InputFault>) -> Refusal {
        Refusal::Unusable { kind: self.reading.kind, origin: Some(origin), fault: Box::new(fault.into()) }
    }

    /// Sets the version of the program that wrote the input.
    pub fn version(&mut self, version: &str) {
        self.reading.version = Some(version.to_owned());
    }

    /// Sets the release of the Oracle Database that wrote the input, which is also its version.
    pub(crate) fn oracle_release(&mut self, release: &str) {
        self.version(release);
        self.reading.oracle_release = Some(release.to_owned());
    }

    /// Sets the platform of the host, as Oracle Database writes it. Some inputs write underscores for spaces.
    pub(crate) fn platform(&mut self, platform: &str) {
        self.reading.platform = Some(platform.replace('_', " "));
    }

    /// Converts a timestamp to UTC; without an offset it is in the zone of the input.
    pub(crate) fn instant(&mut self, stamp: Stamp) -> DateTime {
        let (at, is_utc) = stamp.parts();
        let at = self.dates.choose(at, stamp.order());
        let at = if is_utc { at } else { self.local(at) };
        self.dates.observe(at);
        at
    }

    /// A date without a time, in the order of the input's dates.
    pub(crate) fn date(&mut self, (date, order): (Date, StampOrder<Date>)) -> Date {
        self.dates.choose(date, order)
    }

    /// The order of day and month of its dates.
    pub(crate) const fn dates(&self) -> &DateEvidence {
        &self.dates
    }

    /// Sets the order of dates that permit both.
    pub(crate) fn assume_dates(&mut self, order: DateOrder) {
        self.dates.assumed = Some(order);
    }

    /// Converts a time in the input's zone to UTC.
    pub(crate) fn local(&mut self, at: DateTime) -> DateTime {
        if self.reading.assumed_zone.is_none() {
            self.reading.assumed_zone = Some(timestamp::format_zone(&self.zone));
        }
        let (utc, is_change) = self.clock.next(at, &self.zone);
        if is_change && !self.has_doubt(|doubt| matches!(doubt, Doubt::ClockChange { .. })) {
            let zone = timestamp::format_zone(&self.zone);
            self.caution(None, Doubt::ClockChange { at, zone });
        }
        utc
    }

    /// The second of two instants with the same local time at the end of daylight saving time, from the first; none for
    /// other instants.
    pub(crate) fn repeated_hour(&self, first: DateTime) -> Option<DateTime> {
        let local = timestamp::to_zone(first, &self.zone)?;
        let both = timestamp::both_in_zone(local, &self.zone);
        both.filter(|both| both[0] == first).map(|[_, second]| second)
    }

    /// Scopes by index.
    pub(crate) fn scopes(&self) -> &[ReadingScope] {
        &self.reading.scopes
    }

    /// Excludes devices from totals that are layers of others by their names.
    pub(crate) fn exclude_layers(&mut self, above: &BTreeSet<u32>, below: &BTreeSet<u32>) {
        let doubt = Doubt::NamedLayers { below: self.parts(below), above: self.parts(above) };
        self.reading.beneath.extend(above);
        self.caution(None, doubt);
    }

    /// The index of a scope; equal scopes share an index.
    pub fn scope(&mut self, scope: ReadingScope) -> u32 {
        let scopes = &mut self.reading.scopes;
        *self.scopes.entry(scope).or_insert_with_key(|scope| {
            scopes.push(scope.clone());
            scopes.len() as u32 - 1
        })
    }

    /// If there are both software RAID arrays and disks, excludes either from totals: disks, unless the arrays' traffic
    /// is too small for them. Called once for each host.
    pub(crate) fn arrays(&mut self, scopes: impl IntoIterator<Item = (u32, Layer)>) {
        /// Maximum operations of members per operation of an array: a small write to RAID 6 reads and writes three
        /// members each.
        const AMPLIFIED: f64 = 8.0;
        let (arrays, disks): (Vec<_>, Vec<_>) = scopes.into_iter().partition(|(_, layer)| *layer == Layer::Array);
        let [arrays, disks] =
            [arrays, disks].map(|of| of.into_iter().map(|(scope, _)| scope).collect::<BTreeSet<u32>>());
        if arrays.is_empty() || disks.is_empty() {
            return;
        }
        let (of_arrays, of_disks) = (self.bytes(&arrays), self.bytes(&disks));
        let traffic = self.traffic(&arrays);
        let idle: BTreeSet<u32> =
            arrays.iter().copied().filter(|scope| traffic[scope].iter().sum::<f64>() <= 0.0).collect();
        let (above, below) = (self.parts(&arrays), self.parts(&disks));
        let (doubt, beneath) = if of_arrays > 0.0 && of_arrays * AMPLIFIED >= of_disks {
            let idle = (!idle.is_empty()).then(|| self.parts(&idle));
            (Doubt::ArraysCounted { above, below, idle }, disks)
        } else {
            (Doubt::DisksCounted { below, above, percent: of_arrays / of_disks * 100.0 }, arrays)
        };
        self.reading.beneath.extend(beneath);
        // An idle array, such as for booting, is normal.
        if of_arrays * 100.0 > of_disks {
            self.caution(None, doubt);
        }
    }

    /// Marks parts as divisions of the whole's work.
    pub(crate) fn divide(&mut self) {
        self.reading.is_divided = true;
    }

    /// Excludes a scope from totals: another scope counts its operations as well.
    pub(crate) fn set_beneath(&mut self, scope: u32) {
        self.reading.beneath.insert(scope);
    }

    /// Bytes read and written by scopes.
    fn bytes(&self, scopes: &BTreeSet<u32>) -> f64 {
        self.traffic(scopes).values().flatten().sum()
    }

    /// Bytes read, and bytes written, by scope: in the windows, or without any since the begin of the counters. Operations
    /// if the input has no bytes.
    fn traffic(&self, scopes: &BTreeSet<u32>) -> BTreeMap<u32, [f64; 2]> {
        let mut traffic: BTreeMap<u32, [f64; 2]> = scopes.iter().map(|scope| (*scope, [0.0; 2])).collect();
        let mut add = |scope: u32, class: Class, bytes: f64| {
            if let (Some(sums), Class::Read | Class::Write | Class::All) = (traffic.get_mut(&scope), class) {
                sums[usize::from(class == Class::Write)] += bytes;
            }
        };
        if self.reading.figures.is_empty() {
            for snapshot in &self.reading.snapshots {
                for count in &snapshot.counts {
                    if let Counted::Bytes(class) = count.counted {
                        add(snapshot.scope, class, count.value);
                    }
                }
            }
            return traffic;
        }
        let means = || self.reading.figures.iter().filter(|figure| figure.statistic == Statistic::Mean);
        let has_bytes = means().any(|figure| figure.measure == Measure::Throughput);
        let measure = if has_bytes { Measure::Throughput } else { Measure::Iops };
        for figure in means() {
            if figure.measure == measure {
                add(figure.scope, figure.class, figure.value * self.length(figure.window).as_secs_f64());
            }
        }
        traffic
    }

    /// Excludes devices above others from totals, for mapped devices without their disks: a device that carries the bytes
    /// of all others is below them, and devices with equal bytes are layers of each other. False if no layer was found.
    pub(crate) fn layers(&mut self, scopes: impl IntoIterator<Item = (u32, Layer)>) -> bool {
        /// Counters of layers are read at different times.
        const MAX_RELATIVE_DIFFERENCE: f64 = 0.01;
        let scopes: BTreeMap<u32, Layer> = scopes.into_iter().collect();
        let mut traffic: Vec<(u32, [f64; 2])> = self.traffic(&scopes.keys().copied().collect()).into_iter().collect();
        traffic.retain(|(_, bytes)| bytes.iter().sum::<f64>() > 0.0);
        traffic.sort_by(|a, b| b.1.iter().sum::<f64>().total_cmp(&a.1.iter().sum()));
        let is_equal = |a: [f64; 2], b: [f64; 2]| {
            let sum: f64 = a.iter().sum();
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= MAX_RELATIVE_DIFFERENCE * sum)
        };
        let Some(((_, max), others)) = traffic.split_first() else { return false };
        let sum = others.iter().fold([0.0; 2], |sum, (_, bytes)| [sum[0] + bytes[0], sum[1] + bytes[1]]);
        let above: BTreeSet<u32> = if others.len() > 1 && is_equal(*max, sum) {
            others.iter().map(|(scope, _)| *scope).collect()
        } else {
            // Devices with other names may be the two disks of a mirror.
            let is_mapped = |scope: u32| scopes.get(&scope) == Some(&Layer::Stacked);
            let pairs = traffic
                .windows(2)
                .filter(|pair| is_equal(pair[0].1, pair[1].1) && pair.iter().all(|(scope, _)| is_mapped(*scope)));
            pairs.map(|pair| pair[1].0).collect()
        };
        if above.is_empty() {
            return false;
        }
        let below: BTreeSet<u32> =
            traffic.iter().map(|(scope, _)| *scope).filter(|scope| !above.contains(scope)).collect();
        let doubt = Doubt::LayersCounted { below: self.parts(&below), above: self.parts(&above) };
        self.reading.beneath.extend(above);
        self.caution(None, doubt);
        true
    }

    /// Names of the parts of scopes, for a message.
    fn parts(&self, scopes: &BTreeSet<u32>) -> String {
        const MAX_NAMES: usize = 4;
        let names = scopes.iter().take(MAX_NAMES).map(|scope| self.reading.scopes[*scope as usize].part.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        if scopes.len() > MAX_NAMES { format!("{names} and {} more", scopes.len() - MAX_NAMES) } else { names }
    }

    /// The index of a window: equal to the last one or to any with the same begin, that window's index. Invalid after
    /// the next window: with too many figures, neighbours are joined and windows are renumbered.
    pub fn window(&mut self, window: ReadingWindow) -> u32 {
        let existing = match window.begin {
            Some(begin) => self.existing(begin, window.length),
            None => self.reading.windows.last().filter(|last| **last == window).map(|_| self.last()),
        };
        let number = existing.unwrap_or_else(|| self.sample(window));
        self.enter(number);
        number
    }

    /// Begins the figures of a window: those that it has already are not added again.
    fn enter(&mut self, number: u32) {
        if self.entered.0 == Some(number) {
            return;
        }
        if let Some(placed) = &mut self.placed {
            placed.append(&mut self.entered.1);
        } else if number < self.last() {
            self.placed = Some(self.reading.figures.iter().map(figure_key).collect());
        }
        self.entered.0 = Some(number);
    }

    /// The index of a new window even if it equals others, for samples without times. As with [`Builder::window`],
    /// invalid after the next window.
    pub fn sample(&mut self, window: ReadingWindow) -> u32 {
        if self.load() >= self.room {
            self.join();
        }
        self.reading.windows.push(window);
        let number = self.last();
        if let (Some(timed), Some(begin)) = (&mut self.timed, window.begin) {
            timed.insert((begin, window.length), number);
        }
        number
    }

    /// An earlier window. Most inputs are in order, so this search is rare.
    fn existing(&mut self, begin: DateTime, length: Span) -> Option<u32> {
        let last = self.reading.windows.last()?;
        if last.begin.is_some_and(|last| last < begin) && self.timed.is_none() {
            return None;
        }
        let windows = &self.reading.windows;
        let all =
            || windows.iter().zip(0..).filter_map(|(window, number)| Some(((window.begin?, window.length), number)));
        self.timed.get_or_insert_with(|| all().collect()).get(&(begin, length)).copied()
    }

    fn last(&self) -> u32 {
        self.reading.windows.len() as u32 - 1
    }

    fn load(&self) -> usize {
        self.reading.figures.len() + self.reading.windows.len()
    }

    /// Joins neighbouring windows until half of the room is free. Windows of a database's time and of a trace's curve
    /// stay unchanged.
    fn join(&mut self) {
        let reading = &self.reading;
        let retained = [
            reading.times.len(),
            reading.waits.len(),
            reading.databases.len(),
            reading.advice.len(),
            reading.curves.len(),
            reading.tallies.len(),
        ];
        if retained != [0; 6] {
            self.room = Self::MAX_FINE.max(self.load().saturating_mul(2));
            return;
        }
        let mean = mean_length(&reading.windows).map(|mean| times(mean, 4));
        let target = self.joined.map(|joined| joined.target).or(mean).unwrap_or(Span::MAX);
        let mut how = Coarsening { target, busiest: self.busiest() };
        self.coarsen(how);
        while self.load() > Self::MAX_FINE / 2 && self.reading.windows.len() > 2 {
            how = Coarsening { target: times(how.target, 2), busiest: how.busiest - how.busiest / 8 };
            self.coarsen(how);
        }
        (self.timed, self.placed, self.entered) = (None, None, (None, BTreeSet::new()));
        self.room = Self::MAX_FINE.max(self.load().saturating_mul(2));
    }

    /// Number of windows that stay as they are: with as many joined ones between them they fill half of the room.
    fn busiest(&self) -> usize {
        let per_window = self.reading.figures.len() / self.reading.windows.len().max(1);
        // A joined window has maxima of latencies and depths as well.
        Self::MAX_FINE / 2 / (5 * per_window / 2 + 2)
    }

    fn coarsen(&mut self, how: Coarsening) {
        let Reading { windows, figures, joined, hosts, resources, .. } = &mut self.reading;
        let (distributions, counted) = &mut self.distributions;
        distributions.add(&figures[*counted..], windows);
        let group_of = coarsen(windows, figures, joined, how);
        distributions.complete(windows.len());
        *counted = figures.len();
        join_hosts(hosts, &group_of);
        for resource in resources {
            resource.window = group_of[resource.window as usize];
        }
        self.joined = Some(how);
    }

    /// The index of the window that ends at snapshots of this time and age.
    pub(crate) fn window_until(&mut self, window: ReadingWindow, until: (Option<DateTime>, Option<Span>)) -> u32 {
        let same = self.until == until && self.reading.windows.last() == Some(&window);
        self.until = until;
        if same { self.last() } else { self.sample(window) }
    }

    pub(crate) fn length(&self, window: u32) -> Span {
        self.reading.windows[window as usize].length
    }

    /// An interned text for origins.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(existing) = self.texts.get(text) {
            return Arc::clone(existing);
        }
        let text: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&text));
        text
    }

    /// A place in a table or section.
    pub fn origin(&mut self, line: u64, table: &str, field: &str) -> Origin {
        let table = if table.is_empty() { None } else { Some(self.text(table)) };
        Origin { line, table, field: self.text(field) }
    }

    /// Adds a figure. An impossible value (negative, not a number, above [`Builder::MAX_VALUE`]) becomes a caution.
    pub fn figure(&mut self, figure: Figure) {
        if !is_possible(figure.value) {
            return self.caution(Some(figure.origin), Doubt::ImplausibleFigure { value: figure.value });
        }
        if let Some(placed) = &self.placed {
            let key = figure_key(&figure);
            if placed.contains(&key) {
                return self.caution_once(Some(Origin::line(figure.origin.line)), Doubt::ClockBack);
            }
            self.entered.1.insert(key);
        }
        if self.has_room(self.reading.figures.len()) {
            self.reading.figures.push(figure);
        }
    }

    /// Adds a mean, as nearly all figures are.
    pub fn mean(&mut self, (scope, window): (u32, u32), class: Class, measure: Measure, value: f64, origin: Origin) {
        self.figure(Figure { scope, window, class, measure, statistic: Statistic::Mean, value, origin });
    }

    /// Adds the result of a benchmark.
    pub fn evidence(&mut self, evidence: ReadingEvidence) {
        if self.has_room(self.reading.evidence.len()) {
            self.reading.evidence.push(evidence);
        }
    }

    /// False, with a refusal, beyond the maximum number of figures.
    fn has_room(&mut self, count: usize) -> bool {
        let has_room = count < Self::MAX_FIGURES;
        if !has_room {
            self.refusal.get_or_insert(Refusal::TooMany { limit: Self::MAX_FIGURES });
        }
        has_room
    }

    /// Adds counters at a time. With an earlier snapshot of the same scope they become figures of the window in
    /// between; the first and the last are kept for [`crate::join`].
    pub fn snapshot(&mut self, taken: Snapshot) {
        let retained = &mut self.reading.snapshots;
        let (first, last) = match self.retained.entry(taken.scope) {
            Entry::Vacant(entry) => {
                entry.insert((retained.len(), None));
                return retained.push(taken);
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        // The first and the last snapshot may have neighbours in other inputs.
        if let Some(last) = *last {
            let mut before = taken;
            std::mem::swap(&mut retained[last], &mut before);
            let taken = retained[last].take_counts();
            between(&before, &taken, self);
            self.reading.snapshots[last] = taken;
        } else {
            *last = Some(retained.len());
            let before = retained[*first].clone();
            retained.push(taken.clone());
            between(&before, &taken, self);
        }
    }

    /// Time of a database's sessions.
    pub fn time(&mut self, time: DatabaseTime) {
        let rest = [time.processor_s, time.commits];
        if !is_possible(time.database_s) || !rest.into_iter().flatten().all(is_possible) {
            return self.caution(Some(time.origin), Doubt::ImpossibleItem { item: label!("times of a database") });
        }
        self.reading.times.push(time);
    }

    /// Processor time of a host.
    pub fn host(&mut self, host: HostTime) {
        if !is_possible(host.busy_s) || !is_possible(host.idle_s) {
            return self.caution(Some(host.origin), Doubt::ImpossibleItem { item: label!("times of a processor") });
        }
        self.reading.hosts.push(host);
    }

    /// Waits of sessions for an event.
    pub fn wait(&mut self, wait: Wait) {
        let is_share = |(bound, share): &(f64, f64)| *bound >= 0.0 && is_possible(*share);
        if !is_possible(wait.count) || !is_possible(wait.total_s) || !wait.histogram.iter().all(is_share) {
            return self
                .caution(Some(wait.origin), Doubt::ImpossibleItem { item: label!("counts or times of a wait") });
        }
        self.reading.waits.push(wait);
    }

    /// Adds a count other than operations and waits.
    pub fn tally(&mut self, tally: WindowCount) {
        if !is_possible(tally.value) {
            return self.caution(Some(tally.origin), Doubt::ImpossibleItem { item: label!("count") });
        }
        self.reading.tallies.push(tally);
    }

    /// A period that the database analysed.
    pub(crate) fn analysis(&mut self, period: AnalysedPeriod) {
        if is_possible(period.active_sessions) {
            self.reading.analyses.push(period);
        }
    }

    /// Memory and processors of a database and its host.
    pub fn database(&mut self, database: Database) {
        let Database { block_bytes, cache_bytes, processors, cores, memory_bytes, stored_bytes, .. } = &database;
        let numbers = [block_bytes, cache_bytes, processors, cores, memory_bytes, stored_bytes];
        if !numbers.into_iter().flatten().all(|number| is_possible(*number)) {
            return self.caution(Some(database.origin), Doubt::ImpossibleItem { item: label!("sizes of a host") });
        }
        self.reading.databases.push(database);
    }

    /// Memory or processors of an instance. Zero stands for unknown.
    pub fn resource(&mut self, resource: ResourceFigure) {
        if resource.value > 0.0 && is_possible(resource.value) {
            self.reading.resources.push(resource);
        }
    }

    /// An estimate for another size of the buffer cache.
    pub fn advice(&mut self, advice: CacheAdvice) {
        let CacheAdvice { size_bytes, size_factor, read_factor, reads, .. } = advice;
        if ![size_bytes, size_factor, read_factor, reads].into_iter().all(is_possible) {
            return self.caution(Some(advice.origin), Doubt::ImpossibleItem { item: label!("numbers of an estimate") });
        }
        self.reading.advice.push(advice);
    }

    /// A metric of a limit.
    pub(crate) fn cap(&mut self, cap: CapEvidence) {
        if self.reading.caps.len() < Self::MAX_PARTS {
            self.reading.caps.push(cap);
        }
    }

    /// Seconds above a limit in a window of `seconds`, by a counter of the provider.
    pub(crate) fn exceeded(
        &mut self,
        (scope, window): (u32, u32),
        (limit, metric): (CapLimit, &str),
        [above, seconds]: [f64; 2],
        origin: &Origin,
    ) {
        let ReadingWindow { begin, length } = self.reading.windows[window as usize];
        let is_reached = above > 0.0;
        let index = self.caps.get(&(scope, limit)).copied().unwrap_or_else(|| {
            let index = self.reading.caps.len();
            let metric = metric.to_owned();
            let (reached, time) = (Vec::new(), Some([Span::ZERO; 2]));
            let (each, origin) = (Some(length), origin.clone());
            self.cap(CapEvidence { scope, metric, limit, reached, points: 0, of: 0, each, time, origin });
            self.caps.insert((scope, limit), index);
            index
        });
        let Some(cap) = self.reading.caps.get_mut(index) else { return };
        cap.of += 1;
        cap.points += usize::from(is_reached);
        cap.reached.extend(begin.filter(|_| is_reached && cap.reached.len() < CapEvidence::MAX_REACHED));
        cap.each = cap.each.filter(|each| is_similar(*each, length));
        let [before, all] = cap.time.unwrap_or_default();
        // Counter and clock are not read at the same instant.
        cap.time = Some([before + Span::from_secs_f64(above.min(seconds)), all + Span::from_secs_f64(seconds)]);
        if is_reached {
            let metric = cap.metric.clone();
            let part = throttled(&self.reading.scopes[scope as usize].part, &metric);
            self.caution_once(Some(origin.clone()), Doubt::Throttled { part, metric });
        }
    }

    /// Operations of a class in a bin of latencies.
    pub(crate) fn latencies(&mut self, scope: u32, class: Class, (bin, count): (LatencyBin, f64)) {
        let all = &mut self.reading.latencies;
        let own = all.iter().position(|histogram| (histogram.scope, histogram.class) == (scope, class));
        let index = own.unwrap_or_else(|| {
            all.push(LatencyHistogram { scope, class, bins: BTreeMap::new() });
            all.len() - 1
        });
        *all[index].bins.entry(bin).or_default() += count;
    }

    /// A disk over several paths.
    pub fn multipath(&mut self, multipath: Multipath) {
        if self.reading.multipaths.len() < Self::MAX_PARTS {
            self.reading.multipaths.push(multipath);
        }
    }

    /// The miss ratio of caches by size.
    pub fn curve(&mut self, curve: MissCurve) {
        self.reading.curves.push(curve);
    }

    /// Records the outcome of a section, once for each; beyond [`Builder::MAX_PARTS`] only the first broken one is
    /// kept.
    pub fn part(&mut self, name: impl Into<String>, fate: Fate) {
        let part = InputPart { name: name.into(), fate };
        let parts = &mut self.reading.parts;
        if parts.len() < Self::MAX_PARTS {
            parts.push(part);
        } else if let Some(last) =
            parts.last_mut().filter(|last| part.fate == Fate::Broken && last.fate != Fate::Broken)
        {
            *last = part;
        }
    }

    /// Adds a doubt.
    pub fn caution(&mut self, origin: Option<Origin>, doubt: Doubt) {
        match self.reading.cautions.len() {
            n if n + 1 < Self::MAX_CAUTIONS => self.reading.cautions.push(Caution { origin, doubt }),
            n if n + 1 == Self::MAX_CAUTIONS => {
                self.reading.cautions.push(Caution { origin, doubt: Doubt::FurtherCautions });
            }
            _ => {}
        }
    }

    /// Adds a doubt once, however often it occurs.
    pub(crate) fn caution_once(&mut self, origin: Option<Origin>, doubt: Doubt) {
        if self.reading.cautions.iter().all(|caution| caution.doubt != doubt) {
            self.caution(origin, doubt);
        }
    }

    /// True if it has a doubt of a kind.
    pub(crate) fn has_doubt(&self, kind: impl Fn(&Doubt) -> bool) -> bool {
        self.reading.cautions.iter().any(|caution| kind(&caution.doubt))
    }

    /// The first doubt, for refusals without a better reason.
    pub(crate) fn first_doubt(&self) -> Option<&Doubt> {
        self.reading.cautions.first().map(|caution| &caution.doubt)
    }

    /// The number of figures so far.
    pub fn count(&self) -> usize {
        self.reading.figures.len()
    }

    /// The last window.
    pub(crate) fn latest_window(&self) -> Option<u32> {
        (self.reading.windows.len() as u32).checked_sub(1)
    }

    pub(crate) fn latest_length(&self) -> Option<Span> {
        self.reading.windows.last().map(|window| window.length)
    }

    /// Refuses the input without this condition.
    pub(crate) fn require(&self, condition: bool, fault: impl Into<InputFault>) -> Result<(), Refusal> {
        if condition { Ok(()) } else { Err(self.unusable(fault)) }
    }

    /// Refuses an input without benchmark results.
    pub(crate) fn require_results(&self, fault: InputFault) -> Result<(), Refusal> {
        self.require(!self.reading.evidence.is_empty(), fault)
    }

    /// Adds a doubt about a line that is skipped.
    pub(crate) fn skip(&mut self, line: u64, doubt: Doubt) {
        self.skipped = Some(line);
        self.caution(Some(Origin::line(line)), doubt);
    }

    /// Lists the last line of an input as broken, if it was skipped.
    pub(crate) fn end_at(&mut self, last: u64) {
        if self.skipped == Some(last) {
            self.part("last line", Fate::Broken);
        }
    }

    /// Continues a finished reading.
    pub(crate) fn resume(reading: Reading) -> Self {
        Self::with(reading)
    }

    /// The reading, without checks.
    pub(crate) fn into_reading(self) -> Reading {
        self.reading
    }

    /// Returns the builder's own refusal, if any.
    pub(crate) fn check(&mut self) -> Result<(), Refusal> {
        self.refusal.take().map_or(Ok(()), Err)
    }

    /// True if times at this distance may have the caller's interval: they jitter, and the distance may be the smallest.
    pub(crate) fn is_interval(apart: Span, stated: Span) -> bool {
        (0.9..1.5).contains(&(stated.as_secs_f64() / apart.as_secs_f64()))
    }

    /// Adds a doubt if the caller's interval contradicts the times of the input, and records it for [`crate::join`] if it
    /// is that of snapshots without times.
    pub(crate) fn check_interval(&mut self, stated: Span) {
        let untimed = self.reading.snapshots.iter().filter(|snapshot| snapshot.at.is_none());
        if untimed.filter_map(|snapshot| snapshot.age).any(|age| age == Span::ZERO) {
            self.reading.interval = Some(stated);
        }
        let mut lengths: Vec<Span> = self.reading.windows.iter().map(|window| window.length).collect();
        lengths.sort_unstable();
        let Some(median) = lengths.get(lengths.len() / 2).copied().filter(|_| lengths.len() > 1) else { return };
        if self.joined.is_none() && !Self::is_interval(median, stated) {
            self.caution(None, Doubt::IntervalContradicted { stated, median });
        }
    }

    pub(crate) fn finish(mut self) -> Result<Reading, Refusal> {
        self.check()?;
        if let Some(how) = self.joined {
            self.coarsen(how);
            self.reading.distributions = std::mem::take(&mut self.distributions.0).finish();
            self.caution(None, Doubt::Coarsened { window: lasting(how.target) });
        }
        Ok(self.reading)
    }
}

/// The name of a part whose limit was reached, unless the metric contains it.
pub(crate) fn throttled(part: &str, metric: &str) -> String {
    if part.is_empty() || metric.contains(part) { "the storage" } else { part }.to_owned()
}

/// Window, scope and quantity of a figure.
type FigureKey = (u32, u32, Class, Measure, Statistic);

fn figure_key(figure: &Figure) -> FigureKey {
    (figure.window, figure.scope, figure.class, figure.measure, figure.statistic)
}

/// True for lengths of windows that differ by the jitter of a clock only.
fn is_similar(a: Span, b: Span) -> bool {
    (a.as_secs_f64() / b.as_secs_f64() - 1.0).abs() < 0.05
}

/// True for a plausible quantity of storage, a database or a host.
fn is_possible(value: f64) -> bool {
    (0.0..=Builder::MAX_VALUE).contains(&value)
}

/// Adds up the processor times of joined windows.
fn join_hosts(hosts: &mut Vec<HostTime>, group_of: &[u32]) {
    for host in hosts.iter_mut() {
        host.window = group_of[host.window as usize];
    }
    hosts.sort_by_key(|host| (host.window, host.scope));
    hosts.dedup_by(|next, first| {
        let is_same = (next.window, next.scope) == (first.window, first.scope);
        if is_same {
            first.busy_s += next.busy_s;
            first.idle_s += next.idle_s;
        }
        is_same
    });
}

fn mean_length(windows: &[ReadingWindow]) -> Option<Span> {
    let seconds: f64 = windows.iter().map(|window| window.length.as_secs_f64()).sum();
    (seconds > 0.0).then(|| Span::from_secs_f64(seconds / windows.len() as f64))
}

fn times(length: Span, factor: u64) -> Span {
    Span::from_nanos(length.as_nanos().saturating_mul(factor))
}

fn lasting(length: Span) -> String {
    let seconds = length.as_secs_f64();
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} minutes", seconds / 60.0) }
}
