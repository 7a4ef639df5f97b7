//! Static files: scripts, styles and the icon, all in the program.

use axum::response::{IntoResponse, Response};
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use plimsoll_report::{PAGE_SCRIPT, PAGE_STYLES, PLOT_SCRIPT, ZOOM_SCRIPT};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A static file; revalidated by each page, as an update of the program may change it.
pub fn asset(name: &str) -> Response {
    let (media, text) = match name {
        "console.js" => (SCRIPT, include_str!("assets/console.js").to_owned()),
        "volume.js" => (SCRIPT, include_str!("assets/volume.js").to_owned()),
        "volumes.js" => (SCRIPT, include_str!("assets/volumes.js").to_owned()),
        "measure.js" => (SCRIPT, include_str!("assets/measure.js").to_owned()),
        "choose.js" => (SCRIPT, include_str!("assets/choose.js").to_owned()),
        "model.js" => (SCRIPT, include_str!("assets/model.js").to_owned()),
        "enter.js" => (SCRIPT, include_str!("assets/enter.js").to_owned()),
        "report.js" => (SCRIPT, format!("{{\n{PAGE_SCRIPT}}}\n{{\n{ZOOM_SCRIPT}}}\n")),
        "plot.js" => (SCRIPT, PLOT_SCRIPT.concat()),
        "report.css" => (STYLE, PAGE_STYLES.concat()),
        "console.css" => (STYLE, include_str!("assets/console.css").to_owned()),
        "icon.svg" => ("image/svg+xml", include_str!("assets/icon.svg").to_owned()),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    ([(CONTENT_TYPE, media), (CACHE_CONTROL, "max-age=60")], text).into_response()
}
