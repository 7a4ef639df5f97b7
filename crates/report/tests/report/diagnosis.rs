//! A diagnosis of a generated report, as text and JSON.
#![allow(clippy::unwrap_used)]

use plimsoll_choose::diagnosis::{
    BusyBasis, BusyHours, CensorCause, Censored, CountedEvent, DiagnoseOptions, Diagnosis, DiagnosisVerdict as Verdict,
    FreeDevices, HistoryQuantity, HostEvidence, HostLimit, Slice, TimePart, Unusual, diagnose,
};
use plimsoll_ingest::{Cap, CapBasis, CapKind, CapLimit, CapOwner, Class, Demand, Ingest, Measure, Outcome, WaitCause};
use plimsoll_report::{Charset, Color, TextStyle, diagnoses_json, page_text, pages, words};
use plimsoll_testkit::Workload;
use plimsoll_units::Span;

pub(super) fn read_outcomes() -> Vec<Outcome> {
    let work = Workload {
        single_reads: 1_080_000,
        several_reads: 0,
        blocks_a_read: 16,
        data_writes: 72_000,
        read_us: 8_000,
        redo_us: 400,
        processor_s: 2_160,
        ..Workload::small_shop(9)
    };
    let mut ingest = Ingest::new("reports/awr_1.html");
    ingest.feed(work.awr_html().as_bytes());
    ingest.finish()
}

pub(super) fn diagnoses(outcomes: &[Outcome], found: &[Diagnosis], style: &TextStyle) -> String {
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    page_text(&pages::diagnoses(outcomes, &Demand::of(&readings), found), style)
}

pub(super) fn diagnose_outcomes(outcomes: &[Outcome]) -> Vec<Diagnosis> {
    let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
    Demand::of(&readings).subjects.iter().map(|subject| diagnose(subject, &DiagnoseOptions::default())).collect()
}

#[test]
fn text_begins_with_the_answer_and_has_bars_without_colour() {
    let outcomes = read_outcomes();
    let text = diagnoses(&outcomes, &diagnose_outcomes(&outcomes), &TextStyle { width: 100, ..TextStyle::default() });
    let expected = include_str!("diagnosis.txt");
    assert!(text == expected, "is now:\n{text}");
}

#[test]
fn parts_of_storage_follow_their_sum() {
    let inputs = read_outcomes();
    let mut diagnosed = diagnose_outcomes(&inputs);
    let slices = &mut diagnosed[0].split.as_mut().unwrap().slices;
    slices[0].share = 0.7;
    slices.push(Slice { part: TimePart::SequentialRead, share: 0.1, ..slices[0].clone() });
    let text = diagnoses(&inputs, &diagnosed, &TextStyle { width: 100, ..TextStyle::default() });
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("database time")).skip(2).take(3).collect();
    let shares = rows.iter().map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let at = words.iter().position(|word| word.parse::<f64>().is_ok()).unwrap();
        (words[..at].join(" "), words[at].parse::<f64>().unwrap())
    });
    let expected = [("storage", 80.0), ("- random reads", 70.0), ("- sequential reads", 10.0)];
    assert_eq!(shares.collect::<Vec<_>>(), expected.map(|(name, share)| (name.to_owned(), share)), "{text}");
}

#[test]
fn text_fits_each_width_and_character_set() {
    let outcomes = read_outcomes();
    let found = diagnose_outcomes(&outcomes);
    for width in [0, 40, 64, 80, 100, 160] {
        let style = TextStyle { width, ..TextStyle::default() };
        let text = diagnoses(&outcomes, &found, &style);
        for line in text.lines() {
            assert!(line.chars().count() <= width.max(40) && line == line.trim_end(), "{width}: {line:?}");
        }
        assert!(!text.contains("NaN") && !text.contains("-0.0"), "{text}");
        let ascii = diagnoses(&outcomes, &found, &TextStyle { unicode: Charset::Ascii, ..style });
        assert!(ascii.is_ascii() && ascii.lines().count() == text.lines().count(), "{ascii}");
        let coloured = diagnoses(&outcomes, &found, &TextStyle { color: Color::Ansi, ..style });
        let pieces = coloured.split("\u{1b}[").enumerate();
        let bare: String =
            pieces.map(|(i, piece)| if i == 0 { piece } else { piece.split_once('m').unwrap().1 }).collect();
        assert_eq!(bare, text, "colour changes no word");
    }
}

