//! Verdicts of suites as sentences.

mod blocks;
mod database;
mod tune;

use plimsoll_language::{label, say};
use plimsoll_load::Pace;
use plimsoll_record::{Finding, LimitEvidence, SessionVerdict, SharedVerdict, Spent, Verdict};

use super::counted::{Counted, sessions};
use super::{clean, product_text, sentence};

/// A verdict as a sentence with full stop.
pub fn verdict(verdict: &Verdict) -> String {
    let text = match verdict {
        Verdict::Shared(verdict) => shared(verdict),
        Verdict::Session(verdict) => session(verdict),
        Verdict::Dd(verdict) => blocks::dd(verdict),
        Verdict::Bonnie(verdict) => blocks::bonnie(verdict),
        Verdict::Tiobench(verdict) => blocks::tiobench(verdict),
        Verdict::CrystalDiskMark(verdict) => blocks::crystaldiskmark(verdict),
        Verdict::Snia(verdict) => blocks::snia(verdict),
        Verdict::Verify(verdict) => blocks::verify(verdict),
        Verdict::Wal(verdict) => blocks::wal(verdict),
        Verdict::Article(verdict) => blocks::article(verdict),
        Verdict::Oltp(verdict) => database::oltp(verdict),
        Verdict::Ladder(verdict) => database::ladder(verdict),
        Verdict::Slob(verdict) => database::slob(verdict),
        Verdict::SqlBench(verdict) => database::sql_bench(verdict),
        Verdict::Tune(verdict) => tune::tune(verdict),
    };
    say!("{}.", sentence(clean(&text).trim_end_matches(['.', '。'])))
}

fn shared(verdict: &SharedVerdict) -> String {
    match verdict {
        SharedVerdict::Text { text } => product_text(text),
        SharedVerdict::FlushNotHonoured { median } => {
            let finding = Finding::FlushNotHonoured { median: *median };
            say!("{}; {}", finding.text(), finding.remedy())
        }
        SharedVerdict::MemoryUnknown { size_bytes } => {
            say!("the host's memory is not known: if it holds {size_bytes}, reads measured memory")
        }
        SharedVerdict::DataInMemory { size_bytes, memory_bytes } => say!(
            "the data of {size_bytes} fit into {memory_bytes} of memory: data just written were read from the page cache, \
             unless it was dropped before, and such figures are not those of the storage. Use twice the memory, or direct \
             I/O"
        ),
        SharedVerdict::ZeroesWritten => {
            label!("only zeroes were written: storage that compresses looks faster with them than with data").into()
        }
        SharedVerdict::DataIntact { blocks } => {
            say!("each of {blocks} blocks that were read was as it had been written")
        }
        SharedVerdict::WrongData { blocks, wrong, first } => {
            let first = first.as_ref().map(|first| say!(". The first: {first}")).unwrap_or_default();
            say!("of {blocks} blocks that were read, {wrong} had wrong data{first}")
        }
    }
}

fn session(verdict: &SessionVerdict) -> String {
    match verdict {
        SessionVerdict::LoadLine { update_pct, line, blocks_per_second } => {
            let blocks = blocks_per_second.map(|blocks| say!(", {blocks:.0} block I/Os a second"));
            let line = Counted::Transactions.load_line(line);
            say!("{}load line: {line}{}", of_curve(*update_pct), blocks.unwrap_or_default())
        }
        SessionVerdict::BindingLimit { update_pct, offered, limit, evidence } => {
            let limit = limit.as_ref().map(ToString::to_string);
            let limit = limit.as_deref().unwrap_or(label!("no saturated resource was observed"));
            let evidence = describe_evidence(evidence);
            let evidence =
                if evidence.is_empty() { String::new() } else { format!(" ({})", evidence.join(label!(", "))) };
            say!("{}binding limit at {}: {limit}{evidence}", of_curve(*update_pct), load(offered))
        }
    }
}

fn of_curve(update_pct: Option<u32>) -> String {
    update_pct.map(|pct| format!("UPDATE_PCT={pct}: ")).unwrap_or_default()
}

fn load(pace: &Pace) -> String {
    match pace {
        Pace::Closed { depth } => sessions(*depth),
        Pace::Open { rate, .. } => say!("{:.0} arrivals a second", rate.as_f64()),
    }
}

fn describe_evidence(evidence: &LimitEvidence) -> Vec<String> {
    let waited = evidence.sessions.map(|(spent, share)| {
        let state = match spent {
            Spent::Processor => label!("on a processor or runnable"),
            Spent::Reading => label!("reading blocks"),
            Spent::Writing => label!("writing blocks"),
            Spent::Committing => label!("waiting for the log"),
            Spent::Locked => label!("waiting for locks"),
            Spent::Internal => label!("waiting inside the server"),
            Spent::Client => label!("waiting for the client"),
            Spent::Other => label!("waiting for something else"),
        };
        say!("sessions were {state} for {} of the time", percent(share))
    });
    let host = evidence.host_share.map(|share| say!("the host's processors were busy for {}", percent(share)));
    let device = evidence.device.as_ref().map(|(device, share)| {
        let read = evidence.device_read.map(|read| say!(" with {read} for a read")).unwrap_or_default();
        say!("{device} for {}{read}", percent(*share))
    });
    let volume = evidence.volume.as_ref();
    let volume = volume.map(|(name, share)| say!("{name} held {} of the volume's answers", percent(*share)));
    [waited, host, device, volume].into_iter().flatten().collect()
}

/// A share in whole per cent.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::SessionLimit;
    use plimsoll_units::Span;

    use super::*;

    #[test]
    fn binding_limit_includes_evidence() {
        let check = |limit: Option<&str>, evidence, expected: &str| {
            let offered = Pace::Closed { depth: 8 };
            let limit = limit.map(|name| SessionLimit::Stage { stage: name.to_owned() });
            let found = SessionVerdict::BindingLimit { update_pct: None, offered, limit, evidence };
            assert_eq!(verdict(&found.into()), expected);
        };
        let evidence = LimitEvidence {
            sessions: Some((Spent::Reading, 0.7)),
            host_share: Some(0.2),
            device: Some(("vda".into(), 0.97)),
            device_read: Some(Span::from_millis(1)),
            volume: Some(("IOPS".into(), 0.9)),
        };
        let expected = "Binding limit at 8 sessions: IOPS (sessions were reading blocks for 70 % of the time, the host's \
                        processors were busy for 20 %, vda for 97 % with 1 ms for a read, IOPS held 90 % of the volume's \
                        answers).";
        check(Some("IOPS"), evidence, expected);
        let expected = "Binding limit at 8 sessions: no saturated resource was observed.";
        check(None, LimitEvidence::default(), expected);
    }
}
