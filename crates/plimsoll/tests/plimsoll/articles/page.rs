//! `docs/articles.md`: the figures of all articles as Markdown.

use std::fmt::Write;
use std::path::PathBuf;

use crate::articles::command::number_commands;
use crate::articles::figure::{Answer, Article, Column, Figure, Published};

const HEAD: &str = "# Five articles and the models

Figures of five published articles on storage performance, compared with the catalogue and the models. Every figure of ours is
printed by a command: its number stands in the last column, with the column or line of the output, and the commands of an article
follow its table. They run as printed, and need no device. A test runs them and fails if the page differs from their output,
or if an error exceeds its tolerance: `cargo test -p plimsoll --test plimsoll articles` (`UPDATE_GENERATED=1` writes the page).

A reproduced figure is in one of two columns, of which only predictions are evidence:

- **Echo**: a price, a specification or a measurement from the article itself, or from the vendor that it quotes. The value of a
  parameter that was calibrated with this figure is an echo, too: it shows only that the model can have this value.
- **Prediction**: the result of a model that was not calibrated with this figure. Its error is predicted / published - 1; within a
  published range or direction the error is 0.

Figures that no command prints are listed with the reason. [scorecard.md](scorecard.md) has whole curves.

What each article did, in ten minutes on models and on your own storage:

| article | English | Japanese |
|---|---|---|
| OCI block volumes: performance levels | [oci-levels](articles/oci-levels.md) | [oci-levels.ja](articles/oci-levels.ja.md) |
| OCI ultra high performance, measured with fio | [oci-uhp](articles/oci-uhp.md) | [oci-uhp.ja](articles/oci-uhp.ja.md) |
| TR-4969: Oracle on AFF A-Series and C-Series | [tr-4969](articles/tr-4969.md) | [tr-4969.ja](articles/tr-4969.ja.md) |
| Disks, SSDs and ioDrives of a dedicated server | [sakura](articles/sakura.md) | [sakura.ja](articles/sakura.ja.md) |
| Striped disks on Azure, 2014 | [azure-striping](articles/azure-striping.md) | [azure-striping.ja](articles/azure-striping.ja.md) |
";

const COLUMNS: &str = "| | figures | echoes | predictions | median error | 90 % of them within | worst | not given |
|---|---:|---:|---:|---:|---:|---:|---:|
";

/// `UPDATE_GENERATED=1 cargo test -p plimsoll --test plimsoll articles` writes it.
pub fn check(articles: &[&Article]) {
    write_or_compare("articles.md", &write_page(articles));
}

/// Compares a page of `docs`, or writes it on request.
pub fn write_or_compare(file: &str, page: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&path, page).expect("the file can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/{file} is stale: run UPDATE_GENERATED=1 cargo test -p plimsoll --test plimsoll articles, and review the changes"
    );
}

fn write_page(articles: &[&Article]) -> String {
    let mut page = String::from(HEAD);
    summary(&mut page, articles);
    for article in articles {
        section(&mut page, article);
    }
    page
}

fn summary(page: &mut String, articles: &[&Article]) {
    page.push_str("\n## Summary\n\n");
    page.push_str(COLUMNS);
    for article in articles {
        row_of(page, article.title, &article.figures.iter().collect::<Vec<_>>());
    }
    row_of(page, "**all**", &articles.iter().flat_map(|article| &article.figures).collect::<Vec<_>>());
    by_kind(page, articles);
    worst(page, articles);
    write_reasons(page, articles);
}

fn row_of(page: &mut String, title: &str, figures: &[&Figure]) {
    let count = |column: Option<Column>| figures.iter().filter(|figure| figure.column() == column).count();
    let predicted = figures.iter().filter(|figure| figure.column() == Some(Column::Prediction));
    let mut errors: Vec<f64> = predicted.filter_map(|figure| figure.error()).map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let _ = writeln!(
        page,
        "| {title} | {} | {} | {} | {} | {} | {} | {} |",
        figures.len(),
        count(Some(Column::Echo)),
        errors.len(),
        share(quantile(&errors, 0.5)),
        share(quantile(&errors, 0.9)),
        share(errors.last().copied()),
        count(None),
    );
}

/// Numbers, excluding ranges, which are easily met.
fn by_kind(page: &mut String, articles: &[&Article]) {
    page.push_str("\nBy kind of published figure:\n\n");
    page.push_str(COLUMNS);
    for (title, ranges) in [("a number", false), ("a range or a direction", true)] {
        let is_range = |figure: &Figure| matches!(figure.published, Published::Between(..));
        let all = articles.iter().flat_map(|article| &article.figures);
        row_of(page, title, &all.filter(|figure| is_range(figure) == ranges).collect::<Vec<_>>());
    }
}

