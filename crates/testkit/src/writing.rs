//! Report formats.

use super::sysstat::{self, Generation};
use super::{DailyWorkload, Release, Workload, others};

/// A report format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    AwrHtml(Release),
    AwrText,
    Statspack,
    /// `iostat -xt`.
    Iostat(Generation),
    /// `iostat -xt -o JSON`.
    IostatJson,
    /// `sar -d`.
    Sar,
    /// `sadf -d -- -d`.
    Sadf,
    /// Snapshots of `pg_stat_io`, as printed by psql.
    PgStatIo,
    Fio,
}

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub name: String,
    pub text: String,
}

impl Writing {
    /// All formats, with their names.
    pub const ALL: [(&'static str, Self); 14] = [
        ("awr-html", Self::AwrHtml(Release::R19)),
        ("awr-html-12", Self::AwrHtml(Release::R12)),
        ("awr-html-11", Self::AwrHtml(Release::R11)),
        ("awr-text", Self::AwrText),
        ("statspack", Self::Statspack),
        ("iostat", Self::Iostat(Generation::Flushes)),
        ("iostat-12", Self::Iostat(Generation::Directions)),
        ("iostat-11", Self::Iostat(Generation::Kibibytes)),
        ("iostat-10", Self::Iostat(Generation::Sectors)),
        ("iostat-json", Self::IostatJson),
        ("sar", Self::Sar),
        ("sadf", Self::Sadf),
        ("pg-stat-io", Self::PgStatIo),
        ("fio-json", Self::Fio),
    ];

    /// Writes a course in this format. Oracle's reports and fio: a file per window and instance; other formats: a file
    /// per instance with all windows.
    pub fn write(self, course: &DailyWorkload) -> Vec<Written> {
        let works = course.workloads();
        if let Some((what, ending)) = self.of_each() {
            let written = |work: &Workload| {
                let name = format!("{what}_{}_{}.{ending}", work.instance, work.begin.strftime("%Y%m%d_%H%M"));
                Written { name, text: self.one(work) }
            };
            return works.iter().map(written).collect();
        }
        let instances = course.instances.max(1) as usize;
        let of =
            |instance: usize| -> Vec<Workload> { works.iter().skip(instance).step_by(instances).cloned().collect() };
        let series = (0..instances).map(of).filter(|works| !works.is_empty());
        series.map(|works| self.series(&works)).collect()
    }

    /// Prefix and suffix of the file name, for formats with a single window.
    fn of_each(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::AwrHtml(_) => Some(("awr", "html")),
            Self::AwrText => Some(("awr", "txt")),
            Self::Statspack => Some(("statspack", "txt")),
            Self::Fio => Some(("fio", "json")),
            _ => None,
        }
    }

    fn one(self, work: &Workload) -> String {
        match self {
            Self::AwrHtml(release) => work.awr_html_of(release),
            Self::AwrText => work.awr_text(),
            Self::Statspack => work.statspack(),
            Self::Fio => others::fio(work),
            _ => self.series(std::slice::from_ref(work)).text,
        }
    }

    fn series(self, works: &[Workload]) -> Written {
        let (what, ending, text) = match self {
            Self::Iostat(generation) => ("iostat", "txt", sysstat::iostat(works, generation)),
            Self::IostatJson => ("iostat", "json", sysstat::iostat_json(works)),
            Self::Sar => ("sar", "txt", sysstat::sar(works)),
            Self::Sadf => ("sadf", "csv", sysstat::sadf(works)),
            Self::PgStatIo => ("pg_stat_io", "txt", others::pg_stat_io(works)),
            _ => ("reports", "txt", works.iter().map(|work| self.one(work)).collect()),
        };
        let instance = works.first().map_or("", |work| work.instance.as_str());
        Written { name: format!("{what}_{instance}.{ending}"), text }
    }
}
