//! The commands of published articles, made again: their tables beside what is got here.
//!
//! Knows nothing about how the benchmarks work: it composes their recipes, and each of them sees its own steps alone.

mod cached;
mod compare;
mod loads;
mod published;

use clap::ValueEnum;
use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Span};

use super::bonnie::{Bonnie, BonnieOptions, SmallFiles};
use super::crystaldiskmark::{CrystalDiskMark, CrystalDiskMarkOptions, Profile, Version};
use super::dd::{Dd, DdKind, DdOptions};
use super::tiobench::{Tiobench, TiobenchOptions};
use crate::ground::{Facts, Nature};
use crate::options::{SuiteOptions, Surroundings};
use crate::recipe::{Done, Recipe};
use crate::step::{FileSpec, Step, Work};

use cached::{cached, is_changed};
use compare::Compared;
use loads::Loads;
use published::{ARRAYS, AZURE, OCI_LEVELS, OCI_UHP, SAKURA, Table};

/// What `dd` of the article on levels of OCI left in memory when it ended: the same in its four runs, in bytes.
const LEFT_IN_MEMORY: f64 = 1.19e9;

/// An article with published figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Article {
    /// OCI block volumes of several levels and sizes, with dd
    OciLevels,
    /// NetApp TR-4969: AFF A-Series and C-Series under a ladder of threads
    Tr4969,
    /// SATA disk, SSD and ioDrive of rented servers, with Bonnie++ and tiotest
    Sakura,
    /// Disks of Azure in 2014, one and two striped, with CrystalDiskMark 3.0.3
    AzureStriping,
    /// OCI block volumes of Ultra High Performance, with fio
    OciUhp,
}

impl Article {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::OciLevels, Self::Tr4969, Self::Sakura, Self::AzureStriping, Self::OciUhp];

    /// Its word: `azure-striping`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OciLevels => "oci-levels",
            Self::Tr4969 => "tr-4969",
            Self::Sakura => "sakura",
            Self::AzureStriping => "azure-striping",
            Self::OciUhp => "oci-uhp",
        }
    }

    /// Its table; none where its figures are pictures.
    const fn table(self) -> Option<Table> {
        match self {
            Self::OciLevels => Some(OCI_LEVELS),
            Self::Sakura => Some(SAKURA),
            Self::AzureStriping => Some(AZURE),
            Self::OciUhp => Some(OCI_UHP),
            Self::Tr4969 => None,
        }
    }
}

/// Options of articles.
///
/// Without a size, files have the article's: 5 GiB of `dd`, 1 GiB of `Bonnie++` and of all threads of `tiotest`, 1000 MiB of
/// `CrystalDiskMark`, the whole device of fio and of the ladder, or 4 GiB in a directory. Without a span, the ladder takes a
/// minute for each step instead of the article's twenty, and two seconds on a model.
#[derive(Clone, Debug, clap::Args)]
pub struct ArticlesOptions {
    /// Whose commands, and whose table beside them
    #[arg(long, value_enum)]
    pub article: Article,
    /// Bytes of each file, instead of the article's
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// How long a step is, instead of the article's
    #[arg(long = "measure", value_name = "TIME")]
    pub span: Option<Span>,
    /// Memory of the host, for Bonnie++; zero if unknown.
    #[arg(skip)]
    pub memory: Bytes,
}

impl SuiteOptions for ArticlesOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let options = Self { memory: surroundings.memory, ..self.clone() };
        Ok(Box::new(Articles::new(options, facts)?))
    }
}

impl ArticlesOptions {
    /// The article's own commands.
    pub const fn of(article: Article) -> Self {
        Self { article, size: None, span: None, memory: Bytes::ZERO }
    }
}

/// A recipe among others.
struct Command {
    /// What is typed for it.
    typed: &'static str,
    recipe: Box<dyn Recipe>,
    /// Index of its first file.
    first_file: usize,
}

/// The commands of an article.
pub struct Articles {
    options: ArticlesOptions,
    commands: Vec<Command>,
    /// Steps that were made before each command that has begun.
    begins: Vec<usize>,
    /// Some step was made as storage behind a page cache would see it.
    gathered: bool,
}

impl Articles {
    /// Its commands on a ground with these facts.
    ///
    /// # Errors
    /// What to say instead, in one line, as the benchmarks themselves say it.
    pub fn new(options: ArticlesOptions, facts: &Facts) -> Result<Self, String> {
        let mut first_file = 0;
        let mut commands = Vec::new();
        for (typed, recipe) in recipes(&options, facts)? {
            let files = recipe.files().len();
            commands.push(Command { typed, recipe, first_file });
            first_file += files;
        }
        Ok(Self { options, commands, begins: vec![0], gathered: false })
    }

