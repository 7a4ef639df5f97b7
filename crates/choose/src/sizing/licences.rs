//! Machines with fewer processors for databases that are licensed by them.

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms};

use super::assess::Assessor;
use super::machines::Fleet;
use super::{Attachment, Best, Sizing, Wanted};

/// For Oracle Database: the priced machine with the fewest processors that carries the recommended configuration, if it
/// has fewer than the recommended machine. Such are the sizes with constrained cores of Azure.
pub fn fewer_processors(catalogue: &Catalogue, terms: &PriceTerms, sizing: &Sizing) -> Option<Attachment> {
    sizing.wanted.platform.oracle_release.as_ref()?;
    let (machine, parts): (&Attachment, Vec<(&Wanted, &Offer)>) = match sizing.best()? {
        Best::Single(choice) | Best::Slower(choice) | Best::Doubtful(choice) => {
            (choice.machine.as_ref()?, vec![(&sizing.wanted, &choice.offer)])
        }
        Best::Layout(layout) => {
            let parts = layout.parts.iter().map(|part| (&part.wanted, &part.choice.offer));
            (layout.machine.as_ref()?, parts.collect())
        }
    };
    let vcpus = machine.offer.machine_shape()?.vcpus?;
    let whole = Assessor::new(catalogue, terms, &sizing.wanted);
    let assessors: Vec<Assessor<'_>> =
        parts.iter().map(|(wanted, _)| Assessor::new(catalogue, terms, wanted)).collect();
    let parts: Vec<_> = assessors.iter().zip(&parts).map(|(assessor, (_, offer))| (assessor, *offer)).collect();
    Fleet::of(&whole, parts[0].1)?.fewest_processors(&parts, sizing.wanted.room(), vcpus)
}
