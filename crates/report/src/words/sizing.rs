//! Sizing as text: reasons for rejections, and what a choice consists of.

mod assumption;
mod cost;
mod demand;
mod effect;
mod limit;
mod machine;
mod uncarried;

use plimsoll_catalogue::Money;
use plimsoll_choose::sizing::{
    Attachment, Choice, DesignLimit, DesignPoint, Exclusion, Rejection, RejectionReason, RiskDetail, RiskKind,
    VolumeLayout,
};
use plimsoll_language::{label, say};

pub(crate) use self::assumption::{assumption, step_name, step_source};
pub(crate) use self::cost::{
    explain_lack, format_price, machine_price, machine_price_origin, missing_price, saving, storage_price,
    unpriced_machines,
};
pub(crate) use self::demand::{
    answer, assumed_load, backlog, busiest, cluster, decimal_capacity, describe_growth_step, describe_measured_load,
    exadata, expected_range, explain_censoring, incomplete_windows, length, lone_window, lower_bound,
    measured_by_factor, objectives, other_problem, other_remedy, point, smaller_than_stored,
};
pub(crate) use self::effect::{
    accepted_by, assumed_reads, filtering_added, format_time_change, hit_assumption, memory_first, reached,
    saved_share, saved_to_limit, slower, slower_classes, today,
};
pub(crate) use self::limit::{first_limit, limit, limit_rate, limit_rate_and_room, reason, room};
pub(crate) use self::machine::{
    busy_hours_source, compute, compute_origin, foreign_platform, format_shape, licences, machine,
    memory_not_of_database, more_vcpus, notable_scans, processors_without_peaks, unpriced_licences, vcpu_count,
};
pub use self::uncarried::{slower_than_unpriced, uncarried};
use super::{clean, no_configuration, offer, product_text};
use crate::number;

/// Unverified figures of a choice, and machines without a price: `price, latency, few machine prices`.
pub(crate) fn doubts(choice: &Choice) -> String {
    let mut sorts: Vec<&str> = Vec::new();
    let of_machine = choice.machine.as_ref().map(Attachment::price_risks).unwrap_or_default();
    for one in choice.risks.iter().filter(|one| one.kind != RiskKind::Needs && !of_machine.contains(one)) {
        let sort = if one.kind == RiskKind::Price && choice.has_unverified_price() {
            label!("unverified price")
        } else {
            risk(one.kind)
        };
        if !sorts.contains(&sort) {
            sorts.push(sort);
        }
    }
    if !of_machine.is_empty() {
        sorts.push(machine_price_doubt());
    }
    if choice.machine.as_ref().is_some_and(|machine| unpriced_machines(machine).is_some()) {
        sorts.push(label!("few machine prices"));
    }
    sorts.join(label!(", "))
}

/// The doubt about a price of a machine that is old, unverified, or not that of the commitment.
pub(crate) fn machine_price_doubt() -> &'static str {
    label!("price of the machine")
}

/// Levels by the hour of a demand that lacks hours of the day.
pub(crate) fn partial_plan(changes: &str, covered: u32) -> String {
    say!(
        "by the hour: {changes}; the demand covers {covered} of 24 hours, and the others have the highest level that these need"
    )
}

/// Volumes of a layout: `data on aws/gp3:1000GiB, redo on aws/io2:16GiB,iops=3000`.
pub(crate) fn layout(layout: &VolumeLayout) -> String {
    let part = |part: &plimsoll_choose::sizing::VolumePart| {
        let content = match part.content.name() {
            "data" => label!("data"),
            "redo" => label!("redo"),
            _ => label!("temp"),
        };
        say!("{content} on {}", offer::configuration(&part.choice.offer))
    };
    layout.parts.iter().map(part).collect::<Vec<_>>().join(label!(", "))
}

/// A configuration compared with a cheaper one: `+14 %: 3.4 times faster`.
pub(crate) fn against(point: &DesignPoint, cheaper: &Choice, choice: &Choice) -> String {
    let monthly = |choice: &Choice| choice.total().map(Money::as_f64);
    let waiting = |choice: &Choice| choice.waiting(point).unwrap_or_default();
    let more = monthly(choice).zip(monthly(cheaper)).map(|(own, other)| own / other - 1.0);
    let more = match more {
        None => label!("at an unknown price").to_owned(),
        Some(more) if more < 1.0 => number::change(more, 0),
        Some(more) => say!("x {}", number::three(more + 1.0)),
    };
    say!("{more}: {} times faster", number::three(waiting(cheaper) / waiting(choice)))
}

/// Probability of data loss in a year: `0.8 %`.
pub(crate) fn loss(share: f64) -> String {
    if share < 1e-5 { "< 0.001 %".to_owned() } else { format!("{} %", number::three(share * 100.0)) }
}

