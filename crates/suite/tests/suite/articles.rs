//! Articles: sequences of their commands, tables on models, and small versions in a real directory.

use crate::grounds;

use grounds::{Temporary, all, build_facts, model, words};
use plimsoll_suite::recipes::articles::{Article, Articles, ArticlesOptions};
use plimsoll_suite::{Ground, Model, Nature, Recipe, SuiteOutcome, Work};
use plimsoll_units::{Bytes, Span};

/// An Azure disk of 2014, as in the catalogue.
const AZURE: &str = "limit(500, burst 25) then limit(60MB/s, burst 1MiB) then limit(20000) then split(read: \
    disk(1098437886kB, 7200rpm, seek 3400us to 3400us, 39MB/s to 39MB/s, queue 32 gain 0.65) then station(64, 4650us); \
    write: station(64, 4550us, 38.8MB/s) then link(1us, 38MB/s); flush: station(64, 4550us))";

fn create(options: ArticlesOptions, ground: &mut Model) -> (Articles, SuiteOutcome) {
    let mut recipe = Articles::new(options, &ground.facts().clone()).expect("options that fit");
    let outcome = all(&mut recipe, ground);
    (recipe, outcome)
}

/// The last two figures of a line: result, and ratio.
fn read_line(text: &str, label: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("{label}: {text}"));
    line.split_whitespace().rev().take(2).map(|word| word.parse().unwrap_or(f64::NAN)).collect()
}

#[test]
fn a_copy_through_memory_explains_the_published_rate() {
    let mut ground = model("limit(12288kB/s, burst 1MiB) then station(512, 700us)", Bytes::gib(50));
    let (recipe, outcome) = create(ArticlesOptions::of(Article::OciLevels), &mut ground);
    let text = &recipe.listings(&outcome.done, ground.facts())[0].text;
    assert_eq!(read_line(text, "dd, buffered"), [0.80, 12.3], "{text}");
    let verdicts = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(verdicts.iter().any(|verdict| verdict.contains("would print 15.4 MB/s")), "{verdicts:?}");
}

#[test]
fn azure_disks_match_published_figures() {
    let mut ground = model(AZURE, Bytes::gib(16));
    let (recipe, outcome) = create(ArticlesOptions::of(Article::AzureStriping), &mut ground);
    let listings = recipe.listings(&outcome.done, ground.facts());
    let rows =
        ["Sequential Read", "Sequential Write", "Random Read 512KB", "Random Write 512KB", "Random Read 4KB (QD=1)"];
    let deep = ["Random Write 4KB (QD=1)", "Random Read 4KB (QD=32)", "Random Write 4KB (QD=32)"];
    for row in rows.iter().chain(&deep) {
        let ratio = read_line(&listings[0].text, row)[0];
        assert!((0.9..=1.1).contains(&ratio), "{row}: {}", listings[0].text);
    }
    let verdicts = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(verdicts[0].contains("2008 R2, single is the nearest"), "{verdicts:?}");
    assert!(listings.iter().any(|listing| listing.text.contains("Random Read 4KB (QD=32) :")), "the tool's own layout");
}

#[test]
fn fio_meets_the_limit_and_threads_meet_the_knee() {
    let short = |article| ArticlesOptions { span: Some(Span::from_secs(1)), ..ArticlesOptions::of(article) };
    let mut ground = model("limit(30000) then station(512, 700us)", Bytes::gib(50));
    let (recipe, outcome) = create(short(Article::OciUhp), &mut ground);
    let got = read_line(&recipe.listings(&outcome.done, ground.facts())[0].text, "Random read, 4 KiB")[1];
    assert!((got / 30_000.0 - 1.0).abs() < 0.04, "{got}");
    // 64 servers of 1 ms: 16, 32 and 64 threads without queueing, then a queue.
    let mut ground = model("station(64, 1ms)", Bytes::gib(50));
    let (recipe, outcome) = create(short(Article::Tr4969), &mut ground);
    let text = recipe.listings(&outcome.done, ground.facts())[1].text.clone();
    for (threads, iops, mean) in [(16, 16_000.0, 1000.0), (64, 64_000.0, 1000.0), (512, 64_000.0, 8000.0)] {
        let line = text.lines().find(|line| line.starts_with(&format!("100 % reads, {threads} "))).expect("a line");
        let figures: Vec<f64> = line.split_whitespace().skip(5).map(|word| word.parse().unwrap_or(f64::NAN)).collect();
        assert!((figures[0] / iops - 1.0).abs() < 0.01 && (figures[2] / mean - 1.0).abs() < 0.02, "{line}");
    }
    assert_eq!(outcome.done.len(), 12);
}

