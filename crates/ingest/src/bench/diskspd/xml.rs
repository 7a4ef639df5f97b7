//! diskspd's XML: what was asked stands in the profile, what was got by thread and target.

use roxmltree::{Document, Node};

use super::{Got, Span, Target};
use crate::bench::{has, without_results, words};
use crate::builder::Builder;
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::whole::{Whole, WholeFormat};

const KIND: Kind = Kind { id: "diskspd-xml", name: "diskspd (XML)" };

/// diskspd's XML.
pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open: |_| Box::new(Whole::new(Xml)) };

fn resembles(head: &[u8]) -> Resemblance {
    let marks = ["<Results>", "<TimeSpan>", "<Profile>", "<ResultFormat>xml", "<TestTimeSeconds>"];
    match marks.iter().filter(|mark| has(head, mark)).count() {
        3.. => Resemblance::Is { marks: 3 },
        2 => Resemblance::Near { marks: 2, missing: "element TimeSpan with TestTimeSeconds" },
        _ => Resemblance::None,
    }
}

struct Xml;

impl WholeFormat for Xml {
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        let text = String::from_utf8_lossy(document);
        let refused = |what: String| Refusal::Unusable { kind: KIND, origin: None, what };
        let document = Document::parse(text.trim_start())
            .map_err(|error| refused(format!("{error}: was it saved completely?")))?;
        let results = document.root_element();
        if let Some(version) = descend(results, &["System", "Tool", "Version"]).and_then(|node| node.text()) {
            out.version(version);
        }
        let plans: Vec<Vec<Target>> = descend(results, &["Profile", "TimeSpans"])
            .map(|spans| children(spans, "TimeSpan").map(targets).collect())
            .unwrap_or_default();
        let mut found = 0;
        for (index, span) in children(results, "TimeSpan").enumerate() {
            let targets = plans.get(index).map_or(&[][..], Vec::as_slice);
            found += span_of(span, index + 1, &document).put(targets, out);
        }
        if found == 0 {
            return Err(without_results(
                KIND,
                "no span of time in it has an operation: give the result of a finished run",
            ));
        }
        Ok(())
    }
}

fn children<'a, 'd>(node: Node<'a, 'd>, name: &'static str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn descend<'a, 'd>(node: Node<'a, 'd>, path: &[&'static str]) -> Option<Node<'a, 'd>> {
    path.iter().try_fold(node, |node, name| children(node, name).next())
}

fn number(node: Node<'_, '_>, name: &'static str) -> Option<f64> {
    children(node, name).next()?.text().and_then(words::number)
}

/// What a span of the profile asks.
fn targets(span: Node<'_, '_>) -> Vec<Target> {
    let shared = number(span, "ThreadCount").is_some_and(|count| count > 0.0);
    let Some(list) = children(span, "Targets").next() else { return Vec::new() };
    let of = |target: Node<'_, '_>| {
        let text = |name| children(target, name).next().and_then(|node| node.text()).unwrap_or_default();
        // Newer versions say the share of random operations beside the alignment of these.
        let sequential = match number(target, "RandomRatio") {
            Some(percent) if percent > 0.0 && percent < 100.0 => None,
            Some(percent) => Some(percent <= 0.0),
            None => Some(number(target, "Random").is_none()),
        };
        Target {
            path: text("Path").to_owned(),
            block_bytes: number(target, "BlockSize"),
            outstanding: number(target, "RequestCount"),
            threads: number(target, "ThreadsPerFile").filter(|_| !shared),
            sequential,
        }
    };
    children(list, "Target").map(of).collect()
}

fn span_of(span: Node<'_, '_>, index: usize, document: &Document<'_>) -> Span {
    let line = u64::from(document.text_pos_at(span.range().start).row);
    let latency = children(span, "Latency").next();
    let direction = |counts: &[&'static str], bytes: &[&'static str], mean: &'static str, quantile: &'static str| {
        let mut got = Got { line, ..Got::default() };
        for target in children(span, "Thread").flat_map(|thread| children(thread, "Target")) {
            got.operations += counts.iter().filter_map(|name| number(target, name)).sum::<f64>();
            got.bytes += bytes.iter().filter_map(|name| number(target, name)).sum::<f64>();
        }
        if let Some(latency) = latency {
            got.mean_s = number(latency, mean).map(|milliseconds| milliseconds * 1e-3);
            got.quantiles = children(latency, "Bucket")
                .filter_map(|bucket| Some((number(bucket, "Percentile")? / 100.0, number(bucket, quantile)? * 1e-3)))
                .filter(|(share, _)| (0.0..=1.0).contains(share))
                .collect();
        }
        Some(got)
    };
    let got = [
        direction(
            &["ReadCount", "WriteCount"],
            &["ReadBytes", "WriteBytes"],
            "AverageTotalMilliseconds",
            "TotalMilliseconds",
        ),
        direction(&["ReadCount"], &["ReadBytes"], "AverageReadMilliseconds", "ReadMilliseconds"),
        direction(&["WriteCount"], &["WriteBytes"], "AverageWriteMilliseconds", "WriteMilliseconds"),
    ];
    Span {
        number: index,
        seconds: number(span, "TestTimeSeconds").filter(|seconds| *seconds > 0.0),
        threads: number(span, "ThreadCount"),
        got,
    }
}
