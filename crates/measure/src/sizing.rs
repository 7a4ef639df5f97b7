//! Sizing of the databases and hosts of inputs: search of the catalogue, design point, alternatives and what-ifs.

mod values;

use std::sync::Arc;

use plimsoll_catalogue::{Config, Money, Part, PriceTerms, ProductKind, nearest, one_of};
use plimsoll_choose::elapsed::{JobTimes, StorageJob, jobs_of_choices};
use plimsoll_choose::sizing::{
    Alternatives, Assumption, Design, DesignError, HitAssumption, Pool, PresentCost, Search, Sizing, check_counted,
    derive_requirements, fewer_processors, layouts, more_processors, size,
};
use plimsoll_choose::what_if::{Tuning, WhatIfs, cache, growth, memory_first, parts, replay_levels, tiers};
use plimsoll_ingest::{Caution, DatabaseDemand, Demand, Doubt, InstanceResource, Reading, Resource};
use plimsoll_language::label;
use plimsoll_units::Bytes;

use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::offers::Offers;

pub use values::{BurstWord, Percentile, RamPrice, YearlyGrowth};

/// Minimum capacity of a volume.
pub const MIN_CAPACITY: Bytes = Bytes::mib(1);

/// Candidates of a sizing, and today's configurations.
#[derive(Clone, Debug)]
pub struct SizingScope {
    /// Names of providers or products; empty for all.
    pub providers: Vec<String>,
    /// The machine that the volumes are attached to.
    pub machine: Option<String>,
    /// Maximum number of volumes in a stripe.
    pub max_stripe: u32,
    /// Includes platforms on which the vendor of the database does not support it.
    pub has_unsupported: bool,
    /// Today's configurations.
    pub today: Vec<String>,
    /// Threads of the search.
    pub pool: Arc<dyn Pool>,
}

/// Parameters of a sizing.
#[derive(Clone, Debug)]
pub struct SizingRequest {
    /// The database or host; `None` for the only one.
    pub database: Option<String>,
    /// Bytes to store today; `None` for those that the inputs state.
    pub capacity: Option<Bytes>,
    /// The rules; capacity and, for a claim, free space are those of the request and inputs.
    pub design: Design,
    pub what_ifs: WhatIfRequest,
}

/// What-ifs of a sizing.
#[derive(Clone, Debug, Default)]
pub struct WhatIfRequest {
    pub levels: Option<Tuning>,
    /// A larger cache, with the price of memory per GiB and month.
    pub cache: Option<Option<Money>>,
    pub growth: bool,
    pub tiers: bool,
    pub jobs: Vec<StorageJob>,
    /// Elapsed time of the work of the inputs' windows.
    pub job_of_inputs: bool,
    /// Maximum number of choices with elapsed times.
    pub max_choices: usize,
}

/// The checked scope of a sizing: offers, terms, candidates and the cost of today's configurations.
#[derive(Debug)]
pub struct SizingSearch<'o> {
    offers: &'o Offers,
    terms: PriceTerms,
    search: Search,
    present: Option<PresentCost>,
}

impl<'o> SizingSearch<'o> {
    /// Checks the scope, before inputs are read.
    ///
    /// # Errors
    /// Unknown providers, machines or configurations, or those that exclude each other.
    pub fn new(offers: &'o Offers, scope: &SizingScope) -> Result<Self, MeasureError> {
        let terms = offers.ranking_terms()?;
        let search = scope_search(offers, scope)?;
        let present = price_today(offers, &terms, &scope.today)?;
        Ok(Self { offers, terms, search, present })
    }

    /// Sizes for the demand of the readings.
    ///
    /// # Errors
    /// The inputs lack figures, or are of several databases.
    pub fn size(&self, request: &SizingRequest, readings: &[&Reading]) -> Result<(Sizing, WhatIfs), MeasureError> {
        let demand = Demand::of(readings);
        let subject = find_subject(&demand, request.database.as_deref())
            .map_err(|error| single_snapshot(readings).unwrap_or(error))?;
        if !request.design.assumes_blocks {
            check_counted(subject).map_err(design_error)?;
        }
        let (capacity, stated) = find_capacity(request.capacity, subject, readings)?;
        // The capacity of a claim includes the free space.
        let free = if matches!(stated, Some(Assumption::ClaimCapacity(_))) { 0.0 } else { request.design.free };
        let design = Design { capacity, free, ..request.design.clone() };
        let mut required = derive_requirements(subject, &design).map_err(design_error)?;
        required.assumptions.extend(stated);
        let (catalogue, terms, search) = (&self.offers.catalogue, &self.terms, &self.search);
        let mut sizing = size(catalogue, &required, terms, search);
        sizing.layouts = layouts(catalogue, terms, search, &sizing);
        sizing.present.clone_from(&self.present);
        Alternatives { catalogue, terms, search, subject, design: &design }.find(&mut sizing);
        sizing.hits = HitAssumption::of(catalogue, terms, &sizing);
        if search.machine.is_none() {
            sizing.fewer_processors = fewer_processors(catalogue, terms, &sizing);
            sizing.more_processors = more_processors(catalogue, terms, &sizing);
        }
        let what_ifs = self.find_what_ifs(&request.what_ifs, &sizing, (subject, &design), readings)?;
        Ok((sizing, what_ifs))
    }

