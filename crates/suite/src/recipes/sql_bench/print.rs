//! The layouts of sql-bench: a line for each section, totals per operation, and the eight tests beside an article.
//!
//! Knows nothing about steps.

use super::figures::{Figure, Outcome};
use super::published::{COLUMNS, SOURCE, TITLE, seconds};
use super::{SqlBenchOptions, Test};

/// Seconds and processor time, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    seconds: f64,
    cpu: [f64; 2],
    operations: u64,
    /// For full counts; none where that is not known of a part.
    full: Option<f64>,
    is_extrapolated: bool,
    is_wrong: bool,
}

impl Sum {
    fn of<'a>(figures: impl Iterator<Item = &'a Figure<'a>>) -> Self {
        let mut sum = Self { full: Some(0.0), ..Self::default() };
        for figure in figures {
            let Some(run) = figure.run() else {
                sum.full = None;
                continue;
            };
            let [user, system] = run.cpu();
            sum.seconds += run.seconds();
            sum.cpu = [sum.cpu[0] + user, sum.cpu[1] + system];
            sum.operations += run.asked;
            sum.full = sum.full.zip(figure.full_seconds()).map(|(sum, more)| sum + more);
            sum.is_extrapolated |= run.is_extrapolated();
            sum.is_wrong |= run.seen.wrong > 0;
        }
        sum
    }

    fn marks(&self) -> String {
        let mark = |is, sign| if is { sign } else { "" };
        format!("{}{}", mark(self.is_extrapolated, "+"), mark(self.is_wrong, "?"))
    }

    fn cpu(&self) -> String {
        let [user, system] = self.cpu;
        format!("({user:.2} usr {system:.2} sys = {:.2} CPU)", user + system)
    }
}

/// Whole seconds from 100 on, hundredths below.
fn shown(seconds: f64) -> String {
    if seconds >= 99.995 { format!("{seconds:.0}") } else { format!("{seconds:.2}") }
}

fn in_full(seconds: Option<f64>, has_full_size: bool) -> String {
    seconds.filter(|_| has_full_size).map_or_else(|| "-".into(), shown)
}

