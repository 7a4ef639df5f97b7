//! A small iSCSI initiator: messages as bytes, and a session on a socket.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The target of an export that is called `data`.
pub const TARGET: &str = "iqn.2026-01.local.plimsoll:data";

/// A message without digests.
#[derive(Clone, Debug)]
pub struct Pdu {
    pub header: [u8; 48],
    pub data: Vec<u8>,
}

impl Pdu {
    pub fn new(opcode: u8, flags: u8, data: &[u8]) -> Self {
        let mut header = [0; 48];
        (header[0], header[1]) = (opcode, flags);
        header[5..8].copy_from_slice(&(data.len() as u32).to_be_bytes()[1..]);
        Self { header, data: data.to_vec() }
    }

    pub fn with(mut self, at: usize, value: u32) -> Self {
        self.header[at..at + 4].copy_from_slice(&value.to_be_bytes());
        self
    }

    pub fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.header[at..at + 4].try_into().unwrap())
    }

    /// The bytes on the wire, with digests of header and data if they were negotiated.
    pub fn bytes(&self, digests: (bool, bool)) -> Vec<u8> {
        let mut bytes = self.header.to_vec();
        if digests.0 {
            bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
        }
        if !self.data.is_empty() {
            let start = bytes.len();
            bytes.extend_from_slice(&self.data);
            bytes.resize(start + self.data.len().next_multiple_of(4), 0);
            if digests.1 {
                bytes.extend_from_slice(&crc32c::crc32c(&bytes[start..]).to_le_bytes());
            }
        }
        bytes
    }
}

/// A login in the operational stage that ends the login phase.
pub fn login(keys: &[(&str, &str)]) -> Pdu {
    login_stage(0x87, keys)
}

/// A login with these flags.
pub fn login_stage(flags: u8, keys: &[(&str, &str)]) -> Pdu {
    let text =
        keys.iter().fold(Vec::new(), |text, (key, value)| [&text[..], format!("{key}={value}\0").as_bytes()].concat());
    let mut pdu = Pdu::new(0x43, flags, &text).with(24, 1);
    pdu.header[8..14].copy_from_slice(&[0x80, 0, 0, 0, 0, 1]);
    pdu
}

/// The keys that every session needs.
pub const KEYS: [(&str, &str); 3] =
    [("InitiatorName", "iqn.2026-01.local.test:a"), ("TargetName", TARGET), ("SessionType", "Normal")];

/// A command; `flags` are those of reading (0x40) and writing (0x20).
pub fn command(tag: u32, number: u32, flags: u8, expected: u32, cdb: &[u8], data: &[u8]) -> Pdu {
    let mut pdu = Pdu::new(0x01, 0x80 | flags, data).with(16, tag).with(20, expected).with(24, number);
    pdu.header[32..32 + cdb.len()].copy_from_slice(cdb);
    pdu
}

/// A Data-Out for an R2T, or unsolicited with the tag `u32::MAX`.
pub fn data_out(tag: u32, transfer: u32, (number, offset): (u32, u32), last: bool, data: &[u8]) -> Pdu {
    let flags = if last { 0x80 } else { 0 };
    Pdu::new(0x05, flags, data).with(16, tag).with(20, transfer).with(36, number).with(40, offset)
}

/// READ(10) or WRITE(10) and others of their format, with blocks of 512 bytes.
pub fn cdb_10(opcode: u8, block: u32, count: u16) -> [u8; 10] {
    let mut cdb = [0; 10];
    cdb[0] = opcode;
    cdb[2..6].copy_from_slice(&block.to_be_bytes());
    cdb[7..9].copy_from_slice(&count.to_be_bytes());
    cdb
}

/// The end of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub status: u8,
    /// Key, code and qualifier.
    pub sense: Option<(u8, u8, u8)>,
    /// The information of the sense data.
    pub information: u32,
    pub data: Vec<u8>,
    /// Negative if fewer bytes were moved than expected.
    pub residual: i64,
}

