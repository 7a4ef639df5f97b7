//! Pages of uploaded reports: the list, the ranking with its sliders, the diagnosis and the demand.

use maud::{Markup, html};
use plimsoll_report::pages::{self, DemandDetail};
use plimsoll_report::{Page, page_fragment};

use crate::answer::{Input, WebAnswer, WebResult};
use crate::case::Parsed;
use crate::choose::{diagnosis, stored_capacity, subject_names};
use crate::language::Language;
use crate::layout::{self, Frame};
use crate::{ConsoleState, sources};

/// Uploads.
pub fn list_page(input: &Input) -> WebAnswer {
    let l = input.language;
    let frame = Frame { title: l.pick("Choose", "選定"), place: "/choose", scripts: &["choose.js"], language: l };
    let content = html! {
        h1 { (l.pick("Choose storage for a database", "データベース用ストレージの選定")) }
        section class="card" {
            form id="upload" {
                label class="drop" id="drop" {
                    strong { (l.pick("Drop reports here, or choose files", "レポートをここにドロップ、またはファイルを選択")) }
                    span class="lead" { "AWR, Statspack, iostat, sar, pg_stat_io, nmon, blktrace, fio …" }
                    input type="file" name="files" multiple;
                }
            }
            p id="uploading" hidden { progress id="sent" max="1" value="0" aria-label=(l.pick("Upload", "アップロード")) {} " " span id="sending" {} }
            p class="lead" {
                (l.pick("Files stay on this machine, readable by you only. Limit: 256 MiB each.",
                    "ファイルはこのマシンに保存され、あなただけが読み取れます。上限は 1 ファイル 256 MiB です。"))
            }
        }
        section class="card" {
            h2 { (l.pick("Reports", "レポート一覧")) }
            ul id="cases" class="plain cases" data-delete=(l.pick("Delete", "削除")) data-sure=(l.pick("Delete these reports for good?", "このレポートを完全に削除しますか？")) {}
            p id="none" class="lead" hidden {
                (l.pick("No reports yet. Any AWR report or the output of iostat -x 10 is a beginning.",
                    "レポートはありません。AWR レポートや iostat -x 10 の出力から始められます。"))  }
        }
    };
    layout::page(&frame, &content)
}

/// The ranking of a case with its sliders.
pub fn case_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let l = input.language;
    let case = input.part(0);
    let parsed = shared.reports.parsed(case)?;
    let is_missing = parsed.demand.subjects.first().is_some_and(|subject| stored_capacity(subject).is_none());
    let frame =
        Frame {
            title: l.pick("Choose", "選定"), place: "/choose", scripts: &["report.js", "choose.js"], language: l
        };
    let content = html! {
        h1 { (l.pick("Storage for ", "ストレージの選定: ")) (subject_names(&parsed)) }
        (layout::case_tabs(l, case, "ranking"))
        @for refusal in parsed.refusals() { p class="alert" { (refusal) } }
        section class="card" id="case" data-case=(case) data-emulate=(l.pick("Emulate", "エミュレート"))
            data-busy=(l.pick("Searching the catalogue …", "カタログを検索中…")) data-report=(l.pick("Preparing the report …", "レポートを作成中…"))
            data-missing=[is_missing.then_some(l.pick("Data today: the reports do not contain it: write a size, such as 2TiB", "現在のデータ量: レポートにないため、2TiB のように入力してください"))]
            data-slower=(l.pick("slower than today", "現在より低速")) data-none=(l.pick("none", "なし")) data-reads=(l.pick("of the reads", "の読み取り")) {
            h2 { (l.pick("What if", "条件を変えて試算")) }
            form id="wanted" { (what_if_fields(l, &parsed)) }
            p id="headline" class="headline" role="status" {}
            p id="progress" class="lead" role="status" {}
            div class="scroll" tabindex="0" role="region" aria-label=(l.pick("Choices", "候補")) {
                table id="choices" {
                    thead { tr {
                        th scope="col" { (l.pick("Configuration", "構成")) }
                        th scope="col" { (l.pick("A month, with machine", "月額（マシン込み）")) }
                        th scope="col" { (l.pick("Storage alone, JPY", "ストレージのみ JPY")) }
                        th scope="col" { "IOPS" }
                        th scope="col" { (l.pick("Above design point", "設計点に対する余裕")) }
                        th scope="col" { (l.pick("Mean read time", "読み取りの平均時間")) }
                        th scope="col" class="l" { (l.pick("First limit", "ボトルネック")) }
                        th scope="col" class="l" { (l.pick("Action", "操作")) }
                    } }
                    tbody {}
                }
            }
            p class="lead" {
                (l.pick("By price; unverified and incomplete prices come last. ▲: an objective is not met. ▼: slower than today.",
                    "価格順（未検証または不完全な価格は最後）。▲: 目標を満たしません。▼: 現在より低速です。"))
            }
            p class="actions" {
                button type="button" id="terraform" { "Terraform" }
                a class="button" href={ "/story/" (case) "/html" } { (l.pick("One HTML file to send", "送付用 HTML ファイル")) }
                a href={ "/choose/" (case) "/diagnosis#d0-origins" } { (l.pick("Origin of each number", "各数値の出典")) }
            }
        }
        div id="report" class="report" lang="en" aria-live="off" {}
    };
    Ok(layout::page(&frame, &content))
}

