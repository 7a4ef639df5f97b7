//! Curves: verdict, chart, findings, figures of the runs, and conditions of the measurement.

mod charts;
mod data;
mod tables;

use plimsoll_analyse::ladder;
use plimsoll_catalogue::Price;
use plimsoll_language::{join_sentences, label, say};
use plimsoll_load::StreamSpec;
use plimsoll_record::{Curve, EndReason, Estimate, LoadLine, ObjectiveOrigin};

use super::price_chart::{PricedRate, price_chart};
use crate::findings::{self, FindingText};
use crate::page::{Block, Emphasis, Exhibit, Fact, Headline, Page, PageSection, Visibility};
use crate::words::{self, Counted, clean, confidence};
use crate::{number, pick};

pub(super) use charts::plot_curve;
pub(super) use tables::build_line_cell;

/// A curve with its load lines at several objectives, the strictest first.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    pub curve: &'a Curve,
    /// The load lines; shown only if there are at least two.
    pub ladder: Vec<LoadLine>,
    /// Price of a simulated configuration.
    pub price: Option<Price>,
}

impl<'a> Sheet<'a> {
    /// Curves without prices.
    pub fn all(curves: &'a [Curve]) -> Vec<Self> {
        curves.iter().map(|curve| Sheet { curve, ladder: load_lines(curve), price: None }).collect()
    }
}

/// Load lines at several objectives; none for a recorded load.
///
/// An interrupted or failed run has none.
fn load_lines(curve: &Curve) -> Vec<LoadLine> {
    if curve.conditions.trace.is_some() || curve.ended != EndReason::Complete { Vec::new() } else { ladder(curve) }
}

