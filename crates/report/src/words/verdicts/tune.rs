//! Verdicts of the search for better settings.

use plimsoll_record::{Estimate, TuneVerdict, TunedSetting, UntriedReason, UntriedSetting};

use plimsoll_language::{label, say};

use super::percent;
use crate::number;
use crate::words::product_text;

pub(super) fn tune(verdict: &TuneVerdict) -> String {
    match verdict {
        TuneVerdict::BetterSettings { settings, ratio } => {
            let settings: Vec<String> = settings.iter().map(|setting| format_changes(&setting.changes)).collect();
            let confirmed = match ratio {
                Some(ratio) if ratio.interval.is_some_and(|(low, _)| low > 1.0) => {
                    say!("{} in runs after the search", gain(ratio))
                }
                Some(ratio) => say!("NOT CONFIRMED by runs after the search ({}): search longer", gain(ratio)),
                None => label!("not confirmed, because the run ended before").into(),
            };
            say!("better settings: {}: {confirmed}", settings.join(label!(", ")))
        }
        TuneVerdict::PresentSettings { compared: 0 } => {
            label!("no candidate was compared: give more time with --budget, or other settings").into()
        }
        TuneVerdict::PresentSettings { compared } => {
            say!("keep the present settings: none of {compared} candidates was better")
        }
        TuneVerdict::NotBetter { settings } => {
            let settings: Vec<String> = settings.iter().map(tried).collect();
            say!("not better: {}", settings.join(label!("; ")))
        }
        TuneVerdict::NotTried { settings } => {
            let settings: Vec<String> = settings.iter().map(untried).collect();
            say!("not tried: {}", settings.join(label!("; ")))
        }
        TuneVerdict::BestOfGrid { configurations, rounds, best, ratio } => {
            let (low, high) = ratio.interval.unwrap_or((0.0, f64::INFINITY));
            let word = match (low, high) {
                (low, _) if low > 1.0 => label!("better than"),
                (_, high) if high < 1.0 => label!("worse than"),
                _ => label!("equal within its interval to"),
            };
            say!(
                "the best other of {configurations} configurations of the full grid, {} runs each, is {word} the chosen settings: {} \
                 ({})",
                rounds,
                format_changes(best),
                gain(ratio)
            )
        }
        TuneVerdict::StorageLimit { limit, share } => say!(
            "the limit {limit} of the storage held {} of the replies: settings cannot raise it, a larger or faster volume can",
            percent(*share),
            limit = product_text(limit)
        ),
    }
}

fn format_changes(changes: &[(String, String)]) -> String {
    let parts: Vec<String> = changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    parts.join(label!(" with "))
}

fn tried(setting: &TunedSetting) -> String {
    let ratio = setting.ratio.as_ref().map_or_else(|| label!("unknown").to_owned(), gain);
    say!("{} ({})", format_changes(&setting.changes), ratio)
}

/// `+12.3 % (+10.1 % to +14.6 %)`.
fn gain(ratio: &Estimate) -> String {
    let signed = |value: f64| number::signed(value - 1.0, 1);
    let interval = ratio.interval.map(|(low, high)| say!(" ({} to {})", signed(low), signed(high)));
    format!("{}{}", signed(ratio.value), interval.unwrap_or_default())
}

fn untried(setting: &UntriedSetting) -> String {
    let UntriedSetting { name, value, reason } = setting;
    let reason = match reason {
        UntriedReason::NotInServer if value.is_some() => label!("not in this build of the server").into(),
        UntriedReason::NotInServer => label!("not in this version of the server").into(),
        UntriedReason::NeedsRestart => label!("needs a restart, which a server in use does not get").into(),
        UntriedReason::LoadOnlyReads => label!("acts on writes, and the load only reads").into(),
        UntriedReason::Budget => label!("no time left").into(),
        UntriedReason::TooMany { configurations, max } => {
            say!("{configurations} configurations, more than {max}: choose settings with --only")
        }
        UntriedReason::Refused { why } => say!("refused: {why}"),
    };
    let value = value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
    say!("{name}{value} ({reason})")
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Verdict;

    use super::*;
    use crate::words::verdict;

    fn setting(ratio: Option<Estimate>) -> TunedSetting {
        let changes = vec![("io_method".to_owned(), "worker".to_owned()), ("io_workers".to_owned(), "16".to_owned())];
        TunedSetting { changes, before: vec!["sync".into(), "3".into()], ratio, needs_restart: true }
    }

    fn check(found: TuneVerdict, expected: &str) {
        assert_eq!(verdict(&Verdict::from(found)), expected);
    }

    #[test]
    fn gains_are_relative_with_their_interval() {
        let ratio = Some(Estimate { value: 1.25, interval: Some((1.2, 1.3)) });
        check(
            TuneVerdict::BetterSettings { settings: vec![setting(ratio)], ratio },
            "Better settings: io_method = worker with io_workers = 16: +25.0 % (+20.0 % to +30.0 %) in runs after the search.",
        );
        let ratio = Some(Estimate { value: 1.01, interval: Some((0.98, 1.04)) });
        check(
            TuneVerdict::BetterSettings { settings: vec![setting(ratio)], ratio },
            "Better settings: io_method = worker with io_workers = 16: NOT CONFIRMED by runs after the search (+1.0 % (-2.0 % to \
             +4.0 %)): search longer.",
        );
        check(
            TuneVerdict::NotBetter { settings: vec![setting(None)] },
            "Not better: io_method = worker with io_workers = 16 (unknown).",
        );
    }

    #[test]
    fn untried_settings_have_a_reason() {
        let create = |value: Option<&str>, reason| UntriedSetting {
            name: "io_method".into(),
            value: value.map(str::to_owned),
            reason,
        };
        let settings = vec![
            create(Some("io_uring"), UntriedReason::NotInServer),
            create(None, UntriedReason::NeedsRestart),
            create(None, UntriedReason::Refused { why: "it did not start".into() }),
        ];
        check(
            TuneVerdict::NotTried { settings },
            "Not tried: io_method = io_uring (not in this build of the server); io_method (needs a restart, which a server in \
             use does not get); io_method (refused: it did not start).",
        );
    }
}
