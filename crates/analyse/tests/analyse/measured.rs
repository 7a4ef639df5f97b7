//! Curves that count as measured, from the figures of their runs.

use plimsoll_load::{BlockMix, Mix, Pace, Pattern, Region, StreamSpec};
use plimsoll_record::{Bins, Conditions, Curve, EndReason, FORMAT, Figures, Run, Source, Subject, Tally};
use plimsoll_units::{Bytes, Span};

pub fn run(offered: Pace, figures: Figures) -> Run {
    Run {
        offered,
        warm_up: Span::ZERO,
        span: Span::from_secs(10),
        total: Tally::default(),
        unserved: 0,
        series: Vec::new(),
        lateness: Bins::default(),
        cpu: None,
        bound_by: Vec::new(),
        figures,
        findings: Vec::new(),
    }
}

/// Random reads of `block` in a device of `size`.
pub fn curve(runs: Vec<Run>, block: Bytes, size: Bytes) -> Curve {
    let stream = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(block), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(size),
        pace: Pace::Closed { depth: 1 },
    };
    Curve {
        format: FORMAT.into(),
        made_by: "a test".into(),
        started: None,
        wall: Span::from_secs(60),
        command: Vec::new(),
        ended: EndReason::Complete,
        source: Source::Measured { engine: "io_uring".into() },
        subject: Subject { name: "/dev/x".into(), kind: "block device".into(), size, device: None },
        host: None,
        conditions: Conditions {
            streams: vec![stream],
            threads: 1,
            direct: true,
            compressible: 0.0,
            seed: 1,
            objective: None,
            trace: None,
        },
        runs,
        knee: None,
        load_line: None,
        closed_line: None,
        basis: None,
        slots: Vec::new(),
        findings: Vec::new(),
    }
}
