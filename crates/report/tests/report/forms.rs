//! All forms of a page with every kind of content.

use crate::support::page;

use plimsoll_report::{
    Block, Cell, Charset, Column, ColumnKind, Emphasis, Fact, Headline, Item, Page, PageSection, Table, TableLayout,
    TextStyle, Visibility, page_csv, page_html, page_markdown, page_text,
};

const COMMAND: &str =
    "plimsoll size /srv/reports/of/a/folder/with/a/long/path/awr.html --capacity 2TiB --provider oci,aws,azure";
const LIMIT: &str = "throughput of the attachment as provisioned with the machine";

fn cell(text: &str, exact: &str) -> Cell {
    Cell { text: text.into(), exact: exact.into(), ..Cell::default() }
}

fn table() -> Table {
    let column = |name: &'static str, unit, kind, priority| Column { name: name.into(), unit, kind, priority };
    let row = |name: &str, iops: [&str; 2], price: [&str; 2], interval: Option<&str>| {
        vec![
            cell(name, name),
            Cell { interval: interval.map(str::to_owned), ..cell(iops[0], iops[1]) },
            cell(price[0], price[1]),
            cell(LIMIT, LIMIT),
            cell("a|b, \"c\" <d>", "a|b, \"c\" <d>"),
        ]
    };
    Table {
        label: "Volumes".into(),
        columns: vec![
            column("configuration", "", ColumnKind::Name, 0),
            column("rate", "IOPS", ColumnKind::Rate, 0),
            column("price", "a month", ColumnKind::Money, 0),
            column("binds", "", ColumnKind::Text, 0),
            column("remark", "", ColumnKind::Text, 1),
        ],
        rows: vec![
            row("aws/gp3:500GiB,iops=12000", ["12,000", "12000"], ["85.00 USD", "85.00 USD"], Some("11,000 to 13,000")),
            row("oci:500GB@20vpu", ["950.5", "950.5"], ["\u{2013}", ""], None),
        ],
        groups: vec![(1, "no price:".into())],
        notes: vec!["list prices".into()],
        layout: TableLayout::Grid,
        ..Table::default()
    }
}

fn sample() -> Page {
    let section = |heading: &str, visibility, blocks| PageSection {
        heading: heading.into(),
        visibility,
        blocks,
        ..PageSection::default()
    };
    let finding = Fact {
        name: "void".into(),
        emphasis: Emphasis::Void,
        text: "the generator set the pace".into(),
        remarks: vec!["use more threads".into()],
        ..Fact::default()
    };
    let price = Fact {
        name: "price".into(),
        text: "85.00 USD a month".into(),
        parts: vec![("40.00 USD".into(), "storage".into()), ("45.00 USD".into(), "IOPS".into())],
        ..Fact::default()
    };
    let entry = Item { text: "[1] A document".into(), remarks: vec!["read in 2026".into()] };
    Page {
        title: "Storage <for> tests".into(),
        subject: vec!["Run: a & b".into()],
        headline: Some(Headline {
            text: "It carries 12,000 IOPS".into(),
            grade: "simulated",
            cautions: vec!["Its price is unverified.".into()],
            details: vec!["The machine binds.".into()],
        }),
        figures: vec![Fact { name: "Keeps".into(), text: "2 TiB".into(), ..Fact::default() }],
        sections: vec![
            section("Choices", Visibility::Bare, vec![Block::Table(table())]),
            section("Findings", Visibility::Open, vec![Block::Facts(vec![finding, price])]),
            section("Empty", Visibility::Open, vec![Block::Items(Vec::new())]),
            section("Sources", Visibility::Folded, vec![Block::Items(vec![entry])]),
            section("In full", Visibility::Detail, vec![Block::Text("every step".into())]),
        ],
        next: vec![("Then".into(), COMMAND.into())],
        ..Page::default()
    }
}

#[test]
fn alert_and_origin_complete_the_verdict() {
    let page = Page { alert: Some((Emphasis::Void, "Void: no load".into())), origin: "measured", ..sample() };
    let text = page_text(&page, &TextStyle::default());
    assert!(text.contains("\n\nVoid: no load\nIt carries 12,000 IOPS - measured\n"), "{text}");
    let markdown = page_markdown(&page);
    assert!(markdown.contains("**Void: no load**\n\n**It carries 12,000 IOPS** (measured, simulated)"), "{markdown}");
    let html = page_html(&page);
    page::check_page("alert", &html);
    assert!(html.contains("<p class=\"big words long weight void\">■ Void: no load</p>"), "{html}");
}

