//! Job files of a load: a job for each stream and share. Pure, except for the unnamed file with the jobs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd;

use plimsoll_load::{Arrival, BlockMix, Mix, Pace, Pattern, StreamSpec};
use plimsoll_units::{Bytes, Span};
use rustix::fs::{MemfdFlags, memfd_create};

use super::{Fio, FioHost};
use crate::backend::Trial;
use crate::plan::count_slots;

/// fio accepts no exponent of exactly 1, as its series would not converge.
const NEARLY_ONE: f64 = 1.000_01;
/// Maximum rate in a direction for which fio's rounding of mean gaps to microseconds is negligible.
const MAX_PRECISE_RATE: f64 = 10_000.0;

/// A section of the job file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FioSection {
    name: String,
    options: Vec<(&'static str, String)>,
}

/// The jobs of a host for a trial, without empty shares.
pub(super) fn build_jobs(trial: &Trial<'_>, fio: &Fio, host: u32) -> Vec<FioSection> {
    let parts = fio.hosts() * fio.threads;
    let mut jobs = Vec::new();
    for part in host * fio.threads..(host + 1) * fio.threads {
        for (index, stream) in trial.streams.iter().enumerate() {
            if let Some(share) = stream.share(part, parts) {
                jobs.push(FioSection::of(trial, &share, index, part, fio));
            }
        }
    }
    jobs
}

impl FioSection {
    fn of(trial: &Trial<'_>, stream: &StreamSpec, index: usize, part: u32, fio: &Fio) -> Self {
        let own_seed = trial.seed ^ (u64::from(part) << 32) ^ ((index as u64) << 16);
        let mut options = vec![
            ("filename", fio.filename()),
            ("ioengine", fio.io.to_string()),
            ("direct", u8::from(fio.direct).to_string()),
            ("thread", "1".into()),
            ("time_based", "1".into()),
            ("runtime", milliseconds(trial.duration - fio.ramp(trial))),
            ("offset", stream.region.start.to_string()),
            ("size", stream.region.length.get().to_string()),
            ("randseed", own_seed.to_string()),
            ("random_generator", "tausworthe64".into()),
        ];
        if fio.ramp(trial) > Span::ZERO {
            options.push(("ramp_time", milliseconds(fio.ramp(trial))));
        }
        options.extend(COMMON_OPTIONS.map(|(name, value)| (name, value.to_owned())));
        options.extend(mix_options(&stream.mix, stream.pattern));
        options.extend(pattern_option(stream.pattern));
        options.extend(pace_options(stream, fio.threads * fio.hosts()));
        if stream.writes() {
            options.extend(content_options(fio.compressible));
        }
        Self { name: format!("{index}.{part}"), options }
    }

    /// A job that reads the last block of `size` bytes, without a size option, as fio would replace a smaller file.
    pub(super) fn last_block(path: &str, size: Bytes, block: Bytes, direct: bool) -> Self {
        let options = vec![
            ("filename", path.replace(':', "\\:")),
            ("ioengine", "libaio".into()),
            ("direct", u8::from(direct).to_string()),
            ("thread", "1".into()),
            ("rw", "read".into()),
            ("bs", block.get().to_string()),
            ("offset", (size.get() - block.get()).to_string()),
            ("number_ios", "1".into()),
            ("allow_file_create", "0".into()),
        ];
        Self { name: "0.0".into(), options }
    }
}

/// Latency percentiles from the submission; fio must not create or lay out files, drop caches or end at an error.
const COMMON_OPTIONS: [(&str, &str); 8] = [
    ("lat_percentiles", "1"),
    ("clat_percentiles", "0"),
    ("slat_percentiles", "0"),
    ("norandommap", "1"),
    ("allow_file_create", "0"),
    ("fallocate", "none"),
    ("invalidate", "0"),
    ("continue_on_error", "io"),
];

impl Fio {
    /// Warm-up that fio excludes from its counts: used if it reports only at the end.
    pub(super) const fn ramp(&self, trial: &Trial<'_>) -> Span {
        match &self.place {
            FioHost::Local(_) => Span::ZERO,
            FioHost::Hosts(_) => trial.warm_up,
        }
    }