    /// The steps of each command that has begun.
    fn parts<'a>(&self, done: &'a [Done]) -> Vec<&'a [Done]> {
        let ends = self.begins.iter().skip(1).copied().chain([done.len()]);
        let spans = self.begins.iter().zip(ends);
        spans.map(|(begin, end)| done.get(*begin..end.min(done.len())).unwrap_or_default()).collect()
    }

    fn compared(&self, done: &[Done]) -> Option<Compared> {
        self.options.article.table().map(|table| Compared::of(table, &self.parts(done)))
    }
}

/// Recipes with what is typed for them.
type Typed = Vec<(&'static str, Box<dyn Recipe>)>;

/// The recipes of an article.
fn recipes(options: &ArticlesOptions, facts: &Facts) -> Result<Typed, String> {
    let device = if facts.nature == Nature::Directory { Bytes::gib(4).min(facts.space) } else { facts.space };
    let device = options.size.unwrap_or(device).round_down(Bytes::mib(1));
    if matches!(options.article, Article::OciUhp | Article::Tr4969) && (device.get() == 0 || device > facts.space) {
        return Err(format!("{device} are read, and {} are there: give another --size", facts.space));
    }
    Ok(match options.article {
        Article::OciLevels => {
            let total = options.size.unwrap_or(Bytes::gib(5));
            let block = Bytes::new(total.get() / 5).min(Bytes::gib(1)).round_down(Bytes::kib(64));
            let copies = DdOptions { block, count: 5, kinds: vec![DdKind::Buffered], ..DdOptions::default() };
            vec![("dd if=/dev/zero of=FILE bs=1G count=5", Box::new(Dd::new(copies, facts)?))]
        }
        Article::OciUhp => {
            let span = options.span.unwrap_or(Span::from_secs(240));
            let typed = "fio --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=256 --runtime=240 --numjobs=4 \
                         --time_based --group_reporting --name=iops-test-job --readonly";
            vec![(typed, Box::new(Loads::fio(device, span, facts)))]
        }
        Article::Tr4969 => {
            let usual = if facts.nature == Nature::Model { Span::from_secs(2) } else { Span::from_secs(60) };
            let span = options.span.unwrap_or(usual);
            vec![("SLOB with more and more threads", Box::new(Loads::ladder(device, span, facts)))]
        }
        Article::AzureStriping => {
            let usual = CrystalDiskMarkOptions::of(Version::Three, Profile::Default);
            let marks = CrystalDiskMarkOptions { size: options.size, measure: options.span, ..usual };
            vec![("CrystalDiskMark 3.0.3, 1000 MB x5", Box::new(CrystalDiskMark::new(marks, facts)?))]
        }
        Article::Sakura => sakura(options, facts)?,
    })
}

fn sakura(options: &ArticlesOptions, facts: &Facts) -> Result<Typed, String> {
    let total = options.size.unwrap_or(Bytes::gib(1));
    let blocks = BonnieOptions {
        size: Some(total),
        memory: options.memory,
        // The article shows nothing of small files.
        small_files: SmallFiles { units: 0, ..SmallFiles::default() },
        ..BonnieOptions::default()
    };
    let each = Bytes::new(total.get() / 8).round_down(Bytes::mib(1));
    // As many operations as blocks: each thread visits as much at random as its file holds.
    let random = each.get() / 4096;
    let threads = TiobenchOptions {
        threads: vec![8],
        size: Some(each),
        random: Some(random),
        memory: options.memory,
        ..TiobenchOptions::default()
    };
    Ok(vec![
        ("bonnie++", Box::new(Bonnie::new(blocks, facts)?)),
        ("tiotest -t 8 -f 128 -b 4096 -r 32768", Box::new(Tiobench::new(threads, facts)?)),
    ])
}

impl Recipe for Articles {
    fn name(&self) -> &'static str {
        "articles"
    }

    fn follows(&self) -> String {
        let typed: Vec<_> = self.commands.iter().map(|command| command.typed).collect();
        format!("{}: {}", self.options.article.name(), typed.join("; "))
    }

    fn settings(&self) -> Vec<(String, String)> {
        let mut settings = vec![("article".to_owned(), self.options.article.name().to_owned())];
        for command in &self.commands {
            let of = command.recipe.name();
            settings.extend(command.recipe.settings().into_iter().map(|(name, value)| (format!("{of} {name}"), value)));
        }
        settings
    }

    fn files(&self) -> Vec<FileSpec> {
        self.commands.iter().flat_map(|command| command.recipe.files()).collect()
    }

    fn expected(&self) -> usize {
        self.commands.iter().map(|command| command.recipe.expected()).sum()
    }

    fn next(&mut self, done: &[Done], facts: &Facts) -> Option<Step> {
        loop {
            let current = self.begins.len() - 1;
            let command = self.commands.get_mut(current)?;
            if let Some(step) = command.recipe.next(&done[self.begins[current]..], facts) {
                let step = moved(step, command.first_file);
                let gathers = self.options.article == Article::Sakura && !facts.has_cache();
                self.gathered |= gathers && matches!(&step.work, Work::Io(io) if is_changed(io));
                return Some(if gathers { cached(step) } else { step });
            }
            if current + 1 == self.commands.len() {
                return None;
            }
            self.begins.push(done.len());
        }
    }

    fn listings(&self, done: &[Done], facts: &Facts) -> Vec<Listing> {
        let name = self.options.article.name();
        let table = match self.compared(done) {
            Some(compared) => compared.text(),
            None => arrays(done),
        };
        let mut listings = vec![Listing { title: name.into(), text: table }];
        for (command, part) in self.commands.iter().zip(self.parts(done)) {
            listings.extend(command.recipe.listings(part, facts));
        }
        listings
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        if let Some(compared) = self.compared(done) {
            said.extend(compared.sentence());
            if self.options.article == Article::OciLevels {
                said.extend(in_memory(&compared, facts));
            }
            if self.gathered {
                said.push(
                    "there is no page cache here: what a program reads or writes in order was asked for as a kernel would, \
                     128 KiB ahead, and 4 MiB at a time for each of several readers and what is written back; latencies of \
                     these steps are those of such requests"
                        .into(),
                );
            }
            said.extend(compared.table.notes.iter().map(|note| (*note).to_owned()));
        } else {
            said.push(
                "the report's curves are pictures: only what its text says stands in the table; SLOB itself asks a \
                 database, and belongs to the suites of databases: here the blocks are asked for directly"
                    .into(),
            );
        }
        for (command, part) in self.commands.iter().zip(self.parts(done)) {
            said.extend(command.recipe.verdicts(part, facts));
        }
        said
    }

    fn has_failed(&self, done: &[Done]) -> bool {
        self.commands.iter().zip(self.parts(done)).any(|(command, part)| command.recipe.has_failed(part))
    }
}