/// A rejected configuration with the reason.
pub(crate) fn rejection(rejection: &Rejection) -> String {
    format!("{}: {}", clean(&rejection.name), why(&rejection.reason))
}

/// The reason for a rejection.
pub(crate) fn why(why: &RejectionReason) -> String {
    match why {
        RejectionReason::Ceiling(ceiling) => {
            say!("{}, {} of the requirement", limit(ceiling), number::percent(ceiling.over))
        }
        RejectionReason::Waits(waits) => say!("replayed, {}", backlog(waits)),
        RejectionReason::Sustains { iops, required, held_by } => {
            let (iops, required) = (number::rate(*iops), number::rate(*required));
            say!("it sustains {iops} of {required} IOPS (modelled), limited by {}", product_text(held_by))
        }
        RejectionReason::NoMachine { of, nearest } => {
            let near = |(name, ceiling): &(String, DesignLimit)| {
                say!(
                    "; nearest: {}: {}, {} of the design point",
                    clean(name),
                    limit(ceiling),
                    number::percent(ceiling.over)
                )
            };
            let near = nearest.as_ref().map_or_else(String::new, near);
            say!(
                "no known machine of its provider has the required processors and memory and sufficient limits (of {of})\
                 {near}"
            )
        }
        RejectionReason::NoConfiguration(reason) => no_configuration(reason),
        RejectionReason::NoModel(error) => clean(&error.to_string()),
        RejectionReason::Excluded(why) => exclusion(why),
    }
}

fn exclusion(why: &Exclusion) -> String {
    let text = match why {
        Exclusion::Invalid => label!("it has no valid configuration"),
        Exclusion::Unfit => label!("the load does not fit on it"),
        Exclusion::Capacity(offered, required) => return say!("it holds {offered} of {required}"),
        Exclusion::NoLimits => label!("the catalogue has no limits of it: whether it carries the load is unknown"),
        Exclusion::InstanceClass => label!("its instance class has too few processors or too little memory"),
        Exclusion::LowestLevel => {
            label!("the measured load is below the demand, and its lowest level has no room for more")
        }
        Exclusion::SingleMachine => {
            label!("only a single machine can write to it, while RAC shares volumes among instances")
        }
        Exclusion::SingleInstance => {
            label!("a single instance of it writes, while the database is a cluster of several")
        }
        Exclusion::OtherEngine(engines) => {
            return say!("it runs {}, and the reports are of Oracle Database", clean(engines));
        }
        Exclusion::WorseLatency(statement) | Exclusion::UnsupportedRac(statement) => return product_text(statement),
    };
    text.to_owned()
}

/// The content of a doubt.
pub(crate) fn risk_text(detail: &RiskDetail) -> String {
    match detail {
        RiskDetail::Statement(text) => product_text(text),
        RiskDetail::Ceiling(name, doubt) => say!("\"{}\" {doubt}", product_text(name)),
        RiskDetail::PriceWithout(part) => say!("its price is without {}", product_text(part)),
        RiskDetail::Stripe(members) => say!("the loss of one of {members} volumes loses all of them"),
        RiskDetail::UnknownEngine(engines) => {
            say!("the reports do not show the engine of the database: it runs {engines} only")
        }
        RiskDetail::LargeSectors => {
            label!("sectors of 4 KiB by default: Oracle Database before 12.2 needs the setting sector=512").to_owned()
        }
    }
}

/// Kind of a doubt as a word.
pub(crate) fn risk(sort: RiskKind) -> &'static str {
    match sort {
        RiskKind::Ceiling => label!("ceiling"),
        RiskKind::Latency => label!("latency"),
        RiskKind::Price => label!("price"),
        RiskKind::Needs => label!("needs"),
        RiskKind::Safety => label!("safety"),
    }
}

/// What each managed database leaves to the user, and what the other choices beside it do; none without one.
pub(crate) fn notes_on_managed(choices: &[&Choice]) -> Vec<String> {
    let (managed, own): (Vec<&Choice>, Vec<&Choice>) =
        choices.iter().copied().partition(|choice| choice.offer.product().managed().is_some());
    let mut notes: Vec<String> = Vec::new();
    for product in managed.iter().map(|choice| choice.offer.product()) {
        let of_service = product.managed().map(|service| {
            let (name, engines) = (product.name(), service.engine_titles());
            {
                let (provides, leaves) = (product_text(&service.provides), product_text(&service.leaves));
                say!("{name} is managed ({engines}): {provides}. It leaves to you {leaves}")
            }
        });
        notes.extend(of_service);
    }
    let beside = label!(
        "the other choices are storage for a database of your own: they also leave to you the machine, its \
                  operating system, installation and patches, backups, restores and failover"
    );
    notes.extend((!managed.is_empty() && !own.is_empty()).then(|| beside.to_owned()));
    notes
}
