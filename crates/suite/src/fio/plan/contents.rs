//! Written data, their verification, and the initial content of files.

use std::sync::Arc;

use plimsoll_device::{Blank, Checked, Checking, Compare, Content, Contents, Mismatches, Pattern, Refilled, Restart};
use plimsoll_fio::{BlockSizes, FioJob, PatternPiece, Verification};
use plimsoll_language::{label, say};
use plimsoll_load::Region;
use plimsoll_units::{Bytes, Kind, Op};
use rustix::io::Errno;

/// Distinguishes verified blocks from those of other programs. Constant, so that later runs can verify.
const SEED: u64 = u64::from_le_bytes(*b"fio jobs");

/// Maximum memory for the state of verified blocks.
const MEMORY_MAX: u64 = 4 << 30;

/// Verification of reads.
#[derive(Clone, Debug, Default)]
pub enum Checks {
    /// None.
    #[default]
    None,
    /// Self-describing blocks.
    Blocks(Arc<Checked>),
    Pattern(Arc<Pattern>),
}

impl Checks {
    /// Mismatches so far.
    pub fn mismatches(&self) -> Mismatches {
        match self {
            Self::None => Mismatches::default(),
            Self::Blocks(checked) => checked.mismatches(),
            Self::Pattern(pattern) => pattern.mismatches(),
        }
    }
}

/// Initial content of files.
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    Zeroes,
    /// Repetitions of these bytes.
    Pattern(Vec<u8>),
    /// Random data with a compressibility.
    Random {
        /// 0 to 1.
        compressible: f64,
        /// Size of the chunks with this compressibility, in bytes.
        chunk: usize,
    },
}

impl Filling {
    /// Content of a job's buffers.
    pub(super) fn of(job: &FioJob) -> Self {
        let buffers = &job.buffers;
        match &buffers.pattern {
            _ if buffers.zero => Self::Zeroes,
            Some(pieces) => Self::Pattern(join_pieces(pieces).map(|(bytes, _)| bytes).unwrap_or_default()),
            None => Self::Random { compressible: compressible_share(job), chunk: chunk_bytes(job) },
        }
    }

    /// Fills `bytes`, which begin at `offset`.
    pub fn fill(&self, offset: u64, bytes: &mut [u8]) {
        let op = Op { offset, length: 0, kind: Kind::Write, stream: 0 };
        match self {
            Self::Zeroes => bytes.fill(0),
            Self::Pattern(pattern) => {
                Pattern::new(pattern, &[], Restart::Never, Compare::Nothing).fill(&op, 0, bytes);
            }
            Self::Random { compressible, chunk } => {
                let seed = super::space::drawn(SEED ^ offset, u64::MAX);
                Refilled { seed, compressible: *compressible, chunk: *chunk, repeated: 0.0 }.fill(&op, offset, bytes);
            }
        }
    }
}

/// True if written data are read back after each loop.
pub(super) fn reads_back(job: &FioJob) -> bool {
    let verifies_after = |verification: &Verification| verification.after_writing && !verification.only;
    job.access.direction.writes && job.verification.as_ref().is_some_and(|one| verifies_after(one) && one.sum != "null")
}

/// Content that a clone writes on `regions`, and its verification.
pub(super) fn build_contents(job: &FioJob, seed: u64, regions: &[Region]) -> Result<(Contents, Checks), String> {
    match &job.verification {
        None => Ok((build_plain(job, seed)?, Checks::None)),
        Some(verification) => match verification.sum {
            "null" => Ok((build_plain(job, seed)?, Checks::None)),
            "pattern" => build_pattern(verification),
            _ => build_blocks(job, verification, regions),
        },
    }
}

/// Content without verification.
fn build_plain(job: &FioJob, seed: u64) -> Result<Contents, String> {
    let buffers = &job.buffers;
    if buffers.zero {
        return Ok(Contents::Zeroes);
    }
    if let Some(pieces) = &buffers.pattern {
        let (bytes, offsets) = join_pieces(pieces)?;
        return Ok(Contents::Generated(Arc::new(Pattern::new(&bytes, &offsets, Restart::Operation, Compare::Nothing))));
    }
    let repeated = f64::from(buffers.duplicate_percent.unwrap_or(0)) / 100.0;
    // Without scrambling, fio writes identical buffers.
    let repeated = if buffers.refill || buffers.scramble || repeated > 0.0 { repeated } else { 1.0 };
    if !buffers.refill && repeated <= 0.0 {
        return Ok(Contents::Stamped { compressible: compressible_share(job) });
    }
    let seed = if buffers.duplicates_of_all_jobs { SEED } else { seed };
    let refilled = Refilled { seed, compressible: compressible_share(job), chunk: chunk_bytes(job), repeated };
    Ok(Contents::Generated(Arc::new(refilled)))
}

fn compressible_share(job: &FioJob) -> f64 {
    f64::from(job.buffers.compressible_percent.unwrap_or(0)) / 100.0
}

