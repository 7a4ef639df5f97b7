//! Writes, zeros and trims. Overwritten data are read before and restored after.

use plimsoll_device::nbd::wire::{Style, command, command_flag, flag};

use super::probe::{Probe, ProbeSession};
use super::{CheckOutcome, Feature, FeatureCheck};

const AREA: &str = "data";

/// Bytes at the beginning of the export that may change.
const AREA_BYTES: u32 = 1 << 20;

const EPERM: u32 = 1;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;
const ENOTSUP: u32 = 95;

pub(super) const FEATURES: &[Feature] = &[
    Feature { area: AREA, name: "WRITE, simple replies", run: |probe| write(probe, Style::Simple) },
    Feature { area: AREA, name: "WRITE, structured replies", run: |probe| write(probe, Style::Structured) },
    Feature { area: AREA, name: "WRITE, extended headers", run: |probe| write(probe, Style::Extended) },
    Feature { area: AREA, name: "WRITE with FUA", run: durable },
    Feature { area: AREA, name: "WRITE of the largest payload", run: largest },
    Feature { area: AREA, name: "WRITE beyond the end: ENOSPC, session continues", run: beyond },
    Feature { area: AREA, name: "WRITE to a read-only export: EPERM", run: read_only },
    Feature { area: AREA, name: "unaligned WRITE", run: unaligned },
    Feature { area: AREA, name: "WRITE_ZEROES", run: |probe| zeroes(probe, 0) },
    Feature { area: AREA, name: "WRITE_ZEROES with NO_HOLE", run: |probe| zeroes(probe, command_flag::NO_HOLE) },
    Feature { area: AREA, name: "WRITE_ZEROES with FAST_ZERO", run: fast_zero },
    Feature { area: AREA, name: "TRIM leaves adjacent data", run: trim },
    Feature { area: AREA, name: "READ of data written by another connection", run: shared },
];

fn pattern(length: u32, seed: u8) -> Vec<u8> {
    (0..length).map(|byte| (byte.wrapping_mul(31) >> 3) as u8 ^ seed).collect()
}

/// Runs an operation on the beginning of the export, then restores it.
fn on_area(probe: &Probe<'_>, style: Style, act: impl FnOnce(&mut ProbeSession, u32) -> FeatureCheck) -> FeatureCheck {
    if let Some(why) = probe.keeps_off() {
        return Ok(CheckOutcome::not_tried(why));
    }
    let Some(mut session) = probe.session(style)? else {
        return Ok(CheckOutcome::unsupported("", "not negotiated"));
    };
    let length = u64::from(AREA_BYTES.min(probe.payload())).min(probe.chosen.size);
    let length = (length - length % u64::from(probe.block())) as u32;
    let before = session.read(0, length)?;
    let found = act(&mut session, length);
    // The operation may have broken the session.
    let mut again = probe.simple()?;
    again.write(0, &before.data, 0)?;
    found
}

fn write(probe: &Probe<'_>, style: Style) -> FeatureCheck {
    on_area(probe, style, |session, length| {
        let data = pattern(length, style as u8);
        let written = session.write(0, &data, 0)?;
        let read = session.read(0, length)?;
        let got = format!("{}; {}", written.worded(), same(&read.data, &data));
        Ok(CheckOutcome::judged(written.is_good() && read.data == data, format!("WRITE {length} at 0, then READ"), got))
    })
}

fn same(read: &[u8], written: &[u8]) -> &'static str {
    if read == written { "equal data" } else { "different data" }
}

fn durable(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::SEND_FUA) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_FUA"));
    }
    on_area(probe, Style::Simple, |session, length| {
        let data = pattern(length.min(65_536), 7);
        let written = session.write(0, &data, command_flag::FUA)?;
        let flags = session.exchange(command::READ, command_flag::FUA, 0, data.len() as u64, &[])?;
        let got = format!("{}; READ with FUA: {}, {}", written.worded(), flags.worded(), same(&flags.data, &data));
        let good = written.is_good() && flags.is_good() && flags.data == data;
        Ok(CheckOutcome::judged(good, "WRITE with FUA, READ with FUA", got))
    })
}

fn largest(probe: &Probe<'_>) -> FeatureCheck {
    if let Some(why) = probe.keeps_off() {
        return Ok(CheckOutcome::not_tried(why));
    }
    let mut session = probe.simple()?;
    let length = u64::from(probe.payload().min(32 << 20)).min(probe.chosen.size);
    let length = (length - length % u64::from(probe.block())) as u32;
    let before = session.read(0, length)?;
    let data = pattern(length, 3);
    let written = session.write(0, &data, 0)?;
    let read = session.read(0, length)?;
    session.write(0, &before.data, 0)?;
    let got = format!("{}; {}", written.worded(), same(&read.data, &data));
    Ok(CheckOutcome::judged(written.is_good() && read.data == data, format!("WRITE {length} at 0, then READ"), got))
}

