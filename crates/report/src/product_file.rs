//! A fitted model as a product file of the catalogue, with its evidence and doubts.

use plimsoll_analyse::{Fitted, Parameter};
use plimsoll_record::{Curve, Source};
use plimsoll_units::Bytes;

use crate::words::fitted_value;

/// The figures that a model was fitted to.
#[derive(Clone, Debug)]
pub struct FittedSource {
    /// Number and kind, such as `3 measured run(s)`.
    pub what: String,
    pub subject: String,
    /// Day of the first figure, or `undated`.
    pub day: String,
    pub size: Bytes,
    /// The command, document or program that they are from.
    pub source: String,
}

impl FittedSource {
    /// Of measured runs, at least one.
    pub fn of_runs(curves: &[Curve]) -> Self {
        let first = &curves[0];
        let source = match (&first.source, first.command.is_empty()) {
            (_, false) => first.command.join(" "),
            (Source::Published { document }, true) => document.clone(),
            (source, true) => format!("{} by {}", source.word(), first.made_by),
        };
        Self {
            what: format!("{} measured run(s)", curves.len()),
            subject: first.subject.name.clone(),
            day: first.started.as_deref().and_then(|started| started.get(..10)).unwrap_or("undated").to_owned(),
            size: curves.iter().map(|curve| curve.subject.size).max().unwrap_or(Bytes::gib(1)),
            source,
        }
    }
}

/// The fitted model as a product file with this product name, from measured curves, at least one. `program` is the program with
/// its version.
pub fn product_file(name: &str, measured: &FittedSource, fitted: &Fitted, program: &str) -> String {
    // TOML accepts JSON's escapes.
    let text = |value: &str| serde_json::Value::from(value).to_string();
    let FittedSource { what, subject, day, size, source } = measured;
    let gib = size.get().div_ceil(1 << 30);
    let subject = subject.replace('\n', " ");
    let mut file = format!("# Fitted by {program} to {what} of {subject}.\n");
    file += &format!("product = {}\ntitle = {}\n", text(name), text(&format!("Fitted: {subject}")));
    file += "kind = \"drive\"\nranked = false\nabout = \"A model fitted to measured runs, for the measured loads\"\n";
    file += "capacity_unit = \"GiB\"\ncapacity_bytes = 1073741824\n\n";
    file += &format!("[default]\nsource = \"run\"\ndate = {}\nstatus = \"inferred\"\n\n", text(day));
    file += &format!("[sources.run]\ntitle = {}\ndate = {}\n\n", text(source), text(day));
    file += &format!("[options.size]\nkind = \"size\"\nmin = 1\nmax = 1048576\nstep = 1\ndefault = {gib}\n\n");
    for parameter in &fitted.parameters {
        file += &figure(parameter, &text);
    }
    file += &format!("[model]\nstages = {}\ndoubts = [\n", text(&fitted.spec.to_string()));
    let described = format!(
        "it describes the runs it was fitted to within {:.1} % on average, {:.1} % at worst",
        fitted.error.mean * 100.0,
        fitted.error.worst * 100.0
    );
    let doubts = fitted.doubts.iter().map(ToString::to_string);
    for doubt in std::iter::once(described).chain(uncertainties(fitted)).chain(doubts) {
        file += &format!("  {},\n", text(&doubt));
    }
    let range = &fitted.range;
    file + "]\n\n"
        + &format!("[model.fit]\nerror = {:?}\nblock_bytes = ", fitted.uncertainty)
        + &format!("[{}, {}]\nin_flight = ", range.block_bytes.0, range.block_bytes.1)
        + &format!("[{:?}, {:?}]\nreads = ", range.in_flight.0, range.in_flight.1)
        + &format!("[{:?}, {:?}]\n", range.reads.0, range.reads.1)
}

/// Predictions and intervals of parameters: quote, simulate and size print the doubts of a product.
fn uncertainties(fitted: &Fitted) -> Vec<String> {
    let predicted = fitted.held_out.map(|misfit| {
        format!(
            "loads that were left out of the fit were predicted within {:.1} % on average, {:.1} % at worst",
            misfit.mean * 100.0,
            misfit.worst * 100.0
        )
    });
    let ranges = fitted.parameters.iter().filter_map(|parameter| {
        let (low, high) = parameter.interval?;
        let format_value = |number: f64| fitted_value(parameter.unit, number);
        let value = format_value(parameter.value);
        Some(format!("{}: {value}, 95 % interval {} to {}", parameter.name, format_value(low), format_value(high)))
    });
    predicted.into_iter().chain(ranges).collect()
}

fn figure(parameter: &Parameter, text: &dyn Fn(&str) -> String) -> String {
    let interval = match parameter.interval {
        Some((low, high)) => format!("95 % interval {low:.6} to {high:.6}; "),
        None => String::new(),
    };
    let words = parameter.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_").to_ascii_lowercase();
    let unit = if parameter.unit.is_empty() { "number" } else { parameter.unit };
    format!(
        "[[figure]]\nname = {}\nvalue = {:?}\nunit = {}\nnote = {}\n\n",
        text(&name),
        parameter.value,
        text(unit),
        text(&format!("{interval}{}", parameter.identified_by))
    )
}
