//! `plimsoll fit`: fits a model to measured storage and writes it as a product file.

use std::path::Path;

use anyhow::Context;
use plimsoll_analyse::{Fitted, StatedLimits, VolumeLatencies, calibrate, fit};
use plimsoll_language::{label, say};
use plimsoll_measure::{LAST, read_volume_latencies};
use plimsoll_model::ChainSpec;
use plimsoll_record::Evidence;
use plimsoll_report::{FittedSource, Page, pages};
use plimsoll_units::{Bytes, Span};

use crate::args::FitArgs;
use crate::cli_error::CliError;
use crate::offers::read_offers;
use crate::output::{Forms, put};
use crate::store;

/// Second block size to measure.
const OTHER_BLOCK: Bytes = Bytes::kib(64);

/// Fits a model to the runs.
pub fn run(args: &FitArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let named = args.name.split('/').all(|part| !part.is_empty()) && args.name.matches('/').count() == 1;
    if !named {
        return Err(CliError::usage(say!("{:?} is not a product name: write PROVIDER/NAME", args.name)));
    }
    if !(args.max_error > 0.0 && args.max_error.is_finite()) {
        return Err(CliError::usage(say!("--max-error {} is not a percentage above zero", args.max_error)));
    }
    let last = [LAST.into()];
    let inputs = if args.runs.is_empty() { &last[..] } else { &args.runs };
    if let [path] = inputs
        && let Some(latencies) = volume_latencies(path, args.interval)?
    {
        let (fitted, source) = calibrate_like(path, &latencies, args)?;
        return write(args, &forms, pages::fit(&fitted), (&fitted, &source));
    }
    let mut curves = Vec::new();
    let mut lines = Vec::new();
    for name in inputs {
        let of_input = store::runs().load_all(name)?;
        lines.extend(of_input.iter().map(|curve| plimsoll_report::words::run(curve, store::file_of(Some(name)))));
        curves.extend(of_input);
    }
    let refused = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let evidence: Result<Vec<Evidence<'_>>, _> = curves.iter().map(Evidence::try_from).collect();
    let limits = args.like.as_ref().map(|config| find_limits(config, args)).transpose()?;
    let stated = args.like.as_ref().zip(limits.as_ref()).map(|(of, stages)| StatedLimits { of, stages });
    let fitted = fit(&evidence.map_err(|error| refused(&error))?, stated).map_err(|error| refused(&error))?;
    let mut page = pages::fit(&fitted);
    page.subject.extend(lines);
    let is_refused = refusal(&fitted, args.max_error).is_some();
    page.next.extend(fitted.range.only_block().filter(|_| !is_refused).map(|block| {
        let other = if block < OTHER_BLOCK { OTHER_BLOCK } else { Bytes::kib(4) };
        (
            label!("For other block sizes").to_owned(),
            format!(
                "plimsoll measure PATH --block-size {}; plimsoll fit RUN1 RUN2",
                other.to_string().replace(' ', "")
            ),
        )
    }));
    write(args, &forms, page, (&fitted, &FittedSource::of_runs(&curves)))
}

/// Writes the page and the product file of a model, or refuses it.
fn write(
    args: &FitArgs,
    forms: &Forms,
    mut page: Page,
    (fitted, source): (&Fitted, &FittedSource),
) -> Result<(), CliError> {
    if let Some(refused) = refusal(fitted, args.max_error) {
        forms.write(&page, || plimsoll_report::fit_json(fitted))?;
        return Err(refused);
    }
    page.next.push(match &args.output {
        None => (
            label!("As a product file").to_owned(),
            "plimsoll fit --output FILE.toml; plimsoll simulate FILE.toml".to_owned(),
        ),
        Some(path) => {
            put(path, plimsoll_report::product_file(&args.name, source, fitted, crate::PROGRAM).as_bytes())?;
            (say!("Written to {}", path.display()), format!("plimsoll simulate {}", path.display()))
        }
    });
    forms.write(&page, || plimsoll_report::fit_json(fitted))
}

/// The histograms of an EBS volume in a file; `None` for runs and benchmark results.
fn volume_latencies(path: &Path, interval: Option<Span>) -> Result<Option<VolumeLatencies>, CliError> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(path).with_context(|| say!("reading {}", path.display()))?;
    Ok(read_volume_latencies(path, &bytes, interval))
}

/// Calibrates the latency of the configuration with `--like`.
fn calibrate_like(
    path: &Path,
    latencies: &VolumeLatencies,
    args: &FitArgs,
) -> Result<(Fitted, FittedSource), CliError> {
    let config = args.like.as_ref().ok_or_else(|| {
        CliError::usage(label!(
            "histograms of a volume show its latency and not its limits: add those of the configuration with --like CONFIG"
        ))
    })?;
    let offer = read_offers(&args.terms)?.offer(config)?;
    let stages = offer.limits().map_err(|why| CliError::usage(format!("{config}: {why}")))?;
    let fitted = calibrate(latencies, StatedLimits { of: config, stages: &stages })
        .map_err(|error| CliError::usage(error.to_string()))?;
    let source = FittedSource {
        what: "latency histograms".to_owned(),
        subject: config.clone(),
        day: "undated".to_owned(),
        size: offer.capacity,
        source: format!("statistics of the volume in {}", path.display()),
    };
    Ok((fitted, source))
}

/// The refusal of a model that is less accurate than `max_error` percent.
fn refusal(fitted: &Fitted, max_error: f64) -> Option<CliError> {
    let percent = fitted.uncertainty * 100.0;
    (percent > max_error).then(|| {
        CliError::usage(say!(
            "no model is written: the best form is up to {percent:.0} % off the runs, or off runs that were left out of the \
             fit (limit {max_error:.0} %); measure more depths, or accept it with --max-error {:.0}",
            percent.ceil()
        ))
    })
}

/// The limits that the catalogue has of a configuration.
fn find_limits(config: &str, args: &FitArgs) -> Result<ChainSpec, CliError> {
    let offer = read_offers(&args.terms)?.offer(config)?;
    offer.limits().map_err(|why| CliError::usage(format!("{config}: {why}")))
}