#[test]
fn json_names_format_and_units() {
    let outcomes = read_outcomes();
    let json: serde_json::Value =
        serde_json::from_slice(&diagnoses_json(&outcomes, &diagnose_outcomes(&outcomes))).unwrap();
    assert_eq!((&json["format"], &json["inputs"][0]["kind"]), (&"plimsoll.diagnosis/1".into(), &"awr-html".into()));
    let subject = &json["subjects"][0];
    assert_eq!((&subject["name"], &subject["verdicts"][0]["verdict"]), (&"SHOP".into(), &"storage".into()));
    let part = &subject["database_time"]["parts"][0];
    assert_eq!((&part["part"], &part["share"], &part["storage"]), (&"random reads".into(), &0.8.into(), &true.into()));
    assert_eq!(part["events"][0]["event"], "db file sequential read");
    assert!(part["events"][0]["from"]["place"].as_str().unwrap().starts_with("line "));
    assert!((subject["storage_ten_times_as_fast"]["saved_share"].as_f64().unwrap() - 0.72).abs() < 1e-9);
}

/// Verdicts without the time of sessions.
fn host_verdicts() -> Vec<Verdict> {
    let (busy, processors, io_wait) = (0.85, Some(8.0), Some(0.0));
    let evidence = HostEvidence { busy, processors, io_wait, devices_busy: Some(0.009), in_flight: Some(0.02) };
    let host = |limit| Verdict::Host { limit, evidence };
    vec![
        Verdict::NoSessionTimes { has_latency: true, on_processor: Some(0.9), host: Some(evidence) },
        host(HostLimit::Processors),
        host(HostLimit::Storage),
        host(HostLimit::Neither),
        host(HostLimit::FastStorage),
        Verdict::DevicesFree(FreeDevices { busy: [0.03, 0.12], longest_s: 60.0 }),
        Verdict::IoWaitWithoutIo { io_wait: 0.4, processors: 4.0, in_flight: 0.8 },
        Verdict::BusyWithoutIo { busy: 0.6, in_flight: 0.05 },
    ]
}

/// A share of storage, nearly all of it random reads, beside another part.
fn in_part(share: f64, (main, main_share): (TimePart, f64), behind: f64) -> Verdict {
    let (part, part_share) = (TimePart::RandomRead, 0.9 * share);
    Verdict::StorageInPart { share, part, part_share, saved: 0.8 * share, main, main_share, behind }
}

/// Verdicts about the latency of classes and events.
fn latency_verdicts() -> Vec<Verdict> {
    let (class, counted) = (Class::RandomRead, CountedEvent::Operation);
    let (latency_s, iops, in_flight) = (0.008, 300.0, 2.4);
    vec![
        Verdict::Slow { class, counted, latency_s, iops, bytes: None, in_flight },
        Verdict::SlowClass { class, counted, latency_s, iops, bytes: Some(8_192.0), share: Some(0.01) },
        Verdict::AtItsLimit { class, quiet_s: 0.001, loaded_s: 0.01, knee_iops: Some(480.0), highest_iops: 506.0 },
        Verdict::SlowOrLoaded { class, counted, latency_s, iops, bytes: Some(131_072.0), in_flight },
        Verdict::Transfer { class, counted: CountedEvent::SessionWait, latency_s, iops, bytes: 2e6 },
        Verdict::Many { class, counted, latency_s, iops },
        Verdict::Quick { class, counted, latency_s, iops },
        Verdict::Tail { event: "log file sync".into(), cause: WaitCause::Commit, mean_s: 0.001, p99_s: [0.064, 0.1] },
        Verdict::SlowEvent {
            event: "cell list of blocks physical read".into(),
            cause: WaitCause::Storage(class),
            mean_s: 0.038,
            a_second: 51.0,
            class_s: Some(0.004),
            share: 0.001,
        },
    ]
}