/// A page of one curve, or of several on common scales followed by each in full.
pub fn curves(sheets: &[Sheet<'_>]) -> Page {
    let drawn: Vec<&Curve> = sheets.iter().map(|sheet| sheet.curve).collect();
    let mut page = if let [sheet] = sheets { single(sheet) } else { several(sheets, &drawn) };
    let mut makers: Vec<String> = drawn.iter().map(|curve| clean(&curve.made_by)).collect();
    makers.sort();
    makers.dedup();
    page.made_by = makers.join(label!(", "));
    page.sections.extend([method(&drawn), PageSection::bare("", vec![data::data(&drawn)])]);
    page
}

fn single(sheet: &Sheet<'_>) -> Page {
    let curve = sheet.curve;
    let kind = if curve.conditions.trace.is_some() { label!("Replay on") } else { label!("Load line of") };
    let repeat = Some(&curve.command).filter(|command| !command.is_empty()).map(|command| words::command(command));
    let next = confidence::next(curve).map(|command| (label!("Next").to_owned(), command));
    Page {
        title: format!("{kind} {}", clean(&curve.subject.name)),
        alert: find_alert(curve),
        headline: Some(build_headline(curve)),
        origin: words::source_word(&curve.source),
        figures: list_key_figures(curve),
        sections: build_sections(sheet, 0),
        next: next.into_iter().chain(repeat.map(|command| (words::repeat_purpose().to_owned(), command))).collect(),
        ..Page::default()
    }
}

/// The reason why the verdict is void or missing.
fn find_alert(curve: &Curve) -> Option<(Emphasis, String)> {
    let ended = words::ended(curve.ended).map(|ended| (Emphasis::Caution, ended.to_owned()));
    let is_void = |finding: &FindingText| Emphasis::from(finding.weight) == Emphasis::Void && finding.scope.is_none();
    let void = || findings::of(curve).into_iter().find(is_void);
    ended.or_else(|| void().map(|finding| (Emphasis::Void, say!("Void: {}", finding.text))))
}

/// The verdict and its details.
fn build_headline(curve: &Curve) -> Headline {
    let confidence = confidence::describe_grade(curve);
    let grade = confidence.as_ref().map_or("", |(grade, _)| grade.words());
    let mut details: Vec<String> =
        confidence.map(|(grade, why)| say!("Confidence: {}: {why}.", grade.name())).into_iter().collect();
    details.extend(confidence::meaning(curve));
    details.extend(words::limit(curve));
    let knee = pick::find_knee(curve).map(|knee| {
        let (iops, mean) = (number::three(knee.iops), number::time(knee.mean_ns));
        say!("Knee: {iops} IOPS with a mean latency of {mean}, at {}.", words::pace(&knee.offered))
    });
    let max = pick::fastest(curve).filter(|_| curve.conditions.trace.is_none()).map(|run| {
        let figures = &run.figures;
        let (iops, moved) = (number::three(figures.iops.value), number::throughput(figures.bytes_per_second));
        let pace = words::pace(&run.offered);
        if pick::has_maximum(curve) {
            say!("Maximum throughput: {iops} IOPS, {moved}, at {pace}.")
        } else {
            say!("Highest load: {iops} IOPS, {moved}, at {pace}; the storage carried it, so its maximum is not known.")
        }
    });
    let range: Vec<String> = knee.into_iter().chain(max).collect();
    details.extend((!range.is_empty()).then(|| join_sentences(range)));
    let line = curve.load_line.as_ref().filter(|_| pick::closed_answer(curve).is_some());
    let cautions = line.map(confidence::without_rate).into_iter().collect();
    Headline { text: write_verdict(curve), grade, cautions, details }
}

fn write_verdict(curve: &Curve) -> String {
    if let Some(replay) = words::replay(curve) {
        return replay;
    }
    match &curve.load_line {
        Some(line) => match pick::closed_answer(curve) {
            Some(closed) => confidence::closed_verdict(line, closed),
            None => say!("Load line: {}", words::load_line(line)),
        },
        None if curve.ended != EndReason::Complete => {
            label!("Load line: none, as the measurement is incomplete").into()
        }
        None if curve.void().is_some() => label!("Load line: none, as the figures do not describe the storage").into(),
        None if curve.runs.iter().all(|run| run.figures.iops.value <= 0.0) => {
            label!("Load line: none, as no operation completed").into()
        }
        None if pick::complete_runs(curve).next().is_none() => {
            label!("Load line: none, as no response times are stated").into()
        }
        None => label!("Load line: none").into(),
    }
}

fn list_key_figures(curve: &Curve) -> Vec<Fact> {
    let time = number::time;
    let fact = |name: &'static str, value: String, note: String| Fact::new(name, value).with_remark(note);
    let lightest = pick::lightest(curve).map(|run| {
        let (p50, p99) = (time(run.figures.p50_ns.value), time(run.figures.p99_ns.value));
        fact(label!("Lightest load"), p50, say!("p50 at {}; p99 {p99}", words::pace(&run.offered)))
    });
    let at_line = pick::at_line(curve).filter(|_| pick::has_line(curve)).map(|run| {
        fact(
            label!("Nearest the load line"),
            time(run.figures.p99_ns.value),
            say!("p99 at {}", words::pace(&run.offered)),
        )
    });
    let knee = pick::find_knee(curve).map(|knee| {
        let note = say!("mean {} at {}", time(knee.mean_ns), words::pace(&knee.offered));
        fact(label!("Knee"), format!("{} IOPS", number::three(knee.iops)), note)
    });
    let max = pick::fastest(curve).map(|run| {
        let note = say!("{} at {}", number::throughput(run.figures.bytes_per_second), words::pace(&run.offered));
        let name = if pick::has_maximum(curve) { label!("Maximum throughput") } else { label!("Highest load") };
        fact(name, format!("{} IOPS", number::three(run.figures.iops.value)), note)
    });
    let grade =
        confidence::describe_grade(curve).map(|(grade, why)| fact(label!("Confidence"), grade.name().to_owned(), why));
    let limit = words::binding_limit(curve)
        .or_else(|| Some(words::limit(curve)?.trim_end_matches(['.', '。']).to_owned()))
        .map(|limit| fact(label!("Limit"), limit, String::new()));
    [grade, limit, knee, max, lightest, at_line].into_iter().flatten().collect()
}

/// The sections of a curve. `index` distinguishes the charts of a page.
fn build_sections(sheet: &Sheet<'_>, index: usize) -> Vec<PageSection> {
    let curve = sheet.curve;
    vec![
        charts::load_curve(curve, index),
        findings(&findings::of(curve)),
        tables::build_runs_section(curve),
        tables::streams(curve),
        tables::ladder(sheet),
        charts::percentiles(curve, index),
        charts::over_time(curve, index),
        charts::slots(curve, index),
        PageSection::bare(label!("Load, target and source"), vec![Block::Facts(place(sheet))]),
    ]
}

/// Findings with their remedies, gravest first.
pub(super) fn findings(findings: &[FindingText]) -> PageSection {
    let fact = |finding: &FindingText| {
        let scope = finding.scope.as_ref().map(|scope| say!(" ({scope})")).unwrap_or_default();
        let fact = Fact::new(words::weight(finding.weight), format!("{}{scope}", finding.text));
        fact.with_emphasis(finding.weight.into()).with_remark(finding.remedy)
    };
    let none = || Block::Text(label!("none").to_owned());
    let block = if findings.is_empty() { none() } else { Block::Facts(findings.iter().map(fact).collect()) };
    PageSection::new(label!("Findings"), vec![block])
}

/// Load, target, host, and definitions of the figures.
fn place(sheet: &Sheet<'_>) -> Vec<Fact> {
    let curve = sheet.curve;
    let conditions = &curve.conditions;
    let streams = &conditions.streams;
    let stream = |(index, stream): (usize, &StreamSpec)| {
        let name = if streams.len() > 1 { format!("{}: ", clean(&stream.name)) } else { String::new() };
        let pace = if index > 0 { say!("; {}", words::pace(&stream.pace)) } else { String::new() };
        Fact::new(label!("load"), format!("{name}{}{pace}", words::stream(stream)))
    };
    let mut facts: Vec<Fact> = streams.iter().enumerate().map(stream).collect();
    let began = curve.started.as_ref().map(|started| say!(", began {}", clean(started))).unwrap_or_default();
    let duration = words::duration(&curve.source, curve.wall);
    let figures = if curve.subject.is_imported() {
        label!("latency: that of the program, without intervals; 1 MB is 1,000,000 bytes").to_owned()
    } else {
        let intervals = match conditions.trace {
            None => label!("95 % intervals by batch means"),
            Some(_) => label!("no intervals, as a recorded load has no repetitions"),
        };
        say!("latency: response time from the intended start; {intervals}; 1 MB is 1,000,000 bytes")
    };
    let mount = curve.subject.device.as_ref().and_then(|device| device.mount_options.as_ref());
    let named = [
        (label!("setup"), words::conditions(conditions)),
        (label!("goal"), conditions.objective.map(|objective| objective.to_string()).unwrap_or_default()),
        (label!("target"), say!("{}, {}", clean(&curve.subject.name), words::subject(&curve.subject))),
        (label!("price"), sheet.price.as_ref().map(monthly).unwrap_or_default()),
        (label!("mounted"), mount.map(|mount| clean(mount)).unwrap_or_default()),
        (label!("host"), curve.host.as_ref().map(words::host).unwrap_or_default()),
        (label!("source"), say!("{}{began}, duration {duration}", words::source(curve))),
        (label!("figures"), figures),
    ];
    facts.extend(named.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| Fact::new(name, text)));
    facts
}

