//! Demands as lines of text, and loads of databases, for tests of sizing.

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::sizing::{
    Alternatives, Burst, Busiest, ClassLoad, Design, DesignPoint, Search, SizingRequirements,
};
use plimsoll_ingest::{
    Builder, Class, DatabaseDemand, Demand, Figure, Form, FormatInput, Ingest, Measure, Outcome, Reading, ReadingScope,
    ReadingWindow, Refusal, Resemblance, Statistic,
};
use plimsoll_units::{Bytes, Span};

/// A test format with a figure in each line: `HH:MM SECONDS CLASS MEASURE STATISTIC VALUE`, with the display names of
/// classes and `-` for blanks; a seventh word is an instance.
const LINES: Form = Form::document("lines", "lines of a test", |_| Resemblance::Is { marks: 1 }, read);

#[allow(clippy::unnecessary_wraps)] // signature of readers
fn read(_: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let text = String::from_utf8_lossy(document);
    for (number, line) in text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [time, seconds, name, measure, statistic, value] = words[..6] else { panic!("{line}") };
        let instance = words.get(6).copied().unwrap_or_default().to_owned();
        let scope = out.scope(ReadingScope { database: "SALES".into(), instance, ..ReadingScope::default() });
        let begin = format!("2026-03-01T{time}:00").parse().ok();
        let window = out.window(ReadingWindow { begin, length: Span::from_secs(seconds.parse().unwrap()) });
        let class = Class::ALL.into_iter().find(|class| class.name().replace(' ', "-") == name).unwrap();
        let measure = match measure {
            "iops" => Measure::Iops,
            "bytes" => Measure::Throughput,
            "latency" => Measure::Latency,
            _ => Measure::Size,
        };
        let statistic = if statistic == "max" { Statistic::Maximum } else { Statistic::Mean };
        let origin = out.origin(number as u64 + 1, "", "");
        out.figure(Figure { scope, window, class, measure, statistic, value: value.parse().unwrap(), origin });
    }
    Ok(())
}

/// The demand of the lines.
pub fn subject(lines: &str) -> DatabaseDemand {
    let forms = [LINES];
    let mut ingest = Ingest::among(&forms, "lines");
    ingest.feed(lines.as_bytes());
    let outcomes = ingest.finish();
    let readings: Vec<&Reading> = outcomes.iter().filter_map(Outcome::reading).collect();
    Demand::of(&readings).subjects.remove(0)
}

/// A design without additions.
pub fn plain() -> Design {
    Design { quantile: Some(0.95), burst: Burst::None, headroom: 0.0, free: 0.0, ..Design::of(Bytes::gib(100)) }
}

pub fn terms() -> PriceTerms {
    PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None }
}

fn load(class: Class, iops: f64, size: f64, reads: f64) -> ClassLoad {
    let sequential = matches!(class, Class::SequentialRead | Class::RedoWrite);
    ClassLoad { class, iops, bytes_per_second: iops * size, reads, sequential, durable: class == Class::RedoWrite }
}

/// A database with this many operations per second: mostly single blocks, some scans, background writes, and the log.
pub fn database(iops: f64, capacity: Bytes) -> SizingRequirements {
    let classes = vec![
        load(Class::RandomRead, iops * 0.6, 8192.0, 1.0),
        load(Class::DataWrite, iops * 0.2, 8192.0, 0.0),
        load(Class::RedoWrite, iops * 0.15, 4096.0, 0.0),
        load(Class::SequentialRead, iops * 0.05, 262_144.0, 1.0),
    ];
    let point = DesignPoint { of: Busiest::Operations, windows: 1, classes };
    SizingRequirements {
        subject: "SALES".into(),
        headroom: 0.2,
        mean_iops: iops / 2.0,
        ..SizingRequirements::of(vec![point], capacity)
    }
}

pub fn alternatives<'a>(
    (catalogue, terms): (&'a Catalogue, &'a PriceTerms),
    search: &'a Search,
    (subject, design): (&'a DatabaseDemand, &'a Design),
) -> Alternatives<'a> {
    Alternatives { catalogue, terms, search, subject, design }
}