impl Outcome {
    pub fn is_good(&self) -> bool {
        self.status == 0 && self.sense.is_none()
    }
}

pub struct Initiator {
    pub stream: UnixStream,
    pub answers: BTreeMap<String, String>,
    digests: (bool, bool),
    number: u32,
    tag: u32,
    /// Bytes of immediate data, and of each Data-Out.
    pub immediate: usize,
    pub segment: usize,
    /// Bytes of unsolicited data.
    pub first_burst: usize,
}

impl Initiator {
    /// Logs in with further keys, and consumes the unit attention of power on.
    pub fn begin(socket: &Path, keys: &[(&str, &str)]) -> Self {
        let mut initiator = Self::log_in(socket, &[&KEYS[..], keys].concat()).unwrap();
        let attention = initiator.run(0, 0, &[0; 6], &[]);
        assert_eq!(attention.sense, Some((6, 0x29, 0)), "{attention:?}");
        initiator
    }

    /// Logs in with these keys alone. The status of a refusal is the error.
    pub fn log_in(socket: &Path, keys: &[(&str, &str)]) -> Result<Self, u16> {
        let mut initiator = Self::connect(socket);
        let answer = initiator.exchange(&login(keys));
        initiator.read_answers(&answer)?;
        Ok(initiator)
    }

    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let (answers, digests) = (BTreeMap::new(), (false, false));
        Self { stream, answers, digests, number: 1, tag: 1, immediate: 0, segment: 65_536, first_burst: 0 }
    }

    /// Reads the answers of a login response, and takes over the digests after the last one.
    pub fn read_answers(&mut self, answer: &Pdu) -> Result<(), u16> {
        assert_eq!(answer.header[0], 0x23);
        let status = (answer.word(36) >> 16) as u16;
        if status != 0 {
            return Err(status);
        }
        let text = String::from_utf8(answer.data.clone()).unwrap();
        self.answers.extend(text.split_terminator('\0').map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        }));
        if answer.header[1] & 0x83 == 0x83 {
            let has = |key: &str| self.answers.get(key).is_some_and(|value| value == "CRC32C");
            self.digests = (has("HeaderDigest"), has("DataDigest"));
        }
        Ok(())
    }

    pub fn send(&mut self, pdu: &Pdu) {
        self.try_send(pdu).unwrap();
    }

    fn try_send(&mut self, pdu: &Pdu) -> io::Result<()> {
        self.stream.write_all(&pdu.bytes(self.digests))
    }

    /// The next message; its digests are checked.
    pub fn receive(&mut self) -> io::Result<Pdu> {
        let mut header = [0; 48];
        self.stream.read_exact(&mut header)?;
        if self.digests.0 {
            self.check_digest(&header)?;
        }
        let length = u32::from_be_bytes([0, header[5], header[6], header[7]]) as usize;
        let mut data = vec![0; length.next_multiple_of(4)];
        self.stream.read_exact(&mut data)?;
        if self.digests.1 && length > 0 {
            self.check_digest(&data)?;
        }
        data.truncate(length);
        Ok(Pdu { header, data })
    }

    fn check_digest(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut digest = [0; 4];
        self.stream.read_exact(&mut digest)?;
        assert_eq!(u32::from_le_bytes(digest), crc32c::crc32c(bytes), "the digest of a message");
        Ok(())
    }

    pub fn exchange(&mut self, pdu: &Pdu) -> Pdu {
        self.send(pdu);
        self.receive().unwrap()
    }

    /// Numbers of the next command: its tag and its place in the sequence.
    pub fn next(&mut self) -> (u32, u32) {
        let numbers = (self.tag, self.number);
        (self.tag, self.number) = (self.tag + 1, self.number + 1);
        numbers
    }

    /// A command that reads at most `expected` bytes, or writes `data`.
    pub fn run(&mut self, flags: u8, expected: u32, cdb: &[u8], data: &[u8]) -> Outcome {
        self.try_run(flags, expected, cdb, data).unwrap()
    }

    /// The same with a target that may end.
    pub fn try_run(&mut self, flags: u8, expected: u32, cdb: &[u8], data: &[u8]) -> io::Result<Outcome> {
        let tag = self.start(flags, expected, cdb, data)?;
        self.try_finish(tag, data)
    }

    /// Sends a command with its unsolicited data.
    pub fn start(&mut self, flags: u8, expected: u32, cdb: &[u8], data: &[u8]) -> io::Result<u32> {
        let (tag, number) = self.next();
        let immediate = self.immediate.min(data.len());
        let unsolicited = self.first_burst.min(data.len()).max(immediate);
        let mut pdu = command(tag, number, flags, expected, cdb, &data[..immediate]);
        if unsolicited > immediate {
            pdu.header[1] &= 0x7f;
        }
        self.try_send(&pdu)?;
        if unsolicited > immediate {
            self.send_data(tag, u32::MAX, data, immediate..unsolicited)?;
        }
        Ok(tag)
    }

    fn send_data(&mut self, tag: u32, transfer: u32, data: &[u8], range: std::ops::Range<usize>) -> io::Result<()> {
        let starts: Vec<usize> = range.clone().step_by(self.segment).collect();
        for (number, start) in starts.into_iter().enumerate() {
            let end = (start + self.segment).min(range.end);
            let place = (number as u32, start as u32);
            self.try_send(&data_out(tag, transfer, place, end == range.end, &data[start..end]))?;
        }
        Ok(())
    }

    /// Answers permissions for data until the command has ended.
    pub fn finish(&mut self, tag: u32, data: &[u8]) -> Outcome {
        self.try_finish(tag, data).unwrap()
    }

    fn try_finish(&mut self, tag: u32, data: &[u8]) -> io::Result<Outcome> {
        let mut outcome = Outcome::default();
        let mut next_data = 0;
        loop {
            let pdu = self.receive()?;
            assert_eq!(pdu.word(16), tag, "{pdu:x?}");
            match pdu.header[0] {
                0x31 => {
                    let (start, length) = (pdu.word(40) as usize, pdu.word(44) as usize);
                    self.send_data(tag, pdu.word(20), data, start..start + length)?;
                }
                0x25 => {
                    assert_eq!((pdu.word(36), pdu.word(40) as usize), (next_data, outcome.data.len()), "in order");
                    next_data += 1;
                    outcome.data.extend_from_slice(&pdu.data);
                    if pdu.header[1] & 1 != 0 {
                        return Ok(Outcome { status: pdu.header[3], residual: residual(&pdu), ..outcome });
                    }
                }
                0x21 => {
                    let sense = pdu.data.get(2..).filter(|sense| sense.len() >= 18);
                    return Ok(Outcome {
                        status: pdu.header[3],
                        sense: sense.map(|sense| (sense[2] & 15, sense[12], sense[13])),
                        information: sense.map_or(0, |sense| u32::from_be_bytes(sense[3..7].try_into().unwrap())),
                        residual: residual(&pdu),
                        ..outcome
                    });
                }
                other => panic!("message {other:#x}"),
            }
        }
    }

    pub fn read(&mut self, block: u32, count: u16) -> Outcome {
        self.run(0x40, u32::from(count) * 512, &cdb_10(0x28, block, count), &[])
    }

    pub fn write(&mut self, block: u32, data: &[u8]) -> Outcome {
        self.run(0x20, data.len() as u32, &cdb_10(0x2a, block, (data.len() / 512) as u16), data)
    }
}

fn residual(pdu: &Pdu) -> i64 {
    match pdu.header[1] & 6 {
        4 => pdu.word(44).into(),
        2 => -i64::from(pdu.word(44)),
        _ => 0,
    }
}
