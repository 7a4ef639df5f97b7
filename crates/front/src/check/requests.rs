//! The transmission phase: reads in every style, refusals, and robustness. Does not change the export.

use plimsoll_device::nbd::wire::{Style, command, command_flag, flag};
use plimsoll_device::nbd::{TalkError, WireRequest};
use plimsoll_language::label;

use super::probe::Probe;
use super::{CheckOutcome, Feature, FeatureCheck};

const AREA: &str = "requests";

/// Number of requests sent before the first reply is read.
const MANY: u64 = 64;

const EINVAL: u32 = 22;
const EOVERFLOW: u32 = 75;

pub(super) const FEATURES: &[Feature] = &[
    Feature { area: AREA, name: "READ, simple replies", run: |probe| read(probe, Style::Simple) },
    Feature { area: AREA, name: "READ, structured replies", run: |probe| read(probe, Style::Structured) },
    Feature { area: AREA, name: "READ, extended headers", run: |probe| read(probe, Style::Extended) },
    Feature { area: AREA, name: "READ in one piece (DF)", run: check_whole_requests },
    Feature { area: AREA, name: "READ of the largest payload", run: largest },
    Feature { area: AREA, name: "READ above the largest payload is refused", run: too_large },
    Feature { area: AREA, name: "READ beyond the end: EINVAL, session continues", run: beyond },
    Feature { area: AREA, name: "READ of 0 bytes does not end the session", run: nothing },
    Feature { area: AREA, name: "READ with an offset that overflows", run: overflow },
    Feature { area: AREA, name: "64 requests at once, each answered once", run: many },
    Feature { area: AREA, name: "unknown command: EINVAL, session continues", run: unknown },
    Feature { area: AREA, name: "unknown command flag: EINVAL", run: unknown_flag },
    Feature { area: AREA, name: "FLUSH", run: flush },
    Feature { area: AREA, name: "CACHE", run: cache },
    Feature { area: AREA, name: "DISC after replies to earlier requests", run: disconnect },
    Feature { area: AREA, name: "invalid request leaves other sessions unaffected", run: noise },
    Feature { area: AREA, name: "incomplete request leaves other sessions unaffected", run: half },
    Feature { area: AREA, name: "two connections at once", run: two },
];

fn read(probe: &Probe<'_>, style: Style) -> FeatureCheck {
    let Some(mut session) = probe.session(style)? else {
        return Ok(CheckOutcome::unsupported("", "not negotiated"));
    };
    let length = probe.block();
    let first = session.read(0, length)?;
    let last = session.read(probe.chosen.size - u64::from(length), length)?;
    let good = first.is_good() && last.is_good();
    let sent = format!("READ {length} at the beginning and at the end");
    Ok(CheckOutcome::judged(good, sent, format!("{}, {}", first.worded(), last.worded())))
}

fn check_whole_requests(probe: &Probe<'_>) -> FeatureCheck {
    let Some(mut session) = probe.session(Style::Structured)? else {
        return Ok(CheckOutcome::unsupported("", "structured replies are not negotiated"));
    };
    if session.chosen.flags & flag::SEND_DF == 0 {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_DF"));
    }
    let length = probe.chosen.size.min(65_536);
    let reply = session.exchange(command::READ, command_flag::DF, 0, length, &[])?;
    let got = format!("{} in {} pieces", reply.worded(), reply.pieces);
    Ok(CheckOutcome::judged(reply.is_good() && reply.pieces == 1, format!("READ {length} with DF"), got))
}

fn largest(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let length = u64::from(probe.payload().min(32 << 20)).min(probe.chosen.size);
    let length = (length - length % u64::from(probe.block())) as u32;
    let reply = session.read(0, length)?;
    Ok(CheckOutcome::judged(reply.is_good(), format!("READ {length} at 0"), reply.worded()))
}

fn too_large(probe: &Probe<'_>) -> FeatureCheck {
    let max = probe.payload();
    let length = u64::from(max) + u64::from(probe.block());
    if length > 256 << 20 || length > probe.chosen.size {
        return Ok(CheckOutcome::not_tried("the sizes of the export and of the largest payload do not allow it"));
    }
    let Some(mut session) = probe.session(Style::Structured)? else {
        return Ok(CheckOutcome::not_tried("without structured replies a reply of that size ends the session"));
    };
    let sent = format!("READ {length} at 0, maximum {max}");
    let reply = session.read(0, length as u32)?;
    let fine = reply.is_refused(&[EINVAL, EOVERFLOW]) || reply.is_good();
    Ok(CheckOutcome::judged(fine && probe.is_alive()?, sent, reply.worded()))
}

fn beyond(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let length = probe.block();
    let reply = session.read(probe.chosen.size, length)?;
    let across = session.read(probe.chosen.size - u64::from(length), 2 * length)?;
    let after = session.read(0, length)?;
    let good = reply.is_refused(&[EINVAL]) && across.is_refused(&[EINVAL]) && after.is_good();
    let sent = format!("READ {length} at the end, READ {} across it, READ {length} at 0", 2 * length);
    Ok(CheckOutcome::judged(good, sent, format!("{}, {}, {}", reply.worded(), across.worded(), after.worded())))
}

fn nothing(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let reply = session.read(0, 0)?;
    let after = session.read(0, probe.block())?;
    Ok(CheckOutcome::judged(
        after.is_good(),
        "READ 0 at 0, then READ",
        format!("{}, {}", reply.worded(), after.worded()),
    ))
}