fn beyond(probe: &Probe<'_>) -> FeatureCheck {
    if let Some(why) = probe.keeps_off() {
        return Ok(CheckOutcome::not_tried(why));
    }
    let mut session = probe.simple()?;
    let length = probe.block();
    let written = session.write(probe.chosen.size, &pattern(length, 1), 0)?;
    let after = session.read(0, length)?;
    let got = format!("{}, {}", written.worded(), after.worded());
    Ok(CheckOutcome::judged(
        written.is_refused(&[ENOSPC, EINVAL]) && after.is_good(),
        "WRITE at the end, then READ",
        got,
    ))
}

fn read_only(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::READ_ONLY) {
        return Ok(CheckOutcome::not_tried("the export can be written"));
    }
    let mut session = probe.simple()?;
    let written = session.write(0, &pattern(probe.block(), 1), 0)?;
    let after = session.read(0, probe.block())?;
    let got = format!("{}, {}", written.worded(), after.worded());
    Ok(CheckOutcome::judged(written.is_refused(&[EPERM]) && after.is_good(), "WRITE, then READ", got))
}

fn unaligned(probe: &Probe<'_>) -> FeatureCheck {
    on_area(probe, Style::Simple, |session, length| {
        let original = pattern(length, 9);
        session.write(0, &original, 0)?;
        let written = session.write(1, &[0xee; 777], 0)?;
        let read = session.read(0, length)?;
        let mut expected = original;
        let least = session.chosen.blocks.map_or(1, |[least, _, _]| least);
        if written.errno == 0 {
            expected[1..778].fill(0xee);
        }
        let good = (written.is_good() || (least > 1 && written.is_refused(&[EINVAL]))) && read.data == expected;
        let got = format!("{}, {}; minimum size {least}", written.worded(), same(&read.data, &expected));
        Ok(CheckOutcome::judged(good, "WRITE 777 at 1, then READ around it", got))
    })
}

fn zeroes(probe: &Probe<'_>, flags: u16) -> FeatureCheck {
    if !probe.has(flag::SEND_WRITE_ZEROES) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_WRITE_ZEROES"));
    }
    on_area(probe, Style::Simple, |session, length| {
        let mut expected = pattern(length, 5);
        session.write(0, &expected, 0)?;
        let (from, count) = (length / 4, length / 2);
        let written = session.exchange(command::WRITE_ZEROES, flags, from.into(), count.into(), &[])?;
        expected[from as usize..(from + count) as usize].fill(0);
        let read = session.read(0, length)?;
        let got = format!("{}; {} in and around the range", written.worded(), same(&read.data, &expected));
        let good = written.is_good() && read.data == expected;
        Ok(CheckOutcome::judged(good, format!("WRITE_ZEROES {count} at {from}, then READ"), got))
    })
}

fn fast_zero(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::SEND_FAST_ZERO) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_FAST_ZERO"));
    }
    on_area(probe, Style::Simple, |session, length| {
        let mut expected = pattern(length, 6);
        session.write(0, &expected, 0)?;
        let flags = command_flag::FAST_ZERO;
        let written = session.exchange(command::WRITE_ZEROES, flags, 0, length.into(), &[])?;
        if written.errno == 0 {
            expected.fill(0);
        }
        let read = session.read(0, length)?;
        let good = (written.is_good() || written.is_refused(&[ENOTSUP])) && read.data == expected;
        let got = format!("{}; {}", written.worded(), same(&read.data, &expected));
        Ok(CheckOutcome::judged(good, format!("WRITE_ZEROES {length} with FAST_ZERO, then READ"), got))
    })
}

fn trim(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::SEND_TRIM) {
        return Ok(CheckOutcome::unsupported("", "no flag SEND_TRIM"));
    }
    on_area(probe, Style::Simple, |session, length| {
        let expected = pattern(length, 8);
        session.write(0, &expected, 0)?;
        let (from, count) = (length / 4, length / 2);
        let trimmed = session.exchange(command::TRIM, 0, from.into(), count.into(), &[])?;
        let read = session.read(0, length)?;
        let (from, until) = (from as usize, (from + count) as usize);
        let around = read.data[..from] == expected[..from] && read.data[until..] == expected[until..];
        let inside = if read.data[from..until].iter().all(|byte| *byte == 0) { "zeros" } else { "non-zero data" };
        let got = format!(
            "{}; {inside} in the range, {} around it",
            trimmed.worded(),
            if around { "equal data" } else { "different data" }
        );
        Ok(CheckOutcome::judged(trimmed.is_good() && around, format!("TRIM {count} at {from}, then READ"), got))
    })
}

fn shared(probe: &Probe<'_>) -> FeatureCheck {
    if !probe.has(flag::CAN_MULTI_CONN) {
        return Ok(CheckOutcome::unsupported("", "no flag CAN_MULTI_CONN"));
    }
    on_area(probe, Style::Simple, |session, length| {
        let mut other = probe.simple()?;
        let data = pattern(length, 11);
        session.write(0, &data, 0)?;
        let flushed = session.exchange(command::FLUSH, 0, 0, 0, &[])?;
        let read = other.read(0, length)?;
        let got = format!("{}; {}", flushed.worded(), same(&read.data, &data));
        Ok(CheckOutcome::judged(
            flushed.is_good() && read.data == data,
            "WRITE and FLUSH on one, READ on the other",
            got,
        ))
    })
}