/// `52.30 USD a month, in us-east-1 (secondary)`.
fn monthly(price: &Price) -> String {
    let region = price.region.as_ref().map(|region| say!(", in {region}")).unwrap_or_default();
    let without = price.without.join(label!(", "));
    let without = if without.is_empty() { without } else { say!(", without the price of {without}") };
    say!("{} a month{region}{without} ({})", price.monthly, words::status_name(price.cite.status))
}

/// Definitions of terms.
fn method(curves: &[&Curve]) -> PageSection {
    let own = [
        (
            label!("Response time"),
            label!(
                "is measured from the intended start of an operation to its completion, service time from its submission. Under \
             an open load, response time includes queueing in the generator."
            ),
        ),
        (
            label!("Intervals"),
            label!(
                "are 95 % confidence intervals by batch means. They cover the variation within a run, not that between days, devices \
             or loads."
            ),
        ),
        (label!("Percentiles"), label!("come from histograms whose bins are at most 0.8 % wide.")),
    ];
    let imported = (
        label!("Imported results"),
        label!(
            "have the latencies of their program, usually from the submission of an operation: under an open load they lack the \
             queueing in the generator. They have no intervals."
        ),
    );
    let is_any = |is_imported: bool| curves.iter().any(|curve| curve.subject.is_imported() == is_imported);
    let own = own.into_iter().filter(|_| curves.is_empty() || is_any(false));
    let origins = own.chain(is_any(true).then_some(imported));
    let terms = [
        (
            label!("Closed load"),
            label!(
                "keeps a fixed number of operations in flight: a slow storage slows the load down, which hides queueing. An \
             open load arrives independently of completions, as requests of clients do. The two are drawn as separate lines."
            ),
        ),
        (
            label!("Load line"),
            label!(
                "is the highest load that meets the objective. The knee maximises throughput divided by mean response time \
             (Kleinrock 1979)."
            ),
        ),
        (label!("Units"), label!("1 MB is 1,000,000 bytes; 1 MiB is 1,048,576.")),
    ];
    let facts = origins.chain(terms).map(|(name, text)| Fact::new(name, text)).collect();
    PageSection::detail(label!("How to read this"), vec![Block::Facts(facts)])
}

