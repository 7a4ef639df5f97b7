//! Recognition, splitting and refusal, with an invented format: `load NAME READS` in each line.

use plimsoll_ingest::{
    Builder, Class, Doubt, Fate, Form, Head, Ingest, InputFault, LineFormat, Measure, Outcome, OutcomeSummary, Reading,
    ReadingScope, ReadingWindow, Refusal, Resemblance,
};
use plimsoll_units::Span;

struct Words;

impl LineFormat for Words {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.is_empty() {
            return Ok(());
        }
        let origin = out.origin(number, "words", "reads");
        let mut words = line.split(' ').skip(1);
        match (words.next(), words.next().and_then(|reads| reads.parse().ok())) {
            (Some(part), Some(reads)) => {
                let scope = out.scope(ReadingScope { part: part.to_owned(), ..ReadingScope::default() });
                let window = out.window(ReadingWindow { begin: None, length: Span::from_secs(1) });
                out.mean((scope, window), Class::Read, Measure::Iops, reads, origin);
            }
            (Some("stop"), None) => {
                return Err(out.unusable_at(origin, InputFault::Incomplete { lacks: "number" }));
            }
            _ => {
                out.caution(Some(origin), Doubt::NotANumber { value: "the word" });
                out.part("words", Fate::Broken);
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let count = out.count() as u32;
        out.part("words", Fate::Read(count));
        Ok(())
    }
}

const WORDS: Form = Form::lines("words", "words of a test", resembles, |_| Box::new(Words));

fn resembles(head: &Head<'_>) -> Resemblance {
    match (head.text().starts_with("load "), head.text().starts_with("lo")) {
        (true, _) => Resemblance::Is { marks: 1 },
        (false, true) => Resemblance::Near { marks: 1, missing: "word `load`" },
        _ => Resemblance::None,
    }
}

pub fn read_outcomes(bytes: &[u8], step: usize) -> Vec<Outcome> {
    let mut ingest = Ingest::among(&[WORDS], "test");
    for piece in bytes.chunks(step) {
        ingest.feed(piece);
    }
    ingest.finish()
}

fn read_outcome(bytes: &[u8], step: usize) -> Outcome {
    let mut outcomes = read_outcomes(bytes, step);
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

fn read_reading(bytes: &[u8]) -> Reading {
    match read_outcome(bytes, 4_096) {
        Outcome::Read(reading) => *reading,
        Outcome::Refused { refusal, .. } => panic!("{refusal}"),
    }
}

pub fn refusal(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Read(_) => panic!("it was read"),
        Outcome::Refused { refusal, .. } => refusal.to_string(),
    }
}

#[test]
fn outcomes_are_independent_of_piece_sizes() {
    let text = b"load a 1\r\nload b 2\nload a 3.5";
    let total = read_outcome(text, text.len());
    let reading = total.reading().unwrap();
    let values: Vec<_> = reading.figures.iter().map(|f| (f.scope, f.window, f.value, f.origin.line)).collect();
    assert_eq!(values, [(0, 0, 1.0, 1), (1, 0, 2.0, 2), (0, 0, 3.5, 3)]);
    assert_eq!((total.verdict(), total.kind()), (OutcomeSummary::Read, Some(WORDS.kind)));
    for step in 1..text.len() {
        assert_eq!(read_outcome(text, step), total, "step {step}");
    }
}

#[test]
fn refusals_are_a_single_line() {
    let message = |text: &[u8]| refusal(&read_outcome(text, 7));
    assert_eq!(message(b""), "it is empty: copy it again");
    assert_eq!(message(b" \n \n"), "it is empty: copy it again");
    assert_eq!(
        message(b"something"),
        "not a known format; the nearest is iostat, for operations, bytes and latencies of storage, but it has no line \
         with the names of columns, such as Device r/s w/s rkB/s wkB/s r_await w_await"
    );
    assert_eq!(
        message(b"loud a"),
        "not a known format; the nearest is words of a test, for operations, bytes and latencies of storage, but it has \
         no word `load`"
    );
    assert_eq!(
        message(b"load a 1\nload stop\n"),
        "words of a test, line 2, words: reads: it has no number: save it again completely"
    );
    let long = [b"load a 1\nload ".to_vec(), vec![b'x'; 2 << 20]].concat();
    assert_eq!(
        message(&long),
        "words of a test, line 2: a line of more than 1048576 bytes: check that the file is text"
    );
}

#[test]
fn the_rest_of_a_broken_part_is_read() {
    let outcome = read_outcome(b"load a 1\nload b\nload c -1\nload d NaN\nload e 2\n", 5);
    assert_eq!(outcome.verdict(), OutcomeSummary::Partly);
    let reading = outcome.reading().unwrap();
    assert_eq!(reading.figures.len(), 2);
    let cautions: Vec<_> =
        reading.cautions.iter().map(|c| (c.origin.as_ref().unwrap().line, c.doubt.to_string())).collect();
    let expected = [
        (2, "the word is not a number: skipped"),
        (3, "-1 is not a plausible figure: skipped"),
        (4, "NaN is not a plausible figure: skipped"),
    ];
    assert_eq!(cautions, expected.map(|(line, text)| (line, text.to_owned())));
}

#[test]
fn cautions_are_limited() {
    let reading = read_reading("load a\n".repeat(1_000).as_bytes());
    assert_eq!(reading.cautions.len(), Builder::MAX_CAUTIONS);
    assert!(reading.cautions.last().unwrap().doubt.to_string().contains("only the first"));
}

#[test]
fn utf_16_is_read_like_utf_8() {
    let wide: Vec<u8> = "load a 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_outcome(&wide, 3).reading().unwrap().figures, read_reading(b"load a 1\n").figures);
}

#[test]
fn the_kind_of_a_doubt_is_the_hyphenated_name_of_its_variant() {
    assert_eq!(Doubt::SingleSnapshot.kind(), "single-snapshot");
    assert_eq!(Doubt::NotANumber { value: "the rate" }.kind(), "not-a-number");
}
