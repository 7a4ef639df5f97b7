//! Text of every curve at every width and character set.

use crate::support;

use plimsoll_record::{Curve, Estimate, LoadLine};
use plimsoll_report::pages::{self, Sheet};
use plimsoll_report::{Charset, Color, Column, ColumnKind, Page, Table, TextStyle, page_text};

const WIDTHS: [usize; 6] = [0, 40, 64, 80, 100, 160];

fn plain(width: usize) -> TextStyle {
    TextStyle { width, ..TextStyle::default() }
}

fn text(curve: &Curve, style: &TextStyle) -> String {
    page_text(&support::page(&[curve]), style)
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').expect("an escape ends").1;
    }
    out + rest
}

fn check_lines(name: &str, text: &str, width: usize) {
    assert!(text.is_empty() || text.ends_with('\n'), "{name}");
    for line in text.lines() {
        // Commands are not wrapped.
        let is_command = ["Next: ", "To repeat: "].iter().any(|purpose| line.starts_with(purpose));
        assert!(is_command || line.chars().count() <= width.max(40), "{name} at {width}: {line}");
        assert_eq!(line, line.trim_end(), "{name}: blanks at an end");
    }
}

#[test]
fn lines_fit_the_width() {
    for (name, curve) in support::odd() {
        for width in WIDTHS {
            let unicode = text(&curve, &plain(width));
            check_lines(name, &unicode, width);
            assert!(!unicode.contains('\u{1b}'), "{name}: an escape in plain text");
            assert!(!unicode.contains("NaN") && !unicode.contains("inf "), "{name}: {unicode}");
            let ascii = text(&curve, &TextStyle { unicode: Charset::Ascii, ..plain(width) });
            assert!(ascii.is_ascii(), "{name}");
            check_lines(name, &ascii, width);
            let coloured = text(&curve, &TextStyle { color: Color::Ansi, ..plain(width) });
            assert_eq!(without_escapes(&coloured), unicode, "{name}: colour changes no word");
        }
    }
}

#[test]
fn verdict_is_the_first_line() {
    let first = |name: &str| {
        let curve = support::odd().into_iter().find(|(existing, _)| *existing == name).unwrap().1;
        text(&curve, &plain(160)).lines().next().unwrap().to_owned()
    };
    assert!(first("whole").starts_with("Load line: ") && first("whole").ends_with(" keep p99 <= 1 ms - measured"));
    assert_eq!(first("empty"), "Load line: none, as no operation completed - measured");
    assert_eq!(first("no line"), "Load line: none - measured");
    assert_eq!(first("beyond"), "Load line: at least 60,000 IOPS keep p99.5 <= 250 us - measured");
    let never =
        "Load line: none: p99.5 <= 250 us was missed even at the lightest load (lowest p99.5 301 us) - measured";
    assert_eq!(first("never"), never);
    assert!(first("interrupted").starts_with("Interrupted: "));
    assert!(first("simulated").ends_with("- simulated"));
}

#[test]
fn every_run_has_its_row_with_points_aligned() {
    let curve = support::build_curve();
    let displayed = text(&curve, &plain(120));
    for depth in [1, 128] {
        assert!(displayed.contains(&format!("\ndepth {depth} ")), "{displayed}");
    }
    assert!(
        displayed.contains("closed load") && displayed.contains("Poisson arrivals") && displayed.contains("overloaded")
    );
    let rows: Vec<&str> = displayed.lines().filter(|line| line.starts_with("depth ")).collect();
    let points: Vec<Option<usize>> = rows.iter().map(|row| row.find('.')).collect();
    assert!(points.windows(2).all(|pair| pair[0] == pair[1]), "{rows:#?}");
}

