//! Samples of status variables as snapshots, whether their numbers are sums since the start or differences.
//!
//! Knows nothing of lines. `mysqladmin extended-status -r` prints sums once, and differences from then on: a page size of
//! zero gives them away, since it never changes.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use plimsoll_units::Span;

use super::{KIND, Variable};
use crate::builder::Builder;
use crate::counters::Counters;
use crate::figure::{Class, Origin, Scope};
use crate::format::Input;
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::snapshot::{Counted, Snapshot};
use crate::timestamp::Taken;

/// Where counters of servers of 32 bits begin anew.
const WRAP: f64 = 4_294_967_296.0;

/// The numbers of one sample, with the line of each.
type Values = BTreeMap<Variable, (f64, u64)>;

/// A server's samples, one after the other.
pub(crate) struct Server {
    pub(crate) scope: Scope,
    begin: Option<DateTime>,
    interval: Option<Span>,
    /// Samples that are being read, side by side.
    block: Vec<Values>,
    line: u64,
    at: Option<DateTime>,
    /// What numbers are: none as long as one sample was seen.
    numbers: Option<Numbers>,
    /// The sample before, as sums.
    before: Values,
    first_uptime: Option<f64>,
    /// Variables of the first sample: later ones that have fewer are cut.
    width: usize,
    cut: bool,
    samples: u32,
    read: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Sums,
    Differences,
}

impl Server {
    pub(crate) fn new(input: &Input, scope: Scope) -> Self {
        Self {
            scope,
            begin: input.begin,
            interval: input.interval,
            block: Vec::new(),
            line: 0,
            at: None,
            numbers: None,
            before: Values::new(),
            first_uptime: None,
            width: 0,
            cut: false,
            samples: 0,
            read: 0,
        }
    }

    /// What comes next was taken at that moment, or so long after what came before.
    pub(crate) fn taken(&mut self, taken: Taken, out: &mut Builder) {
        self.finish(out);
        match taken {
            Taken::At(at) => self.at = Some(out.instant(at)),
            Taken::Every(every) => self.interval = self.interval.or(Some(every)),
        }
    }

    /// Takes the values of a variable, one for each sample side by side.
    pub(crate) fn values(
        &mut self,
        variable: Variable,
        values: impl Iterator<Item = Option<f64>>,
        line: u64,
        out: &mut Builder,
    ) {
        if self.block.first().is_some_and(|values| values.contains_key(&variable)) {
            self.finish(out);
        }
        if self.block.is_empty() {
            self.line = line;
        }
        for (at, value) in values.enumerate() {
            if at == self.block.len() {
                self.block.push(Values::new());
            }
            if let Some(value) = value {
                self.block[at].insert(variable, (value, line));
                self.read += 1;
            }
        }
    }

    /// The samples that were being read are complete.
    pub(crate) fn finish(&mut self, out: &mut Builder) {
        for values in std::mem::take(&mut self.block) {
            if values.keys().any(|variable| !matches!(variable, Variable::Uptime | Variable::PageSize)) {
                self.sample(values, out);
            }
            self.at = None;
        }
    }

