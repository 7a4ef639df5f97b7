//! Round trip of traces, and rejection of malformed lines with their number.

use plimsoll_load::BlockMix;
use plimsoll_record::{Action, Outline, TraceEntry, TraceError, TraceReader, TraceWriter};
use plimsoll_units::{Bytes, Kind, Span};

const HEAD: &str = "#plimsoll.trace/1\ntime_ns,kind,offset,length\n";

fn request(at: u64, action: Action, offset: u64, length: u64) -> TraceEntry {
    TraceEntry { at: Span::from_nanos(at), action, offset, length }
}

fn read(text: &str) -> Result<Vec<TraceEntry>, TraceError> {
    TraceReader::new(text.as_bytes())?.collect()
}

/// The error as `LINE: MESSAGE`.
fn refused(lines: &str) -> String {
    let error = read(&format!("{HEAD}{lines}")).expect_err(lines);
    format!("{}: {error}", error.line)
}

#[test]
fn written_trace_is_read_back() {
    let all = [
        request(7_000, Action::Read, 8_192, 4_096),
        request(7_001, Action::Write, u64::MAX - 9, 9),
        request(7_001, Action::DurableWrite, 512, 512),
        request(9_000, Action::Flush, 0, 0),
        request(u64::MAX, Action::Trim, 0, 1 << 40),
    ];
    let mut text = Vec::new();
    let mut writer = TraceWriter::new(&mut text).unwrap();
    for entry in &all {
        writer.write(entry).unwrap();
    }
    writer.end(3).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with(&format!("{HEAD}0,read,8192,4096\n1,write,")), "{text}");
    assert!(text.ends_with("#dropped 3\n"), "{text}");

    let mut reader = TraceReader::new(text.as_bytes()).unwrap();
    let again: Vec<TraceEntry> = reader.by_ref().map(Result::unwrap).collect();
    let since_the_first = all.map(|entry| TraceEntry { at: entry.at - all[0].at, ..entry });
    assert_eq!(again, since_the_first);
    assert_eq!(reader.dropped(), 3);
}

#[test]
fn recorded_kinds_map_to_model_kinds() {
    let kinds = [
        (Action::Read, Kind::Read, 4_096),
        (Action::Write, Kind::Write, 4_096),
        (Action::DurableWrite, Kind::DurableWrite, 4_096),
        (Action::Trim, Kind::Write, 0),
    ];
    for (action, kind, length) in kinds {
        let op = request(1, action, 512, 4_096).recorded().op;
        assert_eq!((op.kind, op.offset, op.length), (kind, 512, length), "{action:?}");
    }
}

#[test]
fn comments_and_crlf_are_accepted() {
    let text = format!("{HEAD}# by hand\n0,read,0,512\n#dropped 1\n");
    for text in [text.replace('\n', "\r\n"), text] {
        assert_eq!(read(&text).unwrap(), [request(0, Action::Read, 0, 512)]);
    }
    assert_eq!(read(HEAD).unwrap(), []);
}

#[test]
fn malformed_lines_are_refused_with_their_number() {
    for (lines, wrong) in [
        ("0,read,0,512\n0,read,0\n", "4: a line has four fields"),
        ("0,read,0,512,1\n", "3: a line has four fields"),
        ("\n", "3: a line has four fields"),
        ("0,READ,0,512\n", "3: the kind is \"READ\""),
        ("-1,read,0,512\n", "3: time_ns is \"-1\""),
        ("0,read,+1,512\n", "3: offset is \"+1\""),
        ("0,read,0,4KiB\n", "3: length is \"4KiB\""),
        ("0,read,0,99999999999999999999\n", "3: length is \"99999999999999999999\""),
        ("5,read,0,512\n# a remark\n4,read,0,512\n", "5: time goes back, from 5 ns to 4 ns"),
        ("0,write,0,4294967296\n", "3: a length of 4294967296"),
        ("0,trim,18446744073709551615,1\n", "3: the operation reaches beyond"),
        ("0,flush,512,0\n", "3: a flush has no address"),
        ("#dropped many\n", "3: the count of dropped operations is \"many\""),
        ("0,read,0,512", "3: the last line is cut off"),
    ] {
        assert!(refused(lines).starts_with(wrong), "{lines:?}: {}", refused(lines));
    }
    assert!(refused(&"9".repeat(5_000)).starts_with("3: the line is longer"));
    assert!(refused(&format!("0,{},0,512\n", "\u{fffd}x".repeat(500))).len() < 250, "messages stay short");
}

#[test]
fn another_format_is_refused() {
    for (text, line, wrong) in [
        ("", 1, "not a trace"),
        ("#plimsoll.trace/2\ntime_ns,kind,offset,length\n", 1, "not a trace"),
        ("0,read,0,512\n", 1, "not a trace"),
        ("#plimsoll.trace/1\n", 2, "the second line"),
        ("#plimsoll.trace/1\n0,read,0,512\n", 2, "the second line"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.line == line && error.to_string().starts_with(wrong), "{text:?}: {}: {error}", error.line);
    }
}

#[test]
fn reader_ends_after_an_error() {
    let text = format!("{HEAD}bad\n0,read,0,512\n");
    let mut reader = TraceReader::new(text.as_bytes()).unwrap();
    assert!(reader.next().is_some_and(|line| line.is_err()));
    assert!(reader.next().is_none());
}

fn read_outline(lines: &str) -> Option<Outline> {
    let text = format!("{HEAD}{lines}");
    let trace = TraceReader::new(text.as_bytes()).map(Outline::of);
    trace.expect("a head").expect("well-formed lines")
}

#[test]
fn outline_counts_operations() {
    let lines = "10,read,0,4096\n20,read,4096,4096\n25,read,0,8192\n30,write,0,8192\n30,flush,0,0\n35,trim,0,1048576\n";
    let outline = read_outline(&format!("{lines}#dropped 2\n#dropped 5\n")).unwrap();
    assert_eq!((outline.operations, outline.span, outline.dropped), (6, Span::from_nanos(25), 7));
    assert_eq!(outline.reach, 1 << 20);
    assert!((outline.mix.reads - 0.75).abs() < 1e-9);
    assert_eq!((outline.mix.durable, outline.mix.flush_every), (false, 1));
    assert_eq!(BlockMix::weighted(vec![(Bytes::kib(4), 5_000), (Bytes::kib(8), 5_000)]), Some(outline.mix.sizes));
}

#[test]
fn many_sizes_are_rounded_to_powers_of_two() {
    let lines: Vec<String> = (1..=4_096).map(|size| format!("0,read,0,{size}\n")).collect();
    let sizes = read_outline(&lines.concat()).unwrap().mix.sizes;
    assert_eq!(sizes.largest(), Bytes::kib(4));
    assert!(sizes.sizes().iter().all(|(size, _)| size.get().is_power_of_two()), "{sizes:?}");
    let uneven = read_outline("0,read,0,3000\n0,read,0,4096\n").unwrap().mix.sizes;
    assert_eq!(uneven, BlockMix::weighted(vec![(Bytes::kib(4), 10_000)]).unwrap());
}

#[test]
fn empty_trace_has_no_outline() {
    assert_eq!(read_outline("#dropped 9\n"), None);
    assert_eq!(read_outline("0,flush,0,0\n").unwrap().operations, 1);
}
