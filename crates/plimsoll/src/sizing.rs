//! `plimsoll size`: from reports to ranked, priced configurations.

use std::path::PathBuf;

use plimsoll_catalogue::{Config, Part, ProductKind, nearest, one_of};
use plimsoll_choose::sizing::{Design, Growth, Search, Sizing, Unclear, UnknownProvider, layouts, size, wanted};
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::{Demand, Subject};
use plimsoll_report::Page;
use plimsoll_units::Bytes;

use crate::args::{SizeArgs, WhatIfWord};
use crate::inputs;
use crate::offers::Offers;
use crate::output::{Outputs, put};
use crate::store;
use crate::trouble::Trouble;
use crate::what_ifs;

/// No volume is smaller.
const LEAST_CAPACITY: Bytes = Bytes::mib(1);

/// Sizes for the demand of the inputs. Ends with 1 when nothing carries it.
pub fn run(args: &SizeArgs) -> Result<(), Trouble> {
    inputs::check(&args.input)?;
    let offers = Offers::new(&args.terms)?;
    let terms = offers.ranking_terms()?;
    let search = search(args, &offers)?;
    let design = design(args)?;
    what_ifs::check(args, &terms)?;
    for path in files(args).filter(|path| path.as_os_str() != "-") {
        store::check_writable(path)?;
    }
    let outcomes = inputs::outcomes(&args.input)?;
    let readings = inputs::readings(&outcomes)?;
    let demand = Demand::of(&readings);
    let subject = subject(&demand, args.database.as_deref())?;
    let wanted = wanted(subject, &design).map_err(|unclear: Unclear| Trouble::usage(unclear.to_string()))?;
    let mut sizing = size(&offers.catalogue, &wanted, &terms, &search);
    sizing.layouts = layouts(&offers.catalogue, &terms, &search, &sizing);
    let asked = what_ifs::Asked { args, subject, design: &design, readings: &readings };
    let what_ifs = what_ifs::all(&asked, &offers.catalogue, &terms, &search, &sizing)?;
    let account = subject.account.as_ref();
    let page = plimsoll_report::pages::sizing(&sizing, &what_ifs, account, &outcomes, args.most.max(1));
    write(args, &page, &sizing, &what_ifs)?;
    let is_carried = !sizing.choices.is_empty() || !sizing.layouts.is_empty();
    if !is_carried && !sizing.slower.is_empty() {
        return Err(Trouble::Failed(anyhow::anyhow!(
            "what carries the demand is slower than the storage of today: accept that with --may-be-slower, or widen --provider"
        )));
    }
    if !is_carried {
        return Err(Trouble::Failed(anyhow::anyhow!(
            "no configuration carries the demand: widen --provider or --stripe, or loosen --objective or --headroom, or size for a --percentile"
        )));
    }
    Ok(())
}

fn files(args: &SizeArgs) -> impl Iterator<Item = &PathBuf> {
    [&args.json, &args.html, &args.markdown, &args.csv, &args.terraform].into_iter().flatten()
}

fn search(args: &SizeArgs, offers: &Offers) -> Result<Search, Trouble> {
    let unknown = |unknown: UnknownProvider| Trouble::usage(unknown.to_string());
    let among = Search::among(&offers.catalogue, &args.provider).map_err(unknown)?;
    let machine = args.machine.as_deref().map(|text| machine(text, offers)).transpose()?;
    Ok(Search { machine, widest: args.stripe, ..among })
}

/// A machine as it stands behind `on` in a configuration.
fn machine(text: &str, offers: &Offers) -> Result<Part, Trouble> {
    let config: Result<Config, _> = format!("any on {text}").parse();
    let part = config.ok().and_then(|config| config.machine);
    let part = part.ok_or_else(|| Trouble::usage(format!("{text:?} is no machine: write such as aws/m5.large")))?;
    let found = offers.catalogue.find(&part.product).map_err(|unknown| Trouble::usage(unknown.to_string()))?;
    if found.kind() != ProductKind::Machine {
        return Err(Trouble::usage(format!("{} is no machine: name one, such as aws/m5.large", part.product)));
    }
    Ok(part)
}