#[test]
fn commands_have_files_and_steps_of_their_own() {
    let mut ground = model("station(8, 1ms)", Bytes::gib(4));
    let small = ArticlesOptions { size: Some(Bytes::mib(64)), ..ArticlesOptions::of(Article::Sakura) };
    let (recipe, outcome) = create(small, &mut ground);
    let files = recipe.files();
    let used: Vec<Vec<usize>> = outcome
        .done
        .iter()
        .map(|done| match &done.step.work {
            Work::Io(io) => io.workers.iter().flat_map(|worker| worker.parts.iter().map(|part| part.file)).collect(),
            _ => Vec::new(),
        })
        .collect();
    assert!(used.iter().flatten().all(|file| *file < files.len()));
    // A file of Bonnie++, then the files of tiotest for eight threads.
    let (first, last) = (&used[0], &used[used.len() - 1]);
    assert!(first.iter().all(|file| *file == 0), "{first:?}");
    assert!(last.len() == 8 && last.iter().all(|file| *file > 0), "{last:?}");
    let text = &recipe.listings(&outcome.done, ground.facts())[0].text;
    assert!(read_line(text, "Bonnie++ write, per char")[1].is_nan(), "a model has no system calls: {text}");
    for row in ["Bonnie++ write, block", "Bonnie++ seeks", "tiotest write", "tiotest random read"] {
        assert!(read_line(text, row)[1] > 0.0, "{row}: {text}");
    }
    let verdicts = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(verdicts.iter().any(|verdict| verdict.contains("no page cache here")), "{verdicts:?}");
}

#[test]
fn bonnie_takes_twice_the_memory_unless_a_size_is_given() {
    let size = |memory, size| {
        let options = ArticlesOptions { memory, size, ..ArticlesOptions::of(Article::Sakura) };
        let recipe = Articles::new(options, &build_facts(Nature::Model, Bytes::gib(100))).expect("it fits");
        let settings = recipe.settings();
        settings.into_iter().find(|(name, _)| name == "bonnie size").expect("a size").1
    };
    assert_eq!(size(Bytes::new(15_000_000_000), None), "28 GiB");
    assert_eq!(size(Bytes::new(400_000_000), None), "1 GiB");
    assert_eq!(size(Bytes::ZERO, None), "1 GiB", "the article's host with 512 MB");
    assert_eq!(size(Bytes::gib(16), Some(Bytes::gib(2))), "2 GiB");
}

#[test]
fn unsuitable_articles_are_refused_in_one_line() {
    for article in Article::ALL {
        let options = ArticlesOptions { size: Some(Bytes::gib(64)), ..ArticlesOptions::of(article) };
        let message = Articles::new(options, &build_facts(Nature::Directory, Bytes::gib(1))).err();
        let message = message.unwrap_or_else(|| panic!("{article:?} fits")).to_string();
        assert!(!message.is_empty() && !message.contains('\n'), "{article:?}: {message}");
    }
}

#[test]
fn directory_supports_all_articles() {
    let temporary = Temporary::new("articles");
    // Single-byte transfers take too long for a test.
    for article in Article::ALL.into_iter().filter(|article| *article != Article::Sakura) {
        let mut ground = temporary.ground();
        let facts = ground.facts().clone();
        let (size, span) = (Some(Bytes::mib(16)), Some(Span::from_millis(20)));
        let options = ArticlesOptions { size, span, ..ArticlesOptions::of(article) };
        let mut recipe = Articles::new(options, &facts).unwrap_or_else(|error| panic!("{article:?}: {error}"));
        let expected = recipe.expected();
        let outcome = all(&mut recipe, &mut ground);
        assert_eq!(outcome.done.len(), expected, "{article:?}");
        let listings = recipe.listings(&outcome.done, &facts);
        println!("{}", listings[0].text);
        assert!(listings.len() > 1 && listings[0].text.contains("here"), "{article:?}");
        assert!(
            !words(&recipe.verdicts(&outcome.done, &facts)).is_empty() && !recipe.has_failed(&outcome.done),
            "{article:?}"
        );
    }
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is left behind");
}
