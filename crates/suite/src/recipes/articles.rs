//! The benchmarks of published articles, with their published tables next to the measured figures.
//!
//! Composes the recipes of the benchmarks; each of them gets its own steps only.

pub mod published;

use clap::ValueEnum;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::{ArticleVerdict, Listing, SharedVerdict, StepQuantity, Verdict};
use plimsoll_units::{Bytes, Kind, Span};
use published::{ArticleRow, ArticleTable, Find, PublishedArticle, PublishedFigure, SuiteFigure};

use super::bonnie::{Bonnie, BonnieOptions, SmallFiles};
use super::crystaldiskmark::{CrystalDiskMark, CrystalDiskMarkOptions, Profile, Version};
use super::dd::{Dd, DdKind, DdOptions};
use super::tiobench::{Tiobench, TiobenchOptions};
use crate::ground::{Facts, Nature};
use crate::options::{OptionsError, SuiteOptions, Surroundings};
use crate::recipe::{CompletedStep, Recipe};
use crate::result::IoResult;
use crate::step::{FileAccess, FileSpec, Step, Work as StepWork, Worker};

/// What `dd` of the article on levels of OCI left in memory when it ended: the same in its four runs, in bytes.
const LEFT_IN_MEMORY: Bytes = Bytes::new(1_092_000_000);

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

    /// Its figures.
    pub fn published(self) -> &'static PublishedArticle {
        published::article(self.name())
    }

    /// Its compared table; none where its figures are pictures.
    fn table(self) -> Option<&'static ArticleTable> {
        let name = match self {
            Self::OciLevels => "dd",
            Self::Sakura => "programs",
            Self::AzureStriping => "crystaldiskmark",
            Self::OciUhp => "fio",
            Self::Tr4969 => return None,
        };
        Some(self.published().table(name))
    }
}

/// Options of articles.
///
/// Without a size, files have the article's: 5 GiB of `dd`, twice the memory of the host for `Bonnie++` as without options (1 GiB
/// where the memory is unknown: that of the article's host with 512 MB), 1 GiB of all threads of `tiotest`, 1000 MiB of
/// `CrystalDiskMark`, the whole device of fio and of the ladder, or 4 GiB in a directory. Without a span, the ladder takes a
/// minute for each step instead of the article's twenty, and two seconds on a model.
#[derive(Clone, Debug, clap::Args)]
pub struct ArticlesOptions {
    /// The article whose commands are run and whose table is shown for comparison
    #[arg(long, value_enum)]
    pub article: Article,
    /// Size of each file, instead of the article's
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Duration of a step, instead of the article's
    #[arg(long = "measure", value_name = "TIME")]
    pub span: Option<Span>,
    /// Memory of the host, for Bonnie++; zero if unknown.
    #[arg(skip)]
    pub memory: Bytes,
}

impl SuiteOptions for ArticlesOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
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
struct ArticleRecipe {
    /// What is typed for it.
    typed: &'static str,
    recipe: Box<dyn Recipe>,
    /// Index of its first file.
    first_file: usize,
}

/// The commands of an article.
pub struct Articles {
    options: ArticlesOptions,
    commands: Vec<ArticleRecipe>,
    /// Steps that were made before each command that has begun.
    begins: Vec<usize>,
}

impl Articles {
    /// Its commands on a ground with these facts.
    ///
    /// # Errors
    /// As the benchmarks themselves.
    pub fn new(options: ArticlesOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let mut first_file = 0;
        let mut commands = Vec::new();
        for (typed, recipe) in recipes(&options, facts)? {
            let files = recipe.files().len();
            commands.push(ArticleRecipe { typed, recipe, first_file });
            first_file += files;
        }
        Ok(Self { options, commands, begins: vec![0] })
    }

    /// The steps of each command that has begun.
    fn parts<'a>(&self, done: &'a [CompletedStep]) -> Vec<&'a [CompletedStep]> {
        let ends = self.begins.iter().skip(1).copied().chain([done.len()]);
        let spans = self.begins.iter().zip(ends);
        spans.map(|(begin, end)| done.get(*begin..end.min(done.len())).unwrap_or_default()).collect()
    }

    fn compared(&self, done: &[CompletedStep]) -> Option<Compared> {
        let article = self.options.article;
        article.table().map(|table| Compared::of(&article.published().title, table, &self.parts(done)))
    }
}