/// A line for each section, test by test.
pub(super) fn tests(figures: &[Figure<'_>], has_full_size: bool) -> String {
    let mut text = String::new();
    for test in Test::ALL {
        let mine: Vec<&Figure> = figures.iter().filter(|figure| figure.test == test).collect();
        if mine.is_empty() {
            continue;
        }
        text.push_str(&format!("{}Testing {}\n", if text.is_empty() { "" } else { "\n" }, test.name()));
        for figure in &mine {
            text.push_str(&line(figure, has_full_size));
        }
        let sum = Sum::of(mine.iter().copied());
        let whole = if mine.iter().all(|figure| figure.is_full()) || !has_full_size {
            String::new()
        } else {
            format!("; at full counts {}, extrapolated", in_full(sum.full, true))
        };
        text.push_str(&format!(
            "Total time: {}{} wallclock secs {}{whole}\n",
            shown(sum.seconds),
            sum.marks(),
            sum.cpu()
        ));
    }
    text
}

fn line(figure: &Figure<'_>, has_full_size: bool) -> String {
    let run = match &figure.outcome {
        Outcome::Run(run) => run,
        Outcome::Not(why) => return format!("Time for {}: not run: {why}\n", figure.name),
    };
    let sum = Sum::of(std::iter::once(figure));
    let head = if run.is_extrapolated() { "Estimated time for" } else { "Time for" };
    let count =
        if run.asked == figure.full { run.asked.to_string() } else { format!("{} of {}", run.asked, figure.full) };
    let mut text =
        format!("{head} {} ({count}): {}{} wallclock secs {}", figure.name, shown(sum.seconds), sum.marks(), sum.cpu());
    if run.is_extrapolated() {
        text.push_str(&format!("; {} were done in {} s", run.done, shown(run.seen.span.as_secs_f64())));
    }
    if !figure.is_full() && has_full_size {
        text.push_str(&format!("; at full count {}", in_full(figure.full_seconds(), true)));
    }
    text.push('\n');
    text
}

/// Each operation over all tests that have it, by name.
pub(super) fn totals(figures: &[Figure<'_>], has_full_size: bool) -> String {
    let mut names: Vec<&str> =
        figures.iter().filter(|figure| figure.run().is_some()).map(|figure| figure.name).collect();
    names.sort_unstable();
    names.dedup();
    let head = ["seconds", "usr", "sys", "cpu", "tests", "full counts"];
    let mut text = format!(
        "{:<36}{:>10}{:>9}{:>9}{:>9}{:>10}{:>13}\n",
        "Operation", head[0], head[1], head[2], head[3], head[4], head[5]
    );
    let row = |name: &str, sum: &Sum| {
        let [user, system] = sum.cpu;
        format!(
            "{name:<34}{:<2}{:>10}{user:>9.2}{system:>9.2}{:>9.2}{:>10}{:>13}\n",
            sum.marks(),
            shown(sum.seconds),
            user + system,
            sum.operations,
            in_full(sum.full, has_full_size)
        )
    };
    for name in names {
        text.push_str(&row(name, &Sum::of(figures.iter().filter(|figure| figure.name == name))));
    }
    text.push_str(&row("TOTALS", &Sum::of(figures.iter().filter(|figure| figure.run().is_some()))));
    text.push_str("\n+ extrapolated, as the time of a section was over; ? wrong result\n");
    text.push_str(
        "full counts: seconds that all operations of the benchmark would take, extrapolated from those asked\n",
    );
    text
}

/// The eight tests, and what an article published of them.
pub(super) fn beside(figures: &[Figure<'_>], whole: &[Test], has_full_size: bool) -> String {
    let mut text = format!("{TITLE}\n{SOURCE}\n\n");
    for line in 0..2 {
        let ours = [["here,", "here, full"], ["as asked", "counts"]][line];
        text.push_str(&format!("{:<14}{:>11}{:>13}", "", ours[0], ours[1]));
        for column in COLUMNS {
            text.push_str(&format!("{:>10}", column[line]));
        }
        text.push('\n');
    }
    for test in Test::ALL {
        let mine: Vec<&Figure> = figures.iter().filter(|figure| figure.test == test).collect();
        let sum = Sum::of(mine.iter().copied());
        let is_whole = whole.contains(&test);
        let got = if is_whole { format!("{}{}", shown(sum.seconds), sum.marks()) } else { "-".into() };
        let full = in_full(sum.full.filter(|_| is_whole), has_full_size);
        // What was asked in full is no extrapolation.
        let is_asked_in_full = mine.iter().all(|figure| figure.is_full());
        let tilde = if full == "-" || is_asked_in_full { "" } else { "~" };
        text.push_str(&format!("{:<14}{got:>11}{:>13}", test.name(), format!("{tilde}{full}")));
        for seconds in seconds(test) {
            text.push_str(&format!("{seconds:>10}"));
        }
        text.push('\n');
    }
    text.push_str(
        "\n~ extrapolated: sections were asked a share of their full counts; - not made, or not comparable\n",
    );
    text
}

/// Sections that brought wrong results.
pub(super) fn wrong(figures: &[Figure<'_>]) -> Vec<String> {
    let wrong = figures.iter().filter_map(|figure| Some((figure, figure.run()?))).filter(|(_, run)| run.seen.wrong > 0);
    let sentence = |(figure, run): (&Figure<'_>, &super::figures::Run<'_>)| {
        let first = run.seen.first_wrong.as_deref().unwrap_or("no rows are known");
        format!(
            "{}: {} of {} statements of {} did not bring the rows that they should have: {first}",
            figure.test.name(),
            run.seen.wrong,
            run.done,
            figure.name
        )
    };
    wrong.map(sentence).collect()
}

/// What is otherwise than in the definition.
pub(super) fn notes(figures: &[Figure<'_>], options: &SqlBenchOptions) -> Vec<String> {
    let mut said = Vec::new();
    let counts = "seconds at full counts are extrapolated from what a statement took, on tables of full size";
    if options.size < 1.0 {
        said.push(format!(
            "tables had {} times their full size: no figure here can be compared with sql-bench's; leave --size out for that",
            options.size
        ));
    } else if options.scale < 1.0 {
        said.push(format!(
            "sections were asked {} times their full counts: {counts}; --scale 1 asks for all",
            options.scale
        ));
    }
    for (index, figure) in figures.iter().enumerate().filter(|(_, figure)| !figure.note.is_empty()) {
        let alike: Vec<&str> =
            figures.iter().filter(|other| other.note == figure.note).map(|other| other.name).collect();
        if figures[..index].iter().all(|before| before.note != figure.note) {
            said.push(format!("{}: {}", alike.join(" and "), figure.note));
        }
    }
    said
}
