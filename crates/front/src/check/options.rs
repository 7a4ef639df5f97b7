//! The handshake: greeting, known, unknown and malformed options, and termination.

use plimsoll_device::nbd::wire::{Reader, hello, option, rep};
use plimsoll_device::nbd::{OptionReply, TalkError};
use plimsoll_language::label;

use super::probe::{Probe, accepted, worded};
use super::{CheckOutcome, Feature, FeatureCheck};

const AREA: &str = "handshake";

/// An unassigned option.
const UNKNOWN: u32 = 0x706c_696d;

pub(super) const FEATURES: &[Feature] = &[
    Feature { area: AREA, name: "greeting, fixed newstyle", run: greeting },
    Feature { area: AREA, name: "unknown client flags end the session", run: client_flags },
    Feature { area: AREA, name: "unknown option: ERR_UNSUP, session continues", run: unknown },
    Feature { area: AREA, name: "unknown option with data is skipped", run: unknown_with_data },
    Feature { area: AREA, name: "LIST", run: list },
    Feature { area: AREA, name: "LIST with data is invalid", run: list_with_data },
    Feature { area: AREA, name: "INFO and GO report the same", run: info_and_go },
    Feature { area: AREA, name: "GO to an unknown export", run: unknown_export },
    Feature { area: AREA, name: "malformed GO is invalid", run: malformed },
    Feature { area: AREA, name: "EXPORT_NAME", run: export_name },
    Feature { area: AREA, name: "ABORT is acknowledged", run: abort },
    Feature { area: AREA, name: "STRUCTURED_REPLY", run: structured },
    Feature { area: AREA, name: "EXTENDED_HEADERS", run: extended },
    Feature { area: AREA, name: "BLOCK_SIZE is well-formed", run: blocks },
];

fn greeting(probe: &Probe<'_>) -> FeatureCheck {
    let flags = probe.talk()?.flags();
    let defined = hello::FIXED_NEWSTYLE | hello::NO_ZEROES;
    let got = format!("flags {flags:#x}");
    Ok(CheckOutcome::judged(flags & !defined == 0, "", got))
}

fn client_flags(probe: &Probe<'_>) -> FeatureCheck {
    let mut socket = probe.socket()?;
    let failed = |source| TalkError::Io { attempt: label!("reading the greeting"), source };
    socket.read(&mut [0; 18]).map_err(failed)?;
    // The server may close the connection before.
    let _ = socket.write(&0x8000_0003_u32.to_be_bytes());
    let ask = [&0x4948_4156_454f_5054_u64.to_be_bytes()[..], &option::LIST.to_be_bytes(), &[0; 4]].concat();
    let _ = socket.write(&ask);
    let answered = socket.read(&mut [0; 1]).is_ok();
    let got = if answered { "a reply, as if they were known" } else { "the session ended" };
    Ok(CheckOutcome::judged(!answered, "client flags 0x80000003, and LIST", got))
}

fn unknown(probe: &Probe<'_>) -> FeatureCheck {
    passes_over(probe, UNKNOWN, &[], "an unknown option")
}

fn unknown_with_data(probe: &Probe<'_>) -> FeatureCheck {
    passes_over(probe, UNKNOWN, &[0x5a; 4096], "an unknown option with 4,096 bytes")
}

fn passes_over(probe: &Probe<'_>, option: u32, data: &[u8], sent: &str) -> FeatureCheck {
    let mut talk = probe.talk()?;
    let replies = talk.option(option, data)?;
    let refused = replies.last().is_some_and(|replies| matches!(replies.kind, rep::ERR_UNSUP | rep::ERR_TLS_REQD));
    let after = talk.choose(&probe.address.export, true);
    let got = format!("{}, then GO {}", worded(&replies), if after.is_ok() { "succeeds" } else { "fails" });
    Ok(CheckOutcome::judged(refused && after.is_ok(), format!("{sent}, then GO"), got))
}

fn list(probe: &Probe<'_>) -> FeatureCheck {
    let replies = probe.talk()?.option(option::LIST, &[])?;
    if replies.last().is_some_and(|replies| matches!(replies.kind, rep::ERR_POLICY | rep::ERR_UNSUP)) {
        return Ok(CheckOutcome::unsupported("LIST", worded(&replies)));
    }
    let name = |replies: &OptionReply| {
        let mut reader = Reader(&replies.data);
        let length = reader.u32()? as usize;
        Some(format!("{:?}", reader.text(length)?))
    };
    let names: Option<Vec<String>> = replies.iter().filter(|replies| replies.kind == rep::SERVER).map(name).collect();
    let got = match &names {
        Some(names) => {
            format!("{} exports: {}", names.len(), names.iter().take(5).cloned().collect::<Vec<_>>().join(", "))
        }
        None => "a name that does not fit its reply".to_owned(),
    };
    Ok(CheckOutcome::judged(names.is_some() && accepted(&replies), "LIST", got))
}

fn list_with_data(probe: &Probe<'_>) -> FeatureCheck {
    let replies = probe.talk()?.option(option::LIST, b"data")?;
    let refused = replies.last().is_some_and(|replies| replies.kind & rep::ERROR != 0);
    Ok(CheckOutcome::judged(refused, "LIST with 4 bytes", worded(&replies)))
}

