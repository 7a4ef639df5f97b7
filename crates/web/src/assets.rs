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
        "article.js" => (SCRIPT, include_str!("assets/article.js").to_owned()),
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Names behind each occurrence of a prefix.
    fn names_after(text: &str, prefix: &str) -> Vec<String> {
        let is_name = |c: char| c.is_ascii_alphanumeric();
        text.split(prefix).skip(1).map(|rest| rest.chars().take_while(|c| is_name(*c)).collect()).collect()
    }

    /// A label whose attribute is missing would be displayed as `undefined`.
    #[test]
    fn each_label_of_a_script_is_an_attribute_of_a_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let read = |folder: &Path, end: &str| -> Vec<String> {
            let files = fs::read_dir(folder).expect("it is there").flatten().map(|entry| entry.path());
            let files = files.filter(|path| path.extension().is_some_and(|own| own == end));
            files.map(|path| fs::read_to_string(path).expect("it is text")).collect()
        };
        let (pages, scripts) = (read(&folder, "rs"), read(&folder.join("assets"), "js"));
        let has = |part: &str| pages.iter().chain(&scripts).any(|text| text.contains(part));
        for name in
            scripts.iter().flat_map(|text| [names_after(text, "dataset."), names_after(text, "words.")]).flatten()
        {
            let dashed = name.chars().fold(String::new(), |out, c| match c {
                'A'..='Z' => out + "-" + &c.to_lowercase().to_string(),
                _ => out + &c.to_string(),
            });
            let is_set = has(&format!("data-{dashed}="))
                || has(&format!("\"data-{dashed}\""))
                || has(&format!("dataset.{name} = "));
            assert!(is_set, "data-{dashed} is on no page");
        }
    }
}
