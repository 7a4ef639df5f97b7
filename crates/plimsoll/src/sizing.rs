//! `plimsoll size`: from reports to ranked, priced configurations.

use std::sync::Arc;

use plimsoll_analyse::GateFigure;
use plimsoll_catalogue::{Config, Part, PriceTerms, ProductKind, nearest, one_of};
use plimsoll_choose::sizing::{
    Alternatives, Assumption, Compute, Design, DesignError, Growth, HitAssumption, PresentCost, ScopeError, Search,
    Sizing, check_counted, derive_requirements, fewer_processors, layouts, more_processors, size,
};
use plimsoll_choose::what_if::parts;
use plimsoll_ingest::{Caution, DatabaseDemand, Demand, Doubt, InstanceResource, Reading, Resource};
use plimsoll_language::{label, say};
use plimsoll_measure::{Offers, list_readings};
use plimsoll_report::words::uncarried;
use plimsoll_units::Bytes;
use plimsoll_web::Threads;

use crate::args::{SizeArgs, WhatIfWord};
use crate::cli_error::CliError;
use crate::gates::{self, amount_and_currency};
use crate::offers::read_offers;
use crate::output::{Forms, put};
use crate::what_ifs;

/// Minimum capacity of a volume.
const LEAST_CAPACITY: Bytes = Bytes::mib(1);

/// A form of a sizing for another program.
type Fragment = fn(&Sizing) -> Option<String>;

/// Sizes for the demand of the inputs. Exit code 1 if no configuration carries it.
pub fn run(args: &SizeArgs) -> Result<(), CliError> {
    args.input.files().check()?;
    let offers = read_offers(&args.terms)?;
    let terms = offers.ranking_terms()?;
    let search = scope_search(args, &offers)?;
    check(args)?;
    what_ifs::check(args, &terms)?;
    let present = price_present(args, &offers, &terms)?;
    let forms = Forms::with_own(&args.forms, args.terraform.iter().chain(&args.kubernetes))?;
    let outcomes = args.input.files().read()?;
    let readings = list_readings(&outcomes)?;
    let demand = Demand::of(&readings);
    let subject =
        find_subject(&demand, args.database.as_deref()).map_err(|error| single_snapshot(&readings).unwrap_or(error))?;
    let unclear = |unclear: DesignError| CliError::usage(unclear.to_string());
    if !args.assume {
        check_counted(subject).map_err(unclear)?;
    }
    let (design, stored) = build_design(args, subject, &readings)?;
    let mut required = derive_requirements(subject, &design).map_err(unclear)?;
    required.assumptions.extend(stored);
    let mut sizing = size(&offers.catalogue, &required, &terms, &search);
    sizing.layouts = layouts(&offers.catalogue, &terms, &search, &sizing);
    sizing.present = present;
    let alternatives =
        Alternatives { catalogue: &offers.catalogue, terms: &terms, search: &search, subject, design: &design };
    alternatives.find(&mut sizing);
    sizing.hits = HitAssumption::of(&offers.catalogue, &terms, &sizing);
    if search.machine.is_none() {
        sizing.fewer_processors = fewer_processors(&offers.catalogue, &terms, &sizing);
        sizing.more_processors = more_processors(&offers.catalogue, &terms, &sizing);
    }
    let requested = what_ifs::WhatIfInput { args, subject, design: &design, readings: &readings };
    let what_ifs = what_ifs::all(&requested, &offers.catalogue, &terms, &search, &sizing)?;
    let page = plimsoll_report::pages::sizing(&sizing, &what_ifs, &outcomes, args.max as usize);
    forms.write(&page, || plimsoll_report::sizing_json(&sizing, &what_ifs))?;
    let fragments: [(_, Fragment); 2] =
        [(&args.terraform, plimsoll_report::terraform), (&args.kubernetes, plimsoll_report::kubernetes)];
    for (path, fragment) in fragments {
        let Some(path) = path else { continue };
        let text = fragment(&sizing);
        let text = text.unwrap_or_else(|| "# No cloud volume carries the demand: nothing to buy.\n".to_owned());
        put(path, text.as_bytes())?;
    }
    check_carried(&sizing)?;
    let named = [(sizing.required.subject.clone(), &sizing)];
    gates::decide(&args.gates, &named, |gate, sizing| match gate.figure() {
        GateFigure::Price => gate.judge_price(sizing.best_total().map(amount_and_currency)),
        GateFigure::DatabaseTime => {
            gate.judge_exact(sizing.best_effect().and_then(|effect| Some(-effect.least_saved()?)))
        }
        _ => gate.judge_exact(None),
    })
}