/// The target has less than the size to read.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error("{size} are read, and {space} are there: give another --size")]
struct ReadSizeError {
    size: Bytes,
    space: Bytes,
}

/// Recipes with what is typed for them.
type Typed = Vec<(&'static str, Box<dyn Recipe>)>;

/// The recipes of an article.
fn recipes(options: &ArticlesOptions, facts: &Facts) -> Result<Typed, OptionsError> {
    let device = if facts.nature == Nature::Directory { Bytes::gib(4).min(facts.space) } else { facts.space };
    let device = options.size.unwrap_or(device).round_down(Bytes::mib(1));
    if matches!(options.article, Article::OciUhp | Article::Tr4969) && (device.get() == 0 || device > facts.space) {
        return Err(ReadSizeError { size: device, space: facts.space }.into());
    }
    Ok(match options.article {
        Article::OciLevels => {
            let total = options.size.unwrap_or(Bytes::gib(5));
            let block = Bytes::new(total.get() / 5).min(Bytes::gib(1)).round_down(Bytes::kib(64));
            let copies = DdOptions { block, count: 5, kinds: vec![DdKind::Buffered], ..DdOptions::defaults() };
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

fn sakura(options: &ArticlesOptions, facts: &Facts) -> Result<Typed, OptionsError> {
    let total = options.size.unwrap_or(Bytes::gib(1));
    // The article gives Bonnie++ no size: the program takes twice the memory.
    let twice_memory = options.size.is_none() && options.memory > Bytes::ZERO;
    let blocks = BonnieOptions {
        size: (!twice_memory).then_some(total),
        memory: options.memory,
        // The article shows nothing of small files.
        small_files: SmallFiles { units: 0, ..SmallFiles::default() },
        ..BonnieOptions::defaults()
    };
    let each = Bytes::new(total.get() / 8).round_down(Bytes::mib(1));
    // As many operations as blocks: each thread visits as much at random as its file holds.
    let random = each.get() / 4096;
    let threads = TiobenchOptions {
        threads: vec![8],
        size: Some(each),
        random: Some(random),
        memory: options.memory,
        ..TiobenchOptions::defaults()
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

    fn next(&mut self, done: &[CompletedStep], facts: &Facts) -> Option<Step> {
        loop {
            let current = self.begins.len() - 1;
            let command = self.commands.get_mut(current)?;
            if let Some(step) = command.recipe.next(&done[self.begins[current]..], facts) {
                let step = moved(step, command.first_file);
                return Some(step);
            }
            if current + 1 == self.commands.len() {
                return None;
            }
            self.begins.push(done.len());
        }
    }

    fn listings(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Listing> {
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

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = Vec::new();
        if let Some(compared) = self.compared(done) {
            verdicts.extend(compared.verdict().map(Verdict::from));
            if self.options.article == Article::OciLevels {
                verdicts.extend(in_memory(&compared, facts).map(Verdict::from));
            }
            if self.options.article == Article::Sakura && !facts.has_cache() {
                verdicts.push(ArticleVerdict::PageCacheMissing.into());
            }
            let notes = compared.table.notes.iter().cloned();
            verdicts.extend(notes.map(|text| SharedVerdict::Text { text }.into()));
        } else {
            verdicts.push(ArticleVerdict::CurvesArePictures.into());
        }
        for (command, part) in self.commands.iter().zip(self.parts(done)) {
            verdicts.extend(command.recipe.verdicts(part, facts));
        }
        verdicts
    }

    fn has_failed(&self, done: &[CompletedStep]) -> bool {
        self.commands.iter().zip(self.parts(done)).any(|(command, part)| command.recipe.has_failed(part))
    }
}

/// A step with its files where they are among those of all commands.
fn moved(mut step: Step, first_file: usize) -> Step {
    if let StepWork::Io(io) = &mut step.work {
        io.workers.iter_mut().flat_map(|worker| &mut worker.parts).for_each(|part| part.file += first_file);
    }
    step
}

/// Rate that `dd` of the article's host would print for this rate of the storage.
fn in_memory(compared: &Compared, facts: &Facts) -> Option<ArticleVerdict> {
    let got = compared.got.first().copied().flatten().filter(|_| !facts.has_cache() && facts.write_back.is_none())?;
    let (all, bytes_per_second) = (Bytes::gib(5).get() as f64, got * 1e6);
    Some(ArticleVerdict::HostRate {
        bytes_per_second,
        left_bytes: LEFT_IN_MEMORY,
        printed_bytes_per_second: bytes_per_second * all / (all - LEFT_IN_MEMORY.get() as f64),
    })
}

/// What the text of the report says beside the ladder.
fn arrays(done: &[CompletedStep]) -> String {
    let reads: Vec<_> = done
        .iter()
        .filter(|done| done.step.counts && done.step.name.starts_with("100 %"))
        .filter_map(|done| done.result.io())
        .collect();
    let micros = |observed: Option<&&IoResult>| {
        observed.and_then(|observed| mean_read(observed)).map(|span| span.as_nanos() as f64 / 1e3)
    };
    let max = reads.iter().map(|observed| iops(observed)).reduce(f64::max);
    let got = [micros(reads.first()), micros(reads.last()), max];
    let displayed = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.0}"));
    let article = Article::Tr4969.published();
    let table = article.table("arrays");
    let mut text = format!("{}\n{}\n\n{:<32}{:<6}", table.title, article.title, "", "");
    for [name, _] in &table.columns {
        text.push_str(&format!("{name:>13}"));
    }
    text.push_str(&format!("{:>13}\n", "here"));
    for (ArticleRow { label, unit, published, .. }, got) in table.rows.iter().zip(got) {
        text.push_str(&format!("{label:<32}{unit:<6}"));
        for value in published {
            text.push_str(&format!("{:>13}", displayed(*value)));
        }
        text.push_str(&format!("{:>13}\n", displayed(got)));
    }
    text
}

/// A table with the figures that were got; none where there is none.
#[derive(Clone, Debug)]
struct Compared {
    source: String,
    table: ArticleTable,
    got: Vec<Option<f64>>,
}

impl Compared {
    /// With what the commands showed, each given as its own steps.
    fn of(source: &str, table: &ArticleTable, commands: &[&[CompletedStep]]) -> Self {
        let got = |row: &ArticleRow| {
            let suite = row.suite.as_ref()?;
            figure(suite, commands.get(suite.command)?)
        };
        Self { source: source.into(), got: table.rows.iter().map(got).collect(), table: table.clone() }
    }

    /// The column that is nearest by the mean of its ratios, each taken as its logarithm; none where nothing compares.
    fn nearest(&self) -> Option<usize> {
        let columns = 0..self.table.columns.len();
        let rated = columns.filter_map(|column| Some((column, self.distance(column)?)));
        rated.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(column, _)| column)
    }

    fn distance(&self, column: usize) -> Option<f64> {
        let logarithms: Vec<f64> = self.ratios(column).into_iter().flatten().map(|ratio| ratio.ln().abs()).collect();
        (!logarithms.is_empty()).then(|| logarithms.iter().sum::<f64>() / logarithms.len() as f64)
    }

    /// What was got as a multiple of a column, line by line.
    fn ratios(&self, column: usize) -> Vec<Option<f64>> {
        let ratio = |(row, got): (&ArticleRow, &Option<f64>)| Some((*got)? / row.published[column]?);
        let ratios = self.table.rows.iter().zip(&self.got).map(ratio);
        ratios.map(|ratio| ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0)).collect()
    }

    /// The table, with columns of what was got and its ratio to the nearest one.
    fn text(&self) -> String {
        let ArticleTable { title, columns, rows, .. } = &self.table;
        let nearest = self.nearest();
        let mut text = format!("{title}\n{}\n\n", self.source);
        for line in 0..2 {
            text.push_str(&format!("{:<28}{:<6}", "", ""));
            for column in columns {
                text.push_str(&format!("{:>13}", column[line]));
            }
            let [got, ratio] = [["here", "ratio to"], ["", nearest.map_or("", |_| "nearest")]][line];
            text.push_str(&format!("{got:>13}{ratio:>10}\n"));
        }
        let ratios = nearest.map(|column| self.ratios(column));
        for (index, row) in rows.iter().enumerate() {
            let displayed =
                |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.*}", row.digits));
            text.push_str(&format!("{:<28}{:<6}", row.label, row.unit));
            for value in &row.published {
                text.push_str(&format!("{:>13}", displayed(*value)));
            }
            let ratio = ratios.as_ref().and_then(|ratios| ratios[index]);
            let ratio = ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"));
            text.push_str(&format!("{:>13}{ratio:>10}\n", displayed(self.got[index])));
        }
        text
    }

    /// The nearest column, and its distance.
    fn verdict(&self) -> Option<ArticleVerdict> {
        let column = self.nearest()?;
        let ratios: Vec<f64> = self.ratios(column).into_iter().flatten().collect();
        let (min, max) = (ratios.iter().copied().reduce(f64::min)?, ratios.iter().copied().reduce(f64::max)?);
        Some(ArticleVerdict::NearestColumn { column: self.table.columns[column].join(", "), ratios: (min, max) })
    }
}

fn figure(suite: &SuiteFigure, done: &[CompletedStep]) -> Option<f64> {
    let name = match &suite.step {
        Find::Named(name) => name,
        Find::Place(place) => list_names(done).get(*place).copied()?,
    };
    let rounds = done.iter().filter(|done| done.step.counts && done.step.name == name);
    let values = rounds.filter_map(|done| read_value(suite.figure, done.result.io()?));
    // Of times the shortest is the best.
    if suite.figure == PublishedFigure::MeanMillis { values.reduce(f64::min) } else { values.reduce(f64::max) }
}

/// Names of the steps that count, in their order.
fn list_names(done: &[CompletedStep]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in
        done.iter().filter(|done| done.step.counts && done.result.io().is_some()).map(|done| done.step.name.as_str())
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn read_value(figure: PublishedFigure, observed: &IoResult) -> Option<f64> {
    let total = observed.total();
    let seconds = Some(observed.span().as_secs_f64()).filter(|seconds| *seconds > 0.0)?;
    let bytes = |required: fn(Kind) -> bool| total.only(|counter| required(counter.kind)).bytes() as f64;
    let kib = Bytes::kib(1).get() as f64;
    let value = match figure {
        PublishedFigure::Megabytes => total.bytes() as f64 / 1e6 / seconds,
        PublishedFigure::Mebibytes => total.bytes() as f64 / Bytes::mib(1).get() as f64 / seconds,
        PublishedFigure::KibibytesWritten => bytes(Kind::writes) / kib / seconds,
        PublishedFigure::KibibytesRead => bytes(|kind| kind == Kind::Read) / kib / seconds,
        PublishedFigure::Reads => total.only(|counter| counter.kind == Kind::Read).operations() as f64 / seconds,
        PublishedFigure::MeanMillis => {
            total.response_where(|counter| counter.kind != Kind::Flush).mean()?.as_millis_f64()
        }
    };
    Some(value)
}

/// Threads of the ladder: sessions with one read each at a time.
const LADDER: [u32; 6] = [16, 32, 64, 128, 256, 512];
/// Blocks of the database, in bytes.
const BLOCK: u32 = 8192;
/// 25 of 100 operations update: each block is read before it is written, so that 100 reads go with 25 writes.
const READS: f64 = 0.8;

/// Steps that are made one after the other.
#[derive(Debug)]
struct Loads {
    name: &'static str,
    steps: Vec<Step>,
    size: Bytes,
    writes: bool,
}

impl Loads {
    /// Four jobs that read 4 KiB at random at depth 256 each.
    fn fio(size: Bytes, span: Span, facts: &Facts) -> Self {
        let job = |index: u64| {
            let lane = LaneSpec::new(4096, Pattern::Uniform);
            let job = JobSpec::new(WorkerOps::Reads, lane, Region::first(size), Until::span(span));
            Worker::new(JobSpec { depth: 256, seed: index + 1, ..job }, 0, size, FileAccess::direct())
        };
        let step = Step::io("Random read, 4 KiB, 4 jobs at depth 256", (0..4).map(job).collect())
            .measuring(StepQuantity::LimitWithQueue);
        Self::filled("fio", vec![step], size, facts)
    }

    /// Reads alone, then four reads to each write, with more and more threads.
    fn ladder(size: Bytes, span: Span, facts: &Facts) -> Self {
        let step = |reads: f64, threads: u32| {
            let lane = LaneSpec::new(BLOCK, Pattern::Uniform);
            let work = if reads < 1.0 { WorkerOps::Mixed { reads } } else { WorkerOps::Reads };
            let job = JobSpec::new(work, lane, Region::first(size), Until::span(span));
            let job = JobSpec { depth: threads, seed: u64::from(threads), ..job };
            let name = format!("{:.0} % reads, {threads} threads", reads * 100.0);
            Step::io(name, vec![Worker::new(job, 0, size, FileAccess::direct())])
                .measuring(StepQuantity::DataFileOperations)
        };
        let mixes = if facts.read_only { &[1.0][..] } else { &[1.0, READS] };
        let steps = mixes.iter().flat_map(|reads| LADDER.map(|threads| step(*reads, threads)));
        Self::filled("ladder", steps.collect(), size, facts)
    }

    /// A new file holds nothing that could be read.
    fn filled(name: &'static str, mut steps: Vec<Step>, size: Bytes, facts: &Facts) -> Self {
        let fills = facts.nature == Nature::Directory;
        let writes = fills || steps.iter().any(Step::writes);
        if fills {
            let change = |job: &mut JobSpec| job.depth = 8;
            steps.insert(0, Step::fill("Fill", size, FileAccess::direct(), change));
        }
        Self { name, steps, size, writes }
    }
}

impl Recipe for Loads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn follows(&self) -> String {
        self.name.into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        vec![("size".into(), self.size.to_string())]
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { writes: self.writes, reserved: self.writes, ..FileSpec::growing(self.size) }]
    }

    fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let head =
            format!("{:<42}{:>12}{:>10}{:>12}{:>12}{:>12}\n", "", "IOPS", "MiB/s", "read us", "read p99", "write us");
        let lines = done.iter().filter(|done| done.step.counts).filter_map(|done| Some(line(done, done.result.io()?)));
        vec![Listing { title: self.name.into(), text: head + &lines.collect::<String>() }]
    }
}

/// Operations per second of a step.
fn iops(observed: &IoResult) -> f64 {
    observed.total().operations() as f64 / observed.span().as_secs_f64().max(1e-9)
}

/// Mean time of its reads; none where there are none.
fn mean_read(observed: &IoResult) -> Option<Span> {
    observed.total().response_where(|counter| counter.kind == Kind::Read).mean()
}

fn line(done: &CompletedStep, observed: &IoResult) -> String {
    let total = observed.total();
    let reads = total.response_where(|counter| counter.kind == Kind::Read);
    let writes = total.response_where(|counter| counter.kind == Kind::Write);
    let micros =
        |span: Option<Span>| span.map_or_else(|| "-".into(), |span| format!("{:.1}", span.as_nanos() as f64 / 1e3));
    let rate = total.bytes() as f64 / Bytes::mib(1).get() as f64 / observed.span().as_secs_f64().max(1e-9);
    format!(
        "{:<42}{:>12.0}{rate:>10.1}{:>12}{:>12}{:>12}\n",
        done.step.name,
        iops(observed),
        micros(reads.mean()),
        micros(reads.quantile(0.99)),
        micros(writes.mean())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_results(got: &[Option<f64>; 2]) -> Compared {
        let text = r#"
            title = "somewhere"
            [[tables]]
            name = "disks"
            title = "Disks"
            place = "text"
            status = "measured"
            columns = [["old", "one"], ["new", "one"]]
            rows = [
                { label = "Read", unit = "MB/s", digits = 1, published = [10, 100] },
                { label = "Seeks", unit = "/s", digits = 0, published = [100, ""] },
            ]
        "#;
        let article = PublishedArticle::read("disks", text).expect("a file");
        Compared { source: article.title.clone(), table: article.table("disks").clone(), got: got.to_vec() }
    }

    #[test]
    fn a_table_has_what_was_got_beside_what_was_published() {
        let compared = with_results(&[Some(12.0), Some(80.0)]);
        let expected = "Disks\nsomewhere\n\n\
            \x20                                           old          new         here  ratio to\n\
            \x20                                           one          one                nearest\n\
            Read                        MB/s           10.0        100.0         12.0      1.20\n\
            Seeks                       /s              100            -           80      0.80\n";
        assert_eq!(compared.text(), expected);
        let expected = ArticleVerdict::NearestColumn { column: "old, one".into(), ratios: (0.8, 1.2) };
        assert_eq!(compared.verdict(), Some(expected));
    }

    #[test]
    fn missing_figure_is_a_dash() {
        let check = |got: &[Option<f64>; 2], nearest| {
            let compared = with_results(got);
            assert_eq!(compared.nearest(), nearest, "{got:?}");
            assert_eq!(compared.verdict().is_some(), nearest.is_some());
        };
        check(&[None, None], None);
        check(&[Some(90.0), None], Some(1));
        check(&[Some(0.0), Some(100.0)], Some(0));
        let compared = with_results(&[None, None]);
        assert!(compared.text().ends_with("100            -            -         -\n"), "{}", compared.text());
    }
}