#[test]
fn omitted_columns_are_named() {
    let narrow = text(&support::build_curve(), &plain(60)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(narrow.contains("columns omitted for the width: longest, mean"), "{narrow}");
    assert!(!text(&support::build_curve(), &plain(120)).contains("omitted"));
}

#[test]
fn long_names_are_shortened_before_figures_are_dropped() {
    let partition = |end: &str| format!("segment SYS.WRH$_ACTIVE_SESSION_HISTORY.WRH$_ACTIVE_SESSION_HISTORY_{end}");
    let names = [partition("1264168719_0"), partition("1264168719_1"), "statement b39m8n96gxk7c (JOBS)".to_owned()];
    let table = Table::rows("Parts", names)
        .column(Column::text("part", 0), Clone::clone)
        .column(Column::new("reads", "", ColumnKind::Share, 0), |_| "21,000,000")
        .column(Column::new("of all", "%", ColumnKind::Share, 1), |_| "98.9")
        .column(Column::text("remark", 1), |_| "")
        .column(Column::new("calls", "", ColumnKind::Share, 2), |_| "640")
        .table();
    for (width, is_complete) in [(40, false), (60, true), (80, true), (100, true)] {
        let shown = page_text(&Page::of_table(table.clone(), ""), &plain(width));
        check_lines("names", &shown, width);
        assert_eq!(shown.matches("21,000,000").count(), 3, "{width}: {shown}");
        assert_eq!(
            (shown.matches("98.9").count(), shown.matches("640").count()),
            if is_complete { (3, 3) } else { (3, 0) },
            "{width}: {shown}"
        );
        assert!(shown.contains('…') && shown.contains("719_0") && shown.contains("719_1"), "{width}: {shown}");
        assert!(shown.contains("b39m8n96gxk7c") && shown.contains("(JOBS)"), "{width}: {shown}");
    }
    let wide = page_text(&Page::of_table(table, ""), &plain(160));
    assert!(wide.contains("WRH$_ACTIVE_SESSION_HISTORY_1264168719_0") && !wide.contains('…'), "{wide}");
}

#[test]
fn findings_are_ordered_by_weight_with_remedies() {
    let displayed = text(&support::build_curve(), &plain(120));
    let caution = displayed.find("caution").unwrap();
    assert!(caution < displayed.find("\nnote ").unwrap());
    assert!(displayed.contains("         stop the other load, or include it"));
    assert!(text(&support::empty(), &plain(80)).contains("Findings\nnone"));
}

#[test]
fn error_numbers_have_names() {
    let curve = support::odd().into_iter().find(|(name, _)| *name == "errors").unwrap().1;
    assert!(text(&curve, &plain(100)).contains("15 failed"));
}

#[test]
fn load_lines_by_objective_and_comparisons_fit_the_width() {
    let lines = support::ladder();
    let comparison_of = |names: [&str; 2], style: &TextStyle| {
        let names = names.map(|name| [name.to_owned()]);
        let (before, after) = (support::build_curve(), support::build_curve());
        let comparison = plimsoll_analyse::compare(&before, &after);
        page_text(&pages::comparison([&names[0], &names[1]], &comparison, &[]), style)
    };
    let ladder = |ladder: &[LoadLine], style: &TextStyle| {
        let curve = support::build_curve();
        page_text(&pages::curves(&[Sheet { curve: &curve, ladder: ladder.to_vec(), price: None }]), style)
    };
    for width in WIDTHS {
        check_lines("ladder", &ladder(&lines, &plain(width)), width);
        check_lines("comparison", &comparison_of(["a", "b"], &plain(width)), width);
    }
    assert!(ladder(&lines, &plain(80)).contains("missed: lowest p99 233 us"));
    let same = comparison_of(["a", "b"], &plain(80));
    assert!(same.contains("no real change") && same.contains("+0.0 %"), "{same}");
    assert!(!ladder(&lines[..1], &plain(80)).contains("Load line by objective"));
    let max = support::build_curve().runs.iter().map(|run| run.figures.iops.value).fold(0.0, f64::max);
    let at = |share: f64| LoadLine::At { objective: lines[1].objective(), iops: Estimate::bare(max * share) };
    for (share, binds) in [(0.98, "the maximum rate binds"), (0.8, "the objective binds")] {
        assert!(ladder(&[lines[0], at(share)], &plain(160)).contains(binds), "{share}");
    }
}

#[test]
fn completions_after_the_run_do_not_add_to_rates_by_stream() {
    let displayed = text(&support::build_curve(), &plain(120));
    assert!(displayed.contains("By stream and kind"), "{displayed}");
    assert_eq!(text(&support::drained(support::build_curve()), &plain(120)), displayed);
}