/// Fails if no configuration carries the demand as fast as today's storage.
fn check_carried(sizing: &Sizing) -> Result<(), CliError> {
    let is_carried = !sizing.choices.is_empty() || !sizing.layouts.is_empty();
    if is_carried { Ok(()) } else { Err(CliError::Failed(anyhow::anyhow!(uncarried(sizing)))) }
}

fn scope_search(args: &SizeArgs, offers: &Offers) -> Result<Search, CliError> {
    let unclear = |error: ScopeError| CliError::usage(format!("--provider: {error}"));
    let among = Search::among(&offers.catalogue, &args.provider).map_err(unclear)?;
    let machine = args.machine.as_deref().map(|text| parse_machine(text, offers)).transpose()?;
    let search = Search {
        machine,
        widest: args.stripe.unwrap_or(if args.kubernetes.is_some() { 1 } else { 4 }),
        has_unsupported: args.unsupported,
        pool: Arc::new(Threads::default()),
        ..among
    };
    match args.machine.as_deref() {
        Some(machine) if search.is_empty(&offers.catalogue) && !args.provider.is_empty() => Err(CliError::usage(say!(
            "--machine {machine} cannot use volumes of --provider {}: name a machine and a provider of the same cloud",
            args.provider.join(label!(", "))
        ))),
        _ => Ok(search),
    }
}

/// The cost of today's configurations.
fn price_present(args: &SizeArgs, offers: &Offers, terms: &PriceTerms) -> Result<Option<PresentCost>, CliError> {
    let config = |text: &String| match text
        .split_once('@')
        .filter(|(_, machine)| machine.contains('/') && !machine.contains(' '))
    {
        Some((volume, machine)) => {
            Err(CliError::usage(say!("--today: a machine follows \" on \": write '{volume} on {machine}'")))
        }
        None => text.parse::<Config>().map_err(|error| CliError::usage(format!("--today: {error}"))),
    };
    let configs: Vec<Config> = args.today.iter().map(config).collect::<Result<_, CliError>>()?;
    let cost = PresentCost::of(&offers.catalogue, &configs, terms);
    let cost = cost.map_err(|refusal| CliError::usage(format!("--today: {refusal}")))?;
    Ok(Some(cost).filter(|_| !configs.is_empty()))
}

/// Parses a machine in the syntax of configurations.
fn parse_machine(text: &str, offers: &Offers) -> Result<Part, CliError> {
    let config: Result<Config, _> = format!("any on {text}").parse();
    let part = config.ok().and_then(|config| config.machine);
    let part =
        part.ok_or_else(|| CliError::usage(say!("{text:?} is not a machine: use a name such as aws/m5.large")))?;
    let found = offers.catalogue.find_machine(&part.product).map_err(|unknown| {
        let text = label!("use a name such as aws/m5.large");
        CliError::usage(if unknown.nearest.is_empty() { format!("{unknown}: {text}") } else { unknown.to_string() })
    })?;
    if found.kind() != ProductKind::Machine {
        return Err(CliError::usage(say!("{} is not a machine: use a name such as aws/m5.large", part.product)));
    }
    Ok(part)
}

/// Checks flags before inputs are read.
fn check(args: &SizeArgs) -> Result<(), CliError> {
    args.capacity.map_or(Ok(()), check_capacity)?;
    if args.growth.is_some() && args.months.is_none() && !args.what_if.contains(&WhatIfWord::Growth) {
        return Err(CliError::usage(label!("--growth requires --months, such as --months 36")));
    }
    if args.free.0 >= 0.9 {
        return Err(CliError::usage(label!("--free: use less than 90 %")));
    }
    Ok(())
}

