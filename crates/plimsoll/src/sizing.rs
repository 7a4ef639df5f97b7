//! `plimsoll size`: from reports to ranked, priced configurations.

use std::sync::Arc;

use plimsoll_catalogue::PriceTerms;
use plimsoll_choose::elapsed::JobWord;
use plimsoll_choose::sizing::{Compute, Design, Growth, Sizing};
use plimsoll_choose::what_if::Tuning;
use plimsoll_language::{label, say};
use plimsoll_measure::list_readings;
use plimsoll_measure::sizing::{SizingRequest, SizingScope, SizingSearch, WhatIfRequest, check_capacity};
use plimsoll_report::{Shortfall, words};
use plimsoll_units::Bytes;
use plimsoll_web::Threads;

use crate::args::{SizeArgs, WhatIfWord};
use crate::cli_error::CliError;
use crate::gates;
use crate::offers::read_offers;
use crate::output::Forms;

/// A form of a sizing for another program, and the recommendations that it lacks.
type Fragment = (fn(&Sizing) -> Option<String>, fn(&Sizing) -> Vec<String>);

/// Sizes for the demand of the inputs. Exit code 1 if no configuration carries it as fast as today's storage.
pub fn run(args: &SizeArgs) -> Result<(), CliError> {
    let sizing = gates::guard(&args.gates, || size_inputs(args))?;
    let is_carried = !sizing.choices.is_empty() || !sizing.layouts.is_empty();
    // Conditions are undetermined without a configuration, and on a slower configuration if faster ones have no price.
    let has_conditions = !args.gates.fail_if.is_empty();
    let unpriced = || words::slower_than_unpriced(&sizing).filter(|_| has_conditions);
    let reason = if is_carried { unpriced() } else { Some(words::uncarried(&sizing)) };
    let is_undetermined = is_carried || sizing.best().is_none() && has_conditions;
    let shortfall = reason.map(|reason| Shortfall { reason, is_undetermined });
    let named = [(sizing.required.subject.clone(), &sizing)];
    gates::decide_with_shortfall(&args.gates, &named, |gate, sizing| gate.judge_sizing(sizing), shortfall.as_ref())
}

/// Sizes, and writes the result.
fn size_inputs(args: &SizeArgs) -> Result<Sizing, CliError> {
    args.input.files().check()?;
    let offers = read_offers(&args.terms)?;
    check_flags(args)?;
    check_what_ifs(args, &offers.ranking_terms()?)?;
    let search = SizingSearch::new(&offers, &scope(args))?;
    let forms = Forms::with_own(&args.forms, args.terraform.iter().chain(&args.kubernetes))?;
    let outcomes = args.input.files().read()?;
    let (sizing, what_ifs) = search.size(&request(args), &list_readings(&outcomes)?)?;
    let fragments: [(_, Fragment); 2] = [
        (&args.terraform, (plimsoll_report::terraform, plimsoll_report::terraform_gaps)),
        (&args.kubernetes, (plimsoll_report::kubernetes, plimsoll_report::kubernetes_gaps)),
    ];
    let gaps = fragments.iter().filter(|(path, _)| path.is_some()).flat_map(|(_, (_, gaps))| gaps(&sizing)).collect();
    let mut page = plimsoll_report::pages::sizing(&sizing, &what_ifs, &outcomes, args.max as usize);
    plimsoll_report::pages::add_gaps(&mut page, gaps);
    forms.write(&page, || plimsoll_report::sizing_json(&sizing, &what_ifs))?;
    for (path, (fragment, _)) in fragments {
        let Some(path) = path else { continue };
        let text = fragment(&sizing);
        let text = text.unwrap_or_else(|| label!("# No cloud volume carries the demand: nothing to buy.\n").to_owned());
        forms.put(path, text.as_bytes())?;
    }
    Ok(sizing)
}

