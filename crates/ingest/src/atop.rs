//! atop: what `atop -P` prints for programs, and its pages of text.
//!
//! The first sample of both is the mean since the host was started: it is left out when others follow.

mod labelled;
mod page;

use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

pub(crate) use labelled::FORM as LABELLED;
pub(crate) use page::FORM as PAGE;

use crate::builder::Builder;
use crate::figure::{Origin, Scope, Window};
use crate::reading::Fate;
use crate::series::Said;
use crate::snapshot::{Counted, Risen};
use crate::timestamp;

/// What one sample says of one disk.
struct Disk {
    name: Arc<str>,
    line: u64,
    said: Vec<(Said, f64, &'static str)>,
}

/// Disks of one sample, and when it was taken.
#[derive(Default)]
struct Sample {
    host: String,
    end: Option<DateTime>,
    length: Span,
    /// It is the mean since the start.
    is_boot: bool,
    disks: Vec<Disk>,
}

/// The samples of an input: the one since the start waits for another.
#[derive(Default)]
struct Samples {
    boot: Option<Sample>,
    count: u32,
    disks: u32,
}

impl Samples {
    /// Disks of one sample; further ones are left out.
    const MOST: usize = 10_000;

    fn put(&mut self, sample: Sample, out: &mut Builder) {
        if sample.disks.is_empty() {
            return;
        }
        if sample.is_boot {
            self.boot.get_or_insert(sample);
            return;
        }
        self.hand_over(&sample, out);
    }

    /// Hands over what is left: the mean since the start when there is nothing else. How many figures of disks there are.
    fn finish(&mut self, out: &mut Builder) -> u32 {
        if let Some(boot) = self.boot.take() {
            if self.count == 0 {
                let text =
                    "one sample, the mean since the host was started: every peak is hidden in it; let atop take more";
                out.caution(None, text);
                self.hand_over(&boot, out);
            } else {
                out.part("sample since the start", Fate::Ignored);
            }
        }
        self.disks
    }

    fn hand_over(&mut self, sample: &Sample, out: &mut Builder) {
        if sample.length.is_zero() {
            let line = sample.disks.first().map_or(0, |disk| disk.line);
            return out.caution(Some(Origin::line(line)), "a sample of no length: left out");
        }
        let length = sample.length;
        let begin = sample.end.and_then(|end| timestamp::before(end, length));
        let window = match begin {
            Some(_) => out.window(Window { begin, length }),
            None => out.sample(Window { begin, length }),
        };
        for disk in &sample.disks {
            put(disk, &sample.host, (window, length.as_secs_f64()), out);
        }
        self.count += 1;
        self.disks += sample.disks.len() as u32;
    }
}

fn put(disk: &Disk, host: &str, (window, seconds): (u32, f64), out: &mut Builder) {
    let scope = out.scope(Scope { host: host.to_owned(), part: disk.name.to_string(), ..Scope::default() });
    let mut sums: Vec<(&Counted, f64, Origin)> = Vec::with_capacity(disk.said.len());
    for (said, value, field) in &disk.said {
        let (counted, sum) = match said {
            Said::Sum(counted) => (counted, *value),
            Said::Rate(counted) => (counted, value * seconds),
            Said::Figure(..) => continue,
        };
        let origin = Origin { line: disk.line, table: Some(Arc::clone(&disk.name)), field: out.text(field) };
        sums.push((counted, sum, origin));
    }
    let counts: Vec<(&Counted, f64, &Origin)> =
        sums.iter().map(|(counted, sum, origin)| (*counted, *sum, origin)).collect();
    Risen { counts: &counts, seconds, at: (scope, window) }.put(&Origin::line(disk.line), out);
}
