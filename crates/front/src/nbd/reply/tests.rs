//! Encoded replies.

use super::*;

fn reply(style: Style, say: impl FnOnce(ReplyWriter, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    say(ReplyWriter { style, cookie: 0x0102, offset: 0x200 }, &mut out);
    out
}

#[test]
fn each_style_has_its_frame() {
    let simple = reply(Style::Simple, ReplyWriter::done);
    assert_eq!(simple, [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
    let failed = reply(Style::Simple, |writer, out| writer.failed(out, Errno::NoSpc));
    assert_eq!(failed[4..8], [0, 0, 0, 28]);
    let structured = reply(Style::Structured, |writer, out| writer.data(out, 4096));
    assert_eq!(structured.len(), 28);
    assert_eq!(structured[..8], [0x66, 0x8e, 0x33, 0xef, 0, 1, 0, 1]);
    assert_eq!(structured[16..20], (4096u32 + 8).to_be_bytes());
    assert_eq!(structured[20..], 0x200u64.to_be_bytes());
    let extended = reply(Style::Extended, |writer, out| writer.data(out, 4096));
    assert_eq!(extended.len(), 40);
    assert_eq!(extended[16..24], 0x200u64.to_be_bytes(), "the request's offset");
    assert_eq!(extended[24..32], (4096u64 + 8).to_be_bytes());
    let error = reply(Style::Structured, |writer, out| writer.failed(out, Errno::Perm));
    let text = Errno::Perm.to_string();
    assert_eq!(error[6..8], [0x80, 1]);
    assert_eq!(error[20..24], [0, 0, 0, 1]);
    assert_eq!(&error[26..], text.as_bytes());
}

#[test]
fn only_the_last_part_of_a_read_ends_it() {
    let part = |offset, rest| ReadPart { offset, length: 512, rest };
    let first = reply(Style::Structured, |writer, out| writer.data_part(out, part(0x200, 512)));
    assert_eq!((&first[4..8], &first[20..]), (&[0, 0, 0, 1][..], &0x200u64.to_be_bytes()[..]));
    let last = reply(Style::Extended, |writer, out| writer.hole_part(out, part(0x400, 0)));
    assert_eq!(last[4..8], [0, 1, 0, 2]);
    assert_eq!(last[16..24], 0x200u64.to_be_bytes(), "the request's offset");
    assert_eq!(last[32..], [&0x400u64.to_be_bytes()[..], &512u32.to_be_bytes()].concat());
}

#[test]
fn overlong_run_ends_a_structured_reply() {
    let run = |length, allocated| Extent { length, allocated };
    let extents = [run(512, true), run(1 << 40, false), run(512, true)];
    let narrow = reply(Style::Structured, |writer, out| writer.allocation(out, &extents));
    assert_eq!(narrow.len(), 20 + 4 + 2 * 8);
    assert_eq!(narrow[24..32], [0, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!(narrow[32..], [0xff, 0xff, 0, 0, 0, 0, 0, 3]);
    let wide = reply(Style::Extended, |writer, out| writer.allocation(out, &extents));
    assert_eq!(wide.len(), 32 + 8 + 3 * 16);
}
