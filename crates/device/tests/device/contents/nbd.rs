//! Verified contents over NBD, with a minimal server.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use plimsoll_device::nbd::{Connection, Remote, Socket};
use plimsoll_device::{Blank, Clock, MismatchKind};
use plimsoll_load::OpOutcome;
use plimsoll_units::Kind;

use super::rig::{BLOCK, SIZE, checked, one, only, op, perform, shape};

/// Serves memory until the client disconnects. A write of a byte at the end of the export corrupts the first block.
fn serve(mut client: UnixStream) -> std::io::Result<()> {
    let mut store = vec![0; SIZE.get() as usize];
    client.write_all(b"NBDMAGICIHAVEOPT\0\x03")?;
    client.read_exact(&mut [0; 4])?;
    loop {
        let mut head = [0; 16];
        client.read_exact(&mut head)?;
        let option = u32::from_be_bytes(head[8..12].try_into().unwrap());
        let mut data = vec![0; u32::from_be_bytes(head[12..16].try_into().unwrap()) as usize];
        client.read_exact(&mut data)?;
        let mut reply = |kind: u32, data: &[u8]| {
            let mut reply = 0x0003_e889_0455_65a9_u64.to_be_bytes().to_vec();
            for word in [option, kind, data.len() as u32] {
                reply.extend(word.to_be_bytes());
            }
            reply.extend(data);
            client.write_all(&reply)
        };
        if option != 7 {
            // Not supported.
            reply(0x8000_0001, &[])?;
            continue;
        }
        // Size of the export, and flags for flushes and FUA.
        let mut info = vec![0, 0];
        info.extend(SIZE.get().to_be_bytes());
        info.extend([0, 0b1101]);
        reply(3, &info)?;
        reply(1, &[])?;
        break;
    }
    loop {
        let mut head = [0; 28];
        client.read_exact(&mut head)?;
        let offset = u64::from_be_bytes(head[16..24].try_into().unwrap()) as usize;
        let length = u32::from_be_bytes(head[24..28].try_into().unwrap()) as usize;
        let mut reply = vec![0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0];
        reply.extend(&head[8..16]);
        match head[7] {
            0 => reply.extend(&store[offset..offset + length]),
            1 if length == 1 => {
                client.read_exact(&mut [0])?;
                store[77] ^= 1;
            }
            1 => client.read_exact(&mut store[offset..offset + length])?,
            2 => return Ok(()),
            _ => {}
        }
        client.write_all(&reply)?;
    }
}

#[test]
fn data_of_a_server_are_verified() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || serve(theirs));
    let checked = checked(Blank::Mismatch);
    let connection = Connection::over(Socket::from(OwnedFd::from(ours)), "").unwrap();
    let remote = Remote::new(vec![connection], &shape(8, checked.clone()), Clock::start());
    let mut remote = match remote {
        Ok(remote) => remote,
        Err(error) => {
            eprintln!("skipped: {error}");
            return;
        }
    };
    let ops = |kind| (0..8).map(|index| op(kind, index * 8 * BLOCK.get(), 8 * BLOCK.get())).collect::<Vec<_>>();
    assert_eq!(perform(&mut remote, &ops(Kind::Write)), [OpOutcome::Done; 8]);
    assert_eq!(one(&mut remote, Kind::Flush, 0, 0), OpOutcome::Done);
    assert_eq!(perform(&mut remote, &ops(Kind::Read)), [OpOutcome::Done; 8]);
    assert_eq!((checked.compared(), checked.mismatches().total), (64, 0));
    assert_eq!(one(&mut remote, Kind::Write, SIZE.get() - 1, 1), OpOutcome::Done);
    let mut expected = [OpOutcome::Done; 8];
    expected[0] = OpOutcome::Failed(libc::EILSEQ);
    assert_eq!(perform(&mut remote, &ops(Kind::Read)), expected);
    assert_eq!(only(&checked).kind, MismatchKind::Rot { at: 77, bytes: 1 });
    drop(remote);
    server.join().unwrap().unwrap();
}