/// A verdict of each kind, with numbers that fill all phrases.
fn every_verdict() -> Vec<Verdict> {
    let (class, event) = (Class::RandomRead, "log file switch".into());
    let part = TimePart::Lock;
    vec![
        Verdict::Storage { share: 0.5, part: TimePart::RandomRead, part_share: 0.4, saved: 0.4 },
        in_part(0.2, (TimePart::Processor, 0.7), 0.0),
        Verdict::NotStorage { share: 0.1, at_most: 0.1, host_busy: None, main: TimePart::Processor, main_share: 0.85 },
        Verdict::LogBehindLocks { write_s: 0.076, share: 0.006, sustained: 0.42, locks: 0.38 },
        Verdict::Stalled { class, pending: 3.0, windows: 1, of: 4 },
        Verdict::Quiet { active: 0.1 },
        Verdict::ProcessorsFull { busy: 0.9, waiting: Some(14.0), processors: Some(8.0) },
        Verdict::BelowResolution { active_max: 0.05 },
        Verdict::WaitsExceedTime { waited_s: 90_000.0, processor_s: Some(3_600.0), database_s: 36_000.0 },
        Verdict::HostIoWait { share: 0.1, idle_s: 4_000.0, waited_s: [6_620.0, 500.0] },
        Verdict::HardParses { share: 0.2, a_second: Some(190.0) },
        Verdict::ProcessorQueue { share: 0.2, busy: None, queue_s: None, paged_bytes: None },
        Verdict::HostPages { paged_bytes: [1.73e9, 2.07e9], seconds: 3_690.0 },
        Verdict::Unaccounted { share: 0.2 },
        Verdict::CommitsElsewhere {
            sync_s: 0.01,
            write_s: 0.001,
            behind_write_s: None,
            share: 0.1,
            a_second: Some(120.0),
        },
        Verdict::CommitsForLog { sync_s: 0.01, write_s: 0.009, share: 0.1 },
        Verdict::WritersBehind { event, share: 0.1 },
        Verdict::Elsewhere { part, share: 0.3, event: None },
        Verdict::Pinned { class: Class::All, measure: Measure::Iops, value: 506.0, windows: 30, of: 90 },
        Verdict::AtCeiling {
            name: "IOPS of the disk".into(),
            counts: plimsoll_catalogue::Counts::Operations,
            allows: 500.0,
            demand: 506.0,
            near: 30,
            windows: 90,
        },
        Verdict::BelowCeilings { name: "IOPS of the disk".into(), highest: 0.4, longest_s: 3_600.0 },
        Verdict::CacheHelps { factor: 2.0, bytes: 8e9, reads: 0.4, saved: 0.2 },
        Verdict::CacheDoesNot { factor: 2.0, saved: 0.000_1 },
        Verdict::LogSwitches {
            event: "log file switch (checkpoint incomplete)".into(),
            share: 0.2,
            switches: Some((60.0, 4e9)),
        },
        Verdict::OneStatement { statement: "statement 77".into(), class: Class::Read, share: 0.62 },
        Verdict::SlowStatement { statement: "statement 77".into(), share: 0.5, mean_s: 0.4, rows: Some(12_000.0) },
        Verdict::OneFile { file: "/d/shop/orders.ibd".into(), share: 0.7 },
        Verdict::Autovacuum { share: 0.4 },
        Verdict::SessionsWrite { share: 0.3 },
        Verdict::CheckpointsRequested { requested: 9.0, timed: 1.0, every_s: Some(90.0) },
        Verdict::BufferWaits { name: plimsoll_ingest::WindowCount::LOG_BUFFER_WAITS, a_second: 3.0 },
        Verdict::Unusual {
            windows: 1,
            farthest: Unusual {
                slot: plimsoll_ingest::Slot::of(None, Span::from_secs(3_600)),
                quantity: HistoryQuantity::Active,
                value: 9.0,
                median: 1.0,
                score: 12.0,
            },
        },
        Verdict::Changed { before: 1.0, after: 3.0, main: None },
        Verdict::LongWindows { longest_s: 604_800.0 },
        Verdict::Unequal { reported: 4.0, derived: 2.0 },
        Verdict::StorageAtLeast { share: 0.3, at_most: 0.5, unaccounted: 0.6, are_processors_free: true },
    ]
}

