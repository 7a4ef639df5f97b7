//! Arbitrary input results in jobs or faults.

use plimsoll_fio::{Support, groups, options};
use proptest::prelude::*;

use super::{file, lenient, line};

/// Names and fragments of values, so that many inputs are nearly valid.
fn name() -> impl Strategy<Value = String> {
    let names: Vec<String> = options().map(|spec| spec.name.to_owned()).collect();
    prop_oneof![8 => prop::sample::select(names), 1 => "[a-z_]{1,12}"]
}

fn value() -> impl Strategy<Value = String> {
    let pieces = [
        "4k",
        "8k",
        "1",
        "0",
        "10",
        "%",
        ",",
        ":",
        "/",
        "-",
        "(",
        ")",
        "*",
        "^",
        "k",
        "KiB",
        "s",
        "m",
        "z",
        "read",
        "rand",
        "write",
        "zipf",
        "zoned:",
        "${DEV}",
        "${X}",
        "$ncpus",
        "\"",
        "'",
        "0x",
        "1.5",
        " ",
        "\\:",
        "[",
        "]",
        ";",
        "#",
        "=",
        "99999999999999999999",
        "é",
        "\u{0}",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC*|([\\[\\]a-z=;#$.{}0-9 \n]{0,200})") {
        let _ = (file(&text), lenient(&text));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = (file(&text), line(&text));
    }

    #[test]
    fn no_options_panic(given in prop::collection::vec((name(), value()), 0..12), global in any::<bool>()) {
        let lines: Vec<String> = given.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        let text = format!("[{}]\n{}[b]\n", if global { "global" } else { "a" }, lines.concat());
        for read in [file(&text), lenient(&text)] {
            match read {
                Ok(command) => {
                    prop_assert_eq!(command.jobs.len(), if global { 1 } else { 2 });
                    prop_assert_eq!(groups(&command.jobs).len(), command.jobs.len());
                    for job in &command.jobs {
                        prop_assert!(job.life.copies > 0 && job.life.loops > 0 && job.flow.in_flight() > 0);
                        prop_assert!(job.access.smallest().get() > 0);
                        prop_assert!(job.flow.batch <= job.flow.iodepth && job.flow.depth_low <= job.flow.iodepth);
                    }
                }
                Err(faults) => prop_assert!(!faults.is_empty()),
            }
        }
    }

    #[test]
    fn no_arguments_panic(given in prop::collection::vec(prop_oneof![name(), value()], 0..12)) {
        let words: Vec<String> = given.iter().map(|word| format!("--{word}")).collect();
        let _ = line(&words.join(" "));
    }

    #[test]
    fn split_percentages_total_100(shares in prop::collection::vec((1_u32..1_000, prop::option::of(0_u32..=100)), 1..20)) {
        let part = |(size, share): &(u32, Option<u32>)| match share {
            Some(share) => format!("{size}k/{share}"),
            None => format!("{size}k"),
        };
        let text = format!("[a]\nbssplit={}\n", shares.iter().map(part).collect::<Vec<_>>().join(":"));
        let job = file(&text).map_err(|faults| TestCaseError::fail(format!("{faults:?}")))?.jobs.remove(0);
        let plimsoll_fio::BlockSizes::Split(split) = job.access.blocks.read else { panic!("no split: {text}") };
        prop_assert_eq!(split.iter().map(|(_, share)| share).sum::<u32>(), 100);
    }
}

#[test]
fn every_option_accepts_its_default() {
    for spec in options().filter(|spec| !spec.default.is_empty()) {
        let text = format!("[a]\n{}={}\n", spec.name, spec.default);
        let read = file(&text).unwrap_or_else(|faults| panic!("{text}: {faults:#?}"));
        let is_note = |note: &&plimsoll_fio::Note| {
            matches!(spec.support, Support::Accepted(_)) && note.what.contains("has no effect")
        };
        assert!(!read.warnings.iter().any(|note| is_note(&note)), "{text}: {:#?}", read.warnings);
    }
}
