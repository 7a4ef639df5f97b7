//! `plimsoll simulate`: the same loads and reports for products or models, in virtual time.

use plimsoll_catalogue::Price;
use plimsoll_choose::Gate;
use plimsoll_measure::{NamedModel, SimulationRequest, read_model};
use plimsoll_record::Curve;
use plimsoll_report::pages::Sheet;

use crate::args::{Simulate, TermsArgs};
use crate::cli_error::CliError;
use crate::console::Console;
use crate::gates;
use crate::measure::run_context;
use crate::offers::read_offers;
use crate::output::{Outputs, check_end};

pub fn run(args: &Simulate) -> Result<(), CliError> {
    let curves = gates::guard(&args.gates, || simulate(args))?;
    let named: Vec<(String, Curve)> = curves.into_iter().map(|curve| (curve.subject.name.clone(), curve)).collect();
    gates::decide(&args.gates, &named, Gate::judge_curve)
}

/// Simulates the models in sequence.
fn simulate(args: &Simulate) -> Result<Vec<Curve>, CliError> {
    let outputs = Outputs::new(&args.output)?;
    outputs.check_run_count(args.models.len())?;
    let mut offers = read_offers(&args.terms)?;
    let models: Result<Vec<NamedModel>, CliError> =
        args.models.iter().map(|text| read_model(text, || Ok::<_, CliError>(&mut offers))).collect();
    let models = models?;
    let price = |model: &NamedModel| model.offer.as_ref().and_then(|offer| offers.price_of(offer));
    let prices: Vec<Option<Price>> = models.iter().map(price).collect();
    let mut console = Console::new(args.output.quiet)?;
    let context = run_context(std::env::args().collect());
    let curves = plimsoll_measure::simulate(&models, &args.request(), &context, &mut console)?;
    finish(curves, &prices, &outputs)
}

/// Simulates a load on a configuration or stages.
pub fn simulate_one(model: &str, request: &SimulationRequest, console: &mut Console) -> Result<Curve, CliError> {
    let model = read_model(model, || read_offers(&TermsArgs::default()))?;
    let curves = plimsoll_measure::simulate(&[model], request, &run_context(Vec::new()), console)?;
    Ok(curves.into_iter().next().expect("a curve for each model"))
}

/// Shows simulated curves with the prices of their configurations.
fn finish(curves: Vec<Curve>, prices: &[Option<Price>], outputs: &Outputs) -> Result<Vec<Curve>, CliError> {
    let mut complete = Sheet::all(&curves);
    for (sheet, price) in complete.iter_mut().zip(prices) {
        sheet.price.clone_from(price);
    }
    outputs.write_sheets(&curves, &complete)?;
    curves.iter().try_for_each(|curve| check_end(curve.ended))?;
    Ok(curves)
}