fn new_cap(part: &str, metric: &str, owner: CapOwner, kind: CapKind) -> Cap {
    Cap {
        part: part.into(),
        metric: metric.into(),
        limit: CapLimit { provider: "EBS", owner, kind, basis: CapBasis::Exceeded },
        points: 42,
        of: 60,
        each: Some(Span::from_secs(60)),
        time: None,
        slots: Vec::new(),
    }
}

#[test]
fn each_reason_for_a_hidden_demand_is_a_sentence_with_its_range() {
    let latency_s = Some([0.001, 0.008]);
    let metric = |caps: &[Cap]| CensorCause::Metric { limits: caps.to_vec(), latency_s };
    let checked = new_cap("vol-01", "vol-01 VolumeIOPSExceededCheck", CapOwner::Volume, CapKind::Operations);
    let time = Some([Span::from_secs(21), Span::from_secs(30)]);
    let counted = Cap { time, ..new_cap("vol-01", "exceeded_tp", CapOwner::Machine, CapKind::Bytes) };
    let basis = |basis| CapLimit { provider: "Azure", owner: CapOwner::Unknown, kind: CapKind::Either, basis };
    let used = Cap {
        limit: basis(CapBasis::Share),
        each: Some(Span::from_secs(300)),
        ..new_cap("", "read_percent", CapOwner::Volume, CapKind::Either)
    };
    let empty = Cap { limit: basis(CapBasis::Credits), each: None, ..used.clone() };
    let table = [
        (
            CensorCause::LogBehindLocks { active: 1_020.0, locks: 0.97, write_s: 0.075_7, grant_s: Some(0.096_6) },
            "1,020 active sessions wait for locks in 97 % of their time, and a lock is granted every 96.6 ms and a log write \
             takes 75.7 ms, 78 % of that.",
        ),
        (
            CensorCause::LogBehindLocks { active: 20.0, locks: 0.6, write_s: 0.075_7, grant_s: Some(0.01) },
            "and locks are held during log writes of 75.7 ms.",
        ),
        (
            metric(&[checked, counted.clone()]),
            "The volume vol-01 was above its IOPS limit in 42 of 60 minutes, according to EBS (VolumeIOPSExceededCheck); the \
             machine of vol-01 was above its throughput limit for 21 s of 30 s, according to EBS (exceeded_tp), where \
             operations take 8 ms instead of 1 ms; the measured rate is what the limit lets through.",
        ),
        (
            metric(&[counted]),
            "for 21 s of 30 s, according to EBS (exceeded_tp), which a faster volume does not raise, where operations",
        ),
        (
            metric(&[used]),
            "The storage used at least 95 % of its limit in 42 of 60 windows of 5 min, according to Azure",
        ),
        (metric(&[empty]), "The storage had no burst credits left in 42 of 60 points"),
        (
            CensorCause::Pinned { measure: Measure::Iops, value: 3_000.0, windows: [40, 60], latency_s: None },
            "it stays at 3,000 IOPS in 40 of 60 windows with I/O.",
        ),
        (
            CensorCause::ClosedLoad { in_flight: 8.0, latency_s: [0.004, 0.008] },
            "about 8 operations are in flight at any rate, and take 8 ms on average, 4 ms in the fastest windows.",
        ),
        (
            CensorCause::ClosedReads { active: 12.0, share: 0.9, latency_s: 0.012, counted: Some([0.3, 0.004]) },
            "wait for reads in 30 % to 90 % of their time: counted waits of 4 ms in 30 %, and up to 12 ms with the time in no \
             counter, while the processors are idle.",
        ),
        (
            CensorCause::ProcessorCap { share: 0.8, processors: [8.0, 50.0], limit: Some(8.0) },
            "wait for the resource manager in 80 % of their time, and run on 8 processors, of 8 that it allows.",
        ),
    ];
    for (cause, expected) in table {
        for (up_to, range) in
            [(Some(4.62), "can be up to 4.62 times as high."), (None, "does not follow from the input.")]
        {
            let censored = Censored { cause: cause.clone(), up_to };
            let text = words::diagnosis::verdict_text(&Verdict::Censored(censored));
            assert!(text.text.contains(expected) && text.text.ends_with(range), "{}", text.text);
            assert!(text.text.contains("he measured rate is what") && text.remedy.ends_with("lower end of a range."));
            let of_machine =
                matches!(&cause, CensorCause::Metric { limits, .. } if limits[0].limit.owner == CapOwner::Machine);
            assert_eq!(text.remedy.contains("A faster volume does not help"), of_machine, "{}", text.remedy);
        }
    }
}