fn overflow(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let length = probe.block();
    let reply = session.read(u64::MAX - u64::from(length) + 1, length)?;
    let after = session.read(0, length)?;
    let sent = format!("READ {length} at 2^64 - {length}");
    Ok(CheckOutcome::judged(reply.errno != 0 && after.is_good(), sent, reply.worded()))
}

fn many(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let length = probe.block();
    let places = (probe.chosen.size / u64::from(length)).max(1);
    let mut waiting = Vec::new();
    for number in 0..MANY {
        let offset = number % places * u64::from(length);
        let request = WireRequest { command: command::READ, offset, length: length.into(), ..WireRequest::default() };
        waiting.push(session.send(&request, &[])?);
    }
    let mut in_order = 0;
    for number in 0..MANY {
        let chunk = session.talk.chunk(length)?;
        let Some(at) = waiting.iter().position(|cookie| *cookie == chunk.cookie) else {
            return Ok(CheckOutcome::judged(false, "", format!("reply {number} has an unknown cookie")));
        };
        in_order += u64::from(at == 0);
        waiting.remove(at);
    }
    Ok(CheckOutcome::judged(true, format!("{MANY} times READ {length}"), format!("{in_order} of the replies in order")))
}

fn unknown(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let reply = session.exchange(0x7a7a, 0, 0, u64::from(probe.block()), &[])?;
    let after = session.read(0, probe.block())?;
    let got = format!("{}, {}", reply.worded(), after.worded());
    Ok(CheckOutcome::judged(reply.is_refused(&[EINVAL]) && after.is_good(), "command 0x7a7a, then READ", got))
}

fn unknown_flag(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let reply = session.exchange(command::READ, 1 << 14, 0, u64::from(probe.block()), &[])?;
    let after = session.read(0, probe.block())?;
    let got = format!("{}, {}", reply.worded(), after.worded());
    Ok(CheckOutcome::judged(reply.is_refused(&[EINVAL]) && after.is_good(), "READ with flag 0x4000, then READ", got))
}

fn flush(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::SEND_FLUSH) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_FLUSH"));
    }
    let reply = probe.simple()?.exchange(command::FLUSH, 0, 0, 0, &[])?;
    Ok(CheckOutcome::judged(reply.is_good(), "FLUSH", reply.worded()))
}

fn cache(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::SEND_CACHE) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_CACHE"));
    }
    let reply = probe.simple()?.exchange(command::CACHE, 0, 0, u64::from(probe.block()), &[])?;
    Ok(CheckOutcome::judged(reply.is_good(), format!("CACHE {} at 0", probe.block()), reply.worded()))
}

fn disconnect(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let length = probe.block();
    let request = WireRequest { command: command::READ, length: length.into(), ..WireRequest::default() };
    for _ in 0..8 {
        session.send(&request, &[])?;
    }
    session.send(&WireRequest { command: command::DISC, ..WireRequest::default() }, &[])?;
    let answered = (0..8).take_while(|_| session.talk.chunk(length).is_ok()).count();
    let ended = session.talk.chunk(0).is_err();
    let got = format!("{answered} replies, {}", if ended { "then the end" } else { "then more data" });
    Ok(CheckOutcome::judged(answered == 8 && ended, "8 times READ, DISC", got))
}

fn noise(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    // The server may close before everything is sent.
    let _ = session.talk.socket().write(&[0x5a; 256]);
    // The server may close the session, or reply with an error.
    let answer = session.talk.chunk(0).map(|chunk| chunk.errno());
    let alive = probe.is_alive()?;
    let got = match (&answer, alive) {
        (Err(_), true) => "session ended; others continue".to_owned(),
        (Ok(errno), true) => format!("reply with error {errno}; others continue"),
        (_, false) => "other sessions are not served".to_owned(),
    };
    let success = matches!(answer, Ok(0));
    Ok(CheckOutcome::judged(!success && alive, "256 times 0x5a", got))
}

fn half(probe: &Probe<'_>) -> FeatureCheck {
    let mut session = probe.simple()?;
    let mut header = Vec::new();
    WireRequest { command: command::READ, length: 512, ..WireRequest::default() }.write(Style::Simple, &mut header);
    let failed = |source| TalkError::Io { attempt: label!("sending half a request"), source };
    session.talk.socket().write(&header[..13]).map_err(failed)?;
    let alive = probe.is_alive()?;
    drop(session);
    let after = probe.is_alive()?;
    let got = if alive && after { "other sessions are served" } else { "other sessions are not served" };
    Ok(CheckOutcome::judged(alive && after, "13 bytes of a request, then the end", got))
}

fn two(probe: &Probe<'_>) -> FeatureCheck {
    let mut first = probe.simple()?;
    let mut second = match probe.simple() {
        Ok(second) => second,
        Err(error) => return Ok(CheckOutcome::unsupported("a second connection", error.to_string())),
    };
    let length = probe.block();
    let (one, other) = (first.read(0, length)?, second.read(0, length)?);
    let same = one.is_good() && other.is_good() && one.data == other.data;
    let told = if probe.has(flag::CAN_MULTI_CONN) { "CAN_MULTI_CONN is set" } else { "CAN_MULTI_CONN is not set" };
    Ok(CheckOutcome::judged(same, "READ on both", format!("{}, {}; {told}", one.worded(), other.worded())))
}
