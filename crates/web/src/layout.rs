//! The frame of every page: head, menu, language switch, status line.

use axum::response::{IntoResponse, Response};
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, StatusCode};
use maud::{DOCTYPE, Markup, html};

use crate::answer::{WebAnswer, WebRefusal};
use crate::language::Language;

/// A page of the console.
#[derive(Debug)]
pub struct Frame<'a> {
    /// Title of the document.
    pub title: &'a str,
    /// Path of the menu entry.
    pub place: &'a str,
    /// Scripts beside the common one.
    pub scripts: &'a [&'a str],
    /// Language of labels.
    pub language: Language,
}

/// Menu: path, label in English and in Japanese.
const MENU: [(&str, &str, &str); 4] = [
    ("/", "Volumes", "ボリューム"),
    ("/measure", "Measure", "測定"),
    ("/choose", "Choose", "選定"),
    ("/model", "Model", "モデル"),
];

/// A page with the menu.
pub fn page(frame: &Frame<'_>, content: &Markup) -> WebAnswer {
    let language = frame.language;
    let body = html! {
        a class="skip" href="#content" { (language.pick("Skip to content", "本文へ移動")) }
        header class="bar" {
            a class="brand" href="/" { (mark()) "plimsoll" }
            nav aria-label=(language.pick("Main", "メイン")) {
                @for (path, english, japanese) in MENU {
                    a href=(path) aria-current=[(path == frame.place).then_some("page")] { (language.pick(english, japanese)) }
                }
            }
            div class="tools" {
                button type="button" id="link" class="quiet"
                    data-note=(language.pick("Opens the console once, in another browser (copied):", "別のブラウザで一度だけ使える URL（コピー済み）:")) {
                    (language.pick("Share", "共有"))
                }
                button type="button" id="language" class="quiet" data-to=(language.pick("ja", "en"))
                    lang=(language.pick("ja", "en")) { (language.pick("日本語", "English")) }
            }
        }
        p id="lost" class="banner" role="alert" hidden {
            (language.pick("The connection is lost. Retrying.", "接続が切れました。再接続しています。"))
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
        html lang=(frame.language.tag()) {
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
pub fn case_tabs(l: Language, case: &str, present: &str) -> Markup {
    let tabs = [
        ("ranking", format!("/choose/{case}"), l.pick("Ranking", "ランキング")),
        ("diagnosis", format!("/choose/{case}/diagnosis"), l.pick("Diagnosis", "診断")),
        ("demand", format!("/choose/{case}/demand"), l.pick("Demand", "需要")),
    ];
    html! {
        nav class="tabs" aria-label=(l.pick("Reports", "レポート")) {
            @for (name, path, label) in tabs { a href=(path) aria-current=[(name == present).then_some("page")] { (label) } }
        }
    }
}

/// The page that exchanges the token in the URL for a session.
pub fn entrance(language: Language) -> Markup {
    let frame = Frame { title: "plimsoll", place: "", scripts: &["enter.js"], language };
    document(
        &frame,
        &html! {
            main id="content" class="entrance" {
                (mark())
                h1 { "plimsoll" }
                p id="entry" role="status" { (language.pick("Opening the console …", "コンソールを開いています…")) }
                noscript { p { (language.pick("The console needs JavaScript.", "JavaScript が必要です。")) } }
            }
        },
    )
}

/// A refusal as a document for a browser that shows pages, else as JSON.
pub fn refuse(refusal: &WebRefusal, headers: &HeaderMap, language: Language) -> Response {
    let WebRefusal { status, message } = refusal;
    let wants_page = headers.get("accept").is_some_and(|accept| accept.as_bytes().starts_with(b"text/html"));
    if wants_page {
        return (*status, refusal_page(*status, message, language).response()).into_response();
    }
    let body = serde_json::to_vec(&serde_json::json!({ "error": message })).unwrap_or_default();
    (*status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

/// A refusal as a page.
fn refusal_page(status: StatusCode, message: &str, language: Language) -> WebAnswer {
    let frame = Frame { title: status.canonical_reason().unwrap_or("Refused"), place: "", scripts: &[], language };
    let content = html! {
        h1 { (status.as_u16()) " " (status.canonical_reason().unwrap_or("Refused")) }
        p class="lead" { (message) }
        p { a href="/" { (language.pick("All volumes", "ボリューム一覧")) } }
    };
    page(&frame, &content)
}

/// The Plimsoll mark.
fn mark() -> Markup {
    html! {
        svg class="logo" viewBox="0 0 32 32" aria-hidden="true" {
            circle cx="16" cy="16" r="10" fill="none" stroke="currentColor" stroke-width="3" {}
            path d="M1 16h30" stroke="currentColor" stroke-width="3" {}
        }
    }
}