fn chunk_bytes(job: &FioJob) -> usize {
    match job.buffers.compress_chunk.get() {
        0 => usize::MAX,
        bytes => bytes as usize,
    }
}

/// The bytes of a pattern, and the positions of offsets in it.
fn join_pieces(pieces: &[PatternPiece]) -> Result<(Vec<u8>, Vec<usize>), String> {
    let (mut all, mut offsets) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            PatternPiece::Bytes(bytes) => all.extend(bytes),
            PatternPiece::Offset => {
                offsets.push(all.len());
                all.extend([0; 8]);
            }
            PatternPiece::File(path) => {
                return Err(say!("a pattern from the file {path} is not supported; use bytes such as 0x..."));
            }
        }
    }
    Ok((all, offsets))
}

fn build_pattern(verification: &Verification) -> Result<(Contents, Checks), String> {
    let Some(pieces) = &verification.pattern else {
        return Err(label!("verify=pattern requires verify_pattern, such as verify_pattern=0xdeadbeef").into());
    };
    let (bytes, offsets) = join_pieces(pieces)?;
    let pattern = Arc::new(Pattern::new(&bytes, &offsets, Restart::Operation, Compare::Reads));
    Ok((Contents::Generated(pattern.clone()), Checks::Pattern(pattern)))
}

fn build_blocks(job: &FioJob, verification: &Verification, regions: &[Region]) -> Result<(Contents, Checks), String> {
    let interval = find_interval(job, verification);
    let start = regions.iter().map(|region| region.start).min().unwrap_or(0);
    let end = regions.iter().map(|region| region.start + region.length.get()).max().unwrap_or(0);
    if let Some(region) = regions.iter().find(|region| !(region.start - start).is_multiple_of(interval)) {
        return Err(say!(
            "verify: offset {} is not a multiple of the interval of {interval} bytes; use aligned offsets and file sizes",
            region.start
        ));
    }
    let memory = (end - start) / interval * 4;
    if memory > MEMORY_MAX {
        return Err(say!(
            "verify: {memory} bytes of memory for its blocks exceed the limit; use a smaller size or a larger bs"
        ));
    }
    let only_reads = !job.access.direction.writes || verification.only;
    let checking = Checking {
        seed: SEED,
        interval: Bytes::new(interval),
        region: Region { start, length: Bytes::new(end - start) },
        compressible: compressible_share(job),
        blank: if only_reads { Blank::Mismatch } else { Blank::PassedOver },
    };
    let checked = Checked::new(&checking).map_err(|error| format!("verify: {error}"))?;
    let checked = Arc::new(checked);
    Ok((Contents::Generated(checked.clone()), Checks::Blocks(checked)))
}

/// The largest block size that divides every operation.
fn find_interval(job: &FioJob, verification: &Verification) -> u64 {
    let access = &job.access;
    let both = [(access.direction.reads, &access.blocks.read), (access.direction.writes, &access.blocks.write)];
    let aligned = [(access.direction.reads, access.alignment.read), (access.direction.writes, access.alignment.write)];
    let used = both.into_iter().filter(|(used, _)| *used).flat_map(|(_, blocks)| list_sizes(blocks));
    let aligned = aligned.into_iter().filter(|(used, _)| *used).map(|(_, align)| align.get());
    let unaligned = access.unaligned.then_some(1);
    used.chain(aligned).chain(unaligned).chain(verification.interval.map(Bytes::get)).fold(0, greatest_common_divisor)
}

fn list_sizes(blocks: &BlockSizes) -> Vec<u64> {
    match blocks {
        BlockSizes::Range(low, high) if low == high => vec![low.get()],
        BlockSizes::Range(low, _) => vec![low.get()],
        BlockSizes::Split(sizes) => sizes.iter().map(|(size, _)| size.get()).collect(),
    }
}

pub(super) const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The error number of a name or number.
pub(super) fn parse_errno(text: &str) -> Option<i32> {
    let named = match text {
        "EPERM" => Errno::PERM,
        "ENOENT" => Errno::NOENT,
        "EIO" => Errno::IO,
        "ENXIO" => Errno::NXIO,
        "EAGAIN" => Errno::AGAIN,
        "ENOMEM" => Errno::NOMEM,
        "EACCES" => Errno::ACCESS,
        "EBUSY" => Errno::BUSY,
        "ENODEV" => Errno::NODEV,
        "EINVAL" => Errno::INVAL,
        "EFBIG" => Errno::FBIG,
        "ENOSPC" => Errno::NOSPC,
        "EROFS" => Errno::ROFS,
        "ENODATA" => Errno::NODATA,
        "ETIME" => Errno::TIME,
        "EREMOTEIO" => Errno::REMOTEIO,
        "EILSEQ" => Errno::ILSEQ,
        "EOPNOTSUPP" => Errno::OPNOTSUPP,
        "ETIMEDOUT" => Errno::TIMEDOUT,
        "ESTALE" => Errno::STALE,
        "EDQUOT" => Errno::DQUOT,
        _ => return text.parse().ok(),
    };
    Some(named.raw_os_error())
}