    /// The path with colons escaped, which otherwise separate names.
    fn filename(&self) -> String {
        match &self.place {
            FioHost::Local(path) => path.display().to_string().replace(':', "\\:"),
            FioHost::Hosts(hosts) => hosts.path.replace(':', "\\:"),
        }
    }
}

fn mix_options(mix: &Mix, pattern: Pattern) -> Vec<(&'static str, String)> {
    let reads = percent(mix.reads);
    let direction = match reads {
        100 => "read",
        0 => "write",
        _ => "rw",
    };
    let random = if pattern == Pattern::Sequential { "" } else { "rand" };
    let mut options = vec![("rw", format!("{random}{direction}"))];
    if direction == "rw" {
        options.push(("rwmixread", reads.to_string()));
    }
    if let [(size, _)] = mix.sizes.sizes() {
        options.push(("bs", size.get().to_string()));
    } else {
        let split: Vec<_> =
            percentages(&mix.sizes).iter().map(|(size, share)| format!("{}/{share}", size.get())).collect();
        options.push(("bssplit", split.join(":")));
    }
    options.push(("blockalign", mix.sizes.smallest().get().to_string()));
    if direction != "read" && mix.durable {
        options.push(("sync", "dsync".into()));
    }
    if direction != "read" && mix.flush_every > 0 {
        options.push(("fdatasync", mix.flush_every.to_string()));
    }
    options
}

fn pattern_option(pattern: Pattern) -> Option<(&'static str, String)> {
    let distribution = match pattern {
        Pattern::Zipf { theta } if theta > 0.0 => {
            let theta = if (theta - 1.0).abs() < NEARLY_ONE - 1.0 { NEARLY_ONE } else { theta };
            format!("zipf:{theta}")
        }
        Pattern::HotSpot { operations, space } => {
            // A zone must not be empty.
            let (operations, space) = (percent(operations), percent(space).clamp(1, 99));
            format!("zoned:{operations}/{space}:{}/{}", 100 - operations, 100 - space)
        }
        _ => return None,
    };
    Some(("random_distribution", distribution))
}

fn pace_options(stream: &StreamSpec, parts: u32) -> Vec<(&'static str, String)> {
    match stream.pace {
        Pace::Closed { depth } => vec![("iodepth", depth.to_string())],
        Pace::Open { arrival, .. } => {
            let rates = direction_rates(stream).map(|rate| (rate.round() as u64).max(1).to_string());
            let rates = match percent(stream.mix.reads) {
                100 => rates[0].clone(),
                0 => format!(",{}", rates[1]),
                _ => rates.join(","),
            };
            let process = if arrival == Arrival::Poisson { "poisson" } else { "linear" };
            vec![
                ("iodepth", count_slots(std::slice::from_ref(stream), parts).to_string()),
                ("rate_iops", rates),
                ("rate_process", process.into()),
            ]
        }
    }
}

/// Rates of reads and writes for fio, which counts even arrivals by bytes of the smallest size.
fn direction_rates(stream: &StreamSpec) -> [f64; 2] {
    let Pace::Open { rate, arrival } = stream.pace else { return [0.0; 2] };
    let sizes = &stream.mix.sizes;
    let weights: f64 = sizes.sizes().iter().map(|&(_, weight)| f64::from(weight)).sum();
    let mean = sizes.sizes().iter().map(|&(size, weight)| size.get() as f64 * f64::from(weight)).sum::<f64>() / weights;
    let size_factor = if arrival == Arrival::Poisson { 1.0 } else { mean / sizes.smallest().get() as f64 };
    [stream.mix.reads, 1.0 - stream.mix.reads].map(|share| rate.as_f64() * share * size_factor)
}

fn content_options(compressible: f64) -> Vec<(&'static str, String)> {
    match percent(compressible) {
        0 => Vec::new(),
        100 => vec![("zero_buffers", "1".into())],
        share => vec![("buffer_compress_percentage", share.to_string()), ("refill_buffers", "1".into())],
    }
}

fn milliseconds(span: Span) -> String {
    format!("{}ms", span.as_nanos().div_ceil(1_000_000))
}

fn percent(share: f64) -> u32 {
    (share * 100.0).round() as u32
}

