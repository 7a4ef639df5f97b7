//! Decoded requests.

use super::*;

fn terms(style: Style) -> Terms {
    let blocks = Blocks { minimum: 512, ..Blocks::default() };
    Terms { style, allocation: style > Style::Simple, size: 1 << 20, access: VolumeAccess::ReadWrite, blocks }
}

fn header(command: u16, flags: u16, offset: u64, length: u64) -> Header {
    let payload = if command == command::WRITE { length as u32 } else { 0 };
    Header { flags, command, cookie: 9, offset, length, payload }
}

fn check(style: Style, request_header: &Header, expected: Result<Operation, Errno>) {
    assert_eq!(request_header.operation(&terms(style)), expected, "{style:?} {request_header:?}");
}

fn io(command: Command, offset: u64, length: u64, fua: bool) -> Operation {
    Operation::Io(Request { command, offset, length, fua })
}

#[test]
fn headers_are_found_in_the_stream() {
    let mut compact = wire::REQUEST.to_be_bytes().to_vec();
    compact.extend([0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 16, 0]);
    let expected = Header { flags: 1, command: command::WRITE, cookie: 5, offset: 512, length: 4096, payload: 4096 };
    for cut in 0..28 {
        assert_eq!(Header::parse(Style::Simple, &compact[..cut]), Ok(None));
    }
    assert_eq!(Header::parse(Style::Structured, &compact), Ok(Some(expected)));
    assert!(matches!(
        Header::parse(Style::Extended, &[&compact[..], &[0; 4]].concat()),
        Err(InvalidHeader::Magic { .. })
    ));
    compact[24] = 5;
    assert_eq!(Header::parse(Style::Simple, &compact), Err(InvalidHeader::Payload(0x0500_1000)));

    let mut extended = wire::EXTENDED_REQUEST.to_be_bytes().to_vec();
    extended.extend([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9, 0, 0, 16, 0]);
    let found = Header::parse(Style::Extended, &extended).unwrap().unwrap();
    assert_eq!((found.length, found.payload), (0x9_0000_1000, 0), "an effect of more than 32 bits");
}

#[test]
fn requests_are_decoded() {
    let style = Style::Structured;
    check(style, &header(command::READ, 0, 512, 1024), Ok(io(Command::Read, 512, 1024, false)));
    check(style, &header(command::READ, command_flag::DF, 0, 512), Ok(io(Command::Read, 0, 512, false)));
    check(style, &header(command::WRITE, 1, 0, 512), Ok(io(Command::Write, 0, 512, true)));
    check(style, &header(command::FLUSH, 0, 0, 0), Ok(io(Command::Flush, 0, 0, false)));
    check(style, &header(command::TRIM, 0, 0, 1 << 20), Ok(io(Command::Trim, 0, 1 << 20, false)));
    check(style, &header(command::CACHE, 0, 0, 512), Ok(io(Command::Cache, 0, 512, false)));
    let zeroes = |space| Ok(io(Command::WriteZeroes { space }, 0, 512, false));
    check(style, &header(command::WRITE_ZEROES, command_flag::NO_HOLE, 0, 512), zeroes(Space::Keep));
    check(style, &header(command::WRITE_ZEROES, command_flag::FAST_ZERO, 0, 512), zeroes(Space::Free));
    let status = Ok(Operation::Extents { offset: 0, length: 512, one: true });
    check(style, &header(command::BLOCK_STATUS, command_flag::REQ_ONE, 0, 512), status);
    check(style, &header(command::DISC, 0, 0, 0), Ok(Operation::Disconnect));
}

#[test]
fn invalid_requests_are_refused() {
    let style = Style::Simple;
    let far = 1 << 20;
    for (command, flags, offset, length, errno) in [
        (command::READ, 0, far, 512, Errno::Inval),
        (command::READ, 0, u64::MAX - 511, 512, Errno::Inval),
        (command::WRITE, 0, far, 512, Errno::NoSpc),
        (command::WRITE_ZEROES, 0, far - 512, 1024, Errno::NoSpc),
        (command::TRIM, 0, far - 512, 1024, Errno::Inval),
        (command::READ, 0, 1, 512, Errno::Inval),
        (command::READ, 0, 0, 100, Errno::Inval),
        (command::READ, 0, 0, 0, Errno::Inval),
        (command::READ, command_flag::DF, 0, 512, Errno::Inval),
        (command::READ, command_flag::NO_HOLE, 0, 512, Errno::Inval),
        (command::FLUSH, 0, 512, 0, Errno::Inval),
        (command::BLOCK_STATUS, 0, 0, 512, Errno::Inval),
        (command::WRITE_ZEROES, command_flag::NO_HOLE | command_flag::FAST_ZERO, 0, 512, Errno::NotSup),
        (8, 0, 0, 0, Errno::Inval),
        (77, 0, 0, 512, Errno::Inval),
    ] {
        check(style, &header(command, flags, offset, length), Err(errno));
    }
    let read_only = Terms { access: VolumeAccess::ReadOnly, ..terms(style) };
    for command in [command::WRITE, command::TRIM, command::WRITE_ZEROES] {
        assert_eq!(header(command, 0, 0, 512).operation(&read_only), Err(Errno::Perm));
    }
    check(Style::Extended, &header(command::READ, command_flag::PAYLOAD_LEN, 0, 512), Err(Errno::Inval));
    let long = header(command::READ, 0, 0, 65 << 20);
    let large = |style| Terms { size: 1 << 40, ..terms(style) };
    assert_eq!(long.operation(&large(Style::Simple)), Err(Errno::Inval));
    assert_eq!(long.operation(&large(Style::Structured)), Err(Errno::Overflow));
}