#[test]
fn listings_keep_their_lines_in_every_form() {
    let listing = "Run  12 | 3\n  a *b*  c";
    let block = Block::Listing(listing.into());
    let section = PageSection { heading: "As dd prints it".into(), blocks: vec![block], ..PageSection::default() };
    let page = Page { sections: vec![section], ..Page::default() };
    assert!(page_text(&page, &TextStyle { width: 40, ..TextStyle::default() }).contains(listing));
    assert!(page_markdown(&page).contains(&format!("```text\n{listing}\n```")));
    assert!(page_html(&page).contains(&format!(">{listing}</pre>")));
    assert!(page_csv(&page).contains("\r\nAs dd prints it,,Run  12 | 3\r\n"));
}

#[test]
fn long_words_of_a_page_break_behind_their_separators() {
    let html = page_html(&sample());
    page::check_page("breaks", &html);
    for expected in [">aws/<wbr>gp3:500GiB,<wbr>iops=12000<", ">oci:500GB@20vpu<", "12,000"] {
        assert!(html.contains(expected), "{expected} in {html}");
    }
}

fn print_text(width: usize) -> String {
    page_text(&sample(), &TextStyle { width, ..TextStyle::default() })
}

#[test]
fn text_fits_each_width_without_a_broken_word() {
    for width in [80, 120, 200] {
        let text = print_text(width);
        for line in text.lines().filter(|line| !line.contains(COMMAND)) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        for word in LIMIT.split(' ').chain(["aws/gp3:500GiB,iops=12000", "oci:500GB@20vpu", "85.00"]) {
            assert!(words.contains(&word), "{word} at {width}:\n{text}");
        }
        assert!(text.lines().any(|line| line == format!("Then: {COMMAND}")), "a command is copied as a line:\n{text}");
        assert!(
            text.starts_with("Run: a & b\n\nIt carries 12,000 IOPS\nIts price is unverified.\nThe machine binds.\n\n"),
            "{text}"
        );
        assert!(!text.contains("Choices") && !text.contains("Empty") && !text.contains("every step"), "{text}");
    }
}

#[test]
fn columns_are_dropped_by_priority_before_cells_wrap() {
    assert!(print_text(200).contains("remark") && print_text(200).contains("95 % interval"));
    let narrow = print_text(80);
    assert!(narrow.contains("columns omitted for the width: remark"), "{narrow}");
    let wide = print_text(120);
    assert!(wide.lines().any(|line| line.contains(LIMIT)), "no cell wraps where a column can be dropped:\n{wide}");
}

#[test]
fn plain_text_has_no_escapes_and_ascii_on_request() {
    let style = TextStyle { unicode: Charset::Ascii, ..TextStyle::default() };
    let text = page_text(&sample(), &style);
    assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn markdown_has_github_tables_and_escapes() {
    let text = page_markdown(&sample());
    for line in [
        "# Storage \\<for\\> tests",
        "**It carries 12,000 IOPS** (simulated)",
        "| configuration | rate IOPS | 95 % interval | price a month | binds | remark |",
        "| :-- | --: | :-- | --: | :-- | :-- |",
        "- **void**: the generator set the pace",
        "  - use more threads",
        "  - 40.00 USD: storage",
        "## In full",
        COMMAND,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    assert!(text.contains("a\\|b, \"c\" \\<d\\> |"), "{text}");
    assert!(!text.contains("## Empty") && text.ends_with("```\n"), "{text}");
}

#[test]
fn csv_quotes_fields_and_separates_currencies() {
    let csv = page_csv(&sample());
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines[0], "configuration,rate IOPS,95 % interval,price a month,currency,binds,remark");
    let remark = "\"a|b, \"\"c\"\" <d>\"";
    assert_eq!(
        lines[1],
        format!("\"aws/gp3:500GiB,iops=12000\",12000,\"11,000 to 13,000\",85.00,USD,{LIMIT},{remark}")
    );
    assert_eq!(lines[2], format!("oci:500GB@20vpu,950.5,,,,{LIMIT},{remark}"));
    assert_eq!(lines[3..], [""]);
    let words = Page { sections: sample().sections.split_off(1), ..sample() };
    assert!(page_csv(&words).starts_with("section,name,text\r\nFindings,void,the generator set the pace\r\n"));
}

#[test]
fn html_is_sound_escaped_and_has_contents() {
    let html = page_html(&sample());
    page::check_page("sample", &html);
    for part in ["<h1>Storage &lt;for&gt; tests</h1>", "a|b, &quot;c&quot; &lt;d&gt;", "Run: a &amp; b", "<details>"] {
        assert!(html.contains(part), "{part} in {html}");
    }
    let (contents, _) = html.split_once("</nav>").expect("a list of contents");
    assert_eq!(contents.matches("<li>").count(), 4, "the sections that have content");
    let (head, _) = html.split_once("</header>").expect("a head");
    assert!(head.contains("It carries 12,000") && head.contains("simulated"), "the verdict is first: {head}");
}