fn design(args: &SizeArgs) -> Result<Design, Trouble> {
    let none = "how much has to be kept? The reports do not say: give --capacity, such as --capacity 2TiB";
    if args.growth.is_some() && args.months.is_none() && !args.what_if.contains(&WhatIfWord::Growth) {
        return Err(Trouble::usage("for how long does it grow? Give --months, such as --months 36"));
    }
    if args.free.0 >= 0.9 {
        return Err(Trouble::usage("--free: volumes have to hold more than a tenth: give less than 90 %"));
    }
    // Without months it is today's load that is sized for, and growth is what would be if.
    let growth = args.growth.map(|yearly| (yearly, args.months.unwrap_or(0)));
    Ok(Design {
        quantile: args.percentile.map(|percentile| percentile.0),
        burst: args.burst.0,
        growth: growth.map_or_else(Growth::default, |(yearly, months)| Growth { yearly: yearly.0, months }),
        headroom: args.headroom.0,
        capacity: capacity(args.capacity.ok_or_else(|| Trouble::usage(none))?)?,
        free: args.free.0,
        objectives: args.objective.clone(),
        may_be_slower: args.may_be_slower,
    })
}

/// A capacity that a volume can have: one that is given without its unit is taken for bytes.
pub fn capacity(capacity: Bytes) -> Result<Bytes, Trouble> {
    if capacity < LEAST_CAPACITY {
        return Err(Trouble::usage(format!(
            "--capacity: {capacity} is less than any volume: write it with its unit, such as 2TiB"
        )));
    }
    Ok(capacity)
}

/// The database that was named, or the only one.
fn subject<'d>(demand: &'d Demand, name: Option<&str>) -> Result<&'d Subject, Trouble> {
    let names = || demand.subjects.iter().map(|subject| subject.name.as_str());
    match (name, demand.subjects.as_slice()) {
        (Some(name), subjects) => {
            let found = subjects.iter().find(|subject| subject.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| {
                let near = nearest(name, names());
                let known = one_of(&names().collect::<Vec<_>>());
                let mean = if near.is_empty() { String::new() } else { format!("; did you mean {}?", one_of(&near)) };
                Trouble::usage(format!("the reports are of no database {name:?}{mean}: they are of {known}"))
            })
        }
        (None, [only]) => Ok(only),
        (None, []) => Err(Trouble::usage("the reports say nothing of operations: give an AWR report, or iostat")),
        (None, _) => Err(Trouble::usage(format!(
            "the reports are of several databases or hosts: choose one with --database: {}",
            one_of(&names().collect::<Vec<_>>())
        ))),
    }
}

/// Every form of the result, and text unless one of them takes standard output.
fn write(args: &SizeArgs, page: &Page, sizing: &Sizing, what_ifs: &WhatIfs) -> Result<(), Trouble> {
    if let Some(path) = &args.html {
        put(path, plimsoll_report::page_html(page).as_bytes())?;
    }
    if let Some(path) = &args.markdown {
        put(path, plimsoll_report::page_markdown(page).as_bytes())?;
    }
    if let Some(path) = &args.json {
        put(path, &plimsoll_report::sizing_json(sizing, what_ifs))?;
    }
    if let Some(path) = &args.csv {
        put(path, plimsoll_report::page_csv(page).as_bytes())?;
    }
    if let Some(path) = &args.terraform {
        let fragment = plimsoll_report::terraform(sizing);
        let fragment = fragment.unwrap_or_else(|| "# No cloud volume carries the demand: nothing to buy.\n".to_owned());
        put(path, fragment.as_bytes())?;
    }
    if files(args).any(|path| path.as_os_str() == "-") {
        return Ok(());
    }
    let outputs = Outputs::plain(args.no_color);
    outputs.print(&plimsoll_report::page_text(page, outputs.style()))
}