#[test]
fn title_and_answer_agree_on_the_share_of_storage() {
    let report = read_outcomes();
    let first_lines = |verdict: Verdict, active: f64| {
        let mut subjects = diagnose_outcomes(&report);
        subjects[0].verdicts = vec![verdict];
        subjects[0].split.as_mut().unwrap().active = active;
        let text = diagnoses(&report, &subjects, &TextStyle { width: 400, ..TextStyle::default() });
        let answer = text.lines().find(|line| line.starts_with("answer")).unwrap().to_owned();
        (text.lines().next().unwrap().to_owned(), answer)
    };
    let major = Verdict::Storage { share: 0.93, part: TimePart::SequentialRead, part_share: 0.92, saved: 0.84 };
    let (title, answer) = first_lines(major.clone(), 52.0);
    assert_eq!(title, "Storage is the problem (93 % of database time)");
    assert!(
        answer.contains("mostly wait for storage: 93 % of the database's time, most of it sequential reads (92 %)")
    );
    let largest = in_part(0.42, (TimePart::OtherWaits, 0.15), 0.0);
    let (title, answer) = first_lines(largest.clone(), 46.0);
    assert_eq!(title, "Storage is part of the problem (42 % of database time)");
    assert!(
        answer.contains("has the largest share: 42 % of the database's time, of which random reads 38 %")
            && !answer.contains("mostly"),
        "{answer}"
    );
    assert!(
        answer.contains("the next is waits for other things (15 %). Storage ten times as fast would save 34 % of the")
    );
    let (_, answer) = first_lines(in_part(0.18, (TimePart::Processor, 0.72), 0.0), 46.0);
    assert!(answer.contains("Storage is 18 % of the database's time; the largest part is work on processors (72 %)."));
    for (verdict, share) in [(major, "93 %"), (largest, "42 %")] {
        let (title, answer) = first_lines(verdict, 0.93);
        assert_eq!(title, format!("Storage is no problem at this light load ({share} of 0.93 active sessions)"));
        assert!(!answer.contains("problem"), "{answer}");
    }
}

#[test]
fn slow_commits_beside_fast_log_writes_are_not_the_logs_storage() {
    let text = |behind_write_s| {
        let (sync_s, write_s, share) = (0.446, 0.0212, 0.044);
        words::diagnosis::verdict_text(&Verdict::CommitsElsewhere {
            sync_s,
            write_s,
            behind_write_s,
            share,
            a_second: Some(4.7),
        })
    };
    let (even, stalled) = (text(None), text(Some(0.3)));
    assert_eq!(
        even.text,
        "Commits take 446 ms, but log writes only 21.2 ms, at 4.7 commits/s: 4.4 % of the database's time is spent on other waits."
    );
    assert!(even.remedy.starts_with("The log's storage is not the main cause"), "{}", even.remedy);
    assert!(stalled.text.contains("a commit waits up to 300 ms for the log") && stalled.remedy.contains("for stalls"));
}

#[test]
fn sizes_of_large_operations_are_part_of_their_latency() {
    let (class, latency_s, iops, in_flight) = (Class::SequentialRead, 0.0127, 3_820.0, 48.6);
    let scan = Verdict::Transfer { class, counted: CountedEvent::SessionWait, latency_s, iops, bytes: 4.67e6 };
    assert_eq!(
        words::diagnosis::verdict_text(&scan).text,
        "Sessions wait 12.7 ms each for sequential reads of 4.67 MB, at 3,820 waits/s: 368 MB/s for each, so their time is that \
         of the transfer, not a slow latency."
    );
    let slow = |bytes: f64| {
        let counted = CountedEvent::Operation;
        let verdict = Verdict::Slow { class, counted, latency_s: 0.05, iops: 10.0, bytes: Some(bytes), in_flight };
        words::diagnosis::verdict_text(&verdict)
    };
    assert!(slow(1_048_576.0).text.starts_with("Sequential reads of 1.05 MB take 50 ms at 10 IOPS"));
    assert!(slow(1_048_576.0).remedy.contains("more throughput for each stream"));
    assert!(
        slow(131_072.0).text.starts_with("Sequential reads of 131 kB take")
            && slow(8_192.0).text.contains("reads take")
    );
    assert!(slow(131_072.0).remedy.contains("lower latency"));
}

