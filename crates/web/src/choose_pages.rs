//! Pages of uploaded reports: the list, the ranking with its sliders, the diagnosis and the demand.

use maud::{Markup, html};
use plimsoll_language::label;
use plimsoll_measure::sizing::stored_capacity;
use plimsoll_report::pages::{self, DemandDetail};
use plimsoll_report::{Page, page_fragment};

use crate::answer::{Input, WebAnswer, WebResult};
use crate::case::ParsedCase;
use crate::choose::{diagnosis, subject_names};
use crate::layout::{self, Frame};
use crate::{ConsoleState, sources};

pub fn list_page() -> WebAnswer {
    let frame = Frame { title: label!("Choose"), place: "/choose", scripts: &["choose.js"] };
    let content = html! {
        h1 { (label!("Choose storage for a database")) }
        section class="card" {
            form id="upload" {
                label class="drop" id="drop" {
                    strong { (label!("Drop reports here, or choose files")) }
                    span class="lead" { (label!("AWR, Statspack, iostat, sar, pg_stat_io, nmon, blktrace, fio …")) }
                    input type="file" name="files" multiple;
                }
            }
            p id="uploading" hidden { progress id="sent" max="1" value="0" aria-label=(label!("Upload")) {} " " span id="sending" {} }
            p class="lead" {
                (label!("Files stay on this machine, readable by you only. Limit: 256 MiB each."))
            }
        }
        section class="card" {
            h2 { (label!("Reports")) }
            ul id="cases" class="plain cases" data-delete=(label!("Delete")) data-sure=(label!("Delete these reports for good?")) {}
            p id="none" class="lead" hidden {
                (label!("No reports yet. For example, iostat -x 10 60 > iostat.txt on the database's host, or any AWR report."))
            }
        }
    };
    layout::page(&frame, &content)
}

/// The ranking of a case with its sliders.
pub fn case_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let case = input.part(0);
    let parsed = shared.reports.parsed(case)?;
    let is_missing = parsed.demand.subjects.first().is_some_and(|subject| stored_capacity(subject).is_none());
    let frame = Frame { title: label!("Choose"), place: "/choose", scripts: &["report.js", "choose.js"] };
    let content = html! {
        h1 { (label!("Storage for ")) (subject_names(&parsed)) }
        (layout::case_tabs(case, "ranking"))
        @for refusal in parsed.refusals() { p class="alert" { (refusal) } }
        section class="card" id="case" data-case=(case) data-emulate=(label!("Emulate"))
            data-busy=(label!("Searching the catalogue …")) data-report=(label!("Preparing the report …"))
            data-missing=[is_missing.then_some(label!("Data today: the reports do not contain it: write a size, such as 2TiB"))]
            data-slower=(label!("slower than today")) data-missed=(label!("objective missed")) data-none=(label!("none")) data-reads=(label!("of the reads")) {
            h2 { (label!("What if")) }
            form id="wanted" { (what_if_fields(&parsed)) }
            p id="headline" class="headline" role="status" {}
            p id="remedy" class="lead" {}
            p id="progress" class="lead" role="status" {}
            div class="scroll" tabindex="0" role="region" aria-label=(label!("Choices")) {
                table id="choices" {
                    thead { tr {
                        th scope="col" { (label!("Configuration")) }
                        th scope="col" { (label!("A month, with machine")) }
                        th scope="col" { (label!("Storage alone, JPY")) }
                        th scope="col" { "IOPS" }
                        th scope="col" { (label!("Above design point")) }
                        th scope="col" { (label!("Mean read time")) }
                        th scope="col" class="l" { (label!("First limit")) }
                        th scope="col" class="l" { (label!("Action")) }
                    } }
                    tbody {}
                }
            }
            p class="lead" id="signs" {
                (label!("First the configuration of the verdict, then by price; unverified and incomplete prices come last. ▲: an objective is not met. ▼: slower than today."))
            }
            p class="actions" {
                button type="button" id="terraform" { "Terraform" }
                a class="button" id="file" href={ "/story/" (case) "/html" } { (label!("One HTML file to send")) }
                a href={ "/choose/" (case) "/diagnosis#d0-origins" } { (label!("Origin of each number")) }
            }
        }
        div id="report" class="report" aria-live="off" {}
    };
    Ok(layout::page(&frame, &content))
}

fn what_if_fields(parsed: &ParsedCase) -> Markup {
    let none = label!("none");
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
            label { (label!("Data today"))
                input name="capacity" autocomplete="off" placeholder=(stored.map_or("2TiB".to_owned(), |bytes| bytes.to_string())); }
            label { (label!("Provider or product")) input name="providers" autocomplete="off" placeholder="oci, aws/gp3"; }
            @if subjects.len() > 1 {
                label { (label!("Database")) select name="subject" { @for name in &subjects { option { (name) } } } }
            }
            label class="check" { input type="checkbox" name="may_be_slower"; (label!("May be slower than today")) }
        }
        div class="sliders" {
            (slider("growth", label!("Growth a year"), ("0", "100", "5"), "0", "%"))
            (slider("months", label!("Months"), ("0", "60", "6"), "36", ""))
            (slider("headroom", label!("Headroom"), ("0", "100", "5"), "20", "%"))
            (slider("p99_ms", label!("Objective, p99 of reads"), ("0", "20", "0.5"), "0", "ms"))
            label class="slider" id="cache" hidden {
                span { span class="name" { (label!("Cache")) } " " output {} }
                input type="range" name="cache" min="0" max="1" step="1" value="0";
            }
        }
    }
}

pub fn diagnosis_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let parsed = shared.reports.parsed(input.part(0))?;
    let mut page = diagnosis(&parsed);
    sources::link(&mut page, input.part(0), &shared.reports.names(input.part(0)));
    Ok(report_page(input, "diagnosis", &page))
}

pub fn demand_page(shared: &ConsoleState, input: &Input) -> WebResult {
    let parsed = shared.reports.parsed(input.part(0))?;
    Ok(report_page(input, "demand", &pages::demand(&parsed.outcomes, &parsed.demand, DemandDetail::Figures)))
}

fn report_page(input: &Input, tab: &str, page: &Page) -> WebAnswer {
    let frame = Frame { title: &page.title, place: "/choose", scripts: &["report.js"] };
    let content = html! {
        (layout::case_tabs(input.part(0), tab))
        div class="report" { (page_fragment(page)) }
    };
    layout::page(&frame, &content)
}
