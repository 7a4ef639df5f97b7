//! Holes of files, as reported by the filesystem.

use std::os::fd::BorrowedFd;

use plimsoll_volume::Extent;
use rustix::fs::{SeekFrom, seek};

/// Maximum of runs for one call: each takes two system calls.
const RUNS_MAX: usize = 256;

/// The runs of data and of holes from `offset` on: at most `limit`, which together cover at most `length` bytes. Where
/// the filesystem knows no holes, all of it is data.
pub(crate) fn find_extents(file: BorrowedFd<'_>, offset: u64, length: u64, limit: usize) -> Vec<Extent> {
    let end = offset.saturating_add(length);
    let mut extents = Vec::new();
    let mut at = offset;
    while at < end && extents.len() < limit.min(RUNS_MAX) {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // No data follow.
            Err(rustix::io::Errno::NXIO) => end,
            Err(_) => at,
        };
        let (next, allocated) = if data > at {
            (data, false)
        } else {
            (seek(file, SeekFrom::Hole(at)).map_or(end, |hole| hole.clamp(at + 1, end)), true)
        };
        extents.push(Extent { length: next - at, allocated });
        at = next;
    }
    extents
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn holes_and_data_alternate() {
        let file = rustix::fs::memfd_create("sparse", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, 1 << 20).unwrap();
        for at in [0, 64 << 10, 128 << 10] {
            assert_eq!(rustix::io::pwrite(&file, &[1; 4096], at), Ok(4096));
        }
        let runs = |offset, length, limit| {
            let extents = find_extents(file.as_fd(), offset, length, limit);
            extents.iter().map(|extent| (extent.length, extent.allocated)).collect::<Vec<_>>()
        };
        let between = (64 << 10) - 4096;
        let all = [(4096, true), (between, false), (4096, true), (between, false), (4096, true)];
        assert_eq!(runs(0, 128 << 10, 9), all[..4]);
        assert_eq!(runs(0, 1 << 20, 5), all);
        assert_eq!(runs(512, 8192, 9), [(4096 - 512, true), (8192 - 4096 + 512, false)]);
        assert_eq!(runs(1 << 19, 1 << 19, 9), [(1 << 19, false)], "only a hole follows");
        let (pipe, _writer) = std::io::pipe().unwrap();
        let extents = find_extents(pipe.as_fd(), 0, 512, 9);
        assert_eq!(extents, [Extent { length: 512, allocated: true }], "no holes are reported");
    }
}
