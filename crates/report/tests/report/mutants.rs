//! Inputs with impossible numbers go through `demand`, `diagnose` and `size`: parsing, merging, diagnosis, the search
//! for products, and rendering. No number in an input may cause a panic.
//!
//! `PLIMSOLL_FUZZ_CASES` sets the number of mutants, `PLIMSOLL_SAMPLES` adds a folder of real inputs. Mutants are
//! deterministic.
#![allow(clippy::unwrap_used)]
#![expect(
    clippy::disallowed_methods,
    reason = "environment variables set the number of cases and the folder of real inputs"
)]

use std::collections::BTreeSet;
use std::path::Path;

use fastrand::Rng;
use plimsoll_catalogue::{Catalogue, Date, Offer, PriceTerms};
use plimsoll_choose::diagnosis::{DiagnoseOptions, diagnose};
use plimsoll_choose::sizing::{Design, Search, derive_requirements, size};
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::{Demand, Ingest, Outcome, join};
use plimsoll_report::pages::{self, DemandDetail};
use plimsoll_report::{TextStyle, page_csv, page_html, page_text};
use plimsoll_testkit::{DailyWorkload, Workload, Writing};
use plimsoll_units::Bytes;

/// Formats without an emitter.
const INPUTS: [&str; 15] = [
    include_str!("mutants/inputs/atop-labelled.txt"),
    include_str!("mutants/inputs/atop.txt"),
    include_str!("mutants/inputs/azure.json"),
    include_str!("mutants/inputs/cloudwatch.json"),
    include_str!("mutants/inputs/diskstats.txt"),
    include_str!("mutants/inputs/innodb.txt"),
    include_str!("mutants/inputs/mysql-files.txt"),
    include_str!("mutants/inputs/mysql-status.txt"),
    include_str!("mutants/inputs/nmon.txt"),
    include_str!("mutants/inputs/oci.json"),
    include_str!("mutants/inputs/prometheus.txt"),
    include_str!("mutants/inputs/snapshots.jsonl"),
    include_str!("mutants/inputs/table.csv"),
    include_str!("mutants/inputs/vmstat-disks.txt"),
    include_str!("mutants/inputs/vmstat.txt"),
];

/// Replacements of numbers.
const ODD: [&str; 18] = [
    "0",
    "-1",
    "-1,401",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "9999999999999999999999999",
    "99999999999999999999999999999999999999999999999999",
    "0.0000000000000000000001",
    "NaN",
    "inf",
    "1.2.3",
    "#####",
    "",
];

/// Maximum length of an input; longer inputs are slower without further coverage.
const LARGEST: usize = 16 << 10;

/// Every such mutant is also sized, which simulates.
const SIZED_EACH: u64 = 40;

fn workload() -> Workload {
    Workload {
        several_reads: 36_000,
        blocks_a_read: 16,
        read_us: 600,
        redo_us: 400,
        processor_s: 3_600,
        ..Workload::small_shop(9)
    }
}

fn build_corpus() -> Vec<Vec<u8>> {
    let course = DailyWorkload { busiest: workload(), windows: 1, instances: 1 };
    let written = Writing::ALL.iter().flat_map(|(_, form)| form.write(&course)).map(|file| file.text.into_bytes());
    let mut all: Vec<Vec<u8>> = written.chain(INPUTS.map(|text| text.as_bytes().to_vec())).collect();
    if let Some(folder) = std::env::var_os("PLIMSOLL_SAMPLES") {
        real(Path::new(&folder), &mut all);
    }
    all
}

/// Three inputs of each folder of real inputs.
fn real(folder: &Path, all: &mut Vec<Vec<u8>>) {
    let inside = |folder: &Path| {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    for kind in inside(folder).into_iter().filter(|path| path.is_dir()) {
        for path in inside(&kind).into_iter().filter(|path| path.is_file()).take(3) {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.truncate(LARGEST);
            all.push(bytes);
        }
    }
}

/// Ranges of digits with a point.
fn find_numbers(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        if digits > 0 && bytes[at].is_ascii_digit() {
            found.push((at, at + digits));
        }
        at += digits.max(1);
    }
    found
}

/// An input with one to four of its numbers replaced.
fn mutant(corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = corpus[rng.usize(..corpus.len())].clone();
    for _ in 0..rng.u32(1..5) {
        let numbers = find_numbers(&bytes);
        if numbers.is_empty() {
            break;
        }
        let (begin, end) = numbers[rng.usize(..numbers.len())];
        bytes.splice(begin..end, ODD[rng.usize(..ODD.len())].bytes());
    }
    bytes
}

/// The catalogue and the options of the commands.
struct Commands {
    catalogue: Catalogue,
    terms: PriceTerms,
    offer: Offer,
    search: Search,
}