fn what_if_fields(l: Language, parsed: &Parsed) -> Markup {
    let none = l.pick("none", "なし");
    let slider = |name: &str, label: &str, (low, high, step): (&str, &str, &str), value: &str, unit: &str| {
        html! {
            label class="slider" {
                span { span class="name" { (label) } " " output {} }
                input type="range" name=(name) min=(low) max=(high) step=(step) value=(value) data-unit=(unit)
                    data-zero=[(name == "p99_ms").then_some(none)];
            }
        }
    };
    let stored = parsed.demand.subjects.first().and_then(stored_capacity);
    let subjects: Vec<&str> = parsed.demand.subjects.iter().map(|subject| subject.name.as_str()).collect();
    html! {
        div class="row" {
            label { (l.pick("Data today", "現在のデータ量"))
                input name="capacity" autocomplete="off" placeholder=(stored.map_or("2TiB".to_owned(), |bytes| bytes.to_string())); }
            label { (l.pick("Provider or product", "クラウドまたは製品")) input name="providers" autocomplete="off" placeholder="oci, aws/gp3"; }
            @if subjects.len() > 1 {
                label { (l.pick("Database", "データベース")) select name="subject" { @for name in &subjects { option { (name) } } } }
            }
            label class="check" { input type="checkbox" name="may_be_slower"; (l.pick("May be slower than today", "現在より遅くてもよい")) }
        }
        div class="sliders" {
            (slider("growth", l.pick("Growth a year", "年間増加率"), ("0", "100", "5"), "0", "%"))
            (slider("months", l.pick("Months", "期間（月）"), ("0", "60", "6"), "36", ""))
            (slider("headroom", l.pick("Headroom", "余裕率"), ("0", "100", "5"), "20", "%"))
            (slider("p99_ms", l.pick("Objective, p99 of reads", "目標 p99（読み取り）"), ("0", "20", "0.5"), "0", "ms"))
            label class="slider" id="cache" hidden {
                span { span class="name" { (l.pick("Cache", "キャッシュ")) } " " output {} }
                input type="range" name="cache" min="0" max="1" step="1" value="0";
            }
        }
    }
}

/// The diagnosis of a case.
pub fn diagnosis_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let parsed = shared.reports.parsed(input.part(0))?;
    let mut page = diagnosis(&parsed);
    sources::link(&mut page, input.part(0), &shared.reports.names(input.part(0)));
    Ok(report_page(input, "diagnosis", &page))
}

/// The demand of a case.
pub fn demand_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let parsed = shared.reports.parsed(input.part(0))?;
    Ok(report_page(input, "demand", &pages::demand(&parsed.outcomes, &parsed.demand, DemandDetail::Figures)))
}

fn report_page(input: &Input, tab: &str, page: &Page) -> WebAnswer {
    let l = input.language;
    let frame = Frame { title: &page.title, place: "/choose", scripts: &["report.js"], language: l };
    let content = html! {
        (layout::case_tabs(l, input.part(0), tab))
        div class="report" lang="en" { (page_fragment(page)) }
    };
    layout::page(&frame, &content)
}