#[test]
fn storage_that_is_not_the_problem_has_a_bound_of_its_saving() {
    for (main, host_busy) in [(TimePart::Processor, Some(0.1)), (TimePart::Processor, None), (TimePart::Lock, None)] {
        let verdict = Verdict::NotStorage { share: 0.03, at_most: 0.04, host_busy, main, main_share: 0.8 };
        let remedy = words::diagnosis::verdict_text(&verdict).remedy;
        assert!(remedy.starts_with("Faster storage saves at most 4 % of the database's time"), "{remedy}");
        let text = words::diagnosis::verdict_text(&verdict).text;
        assert!(text.ends_with("saves at most 4 %, if each commit waits for two log writes."), "{text}");
    }
    for (share, at_most, ending) in [(0.005, 0.006, "0.6 %, if each commit waits"), (0.0301, 0.0303, "3 %.")] {
        let verdict =
            Verdict::NotStorage { share, at_most, host_busy: None, main: TimePart::Processor, main_share: 0.8 };
        let text = words::diagnosis::verdict_text(&verdict).text;
        assert!(text.contains(&format!("saves at most {ending}")), "{text}");
    }
}

#[test]
fn waits_for_background_writes_are_no_reason_for_other_storage() {
    let of = |behind: f64| in_part(0.2, (TimePart::Lock, 0.4), behind);
    assert!(words::diagnosis::verdict_text(&of(0.19)).remedy.contains("enlarge the log files"));
    assert!(words::diagnosis::verdict_text(&of(0.05)).remedy.starts_with("Faster storage reduces this part only"));
}

#[test]
fn io_wait_of_the_host_is_that_of_others_only_beyond_the_waits_of_the_database() {
    let text = |waited_s| {
        words::diagnosis::verdict_text(&Verdict::HostIoWait { share: 0.083, idle_s: 3_976.0, waited_s }).text
    };
    let explained = text([6_400.0, 0.0]);
    let expected = "8.3 % of the time (I/O wait), 3,980 s of all processors. Sessions waited 6,400 s for their reads and writes, \
                    which is enough to explain it.";
    assert!(explained.ends_with(expected), "{explained}");
    let others = text([900.0, 76.0]);
    let expected = "waited 900 s for their reads and writes, and background processes 76 s: at least 3,000 s are I/O of others, or not \
                    counted as waits.";
    assert!(others.ends_with(expected), "{others}");
}

#[test]
fn a_queue_for_processors_is_stated_in_seconds() {
    let (busy, queue_s, paged_bytes) = (Some(0.156), Some([70_600.0, 30_900.0]), Some([1.73e9, 2.07e9]));
    let queue = Verdict::ProcessorQueue { share: 0.24, busy, queue_s, paged_bytes };
    let text = words::diagnosis::verdict_text(&queue);
    let expected = "24 % of the database's time (70,600 s) is in no counter: the host's processes waited 30,900 s for \
                    processors (OS_CPU_WAIT_TIME), although these were busy 16 % of the time, and the host paged 1.73 GB in and \
                    2.07 GB out.";
    assert_eq!(text.text, expected);
    assert!(text.remedy.contains("run queue") && text.remedy.contains("memory"), "{}", text.remedy);
    let pages = words::diagnosis::verdict_text(&Verdict::HostPages { paged_bytes: [1.73e9, 2.07e9], seconds: 3_690.0 });
    assert!(pages.text.contains("paged 1.73 GB in and 2.07 GB out (0.47 MB/s and 0.56 MB/s)"), "{}", pages.text);
}

