//! The frame of every page: head, menu, language switch, status line.

use axum::response::{IntoResponse, Response};
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, StatusCode};
use maud::{DOCTYPE, Markup, html};
use plimsoll_language::{Language, label};

use crate::answer::{WebAnswer, WebRefusal};

/// A page of the console.
#[derive(Debug)]
pub struct Frame<'a> {
    pub title: &'a str,
    /// Path of the menu entry.
    pub place: &'a str,
    /// Scripts in addition to the common one.
    pub scripts: &'a [&'a str],
}

/// Menu: path and label.
fn menu() -> [(&'static str, &'static str); 4] {
    [
        ("/", label!("Volumes")),
        ("/measure", label!("Measure")),
        ("/choose", label!("Choose")),
        ("/model", label!("Model")),
    ]
}

pub fn page(frame: &Frame<'_>, content: &Markup) -> WebAnswer {
    let (other, name) = match Language::current() {
        Language::English => ("ja", "日本語"),
        Language::Japanese => ("en", "English"),
    };
    let body = html! {
        a class="skip" href="#content" { (label!("Skip to content")) }
        header class="bar" {
            a class="brand" href="/" { (logo()) "plimsoll" }
            nav aria-label=(label!("Main")) {
                @for (path, label) in menu() {
                    a href=(path) aria-current=[(path == frame.place).then_some("page")] { (label) }
                }
            }
            div class="tools" {
                button type="button" id="link" class="quiet"
                    data-note=(label!("Opens the console once, in another browser (copied):")) {
                    (label!("Share"))
                }
                button type="button" id="language" class="quiet" data-to=(other) lang=(other) { (name) }
            }
        }
        p id="lost" class="banner" role="alert" hidden {
            (label!("The connection is lost. Retrying."))
        }
        p id="trouble" class="banner" role="alert" hidden {}
        main id="content" tabindex="-1" { (content) }
        p id="status" class="visually-hidden" role="status" {}
    };
    WebAnswer::Html(document(frame, &body))
}

fn document(frame: &Frame<'_>, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(Language::current().tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (frame.title) " – plimsoll" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/report.css";
                link rel="stylesheet" href="/assets/console.css";
                script defer src="/assets/plot.js" {}
                script defer src="/assets/console.js" {}
                @for script in frame.scripts { script defer src={ "/assets/" (script) } {} }
            }
            body { (body) }
        }
    }
}

/// Links to the pages of a case.
pub fn case_tabs(case: &str, current: &str) -> Markup {
    let tabs = [
        ("ranking", format!("/choose/{case}"), label!("Ranking")),
        ("diagnosis", format!("/choose/{case}/diagnosis"), label!("Diagnosis")),
        ("demand", format!("/choose/{case}/demand"), label!("Demand")),
    ];
    html! {
        nav class="tabs" aria-label=(label!("Reports")) {
            @for (name, path, label) in tabs { a href=(path) aria-current=[(name == current).then_some("page")] { (label) } }
        }
    }
}

/// The page that exchanges the token in the URL for a session.
pub fn entrance() -> Markup {
    let frame = Frame { title: "plimsoll", place: "", scripts: &["enter.js"] };
    document(
        &frame,
        &html! {
            main id="content" class="entrance" {
                (logo())
                h1 { "plimsoll" }
                p id="entry" role="status" { (label!("Opening the console …")) }
                noscript { p { (label!("The console needs JavaScript.")) } }
            }
        },
    )
}

/// A refusal as a document for a browser that shows pages, else as JSON.
pub fn refuse(refusal: &WebRefusal, headers: &HeaderMap, language: Language) -> Response {
    let WebRefusal { status, message } = refusal;
    let wants_page = headers.get("accept").is_some_and(|accept| accept.as_bytes().starts_with(b"text/html"));
    if wants_page {
        return (*status, language.scope(|| refusal_page(*status, message)).response()).into_response();
    }
    let body = serde_json::to_vec(&serde_json::json!({ "error": message })).unwrap_or_default();
    (*status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn refusal_page(status: StatusCode, message: &str) -> WebAnswer {
    let frame = Frame { title: status.canonical_reason().unwrap_or("Refused"), place: "", scripts: &[] };
    let content = html! {
        h1 { (status.as_u16()) " " (status.canonical_reason().unwrap_or("Refused")) }
        p class="lead" { (message) }
        p { a href="/" { (label!("All volumes")) } }
    };
    page(&frame, &content)
}

fn logo() -> Markup {
    html! {
        svg class="logo" viewBox="0 0 32 32" aria-hidden="true" {
            circle cx="16" cy="16" r="10" fill="none" stroke="currentColor" stroke-width="3" {}
            path d="M1 16h30" stroke="currentColor" stroke-width="3" {}
        }
    }
}
