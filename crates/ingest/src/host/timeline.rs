//! When samples were taken: from what they say of it, else from what the caller says. Knows no form.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::figure::{Origin, Window};
use crate::format::Input;
use crate::timestamp::{self, Stamp};

/// Stands for a date that is not said: then only the time between two samples is known.
pub(super) const UNDATED: Date = jiff::civil::date(1970, 1, 1);

/// The windows of one input's samples.
#[derive(Debug)]
pub(super) struct Timeline {
    begin: Option<DateTime>,
    interval: Option<Span>,
    /// When the last sample was taken.
    last: Option<DateTime>,
    length: Option<Span>,
    /// How much time the samples so far took, for inputs that do not say it themselves.
    passed: SignedDuration,
    /// What was said once already: that a length was assumed, that the clock went back.
    assumed: bool,
    went_back: bool,
}

/// A time in UTC; one without a date stays as it is.
pub(super) fn instant(stamp: Stamp, out: &mut Builder) -> DateTime {
    match stamp.parts() {
        (at, _) if at.year() <= UNDATED.year() => at,
        _ => out.instant(stamp),
    }
}

impl Timeline {
    pub(super) fn new(input: &Input) -> Self {
        Self {
            begin: input.begin,
            interval: input.interval,
            last: None,
            length: None,
            passed: SignedDuration::ZERO,
            assumed: false,
            went_back: false,
        }
    }

    /// A moment from which the next sample goes on: what stands before it is of another run.
    pub(super) fn from(&mut self, at: Option<DateTime>) {
        self.last = at;
    }

    /// The window of a sample that was taken `at` a moment, and says itself that it took so many seconds. In
    /// `line` it begins.
    pub(super) fn sample(&mut self, at: Option<DateTime>, says: Option<f64>, line: u64, out: &mut Builder) -> u32 {
        let apart = match (self.last, at) {
            (Some(last), Some(at)) => Some(at.duration_since(last).as_secs_f64()),
            _ => None,
        };
        if apart.is_some_and(|apart| apart < 0.0) && !std::mem::replace(&mut self.went_back, true) {
            let text = "the clock goes back here: windows may overlap, and then count once; check the times";
            out.caution(Some(Origin::line(line)), text);
        }
        let said = says.or(apart).filter(|seconds| *seconds > 0.0 && seconds.is_finite());
        let length = said.map(Span::from_secs_f64).or(self.interval).or(self.length);
        let length = length.filter(|length| !length.is_zero()).unwrap_or_else(|| {
            if !std::mem::replace(&mut self.assumed, true) {
                let text =
                    "it does not say how far apart its samples are: one second is assumed; say it with --interval";
                out.caution(Some(Origin::line(line)), text);
            }
            Span::from_secs(1)
        });
        self.length = Some(length);
        self.last = at.or(self.last);
        let lasted = SignedDuration::from_nanos(i64::try_from(length.as_nanos()).unwrap_or(i64::MAX));
        let begin = match at {
            Some(at) if at.year() > UNDATED.year() => timestamp::before(at, length),
            _ => self.begin.and_then(|begin| begin.checked_add(self.passed).ok()),
        };
        self.passed = self.passed.checked_add(lasted).unwrap_or(self.passed);
        let window = Window { begin, length };
        if begin.is_some() { out.window(window) } else { out.sample(window) }
    }

    /// The window of means since the host was started, where there is nothing else. A day is assumed when nothing says how
    /// long that is, so that nobody takes them for peaks.
    pub(super) fn since_boot(says: Option<f64>, line: u64, out: &mut Builder) -> u32 {
        let text = "its only report is a mean since the host was started (unless it was run with -y), which hides every \
                    peak; let it run for a while: iostat -xt 10, or vmstat -t 10";
        out.caution(Some(Origin::line(line)), text);
        let seconds = says.filter(|seconds| *seconds > 0.0 && seconds.is_finite()).unwrap_or_else(|| {
            out.caution(Some(Origin::line(line)), "it does not say since when: a day is assumed");
            86_400.0
        });
        out.sample(Window { begin: None, length: Span::from_secs_f64(seconds) })
    }
}
