//! `plimsoll fit`: fits a model to measured storage and writes it as a product file.

use plimsoll_analyse::{Fitted, Parameter, StatedLimits, fit};
use plimsoll_measure::LAST;
use plimsoll_model::ChainSpec;
use plimsoll_record::{Curve, Evidence, Source};
use plimsoll_units::Bytes;

use crate::args::FitArgs;
use crate::cli_error::CliError;
use crate::offers::Offers;
use crate::output::{Forms, put};
use crate::store;

/// Second block size to measure.
const OTHER_BLOCK: Bytes = Bytes::kib(64);

/// Fits a model to the runs.
pub fn run(args: &FitArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let named = args.name.split('/').all(|part| !part.is_empty()) && args.name.matches('/').count() == 1;
    if !named {
        return Err(CliError::usage(format!("{:?} is not a product name: write PROVIDER/NAME", args.name)));
    }
    if !(args.max_error > 0.0 && args.max_error.is_finite()) {
        return Err(CliError::usage(format!("--max-error {} is not a percentage above zero", args.max_error)));
    }
    let last = [LAST.into()];
    let inputs = if args.runs.is_empty() { &last[..] } else { &args.runs };
    let curves: Vec<Vec<Curve>> = inputs.iter().map(|name| store::runs().load_all(name)).collect::<Result<_, _>>()?;
    let curves = curves.concat();
    let refused = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let evidence: Result<Vec<Evidence<'_>>, _> = curves.iter().map(Evidence::try_from).collect();
    let limits = args.like.as_ref().map(|config| limits(config, args)).transpose()?;
    let stated = args.like.as_ref().zip(limits.as_ref()).map(|(of, stages)| StatedLimits { of, stages });
    let fitted = fit(&evidence.map_err(|error| refused(&error))?, stated).map_err(|error| refused(&error))?;
    let mut page = plimsoll_report::pages::fit(&fitted);
    page.subject.extend(curves.iter().map(plimsoll_report::words::run));
    let refused = refusal(&fitted, args.max_error);
    page.next.extend(fitted.range.only_block().filter(|_| refused.is_none()).map(|block| {
        let other = if block < OTHER_BLOCK { OTHER_BLOCK } else { Bytes::kib(4) };
        (
            "For other block sizes".to_owned(),
            format!(
                "plimsoll measure PATH --block-size {}; plimsoll fit RUN1 RUN2",
                other.to_string().replace(' ', "")
            ),
        )
    }));
    if let Some(refused) = refused {
        forms.write(&page, || plimsoll_report::fit_json(&fitted))?;
        return Err(refused);
    }
    page.next.push(match &args.output {
        None => {
            ("As a product file".to_owned(), "plimsoll fit --output FILE.toml; plimsoll simulate FILE.toml".to_owned())
        }
        Some(path) => {
            put(path, product_file(args, &curves, &fitted).as_bytes())?;
            (format!("Written to {}", path.display()), format!("plimsoll simulate {}", path.display()))
        }
    });
    forms.write(&page, || plimsoll_report::fit_json(&fitted))
}

/// The refusal of a model that is less accurate than `max_error` percent.
fn refusal(fitted: &Fitted, max_error: f64) -> Option<CliError> {
    let percent = fitted.uncertainty * 100.0;
    (percent > max_error).then(|| {
        CliError::usage(format!(
            "no model is written: the best form is up to {percent:.0} % off the runs, or off runs that were left out of the \
             fit (limit {max_error:.0} %); measure more depths, or accept it with --max-error {:.0}",
            percent.ceil()
        ))
    })
}

/// The limits that the catalogue has of a configuration.
fn limits(config: &str, args: &FitArgs) -> Result<ChainSpec, CliError> {
    let offer = Offers::new(&args.terms)?.offer(config)?;
    offer.limits().map_err(|why| CliError::usage(format!("{config}: {why}")))
}

/// The fitted model as a product file.
fn product_file(args: &FitArgs, curves: &[Curve], fitted: &Fitted) -> String {
    // TOML accepts JSON's escapes.
    let text = |value: &str| serde_json::Value::from(value).to_string();
    let first = &curves[0];
    let day = first.started.as_deref().and_then(|started| started.get(..10)).unwrap_or("undated");
    let gib = curves.iter().map(|curve| curve.subject.size).max().unwrap_or(Bytes::gib(1)).get().div_ceil(1 << 30);
    let mut file = format!(
        "# Fitted by {} to {} measured run(s) of {}.\n",
        crate::MADE_BY,
        curves.len(),
        first.subject.name.replace('\n', " ")
    );
    file += &format!("product = {}\ntitle = {}\n", text(&args.name), text(&format!("Fitted: {}", first.subject.name)));
    file += "kind = \"drive\"\nranked = false\nabout = \"A model fitted to measured runs, for the measured loads\"\n";
    file += "capacity_unit = \"GiB\"\ncapacity_bytes = 1073741824\n\n";
    file += &format!("[default]\nsource = \"run\"\ndate = {}\nstatus = \"inferred\"\n\n", text(day));
    let source = match (&first.source, first.command.is_empty()) {
        (_, false) => first.command.join(" "),
        (Source::Published { document }, true) => document.clone(),
        (source, true) => format!("{} by {}", source.word(), first.made_by),
    };
    file += &format!("[sources.run]\ntitle = {}\ndate = {}\n\n", text(&source), text(day));
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
    for doubt in std::iter::once(&described).chain(&uncertainties(fitted)).chain(&fitted.doubts) {
        file += &format!("  {},\n", text(doubt));
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
    let predicted = fitted.held_out.map(|held_out| {
        format!(
            "loads that were left out of the fit were predicted within {:.1} % on average, {:.1} % at worst",
            held_out.mean * 100.0,
            held_out.worst * 100.0
        )
    });
    let ranges = fitted.parameters.iter().filter_map(|parameter| {
        let (low, high) = parameter.interval?;
        let shown = |number: f64| plimsoll_report::words::fitted_value(parameter.unit, number);
        let value = shown(parameter.value);
        Some(format!("{}: {value}, 95 % interval {} to {}", parameter.name, shown(low), shown(high)))
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