impl Commands {
    fn new() -> Self {
        let catalogue = Catalogue::built_in();
        let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
        let offer = catalogue.offer(&"oci:256GB@50vpu".parse().unwrap(), &terms).unwrap();
        let search = Search { widest: 2, ..Search::among(&catalogue, &["oci/block-volume".to_owned()]).unwrap() };
        Self { catalogue, terms, offer, search }
    }

    /// Runs `plimsoll demand`, `diagnose --on` and `size` on an input. Returns true if it has a demand.
    fn run(&self, bytes: &[u8], sized: bool) -> bool {
        let mut ingest = Ingest::new("input");
        ingest.feed(bytes);
        let outcomes: Vec<Outcome> = ingest
            .finish()
            .into_iter()
            .map(|outcome| match outcome {
                Outcome::Read(reading) => Outcome::Read(Box::new(join(vec![*reading]).remove(0))),
                refused @ Outcome::Refused { .. } => refused,
            })
            .collect();
        let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
        let demand = Demand::of(&readings);
        let style = TextStyle::default();
        let _ = page_text(&pages::demand(&outcomes, &demand, DemandDetail::Figures), &style);
        let _ = plimsoll_report::demand_json(&outcomes, &demand);
        let options = DiagnoseOptions { on: Some(&self.offer), misses: None };
        let found: Vec<_> = demand.subjects.iter().map(|subject| diagnose(subject, &options)).collect();
        let page = pages::diagnoses(&outcomes, &demand, &found);
        let _ = (page_text(&page, &style), page_html(&page));
        let _ = plimsoll_report::diagnoses_json(&outcomes, &found);
        let design = Design { objectives: vec!["p99<=10ms".parse().unwrap()], ..Design::of(Bytes::gib(256)) };
        for subject in &demand.subjects {
            let Ok(required) = derive_requirements(subject, &design) else { continue };
            if sized {
                let sizing = size(&self.catalogue, &required, &self.terms, &self.search);
                let page = pages::sizing(&sizing, &WhatIfs::default(), &outcomes, 12);
                let _ = (page_text(&page, &style), page_html(&page), page_csv(&page));
                let _ = plimsoll_report::sizing_json(&sizing, &WhatIfs::default());
            } else {
                let _ = required.points.iter().map(|point| self.offer.standing_of(&point.asks())).collect::<Vec<_>>();
            }
        }
        !demand.subjects.is_empty()
    }
}

#[test]
fn no_number_of_an_input_causes_a_panic() {
    let cases = std::env::var("PLIMSOLL_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000_u64);
    let (corpus, commands) = (build_corpus(), Commands::new());
    let mut rng = Rng::with_seed(0x6e75_6d62);
    let (mut used, mut panics) = (0, Vec::new());
    for case in 0..cases {
        let bytes = mutant(&corpus, &mut rng);
        let run = std::panic::AssertUnwindSafe(|| commands.run(&bytes, case % SIZED_EACH == 0));
        match std::panic::catch_unwind(run) {
            Ok(is_used) => used += u64::from(is_used),
            Err(_) => panics.push((case, bytes)),
        }
    }
    if let Some((case, bytes)) = panics.first() {
        panic!("{} panics, the first in case {case}:\n{}", panics.len(), String::from_utf8_lossy(bytes));
    }
    assert!(used > cases / 4, "only {used} of {cases} mutants have a demand");
}

#[test]
fn impossible_numbers_are_ignored() {
    let commands = Commands::new();
    let check = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        commands.run(text.replace(from, to).as_bytes(), true);
    };
    let innodb = INPUTS[5];
    check(innodb, "last 10 seconds", "last 9999999999999999999999999 seconds");
    check(innodb, "12.50 reads/s", "1e308 reads/s");
    let awr = workload().awr_text();
    let row = awr.lines().find(|line| line.starts_with("physical read IO requests")).unwrap();
    let number = row.split_whitespace().find(|word| word.contains(',')).unwrap();
    check(&awr, row, &row.replace(number, "-1,401"));
    check(&awr, row, &row.replace(number, "1e308"));
    let course = DailyWorkload { busiest: workload(), windows: 1, instances: 1 };
    let iostat = Writing::ALL.iter().find(|(name, _)| *name == "iostat").unwrap().1.write(&course).remove(0).text;
    let is_positive = |word: &&str| word.parse().is_ok_and(|number: f64| number > 0.0);
    // Each number once: all its occurrences are replaced.
    for word in iostat.split_whitespace().filter(is_positive).take(400).collect::<BTreeSet<_>>() {
        check(&iostat, word, "1e308");
    }
}