    fn find_what_ifs(
        &self,
        request: &WhatIfRequest,
        sizing: &Sizing,
        (subject, design): (&DatabaseDemand, &Design),
        readings: &[&Reading],
    ) -> Result<WhatIfs, MeasureError> {
        let (catalogue, terms, search) = (&self.offers.catalogue, &self.terms, &self.search);
        // The curve of a single trace covers all of it; curves of several cannot be added.
        let mut curves = readings.iter().flat_map(|reading| &reading.curves);
        let misses = curves.next().filter(|_| curves.next().is_none());
        let memory = memory_first(catalogue, terms, search, sizing, misses);
        let jobs = self.compute_jobs(request, sizing)?;
        let mut found = WhatIfs { memory, jobs, ..WhatIfs::default() };
        found.levels = request.levels.map(|tuning| replay_levels(catalogue, terms, sizing, subject, tuning));
        if let Some(memory_price) = request.cache {
            let basis = (subject.account.as_ref(), misses, memory_price);
            let cache = cache(catalogue, terms, search, sizing, basis);
            found.cache = Some(cache.ok_or(InvalidRequest::NoCacheEffect)?);
        }
        if request.growth {
            found.growth = growth(catalogue, terms, search, sizing, (subject, design)).map_err(design_error)?;
        }
        if request.tiers {
            let separated = tiers(catalogue, terms, search, readings, (subject, design));
            found.tiers = Some(separated.map_err(MeasureError::usage)?);
        }
        Ok(found)
    }

    /// Elapsed times of the requested jobs.
    fn compute_jobs(&self, request: &WhatIfRequest, sizing: &Sizing) -> Result<Option<JobTimes>, MeasureError> {
        let account = sizing.required.account.as_deref().filter(|_| request.job_of_inputs);
        if request.job_of_inputs && account.is_none() {
            return Err(InvalidRequest::NoWaits.into());
        }
        let is_requested = request.job_of_inputs || !request.jobs.is_empty();
        let pool = &*self.search.pool;
        Ok(is_requested.then(|| jobs_of_choices(&request.jobs, sizing, account, (pool, request.max_choices))))
    }
}

/// The design point cannot be derived.
fn design_error(error: DesignError) -> MeasureError {
    MeasureError::usage(error)
}

fn scope_search(offers: &Offers, scope: &SizingScope) -> Result<Search, MeasureError> {
    let providers = &scope.providers;
    let among = Search::among(&offers.catalogue, providers)
        .map_err(|error| InvalidRequest::of_subject("--provider", &error))?;
    let search = Search {
        machine: scope.machine.as_deref().map(|text| parse_machine(text, offers)).transpose()?,
        widest: scope.max_stripe,
        has_unsupported: scope.has_unsupported,
        pool: Arc::clone(&scope.pool),
        ..among
    };
    match scope.machine.as_deref() {
        Some(machine) if search.is_empty(&offers.catalogue) && !providers.is_empty() => {
            Err(InvalidRequest::MachineOfOtherProvider {
                machine: machine.to_owned(),
                providers: providers.join(label!(", ")),
            }
            .into())
        }
        _ => Ok(search),
    }
}

/// The cost of today's configurations; `None` without any.
fn price_today(offers: &Offers, terms: &PriceTerms, today: &[String]) -> Result<Option<PresentCost>, MeasureError> {
    let config = |text: &String| match text
        .split_once('@')
        .filter(|(_, machine)| machine.contains('/') && !machine.contains(' '))
    {
        Some((volume, machine)) => {
            Err(InvalidRequest::MachineSyntax { volume: volume.to_owned(), machine: machine.to_owned() }.into())
        }
        None => text.parse::<Config>().map_err(|error| InvalidRequest::of_subject("--today", &error).into()),
    };
    let configs: Vec<Config> = today.iter().map(config).collect::<Result<_, MeasureError>>()?;
    let cost = PresentCost::of(&offers.catalogue, &configs, terms)
        .map_err(|refusal| InvalidRequest::of_subject("--today", &refusal))?;
    Ok(Some(cost).filter(|_| !configs.is_empty()))
}

