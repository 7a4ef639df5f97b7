//! The guides of `docs/`, embedded in the program.

/// Name and Markdown text of each guide.
macro_rules! guides {
    ($($name:literal),+) => {
        &[$(($name, include_str!(concat!("../../../docs/", $name, ".md")))),+]
    };
}

const GUIDES: &[(&str, &str)] = guides![
    "tour",
    "articles",
    "articles/azure-striping",
    "articles/azure-striping.ja",
    "articles/oci-levels",
    "articles/oci-levels.ja",
    "articles/oci-uhp",
    "articles/oci-uhp.ja",
    "articles/sakura",
    "articles/sakura.ja",
    "articles/tr-4969",
    "articles/tr-4969.ja",
    "catalogue",
    "cloud",
    "databases",
    "fio",
    "inputs",
    "iscsi",
    "json",
    "kubernetes",
    "loadline",
    "models",
    "nbd",
    "pipelines",
    "prices",
    "requirements",
    "sizing",
    "suites",
    "volumes",
    "watch",
    "web"
];

pub fn names() -> impl Iterator<Item = &'static str> {
    GUIDES.iter().map(|(name, _)| *name)
}

/// A guide in Markdown, or the names and titles of all.
pub fn text(name: Option<&str>) -> String {
    let title = |text: &str| text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    match name {
        Some(name) => {
            GUIDES.iter().find(|(own, _)| *own == name).map_or_else(String::new, |(_, text)| (*text).to_owned())
        }
        None => {
            GUIDES.iter().map(|(name, text)| format!("{name:<26} {}", title(text))).collect::<Vec<_>>().join("\n")
                + "\n"
        }
    }
}