/// A step with its files where they are among those of all commands.
fn moved(mut step: Step, first_file: usize) -> Step {
    if let Work::Io(io) = &mut step.work {
        io.workers.iter_mut().flat_map(|worker| &mut worker.parts).for_each(|part| part.file += first_file);
    }
    step
}

/// What the article's host would have printed for the rate that was got, where all of it is storage's.
fn in_memory(compared: &Compared, facts: &Facts) -> Option<String> {
    let got = compared.got.first().copied().flatten().filter(|_| !facts.has_cache())?;
    let all = Bytes::gib(5).get() as f64;
    let printed = got * all / (all - LEFT_IN_MEMORY);
    Some(format!(
        "{got:.1} MB/s is storage alone; with 1.19 GB left in memory, dd of the article's host would print {printed:.1} MB/s"
    ))
}

/// What the text of the report says beside the ladder.
fn arrays(done: &[Done]) -> String {
    let reads: Vec<_> = done
        .iter()
        .filter(|done| done.step.counts && done.step.name.starts_with("100 %"))
        .filter_map(|done| done.seen.io())
        .collect();
    let micros = |seen: Option<&&crate::seen::IoSeen>| {
        seen.and_then(|seen| loads::mean_read(seen)).map(|span| span.as_nanos() as f64 / 1e3)
    };
    let most = reads.iter().map(|seen| loads::iops(seen)).reduce(f64::max);
    let got = [micros(reads.first()), micros(reads.last()), most];
    let shown = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.0}"));
    let mut text =
        String::from("NetApp AFF A800 and C800, Oracle and SLOB, 100 % reads of 8 KiB\nTR-4969, May 2023\n\n");
    text.push_str(&format!("{:<32}{:<6}{:>13}{:>13}{:>13}\n", "", "", "A800", "C800", "here"));
    for ((label, published), got) in ARRAYS.iter().zip(got) {
        let unit = if label.starts_with("Mean") { "us" } else { "" };
        text.push_str(&format!("{label:<32}{unit:<6}"));
        for value in published {
            text.push_str(&format!("{:>13}", shown(*value)));
        }
        text.push_str(&format!("{:>13}\n", shown(got)));
    }
    text
}