/// Sizes with integer percentages that add up to 100 (largest remainders first); zero shares are omitted.
fn percentages(sizes: &BlockMix) -> Vec<(Bytes, u32)> {
    let total_weight: u64 = sizes.sizes().iter().map(|&(_, weight)| u64::from(weight)).sum();
    let exact = |weight: u32| u64::from(weight) * 100;
    let mut shares: Vec<_> =
        sizes.sizes().iter().map(|&(size, weight)| (size, (exact(weight) / total_weight) as u32)).collect();
    let mut by_remainder: Vec<usize> = (0..shares.len()).collect();
    by_remainder.sort_by_key(|&i| std::cmp::Reverse(exact(sizes.sizes()[i].1) % total_weight));
    let missing = 100 - shares.iter().map(|(_, share)| share).sum::<u32>();
    for &index in by_remainder.iter().take(missing as usize) {
        shares[index].1 += 1;
    }
    shares.retain(|(_, share)| *share > 0);
    shares
}

/// Differences between fio's and plimsoll's execution of these loads, as sentences.
pub fn list_differences(streams: &[StreamSpec], paces: &[Pace]) -> Vec<&'static str> {
    let paces = || paces.iter().copied().chain(streams.iter().skip(1).map(|stream| stream.pace));
    let open = || {
        paces().filter_map(|pace| if let Pace::Open { rate, arrival } = pace { Some((rate, arrival)) } else { None })
    };
    let has_stream = |applies: &dyn Fn(&StreamSpec) -> bool| streams.iter().any(applies);
    let is_mixed = |mix: &Mix| mix.reads > 0.0 && mix.reads < 1.0;
    let is_integer_percent = |share: f64| (share * 100.0 - (share * 100.0).round()).abs() < 1e-9;
    let hot = |pattern| {
        if let Pattern::HotSpot { operations, space } = pattern {
            is_integer_percent(operations) && is_integer_percent(space)
        } else {
            true
        }
    };
    let exact = |sizes: &BlockMix| {
        let all: u32 = sizes.sizes().iter().map(|&(_, weight)| weight).sum();
        sizes.sizes().iter().all(|&(_, weight)| (u64::from(weight) * 100).is_multiple_of(u64::from(all)))
    };
    let differences = [
        (
            open().next().is_some(),
            "response times of open loads are service times from the submission, without queueing in fio \
             (coordinated omission), and fio waits for all operations in flight before it sleeps until the next arrival",
        ),
        (
            open().any(|(rate, arrival)| arrival == Arrival::Poisson && rate.as_f64() > MAX_PRECISE_RATE),
            "it rounds the mean gap between Poisson arrivals down to whole microseconds",
        ),
        (open().any(|(rate, _)| rate.as_f64().fract() != 0.0), "it rounds rates to whole operations per second"),
        (
            has_stream(&|s| s.mix.flush_every > 0 && is_mixed(&s.mix)),
            "it flushes more often if reads are mixed with the writes",
        ),
        (
            has_stream(&|s| !is_integer_percent(s.mix.reads) || !exact(&s.mix.sizes) || !hot(s.pattern)),
            "shares are rounded to whole percent",
        ),
        (
            has_stream(&|s| s.pattern == Pattern::Sequential && is_mixed(&s.mix)),
            "reads and writes of a sequential stream have independent positions",
        ),
        (streams.len() > 1, "each stream is a separate job with its own thread"),
    ];
    differences.into_iter().filter_map(|(applies, text)| applies.then_some(text)).collect()
}

/// An unnamed job file, which fio opens through `/proc`.
pub(super) struct JobFile {
    file: File,
    is_empty: bool,
}

impl JobFile {
    pub(super) fn new(jobs: &[FioSection]) -> io::Result<Self> {
        let mut file = File::from(memfd_create("plimsoll-jobs", MemfdFlags::CLOEXEC)?);
        file.write_all(format_jobs(jobs).as_bytes())?;
        Ok(Self { file, is_empty: jobs.is_empty() })
    }

    /// True if there are no jobs.
    pub(super) const fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Its path for the child process, valid while this lives.
    pub(super) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }
}

fn format_jobs(jobs: &[FioSection]) -> String {
    let mut text = String::new();
    for job in jobs {
        let _ = writeln!(text, "[{}]", job.name);
        for (name, value) in &job.options {
            let _ = writeln!(text, "{name}={value}");
        }
    }
    text
}

#[cfg(test)]
mod tests;
