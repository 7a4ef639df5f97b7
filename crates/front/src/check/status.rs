//! Metadata contexts and block status.

use plimsoll_device::nbd::TalkError;
use plimsoll_device::nbd::wire::{ALLOCATION, Style, command, command_flag, option, rep};

use super::probe::{Probe, ProbeSession, accepted, worded};
use super::{CheckOutcome, Feature, FeatureCheck};

const AREA: &str = "metadata";

const EINVAL: u32 = 22;

pub(super) const FEATURES: &[Feature] = &[
    Feature { area: AREA, name: "LIST_META_CONTEXT", run: list },
    Feature { area: AREA, name: "SET_META_CONTEXT ignores unknown contexts", run: set },
    Feature { area: AREA, name: "BLOCK_STATUS, structured replies", run: |probe| status(probe, Style::Structured) },
    Feature { area: AREA, name: "BLOCK_STATUS, extended headers", run: |probe| status(probe, Style::Extended) },
    Feature { area: AREA, name: "BLOCK_STATUS without a context: EINVAL", run: without },
];

fn query(export: &str, queries: &[&str]) -> Vec<u8> {
    let mut data = [&(export.len() as u32).to_be_bytes()[..], export.as_bytes()].concat();
    data.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(query.as_bytes());
    }
    data
}

fn list(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.talk()?;
    if !accepted(&talk.option(option::STRUCTURED_REPLY, &[])?) {
        return Ok(CheckOutcome::unsupported("", "structured replies are not negotiated"));
    }
    let replies = talk.option(option::LIST_META_CONTEXT, &query(&probe.address.export, &[]))?;
    if !accepted(&replies) {
        return Ok(CheckOutcome::unsupported("LIST_META_CONTEXT without queries", worded(&replies)));
    }
    let names = replies.iter().filter(|replies| replies.kind == rep::META_CONTEXT);
    let names: Vec<_> =
        names.map(|replies| String::from_utf8_lossy(replies.data.get(4..).unwrap_or_default())).collect();
    Ok(CheckOutcome::judged(true, "LIST_META_CONTEXT without queries", names.join(", ")))
}

fn set(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.talk()?;
    if !accepted(&talk.option(option::STRUCTURED_REPLY, &[])?) {
        return Ok(CheckOutcome::unsupported("", "structured replies are not negotiated"));
    }
    let data = query(&probe.address.export, &["x-plimsoll:unknown", "base:unknown", "base:"]);
    let replies = talk.option(option::SET_META_CONTEXT, &data)?;
    if replies.last().is_some_and(|replies| replies.kind == rep::ERR_UNSUP) {
        return Ok(CheckOutcome::unsupported("SET_META_CONTEXT", worded(&replies)));
    }
    let chosen = replies.iter().filter(|replies| replies.kind == rep::META_CONTEXT).count();
    let sent = "SET_META_CONTEXT of x-plimsoll:unknown, base:unknown and base:";
    Ok(CheckOutcome::judged(accepted(&replies) && chosen == 0, sent, worded(&replies)))
}

/// A session with `base:allocation`; `None` if the server does not support it in this style.
fn open_session(probe: &Probe<'_>, style: Style) -> Result<Option<ProbeSession>, TalkError> {
    probe.session_with(style, |talk| {
        let replies = talk.option(option::SET_META_CONTEXT, &query(&probe.address.export, &[ALLOCATION]))?;
        Ok(accepted(&replies) && replies.iter().any(|replies| replies.kind == rep::META_CONTEXT))
    })
}

fn status(probe: &Probe<'_>, style: Style) -> FeatureCheck {
    let Some(mut session) = open_session(probe, style)? else {
        return Ok(CheckOutcome::unsupported("", "not negotiated"));
    };
    let block = u64::from(probe.block());
    let max = if style == Style::Extended { u64::MAX } else { 1 << 30 };
    let length = probe.chosen.size.min(max) / block * block;
    let all = session.exchange(command::BLOCK_STATUS, 0, 0, length, &[])?;
    let one = session.exchange(command::BLOCK_STATUS, command_flag::REQ_ONE, 0, block, &[])?;
    let covered: u64 = all.extents.iter().map(|(length, _)| length).sum();
    let before_last = covered - all.extents.last().map_or(0, |(length, _)| *length);
    let one_fits = one.is_good() && one.extents.len() == 1 && one.extents[0].0 <= block;
    let fits = all.is_good() && covered > 0 && before_last < length && all.extents.iter().all(|(run, _)| *run > 0);
    let holes = all.extents.iter().filter(|(_, state)| state & 1 != 0).count();
    let sent = format!("BLOCK_STATUS {length} at 0, and {block} with REQ_ONE");
    let got = format!(
        "{}: {} extents, {holes} holes, {covered} bytes; {}: {} extent",
        all.worded(),
        all.extents.len(),
        one.worded(),
        one.extents.len()
    );
    Ok(CheckOutcome::judged(fits && one_fits, sent, got))
}

fn without(probe: &Probe<'_>) -> FeatureCheck {
    let Some(mut session) = probe.session(Style::Structured)? else {
        return Ok(CheckOutcome::unsupported("", "structured replies are not negotiated"));
    };
    let reply = session.exchange(command::BLOCK_STATUS, 0, 0, u64::from(probe.block()), &[])?;
    let after = session.read(0, probe.block())?;
    let got = format!("{}, {}", reply.worded(), after.worded());
    Ok(CheckOutcome::judged(reply.is_refused(&[EINVAL]) && after.is_good(), "BLOCK_STATUS, then READ", got))
}
