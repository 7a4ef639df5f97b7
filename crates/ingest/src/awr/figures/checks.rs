//! What makes a report's figures doubtful, and numbers that should agree and do not.

use super::Page;
use crate::awr::report::{Reach, Report, Said};
use crate::awr::section::Section;

/// Compares what stands in the report twice, and says what its kind cannot tell.
pub(super) fn make(page: &mut Page<'_>) {
    window(page);
    reach(page);
    agreement(page);
}

fn window(page: &mut Page<'_>) {
    let minutes = page.seconds / 60.0;
    // A snapshot each hour is the default, and a few seconds late.
    if minutes >= 7.0 * 24.0 * 60.0 - 65.0 {
        let text = format!(
            "its window is {:.1} days: days and nights are one mean in it, peaks are many times higher, and nothing can be \
             sized by it; give a report for each hour",
            minutes / 1440.0
        );
        page.out.caution(None, text);
    } else if minutes > 65.0 {
        let text = format!(
            "its window is {minutes:.0} minutes, and shorter peaks are hidden in it: give a report for each hour"
        );
        page.out.caution(None, text);
    }
    let report = page.report;
    if let (Some(begin), Some(end)) = (report.begin, report.end)
        && end < begin
    {
        page.out.caution(
            None,
            "it ends before it begins: the clock of its host went back; rates follow its row `Elapsed:`",
        );
    }
    let members = report.members.iter().map(|member| (member.begin, member.startup));
    for (begin, startup) in members.chain([(report.begin, report.startup)]) {
        if let (Some(begin), Some(startup)) = (begin, startup)
            // The moment of the start has no seconds.
            && startup > begin
        {
            page.out.caution(
                None,
                "the instance was started inside the window: counters begin anew, so its rates are too low; give reports \
                 before and after",
            );
        }
    }
}

fn reach(page: &mut Page<'_>) {
    match page.report.reach {
        Reach::Pluggable => page.out.caution(
            None,
            "a report of a pluggable database has no writes of the container: writes are taken from file types, and redo \
             is in the container's own report; give that as well",
        ),
        Reach::Cluster if page.report.members.len() > 1 => {
            let elapsed: Vec<f64> =
                page.report.members.iter().filter_map(|member| Some(member.elapsed_s.as_ref()?.value)).collect();
            let (least, most) = elapsed.iter().fold((f64::MAX, 0.0_f64), |(a, b), &s| (a.min(s), b.max(s)));
            if most > least * 1.02 {
                page.out.caution(None, "its instances were watched for different times: rates are over the longest");
            }
        }
        _ => {}
    }
}

fn agreement(page: &mut Page<'_>) {
    let report = page.report;
    let rate = |name: &str| report.statistic(name).map(|said| said.value / page.seconds);
    let profile = |name: &str, column: usize| report.profile.get(name).and_then(|numbers| numbers[column].clone());
    let mut pairs: Vec<(Option<f64>, Option<Said>, Section, &str)> = vec![
        (rate("physical read total IO requests"), profile("Total Requests", 1), Section::IoProfile, "reads"),
        (rate("physical write total IO requests"), profile("Total Requests", 2), Section::IoProfile, "writes"),
        (rate("physical read IO requests"), load(report, "Read IO requests"), Section::LoadProfile, "database reads"),
    ];
    let database_s = report.database_s.as_ref().map(|said| said.value / page.seconds);
    pairs.push((database_s, load(report, "DB Time(s)"), Section::LoadProfile, "database time"));
    for (counted, printed, section, what) in pairs {
        let (Some(counted), Some(printed)) = (counted, printed) else { continue };
        // Printed with one decimal; the elapsed time with two of a minute.
        let slack = 0.11 + counted.abs() * 0.02;
        if (counted - printed.value).abs() > slack {
            let text = format!(
                "{what}: {counted:.1} a second by the counters, {:.1} as printed: do not trust this report before you know why",
                printed.value
            );
            let origin = page.origin(section, &printed);
            page.out.caution(Some(origin), text);
        }
    }
}

fn load(report: &Report, name: &str) -> Option<Said> {
    report.load.get(name).cloned()
}
