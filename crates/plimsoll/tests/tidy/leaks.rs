//! Leaks: paths that exist on a single machine must not be in the repository.

use super::complaint::{Complaint, assert_found, assert_none};
use super::tree;

/// A forbidden text, and the file that may contain it.
struct Pattern {
    text: String,
    exception: Option<&'static str>,
}

/// Concatenated, so that this file does not contain the text.
fn build_patterns() -> Vec<Pattern> {
    let absolute = ["work", "farm"].map(|directory| Pattern { text: format!("/{directory}/"), exception: None });
    let hidden = Pattern { text: format!(".{}", "library"), exception: None };
    let beside = Pattern { text: format!("../{}", "shared"), exception: Some(".ci/run") };
    absolute.into_iter().chain([hidden, beside]).collect()
}

fn check(path: &str, text: &str, patterns: &[Pattern]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for pattern in patterns.iter().filter(|pattern| pattern.exception != Some(path)) {
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains(&pattern.text));
        complaints.extend(lines.map(|(index, line)| Complaint {
            place: format!("{path}:{}", index + 1),
            found: format!("{:?} in {:?}", pattern.text, line.trim().chars().take(100).collect::<String>()),
            allowed: "paths that mean the same on every machine".to_owned(),
            remedy: "use a path below the project, an argument or an environment variable".to_owned(),
        }));
    }
    complaints
}

#[test]
fn no_file_names_a_machine() {
    let patterns = build_patterns();
    let texts = tree::list_files().iter().filter_map(|path| Some((path, tree::read_text(path)?)));
    assert_none(&texts.flat_map(|(path, text)| check(path, &text, &patterns)).collect::<Vec<_>>());
}

#[test]
fn planted_paths_are_found() {
    let patterns = build_patterns();
    for pattern in &patterns {
        let text = format!("fine\nsee {}x\n", pattern.text);
        assert_found(&check("a.md", &text, &patterns), &["a.md:2: "]);
        let by_exception = pattern.exception.map(|path| check(path, &text, &patterns));
        assert_found(&by_exception.unwrap_or_default(), &[]);
    }
    assert_found(&check("a.md", "workload, network/farms, shared cores\n", &patterns), &[]);
}
