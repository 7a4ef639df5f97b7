//! Names and what stands for them. Knows nothing of where names are found.

use std::collections::{BTreeMap, BTreeSet};

use super::vocabulary;

/// What a name is of: it tells what its stand-in is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Database,
    Instance,
    Host,
    Address,
    Tablespace,
    File,
    User,
    Object,
    Service,
    Program,
    Statement,
    /// A number that stands for a name, such as a database's.
    Number,
    /// Nobody knows.
    Name,
}

impl Kind {
    const fn stem(self) -> &'static str {
        match self {
            Self::Database => "db",
            Self::Instance => "inst",
            Self::Host => "host",
            Self::Address => "ip",
            Self::Tablespace => "ts",
            Self::File => "file",
            Self::User => "user",
            Self::Object => "object",
            Self::Service => "service",
            Self::Program => "program",
            Self::Statement => "sql",
            Self::Number => "",
            Self::Name => "name",
        }
    }
}

/// The names that were met, each with its number among those of its kind.
pub(crate) struct Names {
    of_kind: BTreeMap<Kind, BTreeMap<String, usize>>,
    /// What a name without a place of its own was elsewhere, in lower case.
    known: BTreeMap<String, String>,
    vocabulary: BTreeSet<&'static str>,
}

impl Names {
    /// The most names of one kind that are told apart.
    const MOST: usize = 100_000;

    pub(super) fn new() -> Self {
        let lists = [vocabulary::ORACLE, vocabulary::HOST, vocabulary::DATABASE, vocabulary::FIO];
        Self {
            of_kind: BTreeMap::new(),
            known: BTreeMap::new(),
            vocabulary: lists.iter().flat_map(|list| list.split_whitespace()).collect(),
        }
    }

    /// What stands for a name of a kind, the same one each time.
    pub(crate) fn of(&mut self, kind: Kind, name: &str) -> String {
        let names = self.of_kind.entry(kind).or_default();
        let number = match names.get(name) {
            Some(number) => *number,
            None if names.len() >= Self::MOST => Self::MOST,
            None => {
                names.insert(name.to_owned(), names.len() + 1);
                names.len()
            }
        };
        let stand_in = format!("{}{number}", kind.stem());
        if kind != Kind::Number && self.known.len() < Self::MOST {
            self.known.entry(name.to_lowercase()).or_insert_with(|| stand_in.clone());
        }
        stand_in
    }

    /// What stands for a word that was a name before.
    pub(super) fn known(&self, word: &str) -> Option<&str> {
        self.known.get(&word.to_lowercase()).map(String::as_str)
    }

    /// True for a word that is nobody's name.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let has = |part: &str| self.vocabulary.contains(part);
        has(&word)
            || is_counter(&word)
            || is_device(&word)
            || (word.contains(['/', '+']) && word.split(['/', '+']).all(has))
    }
}

/// A counter of `MySQL`.
fn is_counter(word: &str) -> bool {
    vocabulary::COUNTERS.iter().any(|start| word.starts_with(start))
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A block device, as kernels call it.
pub(super) fn is_device(word: &str) -> bool {
    let after = |stem: &str| word.strip_prefix(stem);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = ["dm-", "md", "loop", "sr", "nbd", "ram", "zram", "mpath", "fd"];
    if numbered.iter().any(|stem| after(stem).is_some_and(is_digits)) {
        return true;
    }
    if let Some(rest) = after("nvme") {
        return rest.split(['n', 'p', 'c']).all(is_digits);
    }
    if let Some(rest) = after("mmcblk") {
        return rest.split('p').all(is_digits);
    }
    let lettered = ["sd", "vd", "xvd", "hd", "mpath", "dasd"];
    lettered.iter().filter_map(|stem| after(stem)).any(|rest| {
        let letters = rest.trim_end_matches(|letter: char| letter.is_ascii_digit());
        matches!(letters.len(), 1..=3) && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, Names, is_device};

    #[test]
    fn a_name_has_one_stand_in() {
        let mut names = Names::new();
        assert_eq!(names.of(Kind::Database, "SHOP"), "db1");
        assert_eq!(names.of(Kind::Database, "PAY"), "db2");
        assert_eq!(names.of(Kind::Database, "SHOP"), "db1");
        assert_eq!(names.of(Kind::Instance, "shop"), "inst1");
        assert_eq!(names.known("Shop"), Some("db1"));
        assert_eq!(names.known("store"), None);
        assert_eq!(names.of(Kind::Number, "123456"), "1");
    }

    #[test]
    fn kernels_name_devices_not_people() {
        for device in ["sda", "sda1", "sdaa", "nvme0n1", "nvme0n1p2", "dm-12", "md0", "xvdba", "mmcblk0p1", "loop7"] {
            assert!(is_device(device), "{device}");
        }
        for name in ["sdorders", "nvme", "dm-shop", "shopdata", "sd", "md", "nvme0x"] {
            assert!(!is_device(name), "{name}");
        }
    }
}
