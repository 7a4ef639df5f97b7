//! Processor licences of a machine, and machines with fewer processors for databases that are licensed by them.

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms};

use super::assess::Assessor;
use super::machines::Fleet;
use super::{Attachment, Best, Sizing, SizingRequirements};

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
    sizing.required.platform.oracle_release.as_ref()?;
    let (machine, parts): (&Attachment, Vec<(&SizingRequirements, &Offer)>) = match sizing.best()? {
        Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice) => {
            (choice.machine.as_ref()?, vec![(&sizing.required, &choice.offer)])
        }
        Best::Layout(layout) => {
            let parts = layout.parts.iter().map(|part| (&part.required, &part.choice.offer));
            (layout.machine.as_ref()?, parts.collect())
        }
    };
    let vcpus = machine.offer.machine_shape()?.vcpus?;
    let total = Assessor::new(catalogue, terms, &sizing.required);
    let assessors: Vec<Assessor<'_>> =
        parts.iter().map(|(required, _)| Assessor::new(catalogue, terms, required)).collect();
    let parts: Vec<_> = assessors.iter().zip(&parts).map(|(assessor, (_, offer))| (assessor, *offer)).collect();
    Fleet::of(&total, parts[0].1)?.fewest_processors(&parts, sizing.required.room(), vcpus)
}
