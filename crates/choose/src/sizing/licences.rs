//! Processor licences of a machine, and machines with fewer processors for databases that are licensed by them, or with more
//! where the input leaves their number open.

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms};

use super::assess::Assessor;
use super::machines::Fleet;
use super::{Attachment, Sizing, SizingRequirements};

/// Processor licences of Oracle Database Enterprise Edition for the machines of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorLicences {
    /// If two vCPUs share a core.
    pub of_threads: f64,
    /// If each vCPU is a core, as on some AMD machines, and with multi-threading disabled.
    pub of_cores: f64,
}

impl ProcessorLicences {
    /// Those of machines of AWS, Azure and Google Cloud; `None` for other providers, whose rules were not read. The core
    /// factor does not apply.
    ///
    /// Source: Oracle, "Licensing Oracle Software in the Cloud Computing Environment" (2024-06), at second hand
    /// (`SoftwareOne`, 2024-07-11): two vCPUs count as a licence with multi-threading, one without.
    pub fn of(machine: &Attachment) -> Option<Self> {
        let shape = machine.offer.machine_shape()?;
        let (provider, _) = shape.name.split_once('/')?;
        let (vcpus, count) = (shape.vcpus?, f64::from(machine.count));
        let is_counted = matches!(provider, "aws" | "azure" | "gcp");
        is_counted.then(|| Self { of_threads: (vcpus / 2.0).ceil() * count, of_cores: vcpus.ceil() * count })
    }
}

/// For Oracle Database: the priced machine with the fewest processors that carries the recommended configuration, if it
/// has fewer than the recommended machine. Such are the sizes with constrained cores of Azure. It does not need fewer
/// licences if its vCPUs are cores and those of the recommended machine are threads.
pub fn fewer_processors(catalogue: &Catalogue, terms: &PriceTerms, sizing: &Sizing) -> Option<Attachment> {
    if !sizing.required.platform.is_oracle() {
        return None;
    }
    let vcpus = sizing.best_machine()?.offer.machine_shape()?.vcpus?;
    machine_for(catalogue, terms, sizing, &sizing.required, |fleet, parts| {
        fleet.fewest_processors(parts, sizing.required.room(), vcpus)
    })
}

/// The cheapest machine that carries the recommended configuration and has the processors that may be needed, if the recommended
/// one has fewer; `None` if all are certain.
pub fn more_processors(catalogue: &Catalogue, terms: &PriceTerms, sizing: &Sizing) -> Option<Attachment> {
    let needed = sizing.required.possible_processors()?;
    let vcpus = sizing.best_machine()?.offer.machine_shape()?.vcpus?;
    if vcpus >= needed {
        return None;
    }
    let mut required = sizing.required.clone();
    required.compute.processors = Some(needed);
    machine_for(catalogue, terms, sizing, &required, |fleet, parts| {
        let total = Assessor::new(catalogue, terms, &required);
        fleet.for_all(&total, parts).ok()
    })
}

/// A machine of the provider for the recommended configuration, among those with the processors and memory of `required`.
fn machine_for(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    sizing: &Sizing,
    required: &SizingRequirements,
    pick: impl Fn(&Fleet, &[(&Assessor<'_>, &Offer)]) -> Option<Attachment>,
) -> Option<Attachment> {
    let parts = sizing.best()?.parts(&sizing.required);
    let assessors: Vec<Assessor<'_>> =
        parts.iter().map(|(required, _)| Assessor::new(catalogue, terms, required)).collect();
    let parts: Vec<_> = assessors.iter().zip(&parts).map(|(assessor, (_, choice))| (assessor, &choice.offer)).collect();
    let fleet = Fleet::of(&Assessor::new(catalogue, terms, required), parts[0].1)?;
    pick(&fleet, &parts)
}
