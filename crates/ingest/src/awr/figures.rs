//! What a report says, as demand.
//!
//! Cumulative statistics come first: they stand in every version and are not rounded. The table of file types divides
//! the rest. Of the front page nothing is taken: it is compared, and a difference is a caution.

mod checks;
mod database;
mod traffic;

use plimsoll_units::Span;

use super::report::{Reach, Report, Said};
use super::section::Section;
use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Window};
use crate::kind::Kind;
use crate::reading::Fate;
use crate::refusal::Refusal;

/// Hands a report's figures to the builder.
pub(super) fn make(report: &Report, kind: Kind, out: &mut Builder) -> Result<(), Refusal> {
    let unusable = |what: &str| Refusal::Unusable { kind, origin: None, what: what.to_owned() };
    let known = [report.statistics.len(), report.profile.len(), report.file_types.len()];
    if known == [0; 3] && report.met.is_empty() {
        return Err(unusable("it has the heading of one, and none of its tables: was it saved completely?"));
    }
    let Some(seconds) = window(report) else {
        return Err(unusable("it does not say how long its window was (row `Elapsed:`): make the report again"));
    };
    if known == [0; 3] && report.unruled {
        return Err(unusable(
            "no heading of its tables has a line of dashes below it, which says where columns are: give the report as the \
             database wrote it",
        ));
    }
    if known == [0; 3] {
        return Err(unusable("it has no table of what was read and written: was it saved completely?"));
    }
    if !report.release.is_empty() {
        out.version(&report.release);
    }
    let scope = out.scope(scope(report));
    let begin = report.begin.or_else(|| report.members.iter().find_map(|member| member.begin));
    let begin = begin.map(|at| out.local(at));
    let window = out.window(Window { begin, length: Span::from_secs_f64(seconds) });
    let mut page = Page { report, seconds, at: (scope, window), out };
    traffic::make(&mut page);
    database::make(&mut page);
    checks::make(&mut page);
    parts(report, page.out);
    Ok(())
}

/// Seconds of the window: of a cluster, those of the instance that was watched longest.
fn window(report: &Report) -> Option<f64> {
    let members = report.members.iter().filter_map(|member| member.elapsed_s.as_ref()).map(|said| said.value);
    report.window_s().or_else(|| members.max_by(f64::total_cmp)).filter(|seconds| *seconds > 0.0)
}

fn scope(report: &Report) -> Scope {
    let (database, database_id) = match (report.reach, report.container.as_str()) {
        (Reach::Pluggable, container) if !container.is_empty() => (container, &report.container_id),
        _ => (report.database.as_str(), &report.database_id),
    };
    // What is no number was cut out of a damaged line.
    let is_number = database_id.bytes().all(|byte| byte.is_ascii_digit());
    let single = match report.members.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let or_only = |own: &str, of: fn(&super::report::Member) -> &String| match single {
        Some(member) if own.is_empty() => of(member).clone(),
        _ => own.to_owned(),
    };
    Scope {
        database: database.to_owned(),
        database_id: if is_number { database_id.clone() } else { String::new() },
        instance: or_only(&report.instance, |member| &member.name),
        host: or_only(&report.host, |member| &member.host),
        part: String::new(),
    }
}

/// A report on its way to a reading.
struct Page<'a> {
    report: &'a Report,
    /// Of the window.
    seconds: f64,
    /// Scope and window of what is said of the whole.
    at: (u32, u32),
    out: &'a mut Builder,
}

impl<'a> Page<'a> {
    /// Where a number stands in a section.
    fn origin(&mut self, section: Section, said: &Said) -> Origin {
        self.out.origin(said.line, section.name(), &said.field)
    }

    /// A figure with a value of its own at the place of a number.
    fn put(&mut self, class: Class, measure: Measure, value: f64, section: Section, said: &Said) {
        let origin = self.origin(section, said);
        self.out.mean(self.at, class, measure, value, origin);
    }

    /// A figure that is a number as it was said.
    fn put_said(&mut self, class: Class, measure: Measure, section: Section, said: Option<&Said>) {
        if let Some(said) = said {
            self.put(class, measure, said.value, section, said);
        }
    }

    /// A cumulative statistic.
    fn statistic(&self, name: &str) -> Option<&'a Said> {
        self.report.statistic(name)
    }

    /// The section that the statistics are in.
    fn statistics(&self) -> Section {
        if self.report.reach == Reach::Cluster { Section::ClusterStatistics } else { Section::Statistics }
    }

    /// Bytes of a database block: as printed, or as bytes and blocks that were read or written tell.
    fn block_bytes(&self) -> Option<f64> {
        let printed = self.report.block_bytes.as_ref().map(|said| said.value);
        let told = |bytes: &str, blocks: &str| {
            let (bytes, blocks) = (self.statistic(bytes)?.value, self.statistic(blocks)?.value);
            let size = bytes / blocks;
            // Only a size that blocks can have.
            [2_048.0, 4_096.0, 8_192.0, 16_384.0, 32_768.0].into_iter().find(|known| (size / known - 1.0).abs() < 0.01)
        };
        printed
            .or_else(|| told("physical read bytes", "physical reads"))
            .or_else(|| told("physical write bytes", "physical writes"))
    }
}

/// Which sections there were. Those that every report of its reach should have, and this one has not, are missing.
fn parts(report: &Report, out: &mut Builder) {
    let cluster = report.reach == Reach::Cluster;
    let expected: &[Section] = match report.reach {
        Reach::Cluster => {
            &[Section::ClusterStatistics, Section::IoProfile, Section::ClusterFileTypes, Section::Histogram]
        }
        Reach::Pluggable => &[Section::Statistics, Section::IoProfile, Section::FileTypes, Section::Histogram],
        Reach::Instance => &[
            Section::Statistics,
            Section::IoProfile,
            Section::FileTypes,
            Section::Histogram,
            Section::BufferPoolAdvice,
            Section::TimeModel,
        ],
    };
    for (section, numbers) in &report.met {
        // The front page's twin, the traffic of a cluster, has no number of interest.
        let fate = match (report.cut.contains(section), numbers) {
            (true, _) => Fate::Broken,
            (false, 0) => Fate::Empty,
            (false, numbers) => Fate::Read(*numbers),
        };
        if fate == Fate::Broken {
            out.caution(None, format!("{}: the report ends in the middle of it: make it again", section.name()));
        }
        out.part(format!("{}{}", report.label, section.name()), fate);
    }
    let is_missing = |section: &&Section| !report.met.contains_key(section) && !report.lacks.contains(section);
    for section in expected.iter().filter(is_missing) {
        out.part(format!("{}{}", report.label, section.name()), Fate::Missing);
    }
    if !report.ended {
        out.caution(None, "its last line, `End of Report`, is not there: tables before it may lack too; save it again");
        out.part("End of Report", Fate::Broken);
    }
    if !cluster && report.met.contains_key(&Section::Statistics) && report.statistics.is_empty() {
        out.caution(None, "the statistics are empty: figures come from rounded tables");
    }
    for heading in &report.ignored {
        out.part(heading.as_str(), Fate::Ignored);
    }
}