/// The largest errors by name.
fn worst(page: &mut String, articles: &[&Article]) {
    const SHOWN: usize = 10;
    let all = articles.iter().flat_map(|article| article.figures.iter().map(move |figure| (article.title, figure)));
    let predicted = all.filter(|(_, figure)| figure.column() == Some(Column::Prediction));
    let mut all: Vec<_> = predicted.filter_map(|(title, figure)| Some((figure.error()?, title, figure))).collect();
    all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    page.push_str("\nThe largest errors of predictions:\n\n");
    for (error, title, figure) in all.into_iter().take(SHOWN) {
        let _ = writeln!(page, "- {title}, {}, {}: {}", figure.place, figure.what, signed(error));
    }
}

fn write_reasons(page: &mut String, articles: &[&Article]) {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for figure in articles.iter().flat_map(|article| &article.figures) {
        let Answer::Missing(why) = &figure.answer else { continue };
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    if reasons.is_empty() {
        return;
    }
    reasons.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    page.push_str("\nFigures that no command prints:\n\n");
    for (why, count) in reasons {
        let _ = writeln!(page, "- {count} {}: {why}", if count == 1 { "figure" } else { "figures" });
    }
}

fn section(page: &mut String, article: &Article) {
    let mut commands = Vec::new();
    let _ = write!(page, "\n## {}\n\n{}\n\n", article.title, article.about);
    page.push_str(
        "| place | figure | published | echo | prediction | error | command |\n|---|---|---:|---:|---:|---:|---|\n",
    );
    for figure in &article.figures {
        let _ = writeln!(page, "{}", number_commands(&line(figure), &mut commands));
    }
    let comments: Vec<String> =
        article.missed.iter().map(|sentence| number_commands(sentence, &mut commands)).collect();
    page.push_str("\n### Commands\n\n```sh\n");
    for (index, command) in commands.iter().enumerate() {
        let _ = writeln!(page, "{command}  # [{}]", index + 1);
    }
    page.push_str("```\n");
    if !comments.is_empty() {
        page.push_str("\n### Comments on the article\n\n");
        for sentence in &comments {
            let _ = writeln!(page, "- {sentence}");
        }
    }
}

fn line(figure: &Figure) -> String {
    let published = match figure.published {
        Published::Exactly(value) => number(value),
        Published::Between(0.0, f64::INFINITY) => "no number".into(),
        Published::Between(low, high) if high.is_infinite() => format!("{} or more", number(low)),
        Published::Between(low, high) => format!("{} to {}", number(low), number(high)),
    };
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
    let head = format!("| {} | {} | {published}{unit} |", figure.place, figure.what);
    let (Answer::Given { value, how, .. }, Some(column)) = (&figure.answer, figure.column()) else {
        let Answer::Missing(why) = &figure.answer else { return head };
        return format!("{head} | not given | | {why} |");
    };
    let error = figure.published.error(*value);
    let formatted = format!("{}{unit}", number(*value));
    // Echoes show the difference, if any.
    let aside = if signed(error) == "0.0 %" { String::new() } else { format!(" ({})", signed(error)) };
    match column {
        Column::Echo => format!("{head} {formatted}{aside} | | | {how} |"),
        Column::Prediction => format!("{head} | {formatted} | {} | {how} |", signed(error)),
    }
}

/// The nearest-rank quantile of sorted values.
pub fn quantile(sorted: &[f64], quantile: f64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

pub fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{:.1} %", value * 100.0))
}

pub fn signed(error: f64) -> String {
    // Avoids a negative zero.
    let percent = (error * 1000.0).round() / 10.0 + 0.0;
    if percent == 0.0 { "0.0 %".into() } else { format!("{percent:+.1} %") }
}

/// Exact up to four decimals, as prices are printed; otherwise four significant digits. Thousands are grouped.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exact = format!("{value}");
    let text = if exact.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 4) {
        exact
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "a logarithm of a finite number")]
        let decimals = (3 - value.abs().log10().floor() as i32).clamp(0, 6);
        format!("{value:.*}", usize::try_from(decimals).expect("not negative"))
    };
    let (integer, rest) = text.split_once('.').unwrap_or((&text, ""));
    let rest = rest.trim_end_matches('0');
    let digits = integer.trim_start_matches('-');
    let mut spaced = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            spaced.push(',');
        }
        spaced.push(digit);
    }
    let sign = if integer.starts_with('-') { "-" } else { "" };
    if rest.is_empty() { format!("{sign}{spaced}") } else { format!("{sign}{spaced}.{rest}") }
}