fn info_and_go(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.talk()?;
    let before = talk.choose(&probe.address.export, false)?;
    let after = talk.choose(&probe.address.export, true)?;
    let got = format!("{} bytes, flags {:#x}, blocks {:?}", after.size, after.flags, after.blocks.unwrap_or_default());
    Ok(CheckOutcome::judged(before == after, "INFO and GO with the same parameters", got))
}

fn unknown_export(probe: &Probe<'_>) -> FeatureCheck {
    let name = "plimsoll-check: no such export";
    let data = [&(name.len() as u32).to_be_bytes()[..], name.as_bytes(), &[0, 0]].concat();
    let mut talk = probe.talk()?;
    let replies = talk.option(option::GO, &data)?;
    if accepted(&replies) {
        return Ok(CheckOutcome::unsupported("GO to an improbable name", "all names refer to the same export"));
    }
    let refused = replies.last().is_some_and(|replies| matches!(replies.kind, rep::ERR_UNKNOWN | rep::ERR_TLS_REQD));
    let after = talk.choose(&probe.address.export, true).is_ok();
    Ok(CheckOutcome::judged(refused && after, "GO to an improbable name, then GO", worded(&replies)))
}

fn malformed(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.talk()?;
    let replies = talk.option(option::GO, &[0, 0, 4, 0, b'x', 0, 0])?;
    let refused = replies.last().is_some_and(|replies| replies.kind & rep::ERROR != 0);
    let after = talk.choose(&probe.address.export, true).is_ok();
    Ok(CheckOutcome::judged(refused && after, "GO with a name longer than its data, then GO", worded(&replies)))
}

fn export_name(probe: &Probe<'_>) -> FeatureCheck {
    let name = probe.address.export.as_bytes();
    let head = [&0x4948_4156_454f_5054_u64.to_be_bytes()[..], &option::EXPORT_NAME.to_be_bytes()];
    let ask = [&head.concat(), &(name.len() as u32).to_be_bytes()[..], name].concat();
    let failed = |source| TalkError::Io { attempt: label!("choosing by EXPORT_NAME"), source };
    let mut answer = [0; 10];
    for (client_flags, zeros) in [(hello::FIXED_NEWSTYLE | hello::NO_ZEROES, 0), (hello::FIXED_NEWSTYLE, 124)] {
        let mut talk = probe.talk_as(client_flags)?;
        let socket = talk.socket();
        socket.write(&ask).map_err(failed)?;
        socket.read(&mut answer).map_err(failed)?;
        let mut rest = vec![1; zeros];
        socket.read(&mut rest).map_err(failed)?;
        if rest.iter().any(|byte| *byte != 0) {
            return Ok(CheckOutcome::judged(false, "EXPORT_NAME without NO_ZEROES", "not 124 zeros"));
        }
    }
    let mut reader = Reader(&answer);
    let size = reader.u64().unwrap_or(0);
    Ok(CheckOutcome::judged(
        size == probe.chosen.size,
        "EXPORT_NAME with and without NO_ZEROES",
        format!("{size} bytes"),
    ))
}

fn abort(probe: &Probe<'_>) -> FeatureCheck {
    let replies = probe.talk()?.option(option::ABORT, &[]);
    // Older servers close without a reply, which clients have to accept.
    let (good, got) = match &replies {
        Ok(replies) => (accepted(replies), worded(replies)),
        Err(_) => (true, "session ended without a reply".to_owned()),
    };
    Ok(CheckOutcome::judged(good, "ABORT", got))
}

fn structured(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.talk()?;
    let with_data = talk.option(option::STRUCTURED_REPLY, b"x")?;
    let replies = talk.option(option::STRUCTURED_REPLY, &[])?;
    if !accepted(&replies) {
        return Ok(CheckOutcome::unsupported("STRUCTURED_REPLY", worded(&replies)));
    }
    let got = format!("with data {}, without {}", worded(&with_data), worded(&replies));
    Ok(CheckOutcome::judged(!accepted(&with_data), "STRUCTURED_REPLY with a byte of data, and without", got))
}

fn extended(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.talk()?;
    let replies = talk.option(option::EXTENDED_HEADERS, &[])?;
    if !accepted(&replies) {
        return Ok(CheckOutcome::unsupported("EXTENDED_HEADERS", worded(&replies)));
    }
    let back = talk.option(option::STRUCTURED_REPLY, &[])?;
    let got = format!("{}, then {}", worded(&replies), worded(&back));
    Ok(CheckOutcome::judged(!accepted(&back), "EXTENDED_HEADERS, then STRUCTURED_REPLY", got))
}

#[allow(clippy::unnecessary_wraps)] // as all the others
fn blocks(probe: &Probe<'_>) -> FeatureCheck {
    let Some([least, best, max]) = probe.chosen.blocks else {
        return Ok(CheckOutcome::unsupported("GO with BLOCK_SIZE", "no block sizes"));
    };
    let good = least.is_power_of_two()
        && least <= 65_536
        && best.is_power_of_two()
        && best >= least.max(512)
        && max >= best
        && probe.chosen.size.is_multiple_of(least.into());
    Ok(CheckOutcome::judged(good, "GO with BLOCK_SIZE", format!("minimum {least}, preferred {best}, maximum {max}")))
}
