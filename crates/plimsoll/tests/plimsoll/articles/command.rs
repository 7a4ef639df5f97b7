//! Commands of the page: each is run once as it is printed, and its output is the only source of the page's figures.

use std::collections::BTreeMap;
use std::ops::{Div, Sub};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// Marks around a command in a text; the page replaces them by the command's number.
const MARK: char = '\u{1}';

static OUTPUTS: LazyLock<Mutex<BTreeMap<String, Arc<OnceLock<String>>>>> = LazyLock::new(Mutex::default);

/// A command with its standard output.
#[derive(Clone)]
pub struct Printed {
    command: String,
    text: Arc<OnceLock<String>>,
}

/// A printed figure, and the command that printed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// In the unit of its column, or in that of the page.
    pub value: f64,
    /// Command, column and row: `[3] iops at depth 1`.
    pub how: String,
}

/// Runs a command in a shell, in which `plimsoll` is the binary of this build.
///
/// # Panics
/// If it fails.
pub fn run(command: impl Into<String>) -> Printed {
    let command = command.into();
    let text = Arc::clone(OUTPUTS.lock().unwrap().entry(command.clone()).or_default());
    text.get_or_init(|| {
        let output = run_shell(&command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    });
    Printed { command, text }
}

fn run_shell(command: &str) -> std::process::Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("PATH", path).env("NO_COLOR", "1").output().expect("a shell")
}

impl Printed {
    /// The cell of `column` in the first row of CSV that has these values in these columns.
    pub fn cell(&self, row: &[(&str, &str)], column: &str) -> Reading {
        let value = self.find(row, column).unwrap_or_else(|| panic!("no {column} at {row:?} in\n{}", self.text()));
        let places: Vec<String> =
            row.iter().filter(|(_, value)| *value != "all").map(|(name, value)| place(name, value)).collect();
        let at = if places.is_empty() { String::new() } else { format!(" of {}", places.join(", ")) };
        self.reading(value, &format!("{column}{at}"))
    }

    /// The figure in a line of a comparison that begins with `label`: the last word but one, before its ratio.
    pub fn line(&self, label: &str) -> Reading {
        let words: Vec<&str> = self.words(label);
        self.reading(parse_number(words.get(words.len().wrapping_sub(2))), label)
    }

    /// The word of this index behind `label` in the line that begins with it.
    pub fn word(&self, label: &str, index: usize, column: &str) -> Reading {
        self.reading(parse_number(self.words(label).get(index)), &format!("{label}, {column}"))
    }

    /// The words behind `label` in the line that begins with it.
    fn words(&self, label: &str) -> Vec<&str> {
        let mut lines = self.text().lines();
        let rest = lines.find_map(|line| line.strip_prefix(label).filter(|rest| rest.starts_with("  ")));
        rest.unwrap_or_else(|| panic!("no {label} in\n{}", self.text())).split_whitespace().collect()
    }

    /// The number that follows these texts, each behind the previous one.
    pub fn after(&self, texts: &[&str]) -> Reading {
        let rest = texts.iter().try_fold(self.text(), |rest, text| rest.split_once(*text).map(|(_, rest)| rest));
        let is_part = |letter: char| matches!(letter, '0'..='9' | '.' | ',');
        let word = rest.and_then(|rest| rest.trim_start().split(|letter: char| !is_part(letter)).next());
        let word = word.map(|word| word.trim_end_matches(['.', ',']).replace(',', ""));
        let value = parse_number(word.as_deref().as_ref());
        assert!(!value.is_nan(), "no number after {texts:?} in\n{}", self.text());
        let what: Vec<&str> = texts.iter().map(|text| text.trim_matches([' ', ':', '|', '[', ','])).collect();
        self.reading(value, what.join(" ").trim())
    }

    /// The whole output.
    pub fn text(&self) -> &str {
        self.text.get().expect("it ran")
    }

    fn reading(&self, value: f64, what: &str) -> Reading {
        Reading { value, how: format!("{MARK}{}{MARK} {what}", self.command) }
    }

    fn find(&self, row: &[(&str, &str)], column: &str) -> Option<f64> {
        let mut tables = self.text().split("\r\n\r\n").map(|table| table.lines().map(split_cells));
        tables.find_map(|mut table| {
            let head = table.next()?;
            let index = |name: &str| head.iter().position(|column| column == name);
            let required: Option<Vec<(usize, &str)>> =
                row.iter().map(|(name, value)| Some((index(name)?, *value))).collect();
            let (required, column) = (required?, index(column)?);
            let found = table.find(|cells| required.iter().all(|(index, value)| cells[*index] == *value))?;
            found[column].parse().ok()
        })
    }
}

/// The number of a word; not a number for another word, or none.
fn parse_number(word: Option<&&str>) -> f64 {
    word.and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}

/// `depth 1` for a number, and only the value of other columns.
fn place(name: &str, value: &str) -> String {
    if value.starts_with(|letter: char| letter.is_ascii_digit()) { format!("{name} {value}") } else { value.into() }
}

/// The cells of a line of CSV.
fn split_cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.trim_end().chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("a cell").push(letter),
        }
    }
    cells
}

impl Reading {
    /// The value times a factor, for another unit.
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, ..self }
    }
}

impl Div for Reading {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self { value: self.value / other.value, how: format!("{} / {}", self.how, other.how) }
    }
}

impl Sub for Reading {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { value: self.value - other.value, how: format!("{} less {}", self.how, other.how) }
    }
}

/// The commands of a text, replaced by their numbers in `commands`, to which new commands are added.
pub fn number_commands(text: &str, commands: &mut Vec<String>) -> String {
    let mut out = String::new();
    for (index, part) in text.split(MARK).enumerate() {
        if index % 2 == 0 {
            out.push_str(part);
            continue;
        }
        let number = commands.iter().position(|command| command == part).unwrap_or_else(|| {
            commands.push(part.to_owned());
            commands.len() - 1
        });
        out.push_str(&format!("[{}]", number + 1));
    }
    out
}