    fn sample(&mut self, mut values: Values, out: &mut Builder) {
        if self.samples == 0 {
            self.width = values.len();
        } else if values.len() < self.width {
            self.cut = true;
            let text = "fewer variables than in the first sample: was it copied completely?";
            out.caution(Some(Origin::line(self.line)), text);
        }
        if self.samples > 0 && self.numbers.is_none() {
            self.numbers = Some(self.tell(&values, out));
        }
        if self.numbers == Some(Numbers::Differences) {
            for (variable, (sum, _)) in &self.before {
                values.entry(*variable).or_insert((0.0, self.line)).0 += sum;
            }
        }
        let uptime = values.get(&Variable::Uptime).map(|(uptime, _)| *uptime);
        self.first_uptime = self.first_uptime.or(uptime);
        let counters = counters(&values);
        if !counters.is_empty() {
            let age = uptime.map(Span::from_secs_f64).or(self.apart());
            let at = self.at.or_else(|| self.later(uptime));
            let wraps_at = uptime.map(|_| WRAP);
            let (scope, counts) = (out.scope(self.scope.clone()), counters.counts(wraps_at, out));
            out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(self.line) });
        }
        self.samples += 1;
        self.before = values;
    }

    /// Tells sums from differences by the second sample.
    fn tell(&self, values: &Values, out: &mut Builder) -> Numbers {
        let of = |values: &Values, variable| values.get(&variable).map(|(value, _)| *value);
        if let (Some(before), Some(now)) = (of(&self.before, Variable::PageSize), of(values, Variable::PageSize)) {
            return if before > 0.0 && now == 0.0 { Numbers::Differences } else { Numbers::Sums };
        }
        let fell = |variable| of(values, variable) < of(&self.before, variable);
        if values.keys().any(|variable| *variable != Variable::Uptime && fell(*variable)) && fell(Variable::Uptime) {
            let text = "taken as differences (mysqladmin -r), since the second sample is lower than the first: if the \
                        server restarted there, give the samples before and after as two files";
            out.caution(Some(Origin::line(self.line)), text);
            return Numbers::Differences;
        }
        Numbers::Sums
    }

    /// How long after the first sample this one was taken, as far as the caller knows.
    fn apart(&self) -> Option<Span> {
        self.interval.map(|interval| Span::from_secs_f64(interval.as_secs_f64() * f64::from(self.samples)))
    }

    fn later(&self, uptime: Option<f64>) -> Option<DateTime> {
        let seconds = match (uptime, self.first_uptime) {
            (Some(now), Some(first)) => now - first,
            _ => self.apart().map_or(0.0, Span::as_secs_f64),
        };
        self.begin?.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
    }

    /// No more comes.
    pub(crate) fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.finish(out);
        if self.samples == 0 {
            let what = "no counter of InnoDB's I/O: give SHOW GLOBAL STATUS with all variables, taken twice".to_owned();
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        }
        out.part("global status", if self.cut { Fate::Broken } else { Fate::Read(self.read) });
        Ok(())
    }
}

/// What variables count. Servers that have counters of the log's flushes or pending writes count writes of the log among
/// all writes as well; MariaDB has dropped these two (10.11 has neither), and counts the log apart.
fn counters(values: &Values) -> Counters {
    let get = |variable| values.get(&variable).copied();
    let mut counters = Counters::default();
    let mut put = |counted, variable, value: Option<f64>| {
        let Some((_, line)) = get(variable) else { return };
        let field = Variable::ALL.iter().find(|(known, _)| *known == variable).map_or("", |(_, name)| name);
        counters.add(counted, value, (line, "status", field));
    };
    let of = |variable| get(variable).map(|(value, _)| value);
    put(Counted::Operations(Class::Read), Variable::DataReads, of(Variable::DataReads));
    put(Counted::Bytes(Class::Read), Variable::DataRead, of(Variable::DataRead));
    put(Counted::Operations(Class::Flush), Variable::DataFsyncs, of(Variable::DataFsyncs));
    let within = of(Variable::LogFsyncs).or(of(Variable::LogPending)).is_some();
    let (writes, written) = (of(Variable::DataWrites), of(Variable::DataWritten));
    let (log_writes, log_written) = (of(Variable::LogWrites), of(Variable::LogWritten));
    let rest = |all: Option<f64>, log: Option<f64>| match (all, log) {
        (Some(all), Some(log)) if within => Some(all - log).filter(|rest| *rest >= 0.0),
        (all, Some(_)) => all,
        (_, None) => None,
    };
    match (rest(writes, log_writes), rest(written, log_written)) {
        (None, None) => {
            put(Counted::Operations(Class::Write), Variable::DataWrites, writes);
            put(Counted::Bytes(Class::Write), Variable::DataWritten, written);
        }
        (data_writes, data_written) => {
            put(Counted::Operations(Class::DataWrite), Variable::DataWrites, data_writes);
            put(Counted::Bytes(Class::DataWrite), Variable::DataWritten, data_written);
            for class in [Class::RedoWrite, Class::Write] {
                put(Counted::Operations(class), Variable::LogWrites, log_writes);
                put(Counted::Bytes(class), Variable::LogWritten, log_written);
            }
            put(Counted::Operations(Class::Write), Variable::DataWrites, data_writes);
            put(Counted::Bytes(Class::Write), Variable::DataWritten, data_written);
        }
    }
    counters
}