fn scope(args: &SizeArgs) -> SizingScope {
    SizingScope {
        providers: args.provider.clone(),
        machine: args.machine.clone(),
        max_stripe: args.stripe.unwrap_or(if args.kubernetes.is_some() { 1 } else { 4 }),
        has_unsupported: args.unsupported,
        today: args.today.clone(),
        pool: Arc::new(Threads::default()),
    }
}

fn request(args: &SizeArgs) -> SizingRequest {
    let has_what_if = |word| args.what_if.contains(&word);
    let tuning = Tuning { default: args.autotune_default, max: args.autotune_most };
    let job = |word: &JobWord| if let JobWord::Job(job) = word { Some(job.clone()) } else { None };
    let what_ifs = WhatIfRequest {
        levels: has_what_if(WhatIfWord::Levels).then_some(tuning),
        cache: has_what_if(WhatIfWord::Cache).then(|| args.ram_price.map(|price| price.0)),
        growth: has_what_if(WhatIfWord::Growth),
        tiers: has_what_if(WhatIfWord::Tiers),
        jobs: args.job.iter().filter_map(job).collect(),
        job_of_inputs: args.job.contains(&JobWord::Inputs),
        max_choices: args.max as usize,
    };
    // Without months, growth applies only to the what-if.
    let growth = args.growth.map(|yearly| Growth { yearly: yearly.0, months: args.months.unwrap_or(0) });
    let design = Design {
        quantile: args.percentile.map(|percentile| percentile.0),
        burst: args.burst.0,
        growth: growth.unwrap_or_default(),
        headroom: args.headroom.0,
        free: args.free.0,
        objectives: args.objective.clone(),
        may_be_slower: args.may_be_slower,
        tolerance: args.slower.0,
        lifts_processor_cap: args.uncapped,
        assumes_blocks: args.assume,
        compute: Compute { processors: args.vcpus.map(f64::from), memory: args.memory },
        ..Design::of(args.capacity.unwrap_or(Bytes::ZERO))
    };
    SizingRequest { database: args.database.clone(), capacity: args.capacity, design, what_ifs }
}

/// Checks flags before inputs are read.
fn check_flags(args: &SizeArgs) -> Result<(), CliError> {
    args.capacity.map_or(Ok(()), check_capacity)?;
    if args.growth.is_some() && args.months.is_none() && !args.what_if.contains(&WhatIfWord::Growth) {
        return Err(CliError::usage(label!("--growth requires --months, such as --months 36")));
    }
    if args.free.0 >= 0.9 {
        return Err(CliError::usage(label!("--free: use less than 90 %")));
    }
    Ok(())
}

/// Fails for contradictory flags.
fn check_what_ifs(args: &SizeArgs, terms: &PriceTerms) -> Result<(), CliError> {
    let has_what_if = |word: WhatIfWord| args.what_if.contains(&word);
    if has_what_if(WhatIfWord::Growth) && args.growth.is_none() {
        return Err(CliError::usage(label!("--what-if growth requires --growth, such as --growth 30%/year")));
    }
    if args.ram_price.is_some() && !has_what_if(WhatIfWord::Cache) {
        return Err(CliError::usage(label!("--ram-price requires --what-if cache")));
    }
    if (args.autotune_default.is_some() || args.autotune_most.is_some()) && !has_what_if(WhatIfWord::Levels) {
        return Err(CliError::usage(label!("--autotune-default and --autotune-most require --what-if levels")));
    }
    if args.autotune_default.zip(args.autotune_most).is_some_and(|(default, max)| default > max) {
        return Err(CliError::usage(label!("--autotune-default exceeds --autotune-most: use a lower default")));
    }
    let priced = args.ram_price.map(|price| price.0.currency);
    match priced.zip(terms.currency).filter(|(ram, storage)| ram != storage) {
        Some((ram, storage)) => Err(CliError::usage(say!(
            "memory is priced in {ram} and storage in {storage}, and prices are not converted: use --currency {ram}, or \
             --ram-price in {storage}"
        ))),
        None => Ok(()),
    }
}
