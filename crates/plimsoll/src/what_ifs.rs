//! What-ifs of `plimsoll size`, as they were asked by flags.

use plimsoll_catalogue::{Catalogue, Terms};
use plimsoll_choose::sizing::{Design, Search, Sizing, Unclear};
use plimsoll_choose::what_if::{NoTiers, Tuning, WhatIfs, cache, growth, levels, tiers};
use plimsoll_ingest::{Reading, Subject};

use crate::args::{SizeArgs, WhatIfWord};
use crate::trouble::Trouble;

/// What is asked, and of what.
pub struct Asked<'a> {
    /// The flags.
    pub args: &'a SizeArgs,
    /// Whose demand it is.
    pub subject: &'a Subject,
    /// How it became a design point.
    pub design: &'a Design,
    /// What was read.
    pub readings: &'a [&'a Reading],
}

/// Refuses flags that do not fit each other.
pub fn check(args: &SizeArgs, terms: &Terms) -> Result<(), Trouble> {
    let asks = |word: WhatIfWord| args.what_if.contains(&word);
    if asks(WhatIfWord::Growth) && args.growth.is_none() {
        return Err(Trouble::usage("how does it grow? --what-if growth needs --growth, such as --growth 30%/year"));
    }
    if args.ram_price.is_some() && !asks(WhatIfWord::Cache) {
        return Err(Trouble::usage("--ram-price is for --what-if cache: give both"));
    }
    if (args.autotune_default.is_some() || args.autotune_most.is_some()) && !asks(WhatIfWord::Levels) {
        return Err(Trouble::usage("--autotune-default and --autotune-most are for --what-if levels: give it, too"));
    }
    if args.autotune_default.zip(args.autotune_most).is_some_and(|(default, most)| default > most) {
        return Err(Trouble::usage("--autotune-default is above --autotune-most: give the lower level to the default"));
    }
    let priced = args.ram_price.map(|price| price.0.currency);
    match priced.zip(terms.currency).filter(|(ram, storage)| ram != storage) {
        Some((ram, storage)) => Err(Trouble::usage(format!(
            "memory is priced in {ram} and storage in {storage}, and nothing is converted: give --currency {ram}, or \
             --ram-price in {storage}"
        ))),
        None => Ok(()),
    }
}

/// Every what-if that was asked.
pub fn all(
    asked: &Asked<'_>,
    catalogue: &Catalogue,
    terms: &Terms,
    search: &Search,
    sizing: &Sizing,
) -> Result<WhatIfs, Trouble> {
    let Asked { args, subject, design, readings } = *asked;
    let mut found = WhatIfs::default();
    for word in &args.what_if {
        match word {
            WhatIfWord::Levels => {
                let tuning = Tuning { default: args.autotune_default, most: args.autotune_most };
                found.levels = Some(levels(catalogue, terms, sizing, subject, tuning));
            }
            WhatIfWord::Cache => {
                // A curve of one trace is about all of it; curves of several do not add up.
                let mut curves = readings.iter().flat_map(|reading| &reading.curves);
                let misses = curves.next().filter(|_| curves.next().is_none());
                let known = (subject.account.as_ref(), misses, args.ram_price.map(|price| price.0));
                let unknown = "the inputs do not say what a cache of another size would do: give an AWR or Statspack \
                               report with buffer pool advice, or one trace";
                found.cache =
                    Some(cache(catalogue, terms, search, sizing, known).ok_or_else(|| Trouble::usage(unknown))?);
            }
            WhatIfWord::Growth => {
                let outgrown = growth(catalogue, terms, search, sizing, (subject, design));
                found.growth = outgrown.map_err(|unclear: Unclear| Trouble::usage(unclear.to_string()))?;
            }
            WhatIfWord::Tiers => {
                let parted = tiers(catalogue, terms, search, readings, (subject, design));
                found.tiers = Some(parted.map_err(|none: NoTiers| Trouble::usage(none.to_string()))?);
            }
        }
    }
    Ok(found)
}
