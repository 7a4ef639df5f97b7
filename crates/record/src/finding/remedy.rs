//! Remedies of findings.

use super::Finding;
use crate::Source;

impl Finding {
    /// Remedy for a run from `source`: a model has no device to precondition.
    pub const fn remedy_for(&self, source: &Source) -> &'static str {
        match (self, source) {
            (Self::NoSteadyState { .. } | Self::MissedWhenHeld { .. }, Source::Simulated { .. }) => {
                "simulate longer: --thorough, or --duration"
            }
            _ => self.remedy(),
        }
    }

    /// Remedy for a suite, whose options for duration have other names.
    pub const fn remedy_in_suite(&self, source: &Source) -> &'static str {
        match (self, source) {
            (Self::NoSteadyState { .. } | Self::MissedWhenHeld { .. }, Source::Simulated { .. })
            | (Self::BudgetSpent { .. }, _) => "measure longer",
            (Self::NoSteadyState { .. }, _) => "measure longer, or precondition the device",
            (Self::RateDropped { .. } | Self::LineFell { .. }, _) => {
                "measure for longer than the burst lasts, and plan with the lower rate"
            }
            _ => self.remedy_for(source),
        }
    }

    /// Remedy.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::PageCacheAnswered { .. } | Self::Buffered => "use direct I/O: leave out --buffered (fio: direct=1)",
            Self::PageCacheSimulated { .. } => "set --memory to the memory available to the host's page cache",
            Self::NoPageCache => "add --memory SIZE to simulate a host's page cache before the product",
            Self::GeneratorBound { .. } => "give it --threads, or a faster processor",
            Self::GeneratorLate { .. } => "measure while the machine has a processor to spare for the generator",
            Self::ProcessorBound { .. } => "leave more of the machine idle, or lower --max-depth",
            Self::SmallData { .. } => "give --size several times the cache, if the space is there",
            Self::CompressionSuspected { .. } => {
                "set --compressible to the compressibility of your data; zeros give too high figures here"
            }
            Self::FlushNotHonoured { .. } => {
                "check the write cache's power-loss protection, and the host's cache mode, before trusting commits"
            }
            Self::NoSteadyState { .. } => "measure longer (--thorough, or --duration), or precondition the device",
            Self::RateDropped { .. } => {
                "measure for longer than the burst lasts (--thorough), and plan with the lower rate"
            }
            Self::CarriedInBursts { .. } | Self::BurstCredits { .. } => {
                "plan with the lasting rate; a burst is there again after a time of rest"
            }
            Self::MissedWhenHeld { .. } => "measure again, or for longer: a neighbour may have disturbed it",
            Self::LineFell { .. } => "measure for longer (--thorough), and plan with the lower rate",
            Self::SlotsLeftOut { .. } => "measure on a quieter host, for longer, or with a longer limit",
            Self::StolenTime { .. } => "measure at a quieter hour, or on dedicated processors",
            Self::Unrepeatable { .. } => "measure at several times of the day, and plan with the worst",
            Self::OtherLoad { .. } => "stop the other load, or include it",
            Self::DirectRefused => "use a filesystem with direct I/O, such as ext4 or XFS, or a block device",
            Self::HostCacheSuspected { .. } => "give --size more than the host can cache, or set the disk's cache=none",
            Self::Holes { .. } => "fill the file first, or measure the directory that it is in",
            Self::DeviceNotReached { .. } => "measure a directory (its file is filled first), or fill the target",
            Self::Fault { .. } => "check the device or the server that was measured, and the kernel log (dmesg)",
            Self::InMemory { .. } => "give a path on storage",
            Self::NotStorageAlone { .. } => "compare only with runs made the same way, or measure where the storage is",
            Self::Floor { .. } => "subtract it before you compare with a model or with the storage itself",
            Self::TimeDilated { .. } => "work with the ratios, or serve it on a host that needs no --slow",
            Self::ModelDoubted { .. } => "rely on the shape of the curve only, and measure before you buy",
            Self::ClockChanged { .. } => "repeat the run, and find out why the kernel distrusts its clock",
            Self::FrequencyChanged { .. } => "set the performance governor, and check the cooling",
            Self::RingRefused { .. } => {
                "allow io_uring (container seccomp profile, kernel.io_uring_disabled=0) for lower overhead"
            }
            Self::OfferedOtherwise { .. } => "compare with a run of plimsoll's own engines: leave out --engine",
            Self::ReadOnly => "to allow writes, add --destroy with the same PATH or URI (its data are lost)",
            Self::Errors { .. } => "read the kernel log (dmesg), and the errors by kind in the JSON output",
            Self::NotSaturated { .. } => "raise --max-depth or --threads",
            Self::TraceIncomplete { .. } => "record again, to a file on a disk that keeps up",
            Self::TraceDoubted { .. } => "check this assumption; plimsoll's own recordings are unambiguous",
            Self::NotReplayed { .. } => {
                "compare only with replays that omit the same operations: only reads, writes and flushes are replayed"
            }
            Self::Throttled { .. } => "raise the limit, or measure outside of the control group",
            Self::ProcessorLimited { .. } => {
                "raise the limit (docker --cpus, Kubernetes limits.cpu, systemd CPUQuota=), or measure outside of it"
            }
            Self::LoopCached { .. } => "turn direct I/O on (losetup --direct-io=on DEVICE), or measure the file itself",
            Self::FlushLibrary { .. } => "unset LD_PRELOAD for programs whose data have to survive a power failure",
            Self::FlushesDisabled { .. } => "remove the setting before you measure commits",
            Self::BudgetSpent { .. } => "use --thorough, or a longer --duration",
            Self::PageCacheBelowDatabase { .. }
            | Self::ClientBound { .. }
            | Self::OtherWork { .. }
            | Self::NotDurable { .. }
            | Self::RowsDiffered { .. }
            | Self::Conflicts { .. }
            | Self::Unobserved { .. } => self.database_remedy(),
            _ => self.imported_remedy(),
        }
    }

    const fn database_remedy(&self) -> &'static str {
        match self {
            Self::PageCacheBelowDatabase { .. } => {
                "shrink the page cache (--make with --memory slightly above --cache), or use more rows than fit into memory"
            }
            Self::ClientBound { .. } => "run the client on another host, or do more of the work inside the server",
            Self::OtherWork { .. } => "measure at a quieter hour, or stop other processes on the host",
            Self::NotDurable { .. } => {
                "count such commits as lost when the host fails, or set the database to wait for them"
            }
            Self::RowsDiffered { .. } => {
                "do not trust these figures: check the database's log, and that nobody else writes"
            }
            Self::Conflicts { .. } => "use fewer sessions or more rows, so that conflicts are rarer",
            _ => "give the user the right to see it (PostgreSQL: pg_monitor; MySQL: PROCESS and performance_schema)",
        }
    }
}