#[test]
fn every_verdict_is_a_full_sentence() {
    let mut ids = std::collections::BTreeSet::new();
    for verdict in every_verdict().into_iter().chain(latency_verdicts()).chain(host_verdicts()) {
        let text = words::diagnosis::verdict_text(&verdict);
        assert!(ids.insert(verdict.id()), "{} twice", verdict.id());
        assert!(text.text.ends_with('.') && !text.text.contains("  "), "{}: {}", verdict.id(), text.text);
        assert!(text.remedy.is_empty() || text.remedy.ends_with('.'), "{}", text.remedy);
        assert!(text.kind.len() <= 8, "{}", text.kind);
        assert!(text.text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '"'), "{}", text.text);
    }
    let text = |verdict: &Verdict| words::diagnosis::verdict_text(verdict).text;
    let at_ceiling = every_verdict().into_iter().find(|verdict| verdict.id() == "at-ceiling");
    let ceiling = text(&at_ceiling.expect("it is in the list"));
    assert!(
        ceiling.contains("allows 500 IOPS") && ceiling.contains("the peak demand is 506 IOPS: 30 of 90 windows"),
        "{ceiling}"
    );
    let impossible = Verdict::AtCeiling {
        name: "IOPS".into(),
        counts: plimsoll_catalogue::Counts::Operations,
        allows: 500.0,
        demand: 5_000.0,
        near: 30,
        windows: 90,
    };
    assert!(text(&impossible).contains("did not run on this configuration"), "{}", text(&impossible));
    let remedy = |host_busy| {
        let main = TimePart::Processor;
        let not = Verdict::NotStorage { share: 0.1, at_most: 0.1, host_busy, main, main_share: 0.85 };
        words::diagnosis::verdict_text(&not).remedy
    };
    assert!(remedy(Some(0.024)).contains("more processors") && remedy(Some(0.9)).contains("add processors"));
    assert!(text(&Verdict::LongWindows { longest_s: 604_800.0 }).contains("window of 7 days hides peaks"));
}

#[test]
fn each_headline_answers_whether_storage_is_the_problem() {
    let report = read_outcomes();
    let title = |verdicts: Vec<Verdict>| {
        let mut subjects = diagnose_outcomes(&report);
        subjects[0].verdicts = verdicts;
        subjects[0].split.as_mut().unwrap().active = 46.0;
        let text = diagnoses(&report, &subjects, &TextStyle { width: 400, ..TextStyle::default() });
        text.lines().next().unwrap().to_owned()
    };
    let answer =
        Verdict::NotStorage { share: 0.04, at_most: 0.05, host_busy: None, main: TimePart::Managed, main_share: 0.8 };
    let censored = |cause| Verdict::Censored(Censored { cause, up_to: None });
    let cap = || censored(CensorCause::ProcessorCap { share: 0.8, processors: [8.0, 50.0], limit: None });
    let pinned =
        || censored(CensorCause::Pinned { measure: Measure::Iops, value: 3e3, windows: [40, 60], latency_s: None });
    let unknown = || Verdict::NoSessionTimes { has_latency: true, on_processor: None, host: None };
    let reads = CensorCause::ClosedReads { active: 60.0, share: 0.99, latency_s: 0.008, counted: Some([0.32, 0.004]) };
    let at_least = Verdict::StorageAtLeast { share: 0.24, at_most: 0.3, unaccounted: 0.56, are_processors_free: true };
    let full = Verdict::ProcessorsFull { busy: 0.92, waiting: Some(14.0), processors: Some(8.0) };
    let table = [
        (
            vec![cap(), answer.clone()],
            "Storage is not the problem (4 % of database time); a cap of the processors keeps the load below the demand",
        ),
        (
            vec![pinned(), answer],
            "Storage is not the problem (4 % of database time); a limit keeps the load below the demand",
        ),
        (vec![pinned(), unknown()], "Storage may be the problem; a limit keeps the load below the demand"),
        (
            vec![censored(reads), at_least.clone()],
            "Storage is the problem (32 % of database time as counted, up to 99 %), and the measured load is below the demand",
        ),
        (vec![at_least], "Cannot tell whether storage is the problem: 24 % of database time, 56 % in no counter"),
        (vec![unknown()], "Cannot tell whether storage is the problem: no input has wait events"),
        (vec![full], "Processors are the first problem (busy 92 %); storage is 80 % of database time"),
        (
            vec![Verdict::Quiet { active: 0.1 }],
            "Storage is no problem: the database is nearly idle (0.1 active sessions)",
        ),
    ];
    for (verdicts, expected) in table {
        assert_eq!(title(verdicts), expected);
    }
}

