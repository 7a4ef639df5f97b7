//! Storage sections of Oracle's reports: AWR as HTML and as text, and Statspack.

mod storage;
mod time;

use super::sheet::{SheetTable, display};
use super::{Workload, head};

/// Releases with different report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// 11.2.0.4: a single header table, waits in whole milliseconds.
    R11,
    /// 12.2: two header tables, waits with their unit, histograms in microseconds.
    R12,
    /// 19: as 12.2, without rows for files.
    R19,
}

impl Release {
    /// Version as printed in reports.
    pub const fn version(self) -> &'static str {
        match self {
            Self::R11 => "11.2.0.4.0",
            Self::R12 => "12.2.0.1.0",
            Self::R19 => "19.0.0.0.0",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AwrFormat {
    Html(Release),
    Text,
    Statspack,
}

impl AwrFormat {
    /// True if waits are in whole milliseconds, and histograms begin at 1 ms.
    fn is_coarse(self) -> bool {
        !matches!(self, Self::Html(Release::R12 | Release::R19))
    }
}

fn sections(work: &Workload, dialect: AwrFormat) -> Vec<SheetTable> {
    let mut tables = Vec::new();
    if let AwrFormat::Html(_) = dialect {
        tables.push(storage::profile(work));
    }
    tables.push(time::model(work, dialect));
    tables.push(time::system(work, dialect));
    tables.extend(time::waits(work, dialect));
    tables.extend(time::histograms(work, dialect));
    tables.push(storage::statistics(work));
    match dialect {
        AwrFormat::Statspack => tables.push(storage::functions(work)),
        AwrFormat::Html(Release::R11 | Release::R12) => {
            tables.push(storage::file_types(work));
            tables.push(storage::tablespaces(work));
        }
        _ => tables.push(storage::file_types(work)),
    }
    tables.push(storage::advice(work, dialect));
    tables
}

pub(super) fn html(work: &Workload, release: Release) -> String {
    let title = format!("AWR Report for DB: {}, Inst: {}", display(&work.database), display(&work.instance));
    let mut page = format!("<html lang=\"en\"><head><title>{title}</title></head><body class=\"awr\">\n");
    page += "<h1 class=\"awr\">WORKLOAD REPOSITORY report for</h1>\n";
    for table in head::build_header_tables(work, release).into_iter().chain(sections(work, AwrFormat::Html(release))) {
        table.html(&mut page);
    }
    page + "End of Report</body></html>\n"
}

pub(super) fn text(work: &Workload, dialect: AwrFormat) -> String {
    let is_statspack = dialect == AwrFormat::Statspack;
    let mut page = if is_statspack { head::statspack(work) } else { head::awr_text(work) };
    if !is_statspack {
        page += &storage::profile_text(work);
        page += &head::awr_caches(work);
    }
    let names = format!("DB/Inst: {}/{}  Snaps: 1-2", work.database, work.instance);
    for table in sections(work, dialect) {
        let heading = table.heading;
        page +=
            &if is_statspack { format!("\u{c}{heading}  {names}\n") } else { format!("\u{c}{heading:<45} {names}\n") };
        page += "-> ordered by what is most\n\n";
        table.text(&mut page);
        page += &format!("{:26}{}\n\n", "", "-".repeat(if is_statspack { 61 } else { 54 }));
    }
    page + "End of Report\n"
}