/// The parameters of the design point; with a note if the inputs determine the capacity.
fn build_design(
    args: &SizeArgs,
    subject: &DatabaseDemand,
    readings: &[&Reading],
) -> Result<(Design, Option<Assumption>), CliError> {
    let stored = subject.account.as_ref().and_then(|account| account.stored_bytes);
    let (capacity, stated) = match (args.capacity, stored.map(|bytes| Bytes::new(bytes.ceil() as u64))) {
        (Some(capacity), _) => (capacity, None),
        (None, Some(stored)) => (stored, Some(Assumption::StoredBytes(stored))),
        (None, None) => {
            let capacity = find_claim_capacity(subject, readings)?;
            (capacity, Some(Assumption::ClaimCapacity(capacity)))
        }
    };
    // Without months, growth applies only to the what-if.
    let growth = args.growth.map(|yearly| (yearly, args.months.unwrap_or(0)));
    let design = Design {
        quantile: args.percentile.map(|percentile| percentile.0),
        burst: args.burst.0,
        growth: growth.map_or_else(Growth::default, |(yearly, months)| Growth { yearly: yearly.0, months }),
        headroom: args.headroom.0,
        capacity,
        // Of a claim, the capacity includes the free space.
        free: if matches!(stated, Some(Assumption::ClaimCapacity(_))) { 0.0 } else { args.free.0 },
        objectives: args.objective.clone(),
        may_be_slower: args.may_be_slower,
        tolerance: args.slower.0,
        lifts_processor_cap: args.uncapped,
        assumes_blocks: args.assume,
        compute: Compute { processors: args.vcpus.map(f64::from), memory: args.memory },
    };
    Ok((design, stated))
}

/// The capacity of the claim of Kubernetes that is the only part of the inputs.
fn find_claim_capacity(subject: &DatabaseDemand, readings: &[&Reading]) -> Result<Bytes, CliError> {
    let parts = parts(readings.iter().copied());
    let is_capacity = |one: &&InstanceResource| one.resource == Resource::ClaimCapacity;
    let capacities: Vec<&InstanceResource> = subject.resources.iter().filter(is_capacity).collect();
    match capacities.as_slice() {
        [claim] if parts.iter().eq([claim.instance.as_str()].iter()) => Ok(Bytes::new(claim.value.ceil() as u64)),
        [] => Err(CliError::usage(label!(
            "the reports do not contain the capacity: use --capacity, such as --capacity 2TiB"
        ))),
        claims => {
            let names: Vec<&str> = claims.iter().map(|claim| claim.instance.as_str()).collect();
            Err(CliError::usage(say!(
                "the inputs have more volumes than one claim: use --only with {}, or --capacity for all",
                one_of(&names)
            )))
        }
    }
}

/// Checks a capacity; a number without a unit would be bytes.
pub fn check_capacity(capacity: Bytes) -> Result<(), CliError> {
    if capacity < LEAST_CAPACITY {
        return Err(CliError::usage(say!(
            "--capacity: {capacity} is too small for a volume: use a unit, such as 2TiB"
        )));
    }
    Ok(())
}

/// The error of inputs that are a single snapshot of counters since a reset at an unknown time.
fn single_snapshot(readings: &[&Reading]) -> Option<CliError> {
    let is_empty = readings.iter().all(|reading| reading.figures.is_empty());
    let cautions = readings.iter().flat_map(|reading| reading.cautions.iter().map(move |caution| (reading, caution)));
    let is_single = |caution: &Caution| matches!(caution.doubt, Doubt::SingleSnapshot | Doubt::MeanSinceReset);
    let (reading, caution) = cautions.into_iter().find(|(_, caution)| is_single(caution))?;
    is_empty.then(|| CliError::usage(format!("{}: {}", reading.name, caution.doubt)))
}

/// The named database, or the only one.
fn find_subject<'d>(demand: &'d Demand, name: Option<&str>) -> Result<&'d DatabaseDemand, CliError> {
    let names = || demand.subjects.iter().map(|subject| subject.name.as_str());
    match (name, demand.subjects.as_slice()) {
        (Some(name), subjects) => {
            let found = subjects.iter().find(|subject| subject.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| {
                let near = nearest(name, names());
                let existing = one_of(&names().collect::<Vec<_>>());
                let mean = if near.is_empty() { String::new() } else { say!("; did you mean {}?", one_of(&near)) };
                CliError::usage(say!("no reports of database {name:?}{mean}: the reports are of {existing}"))
            })
        }
        (None, [only]) => Ok(only),
        (None, []) => Err(CliError::usage(label!("the reports contain no operations: use an AWR report, or iostat"))),
        (None, _) => Err(CliError::usage(say!(
            "the reports are of several databases or hosts: choose one with --database: {}",
            one_of(&names().collect::<Vec<_>>())
        ))),
    }
}
