//! Lifetime of a choice under growth of load and capacity, and its successors.

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms};
use plimsoll_ingest::DatabaseDemand;

use crate::sizing::{
    Choice, Design, DesignError, Growth, Rejection, Search, Sizing, SizingRequirements, derive_requirements, judge,
    size,
};

/// Maximum months to evaluate.
pub const HORIZON_MONTHS: u32 = 120;
/// Months from now for which storage is sized again.
const LATER: [u32; 3] = [12, 24, 36];

/// A choice and its successors over the months.
#[derive(Clone, Debug)]
pub struct Outgrown {
    pub offer: Offer,
    /// Share by which load and capacity grow in a year.
    pub yearly: f64,
    /// The first month in which it is insufficient, with the reason; none within [`HORIZON_MONTHS`].
    pub ends: Option<(u32, OutgrownBy)>,
    /// Sizings for later months.
    pub later: Vec<Later>,
}

/// The reason why a choice becomes insufficient.
#[derive(Clone, Debug)]
pub enum OutgrownBy {
    /// It does not sustain the load with headroom, or is too small.
    Limits(Rejection),
    /// Its simulated response times miss the objective.
    Objective,
}

/// The sizing for a month.
#[derive(Clone, Debug)]
pub struct Later {
    pub months: u32,
    /// The design point.
    pub required: SizingRequirements,
    /// The cheapest suitable choice, if any.
    pub choice: Option<Choice>,
}

/// Evaluates growth for the cheapest choice. None without a choice.
pub fn growth(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    search: &Search,
    sizing: &Sizing,
    (subject, design): (&DatabaseDemand, &Design),
) -> Result<Option<Outgrown>, DesignError> {
    let Some(choice) = sizing.choices.first() else { return Ok(None) };
    let yearly = design.growth.yearly;
    let at =
        |months: u32| derive_requirements(subject, &Design { growth: Growth { yearly, months }, ..design.clone() });
    let fails = |months: u32| -> Result<Option<OutgrownBy>, DesignError> {
        Ok(find_shortfall(judge(catalogue, &choice.offer.config, &at(months)?, terms)))
    };
    let later = |months: u32| -> Result<Later, DesignError> {
        let required = at(months)?;
        let choice = size(catalogue, &required, terms, search).choices.into_iter().next();
        Ok(Later { months, required, choice })
    };
    Ok(Some(Outgrown {
        offer: choice.offer.clone(),
        yearly,
        ends: if yearly > 0.0 { first_month(fails)? } else { None },
        later: LATER.into_iter().map(later).collect::<Result<_, _>>()?,
    }))
}

/// The reason why a configuration is insufficient; `None` if it suffices.
fn find_shortfall(judged: Result<Choice, Rejection>) -> Option<OutgrownBy> {
    match judged {
        Err(rejection) => Some(OutgrownBy::Limits(rejection)),
        Ok(choice) => (!choice.meets()).then_some(OutgrownBy::Objective),
    }
}

/// The first failing month by bisection: failures are monotonic under growth.
fn first_month(
    fails: impl Fn(u32) -> Result<Option<OutgrownBy>, DesignError>,
) -> Result<Option<(u32, OutgrownBy)>, DesignError> {
    let Some(mut reason) = fails(HORIZON_MONTHS)? else { return Ok(None) };
    // Invariant: the first failing month is in `from..=to`, and `to` fails.
    let (mut from, mut to) = (0, HORIZON_MONTHS);
    while from < to {
        let middle = u32::midpoint(from, to);
        match fails(middle)? {
            Some(found) => (to, reason) = (middle, found),
            None => from = middle + 1,
        }
    }
    Ok(Some((to, reason)))
}
