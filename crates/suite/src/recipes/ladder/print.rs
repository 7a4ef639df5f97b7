//! Table of the ladder in the article's layout, and a comparison with the article.

use plimsoll_units::Span;

use super::Rung;
use super::published::ROWS;

/// Times are in milliseconds below this mean: hundredths of a second would be too coarse.
const SHORT: Span = Span::from_secs(1);

/// Sessions, mean of each execution over the sessions, overall mean, and executions per minute. Without columns per
/// execution, percentiles of all executions.
pub(super) fn table(rungs: &[Rung<'_>], columns: Option<u64>) -> String {
    let short = rungs.iter().all(|rung| rung.mean() < SHORT);
    let time = |span: Option<Span>| match span {
        Some(span) if short => format!("{:.3}", span.as_millis_f64()),
        Some(span) => minutes(span),
        None => "-".into(),
    };
    let heads: Vec<String> = match columns {
        Some(turns) => (1..=turns).map(|turn| format!("SQL{turn}")).collect(),
        None => ["executions", "p50", "p90", "longest"].map(str::to_owned).into(),
    };
    let mut text = format!("{:>8}", "sessions");
    for head in heads {
        text.push_str(&format!("{head:>12}"));
    }
    text.push_str(&format!("{:>12}{:>14}\n", "mean", "per minute"));
    for rung in rungs {
        text.push_str(&format!("{:>8}", rung.sessions));
        let cells: Vec<String> = match columns {
            Some(_) => rung.turns.iter().map(|turn| time(turn.mean())).collect(),
            None => vec![
                rung.all.count.to_string(),
                time(rung.all.quantile(0.5)),
                time(rung.all.quantile(0.9)),
                time(Some(Span::from_nanos(rung.all.max_ns))),
            ],
        };
        for cell in cells {
            text.push_str(&format!("{cell:>12}"));
        }
        text.push_str(&format!("{:>12}{:>14}\n", time(Some(rung.mean())), rate(60.0 * rung.rate())));
    }
    text.push_str(if short { "times in milliseconds" } else { "times as mm:ss.cc" });
    if columns.is_some() {
        text.push_str(", of each execution the mean of all sessions");
    }
    text.push('\n');
    text
}

/// Means, throughput and their growth next to those of the article: absolute figures belong to different tables.
pub(super) fn beside(rungs: &[Rung<'_>]) -> String {
    let mut text = format!(
        "{:>8}{:>12}{:>12}{:>14}{:>14}{:>12}{:>12}\n{:>8}{:>12}{:>12}{:>14}{:>14}{:>12}{:>12}\n",
        "sessions",
        "mean",
        "mean",
        "per minute",
        "per minute",
        "over one",
        "over one",
        "",
        "here",
        "article",
        "here",
        "article",
        "here",
        "article"
    );
    let alone = rungs.iter().find(|rung| rung.sessions == 1);
    for row in ROWS.iter() {
        let rung = rungs.iter().find(|rung| rung.sessions == row.sessions);
        let or_none = |cell: Option<String>| cell.unwrap_or_else(|| "-".into());
        let growth = rung.zip(alone).map(|(rung, alone)| rung.rate() / alone.rate());
        text.push_str(&format!(
            "{:>8}{:>12}{:>12}{:>14}{:>14}{:>12}{:>12.2}\n",
            row.sessions,
            or_none(rung.map(|rung| minutes(rung.mean()))),
            minutes(Span::from_secs_f64(row.mean_s)),
            or_none(rung.map(|rung| rate(60.0 * rung.rate()))),
            format!("{:.1}", row.per_minute),
            or_none(growth.map(|growth| format!("{growth:.2}"))),
            row.per_minute / ROWS[0].per_minute,
        ));
    }
    text
}

/// `mm:ss.cc`.
fn minutes(span: Span) -> String {
    let hundredths = (span.as_secs_f64() * 100.0).round() as u64;
    format!("{:02}:{:02}.{:02}", hundredths / 6000, hundredths / 100 % 60, hundredths % 100)
}

/// A decimal as in the article, where significant.
pub(super) fn rate(per_minute: f64) -> String {
    let digits = usize::from(per_minute < 100.0);
    format!("{per_minute:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_like_article() {
        let check = |ms, expected: &str| assert_eq!(minutes(Span::from_millis(ms)), expected);
        check(13_360, "00:13.36");
        check(41_994, "00:41.99");
        check(59_996, "01:00.00");
        check(3_600_000, "60:00.00");
    }
}
