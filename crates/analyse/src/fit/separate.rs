//! Reads and writes as separate models, which share nothing.

use plimsoll_language::label;
use plimsoll_model::{ChainSpec, Named, StageSpec};

use super::doubt::FitDoubt;
use super::{Fitted, FittedRange, Misfit, Parameter};

/// Joins the models of reads and of writes.
pub(super) fn join(reads: &Fitted, writes: &Fitted, mut doubts: Vec<FitDoubt>) -> Fitted {
    doubts.push(FitDoubt::SeparateKinds);
    for (kind, fitted) in [(label!("reads"), reads), (label!("writes"), writes)] {
        doubts.extend(fitted.doubts.iter().map(|doubt| FitDoubt::OfKind { kind, doubt: Box::new(doubt.clone()) }));
    }
    let (read, write) = (reads.spec.clone(), writes.spec.clone());
    let stage = StageSpec::Split { read, flush: write.clone(), write };
    let of = |kind: &'static str| {
        move |parameter: &Parameter| Parameter { name: format!("{kind}: {}", parameter.name), ..parameter.clone() }
    };
    let parameters =
        reads.parameters.iter().map(of(label!("reads"))).chain(writes.parameters.iter().map(of(label!("writes"))));
    Fitted {
        spec: ChainSpec::new(vec![Named { stage, name: None }]).expect("both parts are models"),
        parameters: parameters.collect(),
        error: larger(reads.error, writes.error),
        held_out: reads.held_out.zip(writes.held_out).map(|(reads, writes)| larger(reads, writes)),
        heaviest: reads.heaviest.zip(writes.heaviest).map(|(reads, writes)| reads.max(writes)),
        uncertainty: reads.uncertainty.max(writes.uncertainty),
        range: FittedRange::over(&reads.range, &writes.range),
        rival: None,
        alternatives: Vec::new(),
        doubts,
    }
}

fn larger(a: Misfit, b: Misfit) -> Misfit {
    Misfit { mean: a.mean.max(b.mean), worst: a.worst.max(b.worst) }
}
