//! Remedies of findings.

use plimsoll_language::label;

use super::Finding;
use crate::Source;

impl Finding {
    /// Remedy for a run from `source`: a model has no device to precondition.
    pub fn remedy_for(&self, source: &Source) -> &'static str {
        match (self, source) {
            (Self::NoSteadyState { .. } | Self::MissedWhenHeld { .. }, Source::Simulated { .. }) => {
                label!("simulate longer: --thorough, or --duration")
            }
            _ => self.remedy(),
        }
    }

    /// Remedy for a suite, whose options for duration have other names.
    pub fn remedy_in_suite(&self, source: &Source) -> &'static str {
        match (self, source) {
            (Self::NoSteadyState { .. } | Self::MissedWhenHeld { .. }, Source::Simulated { .. })
            | (Self::BudgetSpent { .. }, _) => label!("measure longer"),
            (Self::NoSteadyState { .. }, _) => label!("measure longer, or precondition the device"),
            (Self::RateDropped { .. } | Self::LineFell { .. }, _) => {
                label!("measure for longer than the burst lasts, and plan with the lower rate")
            }
            _ => self.remedy_for(source),
        }
    }

    pub fn remedy(&self) -> &'static str {
        match self {
            Self::PageCacheAnswered { .. } | Self::Buffered => {
                label!("use direct I/O: leave out --buffered (fio: direct=1)")
            }
            Self::PageCacheSimulated { .. } => label!("set --memory to the memory available to the host's page cache"),
            Self::NoPageCache => label!("add --memory SIZE to simulate a host's page cache before the product"),
            Self::GeneratorBound { .. } => label!("give it --threads, or a faster processor"),
            Self::GeneratorLate { .. } => {
                label!("measure while the machine has a processor to spare for the generator")
            }
            Self::ProcessorBound { .. } => label!("leave more of the machine idle, or lower --max-depth"),
            Self::SmallData { .. } => label!("give --size several times the cache, if the space is there"),
            Self::CompressionSuspected { .. } => {
                label!("set --compressible to the compressibility of your data; zeros give too high figures here")
            }
            Self::FlushNotHonoured { .. } => {
                label!(
                    "check the write cache's power-loss protection, and the host's cache mode, before trusting commits"
                )
            }
            Self::NoSteadyState { .. } => {
                label!("measure longer (--thorough, or --duration), or precondition the device")
            }
            Self::RateDropped { .. } => {
                label!("measure for longer than the burst lasts (--thorough), and plan with the lower rate")
            }
            Self::CarriedInBursts { .. } | Self::BurstCredits { .. } | Self::LineOnCredits { .. } => {
                label!("plan with the lasting rate; a burst is there again after a time of rest")
            }
            Self::FullCredits { .. } => {
                label!("plan with the load line of plimsoll simulate, which is without credits")
            }
            Self::MissedWhenHeld { .. } => label!("measure again, or for longer: a neighbour may have disturbed it"),
            Self::LineFell { .. } => label!("measure for longer (--thorough), and plan with the lower rate"),
            Self::SlotsLeftOut { .. } => label!("measure on a quieter host, for longer, or with a longer limit"),
            Self::StolenTime { .. } => label!("measure at a quieter hour, or on dedicated processors"),
            Self::Unrepeatable { .. } => label!("measure at several times of the day, and plan with the worst"),
            _ => self.surroundings_remedy(),
        }
    }

    /// Remedy of findings about the target, its surroundings and the load.
    fn surroundings_remedy(&self) -> &'static str {
        match self {
            Self::OtherLoad { .. } => label!("stop the other load, or include it"),
            Self::DirectRefused => label!("use a filesystem with direct I/O, such as ext4 or XFS, or a block device"),
            Self::HostCacheSuspected { .. } => {
                label!("give --size more than the host can cache, or set the disk's cache=none")
            }
            Self::Holes { .. } => label!("fill the file first, or measure the directory that it is in"),
            Self::DeviceNotReached { .. } => {
                label!("measure a directory (its file is filled first), or fill the target")
            }
            Self::Fault { .. } => {
                label!("check the device or the server that was measured, and the kernel log (dmesg)")
            }
            Self::InMemory { .. } => label!("give a path on storage"),
            Self::NotStorageAlone { .. } => {
                label!("compare only with runs made the same way, or measure where the storage is")
            }
            Self::Floor { .. } => label!("subtract it before you compare with a model or with the storage itself"),
            Self::TimeDilated { .. } => label!("work with the ratios, or serve it on a host that needs no --slow"),
            Self::ModelDoubted { .. } | Self::FiguresUnverified { .. } => {
                label!("rely on the shape of the curve only, and measure before you buy")
            }
            Self::ClockChanged { .. } => label!("repeat the run, and find out why the kernel distrusts its clock"),
            Self::FrequencyChanged { .. } => label!("set the performance governor, and check the cooling"),
            Self::RingRefused { .. } => {
                label!("allow io_uring (container seccomp profile, kernel.io_uring_disabled=0) for lower overhead")
            }
            Self::OfferedOtherwise { .. } => label!("compare with a run of plimsoll's own engines: leave out --engine"),
            Self::ReadOnly => label!("to allow writes, add --destroy with the same PATH or URI (its data are lost)"),
            Self::Errors { .. } => label!("read the kernel log (dmesg), and the errors by kind in the JSON output"),
            Self::NotSaturated { .. } => label!("raise --max-depth or --threads"),
            Self::TraceIncomplete { .. } => label!("record again, to a file on a disk that keeps up"),
            Self::TraceDoubted { .. } => label!("check this assumption; plimsoll's own recordings are unambiguous"),
            Self::NotReplayed { .. } => {
                label!(
                    "compare only with replays that omit the same operations: only reads, writes and flushes are replayed"
                )
            }
            Self::Throttled { .. } => label!("raise the limit, or measure outside of the control group"),
            Self::ProcessorLimited { .. } => {
                label!(
                    "raise the limit (docker --cpus, Kubernetes limits.cpu, systemd CPUQuota=), or measure outside of it"
                )
            }
            Self::LoopCached { .. } => {
                label!("turn direct I/O on (losetup --direct-io=on DEVICE), or measure the file itself")
            }
            Self::FlushLibrary { .. } => {
                label!("unset LD_PRELOAD for programs whose data have to survive a power failure")
            }
            Self::FlushesDisabled { .. } => label!("remove the setting before you measure commits"),
            Self::BudgetSpent { .. } => label!("use --thorough, or a longer --duration"),
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

    fn database_remedy(&self) -> &'static str {
        match self {
            Self::PageCacheBelowDatabase { .. } => {
                label!(
                    "shrink the page cache (--make with --memory slightly above --cache), or use more rows than fit into memory"
                )
            }
            Self::ClientBound { .. } => {
                label!("run the client on another host, or do more of the work inside the server")
            }
            Self::OtherWork { .. } => label!("measure at a quieter hour, or stop other processes on the host"),
            Self::NotDurable { .. } => {
                label!("count such commits as lost when the host fails, or set the database to wait for them")
            }
            Self::RowsDiffered { .. } => {
                label!("do not trust these figures: check the database's log, and that nobody else writes")
            }
            Self::Conflicts { .. } => label!("use fewer sessions or more rows, so that conflicts are rarer"),
            _ => label!(
                "give the user the right to see it (PostgreSQL: pg_monitor; MySQL: PROCESS and performance_schema)"
            ),
        }
    }
}