fn several(sheets: &[Sheet<'_>], curves: &[&Curve]) -> Page {
    let labels = number_labels(&curves.iter().map(|curve| clean(&curve.subject.name)).collect::<Vec<_>>());
    let recording = curves.first().and_then(|curve| curve.conditions.trace.as_ref());
    let is_replay = curves.iter().all(|curve| curve.conditions.trace.is_some());
    let (title, headline, mut sections) = match recording.filter(|_| is_replay) {
        _ if curves.is_empty() => (label!("Load line").to_owned(), plain(label!("No curves"), None), Vec::new()),
        Some(recording) => {
            let carries = |curve: &&&Curve| pick::fastest(curve).is_some_and(|run| !pick::is_overloaded(run));
            let count = curves.iter().filter(carries).count();
            let headline =
                plain(&say!("{count} of {} carry the recorded load", curves.len()), Some(words::recording(recording)));
            (say!("Replays on {} configurations", curves.len()), headline, vec![tables::replays(curves)])
        }
        None => {
            let mut headline = best(curves, &labels);
            headline.details.extend(describe_shared_objective(curves));
            (say!("Load lines of {} curves", curves.len()), headline, overlay(sheets, &labels).into())
        }
    };
    // The load lines are the answer; plots of several curves without names are none.
    let table = sections.last().and_then(|section| section.blocks.first()).filter(|_| !is_replay && curves.len() > 1);
    let exhibit = table.cloned().map_or(Exhibit::default(), Exhibit::Block);
    sections.extend(runs_in_full(sheets, &labels, Visibility::Open));
    let of_run = |(curve, label): (&&Curve, &String)| {
        find_alert(curve).map(|(emphasis, text)| (emphasis, format!("{label}: {text}")))
    };
    let alert = curves.iter().zip(&labels).filter_map(of_run).max_by_key(|(emphasis, _)| *emphasis == Emphasis::Void);
    Page { title, alert, headline: Some(headline), exhibit, sections, ..Page::default() }
}

/// The origin of an objective that no user gave.
fn describe_shared_objective(curves: &[&Curve]) -> Option<String> {
    let is_shared = |curve: &&&Curve| curve.basis.is_some_and(|basis| basis.origin == ObjectiveOrigin::Shared);
    let objective = curves.iter().find(is_shared)?.load_line?.objective();
    Some(say!(
        "No objective was given: {objective} is the longest of those chosen for the curves; set another with --objective."
    ))
}

fn plain(text: &str, detail: Option<String>) -> Headline {
    Headline { text: text.to_owned(), details: detail.into_iter().collect(), ..Headline::default() }
}

/// Names of runs, numbered if they are not unique.
pub(super) fn number_labels(names: &[String]) -> Vec<String> {
    let count = |names: &[String], name: &String| names.iter().filter(|other| *other == name).count();
    let label = |(index, name): (usize, &String)| match count(names, name) {
        1 => name.clone(),
        _ => format!("{name} ({})", count(&names[..=index], name)),
    };
    names.iter().enumerate().map(label).collect()
}

/// The highest load line, if all curves have the same objective.
fn best(curves: &[&Curve], labels: &[String]) -> Headline {
    let line = |index: usize| {
        let line = curves[index].load_line?;
        Some((index, line.objective(), pick::line_iops(&line)?))
    };
    let lines: Vec<_> = (0..curves.len()).filter_map(line).collect();
    let range = |iops: &Estimate| number::interval(iops).unwrap_or((iops.value, iops.value));
    let objectives = curves.iter().filter_map(|curve| Some(curve.load_line?.objective()));
    let is_shared = objectives.clone().zip(objectives.skip(1)).all(|(one, next)| one == next);
    if !is_shared {
        let reason = label!("The curves have different objectives, so their load lines are not ranked.");
        return plain(label!("Side by side"), Some(reason.to_owned()));
    }
    let Some((index, objective, iops)) = lines.iter().max_by(|a, b| a.2.value.total_cmp(&b.2.value)) else {
        return plain(label!("Side by side: none of the curves has a load line"), None);
    };
    let is_bound = |index: usize| matches!(curves[index].load_line, Some(LoadLine::Beyond { .. }));
    if let Some((other, ..)) = lines.iter().find(|(other, ..)| other != index && is_bound(*other)) {
        let reason = say!(
            "The load line of {} is a lower bound, so the load lines are not ranked: offer higher loads, with --rate or \
             --max-depth.",
            labels[*other]
        );
        return plain(label!("Side by side"), Some(reason));
    }
    let is_rival = |(other, _, rate): &&(usize, _, _)| other != index && range(rate).1 >= range(iops).0;
    let rival = lines.iter().find(is_rival).map(|(other, ..)| {
        say!("Its interval overlaps that of {}: the difference is not significant.", labels[*other])
    });
    let at_least = if is_bound(*index) { label!("at least ") } else { "" };
    let rate = format!("{at_least}{}", Counted::Operations.rate(iops));
    let (label, origin) = (&labels[*index], words::source_word(&curves[*index].source));
    if lines.len() == 1 {
        return plain(&say!("Only {label} has a load line: {rate} for {objective}, {origin}"), None);
    }
    plain(&say!("{label} has the highest load line: {rate} for {objective}, {origin}"), rival)
}

/// The alert of a run among several, and the command to repeat it.
pub(super) fn alert_and_command(alert: Option<(Emphasis, String)>, command: &[String]) -> Vec<Block> {
    let alert = alert.map(|(emphasis, text)| {
        let name = if emphasis == Emphasis::Void { label!("void") } else { label!("caution") };
        Block::Facts(vec![Fact::new(name, text).with_emphasis(emphasis)])
    });
    let repeat = [Block::Note(label!("To repeat:").to_owned()), Block::Listing(words::command(command))];
    alert.into_iter().chain(repeat.into_iter().filter(|_| !command.is_empty())).collect()
}

/// Curves in one chart with their labels, and a table of their load lines.
pub(super) fn overlay(sheets: &[Sheet<'_>], labels: &[String]) -> [PageSection; 2] {
    let renamed = |(sheet, label): (&Sheet<'_>, &String)| {
        let mut curve = sheet.curve.clone();
        curve.subject.name.clone_from(label);
        curve
    };
    let drawn: Vec<Curve> = sheets.iter().zip(labels).map(renamed).collect();
    let drawn: Vec<&Curve> = drawn.iter().collect();
    let prices: Vec<Option<&Price>> = sheets.iter().map(|sheet| sheet.price.as_ref()).collect();
    let chart = charts::overlay(&drawn).into_iter().collect();
    let chart = PageSection::bare(label!("Latency against throughput"), chart);
    let table = tables::side_by_side(&drawn, &prices);
    let side_by_side = std::iter::once(table).chain(chart_prices(&drawn, &prices)).collect();
    [chart, PageSection::new(label!("Side by side"), side_by_side)]
}

/// The load lines of priced curves against their price, or their maximum throughput if they do not all have a load
/// line for the same objective.
fn chart_prices(curves: &[&Curve], prices: &[Option<&Price>]) -> Option<Block> {
    let with_price = || curves.iter().zip(prices).filter_map(|(curve, price)| Some((*curve, (*price)?)));
    let line = |curve: &Curve| match curve.load_line? {
        LoadLine::At { objective, iops } => Some((objective, iops.value)),
        _ => None,
    };
    let lines: Option<Vec<_>> = with_price().map(|(curve, _)| line(curve)).collect();
    let lines = lines.filter(|lines| lines.windows(2).all(|pair| pair[0].0 == pair[1].0));
    let name = if lines.is_some() { label!("load line, IOPS") } else { label!("maximum IOPS") };
    let rate = |(index, (curve, price)): (usize, (&Curve, &Price))| {
        let iops = match &lines {
            Some(lines) => lines[index].1,
            None => pick::fastest(curve)?.figures.iops.value,
        };
        Some(PricedRate { name: clean(&curve.subject.name), monthly: price.total()?, iops })
    };
    let configurations: Vec<PricedRate> = with_price().enumerate().filter_map(rate).collect();
    price_chart(&configurations, name, label!("list prices of the catalogue; throughput simulated"))
}

/// Each curve in full with its verdict, under its label.
pub(super) fn runs_in_full(sheets: &[Sheet<'_>], labels: &[String], visibility: Visibility) -> Vec<PageSection> {
    let mut out = Vec::new();
    for (index, (sheet, label)) in sheets.iter().zip(labels).enumerate() {
        let curve = sheet.curve;
        let Headline { text, cautions, details, .. } = build_headline(curve);
        let verdict = std::iter::once(format!("{text} - {}", words::source_word(&curve.source)));
        let verdict = verdict.chain(cautions).chain(details).map(Block::Text);
        let rest = alert_and_command(find_alert(curve), &curve.command);
        out.push(PageSection::new(label, verdict.chain(rest).collect()));
        out.extend(
            build_sections(sheet, index)
                .into_iter()
                .filter(PageSection::has_content)
                .map(|section| section.of_run(label)),
        );
    }
    if visibility == Visibility::Detail {
        for section in &mut out {
            section.visibility = visibility;
        }
    }
    out
}