/// Parses a machine in the syntax of configurations.
fn parse_machine(text: &str, offers: &Offers) -> Result<Part, MeasureError> {
    let config: Result<Config, _> = format!("any on {text}").parse();
    let part = config.ok().and_then(|config| config.machine);
    let part = part.ok_or_else(|| InvalidRequest::NotMachine(format!("{text:?}")))?;
    let found = offers.catalogue.find_machine(&part.product).map_err(|unknown| {
        let has_near = !unknown.nearest.is_empty();
        if has_near { MeasureError::usage(unknown) } else { InvalidRequest::UnknownMachine(unknown.to_string()).into() }
    })?;
    if found.kind() != ProductKind::Machine {
        return Err(InvalidRequest::NotMachine(part.product).into());
    }
    Ok(part)
}

/// The capacity of the request, or else that of the inputs, as an assumption.
fn find_capacity(
    requested: Option<Bytes>,
    subject: &DatabaseDemand,
    readings: &[&Reading],
) -> Result<(Bytes, Option<Assumption>), MeasureError> {
    match (requested, stored_capacity(subject)) {
        (Some(capacity), _) => Ok((capacity, None)),
        (None, Some(stored)) => Ok((stored, Some(Assumption::StoredBytes(stored)))),
        (None, None) => {
            let capacity = find_claim_capacity(subject, readings)?;
            Ok((capacity, Some(Assumption::ClaimCapacity(capacity))))
        }
    }
}

/// The size on disk that the inputs state.
pub fn stored_capacity(subject: &DatabaseDemand) -> Option<Bytes> {
    Some(Bytes::new(subject.account.as_ref()?.stored_bytes?.ceil() as u64))
}

/// The capacity of the claim of Kubernetes that is the only part of the inputs.
fn find_claim_capacity(subject: &DatabaseDemand, readings: &[&Reading]) -> Result<Bytes, MeasureError> {
    let parts = parts(readings.iter().copied());
    let is_capacity = |entry: &&InstanceResource| entry.resource == Resource::ClaimCapacity;
    let capacities: Vec<&InstanceResource> = subject.resources.iter().filter(is_capacity).collect();
    match capacities.as_slice() {
        [claim] if parts.iter().eq([claim.instance.as_str()].iter()) => Ok(Bytes::new(claim.value.ceil() as u64)),
        [] => Err(InvalidRequest::NoCapacity.into()),
        claims => {
            let names: Vec<&str> = claims.iter().map(|claim| claim.instance.as_str()).collect();
            Err(InvalidRequest::SeveralClaims(one_of(&names)).into())
        }
    }
}

/// Checks a capacity; a number without a unit would be bytes.
///
/// # Errors
/// It is below 1 MiB.
pub fn check_capacity(capacity: Bytes) -> Result<(), MeasureError> {
    if capacity < MIN_CAPACITY {
        return Err(InvalidRequest::SmallCapacity(capacity).into());
    }
    Ok(())
}

/// The error of inputs that are a single snapshot of counters since a reset at an unknown time.
fn single_snapshot(readings: &[&Reading]) -> Option<MeasureError> {
    let is_empty = readings.iter().all(|reading| reading.figures.is_empty());
    let cautions = readings.iter().flat_map(|reading| reading.cautions.iter().map(move |caution| (reading, caution)));
    let is_single = |caution: &Caution| matches!(caution.doubt, Doubt::SingleSnapshot | Doubt::MeanSinceReset);
    let (reading, caution) = cautions.into_iter().find(|(_, caution)| is_single(caution))?;
    is_empty.then(|| InvalidRequest::of_subject(&reading.name, &caution.doubt).into())
}

/// A name as an argument; an empty one with its meaning.
fn name_subject(name: &str) -> &str {
    if name.is_empty() { label!("'' (without a name in the reports)") } else { name }
}

/// Fails for readings without a load.
///
/// # Errors
/// No reading has operations of storage.
pub fn check_load(demand: &Demand) -> Result<(), MeasureError> {
    if demand.subjects.is_empty() { Err(InvalidRequest::NoOperations.into()) } else { Ok(()) }
}

/// The named database, or the only one.
fn find_subject<'d>(demand: &'d Demand, name: Option<&str>) -> Result<&'d DatabaseDemand, MeasureError> {
    let names = || demand.subjects.iter().map(|subject| name_subject(&subject.name));
    match (name, demand.subjects.as_slice()) {
        (Some(name), subjects) => {
            let found = subjects.iter().find(|subject| subject.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| {
                let near = nearest(name, names());
                let databases = one_of(&names().collect::<Vec<_>>());
                let (name, is_similar) = (name.to_owned(), !near.is_empty());
                MeasureError::from(if is_similar {
                    InvalidRequest::SimilarDatabase { name, near: one_of(&near), databases }
                } else {
                    InvalidRequest::UnknownDatabase { name, databases }
                })
            })
        }
        (None, [only]) => Ok(only),
        (None, []) => Err(InvalidRequest::NoOperations.into()),
        (None, _) => Err(InvalidRequest::SeveralSubjects(one_of(&names().collect::<Vec<_>>())).into()),
    }
}
