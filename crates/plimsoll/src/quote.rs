//! `plimsoll quote`: limits, prices and binding limits of configurations, and the price of lifting them.

use plimsoll_choose::elapsed::jobs_on;
use plimsoll_choose::{Gate, Quote};
use plimsoll_language::{label, say};
use plimsoll_measure::Percent;
use plimsoll_units::Bytes;

use crate::args::QuoteArgs;
use crate::cli_error::CliError;
use crate::gates;
use crate::offers::read_offers;
use crate::output::Forms;

/// Minimum block size.
const MIN_BLOCK: Bytes = Bytes::new(512);

pub fn run(args: &QuoteArgs) -> Result<(), CliError> {
    let quotes = gates::guard(&args.gates, || show_quotes(args))?;
    let named: Vec<(String, Quote)> =
        quotes.into_iter().map(|quote| (quote.offer.short().to_string(), quote)).collect();
    gates::decide(&args.gates, &named, Gate::judge_quote)
}

/// Shows quotes of the configurations.
fn show_quotes(args: &QuoteArgs) -> Result<Vec<Quote>, CliError> {
    let forms = Forms::with_own(&args.forms, &args.kubernetes)?;
    let mut offers = read_offers(&args.terms)?;
    let Percent(reads) = args.reads;
    let ask = plimsoll_catalogue::Ask { block: args.block_size, reads, sequential: args.sequential };
    if ask.block < MIN_BLOCK {
        return Err(CliError::usage(say!(
            "--block-size: {} is too small: use at least 512B, with a unit, such as 16KiB",
            ask.block
        )));
    }
    let mut quotes: Vec<Quote> = Vec::new();
    for text in &args.configs {
        let config = offers.config(text)?;
        let refused = |refusal: plimsoll_catalogue::ConfigRefusal| CliError::usage(refusal.to_string());
        let offer = offers.catalogue.offer(&config, &offers.terms).map_err(refused)?;
        let terms = offers.terms_for(&offer);
        quotes.push(plimsoll_choose::quote(&offers.catalogue, &config, &terms, &ask).map_err(refused)?);
    }
    let priced = quotes.iter().map(|quote| (&quote.offer, quote.monthly()));
    let jobs = (!args.job.is_empty()).then(|| jobs_on(&args.job, priced));
    let mut page = plimsoll_report::pages::quotes(&quotes);
    let elapsed = jobs.as_ref().and_then(plimsoll_report::pages::elapsed);
    page.sections.splice(1..1, elapsed);
    forms.write(&page, || plimsoll_report::quotes_json(&quotes, jobs.as_ref()))?;
    if let Some(path) = &args.kubernetes {
        let text = plimsoll_report::kubernetes_of_quotes(&quotes);
        let none = || {
            CliError::usage(label!(
                "--kubernetes: none of the configurations is a volume of a CSI driver of AWS, Azure, Google or OCI"
            ))
        };
        forms.put(path, text.ok_or_else(none)?.as_bytes())?;
    }
    Ok(quotes)
}
