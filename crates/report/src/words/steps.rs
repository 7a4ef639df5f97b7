//! Names of the steps of suites, which results have in English.

use plimsoll_language::{label, say};

/// The name of a step in the language of the reader: parts between commas, of which notations, such as sizes, are as they
/// are.
pub fn step_name(name: &str) -> String {
    name.split(", ").map(translate_part).collect::<Vec<_>>().join(label!(", "))
}

fn translate_part(part: &str) -> String {
    let text = match part {
        "sequential" => label!("sequential"),
        "random" => label!("random"),
        "sequential read" => label!("sequential read"),
        "sequential write" => label!("sequential write"),
        "random read" => label!("random read"),
        "random write" => label!("random write"),
        "Read" => label!("Read"),
        "Write" => label!("Write"),
        "Random read" => label!("Random read"),
        "Random write" => label!("Random write"),
        "Rewrite" => label!("Rewrite"),
        "Per-char read" => label!("Per-char read"),
        "Per-char write" => label!("Per-char write"),
        "Block read" => label!("Block read"),
        "Block write" => label!("Block write"),
        "Seeks" => label!("Seeks"),
        "Create files" => label!("Create files"),
        "Stat files" => label!("Stat files"),
        "Delete files" => label!("Delete files"),
        "run that does not count" => label!("run that does not count"),
        "rest" => label!("rest"),
        "filling the file" => label!("filling the file"),
        "Load" => label!("Load"),
        "Fill" => label!("Fill"),
        "Copy" => label!("Copy"),
        "Flush of the copy's dirty data" => label!("Flush of the copy's dirty data"),
        "Zeroes" => label!("Zeroes"),
        "Random data" => label!("Random data"),
        "direct" => label!("direct"),
        "Write all" => label!("Write all"),
        "Read all back" => label!("Read all back"),
        "Write over at random" => label!("Write over at random"),
        "Create tables" => label!("Create tables"),
        "Creating tables" => label!("Creating tables"),
        "Create the tables" => label!("Create the tables"),
        "Fill the tables" => label!("Fill the tables"),
        "Loading rows" => label!("Loading rows"),
        "one to a block" => label!("one to a block"),
        "Indexes" => label!("Indexes"),
        "statistics" => label!("statistics"),
        "procedures" => label!("procedures"),
        "Indexes and statistics" => label!("Indexes and statistics"),
        "Gather statistics" => label!("Gather statistics"),
        "Count the loaded rows" => label!("Count the loaded rows"),
        "Counting rows and blocks" => label!("Counting rows and blocks"),
        "Check consistency" => label!("Check consistency"),
        "Read the present settings" => label!("Read the present settings"),
        "Change the settings" => label!("Change the settings"),
        "1 thread" => label!("1 thread"),
        "1 client" => label!("1 client"),
        "1 session" => label!("1 session"),
        _ => return translate_number(part),
    };
    text.to_owned()
}

/// A part that begins with a number, such as `16 threads`.
fn translate_number(part: &str) -> String {
    match part.split_once(' ') {
        Some((number, "threads")) => say!("{number} threads"),
        Some((number, "clients")) => say!("{number} clients"),
        Some((number, "sessions")) => say!("{number} sessions"),
        Some((number, "a second")) => say!("{number} a second"),
        _ => part.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_language::Language;

    use super::*;

    #[test]
    fn parts_of_names_are_translated() {
        for (name, japanese) in [
            (
                "sequential read, 1 MiB, Q8 T1, run that does not count",
                "シーケンシャル読み取り、1 MiB、Q8 T1、集計しない実行",
            ),
            ("Random write, 16 threads", "ランダム書き込み、16 スレッド"),
            ("insert: sequential", "insert: sequential"),
        ] {
            assert_eq!(step_name(name), name, "English is as it is");
            assert_eq!(Language::Japanese.scope(|| step_name(name)), japanese);
        }
    }
}
