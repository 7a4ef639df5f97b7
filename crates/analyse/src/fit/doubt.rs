//! Reasons to doubt a fitted model, and the runs that identify its parameters: data, with their sentences.

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::described::describe_figures;

/// A reason to doubt a fitted model.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "figures")]
#[schemars(transform = describe_figures)]
pub enum FitDoubt {
    #[error("one load was measured: what is waited for, and how much can be carried, is not identified; measure \
        several depths")] SingleLoad,
    #[error("too few loads to leave one out: how well the model foretells is not known")] NoPrediction,
    #[error("three loads give the latency, the dies and the ceiling of this shape, and none is left to test it; two \
        thirds of a response are taken for the dies where the loads leave it open")] ThreeLoads,
    #[error("a single time behind the limits does not describe both loads: measure at least three depths")] TwoLoads,
    #[error("the runs have no intervals, so that the numbers have none")] NoIntervals,
    #[error("throughput falls under the heaviest loads: no shape does that; others may have used the storage or its \
        host")] FallingThroughput,
    #[error("service times are taken as constant: means say little about their spread, so tails are a guess")]
    ConstantService,
    #[error("service times are taken as exponential: means say little about their spread, so tails are a guess")]
    ExponentialService,
    #[error("service times are taken as log-normal with a squared coefficient of variation of 0.3: means say little \
        about their spread, so tails are a guess")] LogNormalService,
    #[error("of the servers only what all servers carry together is known: {iops:.0} IOPS or more")]
    ServersTogether { iops: f64 },
    #[error("of path and service only the sum is known: {0}")] PathAndService(Identification),
    #[error("{name}: {by}")] OpenParameter { name: String, by: Identification },
    #[error("the heaviest load would have been predicted {:.0} % off from the lighter ones: loads beyond it are a \
        guess", error * 100.0)] Extrapolation { error: f64 },
    #[error("only operations of {0} were measured, so that the time for the bytes of another size is unknown: measure \
        a second block size, and fit to both runs")] SingleBlock(Bytes),
    #[error("only the sum of seek, half a turn and transfer is identified, not its parts; a queue of 32 is assumed")]
    DiskParts,
    #[error("no form describes these loads: the measured rates stand for themselves, with straight lines between them, \
        for this mix of operations only; tails are a guess")] NoShape,
    #[error("writes took {extra_us:+.1} us against reads at the lightest load with both, which is taken for their \
        service; whether they are buffered is not identified: measure writes alone")] BufferedWrites { extra_us: f64 },
    #[error("reads and writes were only measured together: one time stands for both")] KindsTogether,
    #[error("flushes are not told apart from the rest")] Flushes,
    #[error("places were not equally likely: what a cache holds of them is inside the fitted times")] UnevenPlaces,
    #[error("{0} runs were left out: not steady, overloaded, or with void findings")] LeftOut(usize),
    #[error("{0} runs of open loads were not fitted to")] OpenLoads(usize),
    #[error("loads below {shortest} were not fitted to: {first} took {first_us:.0} us and {shortest} took \
        {shortest_us:.0} us, which no queue does; the storage or its host slept between operations, and the model does \
        not")] Sleep { first: String, first_us: f64, shortest: String, shortest_us: f64 },
    #[error("its limits are those that the vendor states of {of}; the runs reached {:.0} % of them", 100.0 * reached)]
    StatedLimits { of: String, reached: f64 },
    #[error("reads and writes were fitted separately, because no form describes both: what they share is unknown, and \
        mixed loads are extrapolated")] SeparateKinds,
    #[error("the time of a {kind} is log-normal, and the shares of the histogram differ from it by up to {:.1} % of the \
        operations", distance * 100.0)] HistogramShape { kind: &'static str, distance: f64 },
    #[error("only the histogram of one kind has enough operations: the time of a {kind} stands for both")]
    OneKind { kind: &'static str },
    #[error("no counter has the time above the limits: waits for them may be in the histograms")] UnknownLimitTime,
    #[error("a limit held operations in {:.1} % of the time, and these waits are in the histograms", share * 100.0)]
    LimitTime { share: f64 },
    #[error("its limits are those that the vendor states of {of}")] CalibratedLimits { of: String },
    #[error("{kind}: {doubt}")] OfKind { kind: &'static str, doubt: Box<Self> },
}

/// The runs that identify a parameter, or the reason why none do.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "figures")]
#[schemars(transform = describe_figures)]
pub enum Identification {
    #[error("{load}: mean {mean_us:.1} us")] First { load: String, mean_us: f64 },
    #[error("{load}: {iops:.0} IOPS, the most")] Last { load: String, iops: f64 },
    #[error("from {first} to {last}: {first_iops:.0} to {last_iops:.0} IOPS")]
    Rates { first: String, first_iops: f64, last: String, last_iops: f64 },
    #[error("operations of {0} and {1}")] Sizes(Bytes, Bytes),
    #[error("how the mean grows from {first} to {last}: {first_us:.1} to {last_us:.1} us")]
    Means { first: String, first_us: f64, last: String, last_us: f64 },
    #[error("{load}: reads {read_us:.1} us, writes {write_us:.1} us")]
    Kinds { load: String, read_us: f64, write_us: f64 },
    #[error("histogram of {operations:.0} {kind}s")] Histogram { kind: &'static str, operations: f64 },
    #[error("not identified: half and twice as much describe these runs as well")] HalfAndTwice,
    #[error("not identified: half as much describes these runs as well")] Half,
    #[error("not identified: twice as much describes these runs as well")] Twice,
}
