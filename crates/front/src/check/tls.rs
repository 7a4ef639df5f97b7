//! TLS: its start, and messages before it.
//!
//! An address with TLS is checked with its settings. For others, a server that starts TLS is accepted without
//! verification of its certificate.

use plimsoll_device::nbd::wire::{option, rep};
use plimsoll_device::nbd::{Encryption, ExportAddress, OptionReply, Talk, TalkError};
use plimsoll_device::tls::{ServerNames, Trust};

use super::probe::{Probe, accepted, worded};
use super::{CheckOutcome, Feature, FeatureCheck};

const AREA: &str = "TLS";

pub(super) const FEATURES: &[Feature] = &[
    Feature { area: AREA, name: "STARTTLS", run: start },
    Feature { area: AREA, name: "STARTTLS with data is invalid", run: with_data },
    Feature { area: AREA, name: "before TLS: ERR_TLS_REQD", run: before },
    Feature { area: AREA, name: "STARTTLS a second time is invalid", run: twice },
    Feature { area: AREA, name: "TLS voids what was negotiated before", run: voids },
];

/// A connection with TLS; the reply if the server refuses to start it.
fn secured(probe: &Probe<'_>, mut talk: Talk) -> Result<Result<Talk, String>, TalkError> {
    let anyone = Encryption { certificates: None, names: ServerNames::Anyone, hostname: None };
    let Encryption { certificates, names, hostname } = probe.address.tls.as_ref().unwrap_or(&anyone);
    let trust = Trust::read(certificates.as_deref(), *names)?;
    let name = hostname.as_deref().unwrap_or_else(|| host(probe.address));
    match talk.secure(&trust, name) {
        Ok(()) => Ok(Ok(talk)),
        Err(TalkError::Refused { reason, .. }) => Ok(Err(reason)),
        Err(error) => Err(error),
    }
}

fn host(address: &ExportAddress) -> &str {
    match &address.host {
        plimsoll_device::nbd::NbdHost::Tcp { name, .. } => name,
        plimsoll_device::nbd::NbdHost::Unix(_) => "localhost",
    }
}

fn is_refused(replies: &[OptionReply]) -> bool {
    replies.last().is_some_and(|replies| matches!(replies.kind, rep::ERR_UNSUP | rep::ERR_POLICY))
}

fn start(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = match secured(probe, probe.clear()?)? {
        Ok(talk) => talk,
        Err(reason) => return Ok(CheckOutcome::unsupported("STARTTLS", reason)),
    };
    let described = talk.socket().channel().map(|channel| channel.described()).unwrap_or_default();
    match talk.choose(&probe.address.export, true) {
        Ok(chosen) => {
            let same = chosen.size == probe.chosen.size;
            Ok(CheckOutcome::judged(same, "STARTTLS, then GO", format!("{described}; {} bytes", chosen.size)))
        }
        Err(TalkError::Io { source, .. }) if probe.address.tls.is_none() => {
            let why = format!("{described}; then {source}; to check it, use an address with the prefix nbds");
            Ok(CheckOutcome::not_tried(why))
        }
        Err(error) => Err(error),
    }
}

fn with_data(probe: &Probe<'_>) -> FeatureCheck {
    let replies = probe.clear()?.option(option::STARTTLS, b"data")?;
    if is_refused(&replies) {
        return Ok(CheckOutcome::unsupported("STARTTLS with 4 bytes", worded(&replies)));
    }
    let invalid = replies.last().is_some_and(|replies| replies.kind == rep::ERR_INVALID);
    Ok(CheckOutcome::judged(invalid, "STARTTLS with 4 bytes", worded(&replies)))
}

fn before(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = probe.clear()?;
    let sent = "LIST, an unknown option and GO without TLS";
    let list = talk.option(option::LIST, &[])?;
    let is_required = |replies: &[OptionReply]| replies.last().is_some_and(|replies| replies.kind == rep::ERR_TLS_REQD);
    if !is_required(&list) {
        return Ok(CheckOutcome::unsupported(sent, format!("{}: TLS is not required", worded(&list))));
    }
    let unknown = talk.option(0x706c_696d, b"x")?;
    let name = probe.address.export.as_bytes();
    let go = talk.option(option::GO, &[&(name.len() as u32).to_be_bytes()[..], name, &[0, 0]].concat())?;
    // An unknown option may also be refused as unsupported.
    let good = is_required(&go) && (is_required(&unknown) || is_refused(&unknown)) && list.len() == 1;
    Ok(CheckOutcome::judged(good, sent, format!("{}, {}, {}", worded(&list), worded(&unknown), worded(&go))))
}

fn twice(probe: &Probe<'_>) -> FeatureCheck {
    let mut talk = match secured(probe, probe.clear()?)? {
        Ok(talk) => talk,
        Err(reason) => return Ok(CheckOutcome::unsupported("STARTTLS", reason)),
    };
    let Ok(replies) = talk.option(option::STARTTLS, &[]) else {
        return Ok(CheckOutcome::not_tried(
            "the server closes the connection: it may require a client certificate, which needs an address with the prefix nbds",
        ));
    };
    let after = talk.choose(&probe.address.export, true).is_ok();
    let got = format!("{}, then GO {}", worded(&replies), if after { "succeeds" } else { "fails" });
    Ok(CheckOutcome::judged(!accepted(&replies) && after, "STARTTLS under TLS, then GO", got))
}

fn voids(probe: &Probe<'_>) -> FeatureCheck {
    let sent = "STRUCTURED_REPLY, STARTTLS, STRUCTURED_REPLY";
    let mut talk = probe.clear()?;
    let first = talk.option(option::STRUCTURED_REPLY, &[])?;
    let mut talk = match secured(probe, talk)? {
        Ok(talk) => talk,
        Err(reason) => return Ok(CheckOutcome::unsupported("STARTTLS", reason)),
    };
    let Ok(again) = talk.option(option::STRUCTURED_REPLY, &[]) else {
        return Ok(CheckOutcome::not_tried(
            "the server closes the connection: it may require a client certificate, which needs an address with the prefix nbds",
        ));
    };
    if !accepted(&first) && !accepted(&again) {
        return Ok(CheckOutcome::not_tried(format!("{}: options before TLS are refused", worded(&first))));
    }
    Ok(CheckOutcome::judged(accepted(&again), sent, format!("{}, then {}", worded(&first), worded(&again))))
}
