//! How long a choice lasts when load and capacity grow, and what would carry them later.

use plimsoll_catalogue::{Catalogue, Offer, Terms};
use plimsoll_ingest::Subject;

use crate::sizing::{Choice, Design, Growth, Rejection, Search, Sizing, Unclear, Wanted, judge, size, wanted};

/// What is looked for: beyond it nothing is said.
pub const HORIZON_MONTHS: u32 = 120;
/// Months from now for which storage is sized again.
const LATER: [u32; 3] = [12, 24, 36];

/// How a choice and its successors stand over the months.
#[derive(Clone, Debug)]
pub struct Outgrown {
    /// The choice.
    pub offer: Offer,
    /// Share by which load and capacity grow in a year.
    pub yearly: f64,
    /// The first month in which it does not suffice any more, and why; none within [`HORIZON_MONTHS`].
    pub ends: Option<(u32, NoLonger)>,
    /// What would be bought for later months.
    pub later: Vec<Later>,
}

/// Why a choice does not suffice any more.
#[derive(Clone, Debug)]
pub enum NoLonger {
    /// It does not carry the load, with the headroom, or keep the bytes.
    Carries(Rejection),
    /// Its response times, as simulated, miss the objective.
    Meets,
}

/// What would be bought for a month.
#[derive(Clone, Debug)]
pub struct Later {
    /// Months from now.
    pub months: u32,
    /// What would have to be carried then.
    pub wanted: Wanted,
    /// The cheapest that would; none when nothing does.
    pub choice: Option<Choice>,
}

/// How long the cheapest choice lasts at the design's growth. None when nothing was chosen.
pub fn growth(
    catalogue: &Catalogue,
    terms: &Terms,
    search: &Search,
    sizing: &Sizing,
    (subject, design): (&Subject, &Design),
) -> Result<Option<Outgrown>, Unclear> {
    let Some(choice) = sizing.choices.first() else { return Ok(None) };
    let yearly = design.growth.yearly;
    let at = |months: u32| wanted(subject, &Design { growth: Growth { yearly, months }, ..design.clone() });
    let fails = |months: u32| -> Result<Option<NoLonger>, Unclear> {
        Ok(fails(judge(catalogue, &choice.offer.config, &at(months)?, terms)))
    };
    let later = |months: u32| -> Result<Later, Unclear> {
        let wanted = at(months)?;
        let choice = size(catalogue, &wanted, terms, search).choices.into_iter().next();
        Ok(Later { months, wanted, choice })
    };
    Ok(Some(Outgrown {
        offer: choice.offer.clone(),
        yearly,
        ends: if yearly > 0.0 { first_month(fails)? } else { None },
        later: LATER.into_iter().map(later).collect::<Result<_, _>>()?,
    }))
}

/// Why a configuration does not suffice; `None` if it does.
fn fails(judged: Result<Choice, Rejection>) -> Option<NoLonger> {
    match judged {
        Err(rejection) => Some(NoLonger::Carries(rejection)),
        Ok(choice) => (!choice.meets()).then_some(NoLonger::Meets),
    }
}

/// The first month that fails, by halving: what a load outgrows stays outgrown while it grows.
fn first_month(fails: impl Fn(u32) -> Result<Option<NoLonger>, Unclear>) -> Result<Option<(u32, NoLonger)>, Unclear> {
    let Some(mut why) = fails(HORIZON_MONTHS)? else { return Ok(None) };
    // The first that fails is in these, and the last of them does.
    let (mut from, mut to) = (0, HORIZON_MONTHS);
    while from < to {
        let middle = u32::midpoint(from, to);
        match fails(middle)? {
            Some(reason) => (to, why) = (middle, reason),
            None => from = middle + 1,
        }
    }
    Ok(Some((to, why)))
}