#[test]
fn finding_of_the_busiest_hour_is_part_of_its_sentence() {
    let text = |user_io, finding: Option<(&str, f64)>| {
        let busy = BusyHours {
            mean: 0.928,
            mean_storage: 0.18,
            highest: 2.12,
            begin: None,
            length_s: 3_600.0,
            basis: BusyBasis::Analysis { user_io },
            finding: finding.map(|(name, share)| (name.into(), share)),
        };
        words::diagnosis::verdict_text(&Verdict::BusyHours(busy)).text
    };
    let parse = text(None, Some(("Hard Parse", 0.899)));
    assert!(parse.contains("for 60 min, 90 % of them in its finding \"Hard Parse\"; the mean is 0.928."), "{parse}");
    let both = text(Some(0.415), Some(("Hard Parse", 1.5)));
    assert!(both.contains("100 % of them in its finding \"Hard Parse\", 42 % of them in User I/O;"), "{both}");
    let reads = text(Some(0.415), Some(("\"User I/O\" wait Class", 0.415)));
    assert!(reads.contains("60 min, 42 % of them in User I/O;") && !reads.contains("finding"), "{reads}");
}

#[test]
fn idle_waits_that_are_not_counted_are_listed() {
    let report = read_outcomes();
    let mut subjects = diagnose_outcomes(&report);
    subjects[0].split.as_mut().unwrap().idle_waits = vec![("virtual circuit wait".into(), 44_700.0)];
    let text = diagnoses(&report, &subjects, &TextStyle { width: 100, ..TextStyle::default() });
    assert!(text.contains("\nnot counted, as idle: virtual circuit wait, 44,700 s\n"), "{text}");
}

#[test]
fn title_of_fast_storage_states_both() {
    let title = |read_us: u64, processor_s: u64| {
        let work =
            Workload { single_reads: 3_600_000, several_reads: 0, read_us, processor_s, ..Workload::small_shop(9) };
        let mut ingest = Ingest::new("awr.html");
        ingest.feed(work.awr_html().as_bytes());
        let report = ingest.finish();
        let text = diagnoses(&report, &diagnose_outcomes(&report), &TextStyle { width: 400, ..TextStyle::default() });
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(title(500, 7_200), "Storage is 20 % of database time, and fast");
    assert_eq!(
        title(900, 600),
        "Storage is 84 % of database time, although it is fast: the number of operations is the problem"
    );
    assert_eq!(title(8_000, 36_000), "Storage is part of the problem (44 % of database time)");
}

/// Twenty hours, most of them idle, of which the last ones are busy and wait for storage.
#[test]
fn busy_hours_are_stated_beside_the_mean() {
    let mut all = Vec::new();
    for hour in 0..20 {
        let reads = if hour >= 18 { 3_600_000 } else { 36_000 };
        let work = Workload { single_reads: reads, read_us: 8_000, processor_s: 720, ..Workload::small_shop(hour) };
        let mut ingest = Ingest::new("awr.html");
        ingest.feed(work.awr_html().as_bytes());
        all.extend(ingest.finish());
    }
    let text = diagnoses(&all, &diagnose_outcomes(&all), &TextStyle { width: 400, ..TextStyle::default() });
    assert!(text.contains("The busiest 2 of 20 windows have "), "{text}");
    assert!(text.lines().next().unwrap().contains(" in busy hours)"), "{text}");
    let readings: Vec<_> = all.iter().filter_map(Outcome::reading).collect();
    let page = pages::diagnoses(&all, &Demand::of(&readings), &diagnose_outcomes(&all));
    let load = page.figures.iter().find(|fact| fact.name == "Load").unwrap();
    let highest = load.remarks.last().unwrap();
    assert!(highest.starts_with("highest ") && highest.contains("2026-03-02 1"), "{highest}");
}
