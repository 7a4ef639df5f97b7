//! The benchmarks of the article on rented servers, as `plimsoll suite articles` runs and prints them.

use std::process::Command;
use std::sync::LazyLock;

use plimsoll_record::SuiteRun;

/// Storage, memory for pages, and elevator of the article's four columns. The kernel left the order of reads of flash
/// alone (`cfq` idles for turning disks only, and the driver of the ioDrive has no elevator).
const HOSTS: [(&str, &str, &str); 4] = [
    ("sakura/server:storage=sata-hdd", "400MB", "cfq"),
    ("sakura/intel-330-180", "400MB", "none"),
    ("sakura/server:storage=sata-hdd-iodrive", "400MB", "none"),
    ("sakura/server:storage=sata-hdd", "15GB", "cfq"),
];

/// The printed table of a column.
pub struct Printed {
    /// The flags of the command behind `plimsoll suite articles --article sakura`.
    pub flags: String,
    text: String,
}

static COLUMNS: LazyLock<[Printed; 4]> = LazyLock::new(|| {
    let jobs = HOSTS.map(|host| std::thread::spawn(move || printed(host)));
    jobs.map(|job| job.join().expect("the suite runs"))
});

/// The table of a column, computed once.
pub fn column(index: usize) -> &'static Printed {
    &COLUMNS[index]
}

fn printed((storage, memory, elevator): (&str, &str, &str)) -> Printed {
    let flags = [storage, "--memory", memory, "--elevator", elevator];
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    let command = command.args(["suite", "articles", "--article", "sakura", "--json", "-"]).args(flags);
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let suite = SuiteRun::from_json(&output.stdout).expect("it is a suite");
    Printed { flags: flags.join(" "), text: suite.listings[0].text.clone() }
}

impl Printed {
    /// The figure of a line: the last but one, before its ratio.
    pub fn figure(&self, label: &str) -> f64 {
        let line = self.text.lines().find(|line| line.starts_with(label) && line[label.len()..].starts_with("  "));
        let word = line.and_then(|line| line.split_whitespace().rev().nth(1));
        word.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no {label} in\n{}", self.text))
    }
}
