//! What-ifs of `plimsoll size`.

use plimsoll_catalogue::{Catalogue, PriceTerms};
use plimsoll_choose::elapsed::{JobTimes, StorageJob, jobs_of_choices};
use plimsoll_choose::sizing::{Design, DesignError, Search, Sizing};
use plimsoll_choose::what_if::{NoTiers, Tuning, WhatIfs, cache, growth, memory_first, replay_levels, tiers};
use plimsoll_ingest::{DatabaseDemand, Reading};
use plimsoll_language::{label, say};

use crate::args::{JobWord, SizeArgs, WhatIfWord};
use crate::cli_error::CliError;

pub struct WhatIfInput<'a> {
    pub args: &'a SizeArgs,
    pub subject: &'a DatabaseDemand,
    pub design: &'a Design,
    pub readings: &'a [&'a Reading],
}

/// Fails for contradictory flags.
pub fn check(args: &SizeArgs, terms: &PriceTerms) -> Result<(), CliError> {
    let asks = |word: WhatIfWord| args.what_if.contains(&word);
    if asks(WhatIfWord::Growth) && args.growth.is_none() {
        return Err(CliError::usage(label!("--what-if growth requires --growth, such as --growth 30%/year")));
    }
    if args.ram_price.is_some() && !asks(WhatIfWord::Cache) {
        return Err(CliError::usage(label!("--ram-price requires --what-if cache")));
    }
    if (args.autotune_default.is_some() || args.autotune_most.is_some()) && !asks(WhatIfWord::Levels) {
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

/// All requested what-ifs.
pub fn all(
    requested: &WhatIfInput<'_>,
    catalogue: &Catalogue,
    terms: &PriceTerms,
    search: &Search,
    sizing: &Sizing,
) -> Result<WhatIfs, CliError> {
    let WhatIfInput { args, subject, design, readings } = *requested;
    // The curve of a single trace covers all of it; curves of several cannot be added.
    let mut curves = readings.iter().flat_map(|reading| &reading.curves);
    let misses = curves.next().filter(|_| curves.next().is_none());
    let account = subject.account.as_ref();
    let memory = memory_first(catalogue, terms, search, sizing, misses);
    let mut found = WhatIfs { memory, jobs: compute_jobs(args, search, sizing)?, ..WhatIfs::default() };
    for word in &args.what_if {
        match word {
            WhatIfWord::Levels => {
                let tuning = Tuning { default: args.autotune_default, max: args.autotune_most };
                found.levels = Some(replay_levels(catalogue, terms, sizing, subject, tuning));
            }
            WhatIfWord::Cache => {
                let existing = (account, misses, args.ram_price.map(|price| price.0));
                let unknown = label!(
                    "the inputs do not contain the effect of the cache size: use an AWR or Statspack \
                               report with buffer pool advice, or one trace"
                );
                found.cache =
                    Some(cache(catalogue, terms, search, sizing, existing).ok_or_else(|| CliError::usage(unknown))?);
            }
            WhatIfWord::Growth => {
                let outgrown = growth(catalogue, terms, search, sizing, (subject, design));
                found.growth = outgrown.map_err(|unclear: DesignError| CliError::usage(unclear.to_string()))?;
            }
            WhatIfWord::Tiers => {
                let parted = tiers(catalogue, terms, search, readings, (subject, design));
                found.tiers = Some(parted.map_err(|none: NoTiers| CliError::usage(none.to_string()))?);
            }
        }
    }
    Ok(found)
}

/// Elapsed times of the requested jobs.
fn compute_jobs(args: &SizeArgs, search: &Search, sizing: &Sizing) -> Result<Option<JobTimes>, CliError> {
    let job = |word: &JobWord| if let JobWord::Job(job) = word { Some(job.clone()) } else { None };
    let jobs: Vec<StorageJob> = args.job.iter().filter_map(job).collect();
    let account = sizing.required.account.as_deref().filter(|_| args.job.contains(&JobWord::Inputs));
    if args.job.len() > jobs.len() && account.is_none() {
        return Err(CliError::usage(label!(
            "--job inputs: the inputs do not contain the waits of sessions: use an AWR or Statspack report of the window"
        )));
    }
    let max = args.max as usize;
    Ok((!args.job.is_empty()).then(|| jobs_of_choices(&jobs, sizing, account, (&*search.pool, max))))
}
