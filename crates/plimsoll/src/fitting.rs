//! `plimsoll fit`: fits a model to measured storage and writes it as a product file.

use plimsoll_analyse::{Fitted, Parameter, fit};
use plimsoll_record::{Curve, Evidence};
use plimsoll_units::Bytes;

use crate::args::FitArgs;
use crate::cli_error::CliError;
use crate::output::{Forms, put};
use crate::store;

/// Fits a model to the runs.
pub fn run(args: &FitArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let named = args.name.split('/').all(|part| !part.is_empty()) && args.name.matches('/').count() == 1;
    if !named {
        return Err(CliError::usage(format!("{:?} is not a product name: write PROVIDER/NAME", args.name)));
    }
    let curves: Result<Vec<Curve>, CliError> = if args.runs.is_empty() {
        store::load_or_last(None).map(|curve| vec![curve])
    } else {
        args.runs.iter().map(|name| store::load(name)).collect()
    };
    let curves = curves?;
    let refused = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let evidence: Result<Vec<Evidence<'_>>, _> = curves.iter().map(Evidence::try_from).collect();
    let fitted = fit(&evidence.map_err(|error| refused(&error))?).map_err(|error| refused(&error))?;
    let mut page = plimsoll_report::pages::fit(&fitted);
    page.subject.extend(curves.iter().map(plimsoll_report::words::run));
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
    file += &format!("[sources.run]\ntitle = {}\ndate = {}\n\n", text(&first.command.join(" ")), text(day));
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
    for doubt in std::iter::once(&described).chain(&fitted.doubts) {
        file += &format!("  {},\n", text(doubt));
    }
    file + "]\n"
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
