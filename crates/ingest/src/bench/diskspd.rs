//! diskspd, as text and as XML: one result for each span of time, and its two directions where it was mixed.

mod text;
mod xml;

pub(crate) use text::FORM as TEXT_FORM;
pub(crate) use xml::FORM as XML_FORM;

use super::part;
use crate::builder::Builder;
use crate::evidence::{Evidence, Setting};
use crate::figure::Origin;

/// What was asked of one file or disk.
#[derive(Clone, Debug, Default, PartialEq)]
struct Target {
    path: String,
    block_bytes: Option<f64>,
    /// Operations in flight of each thread.
    outstanding: Option<f64>,
    /// Threads of its own; none where all threads share the files.
    threads: Option<f64>,
    sequential: Option<bool>,
}

/// What one direction got, or both.
#[derive(Clone, Debug, Default, PartialEq)]
struct Got {
    bytes: f64,
    operations: f64,
    iops: Option<f64>,
    mean_s: Option<f64>,
    quantiles: Vec<(f64, f64)>,
    line: u64,
}

/// A span of time, with all that is said of it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Span {
    number: usize,
    seconds: Option<f64>,
    threads: Option<f64>,
    /// Of both directions, reads, writes.
    got: [Option<Got>; 3],
}

impl Span {
    /// Hands over what was got, and how many results that was.
    fn put(self, targets: &[Target], out: &mut Builder) -> usize {
        let [total, reads, writes] = &self.got;
        let total_operations = total.as_ref().map(|got| got.operations).filter(|operations| *operations > 0.0);
        let share = reads.as_ref().zip(total_operations).map(|(reads, total)| reads.operations / total);
        let setting = Setting { reads: share, ..setting(targets, self.threads) };
        let mut paths: Vec<&str> = targets.iter().map(|target| target.path.as_str()).collect();
        paths.dedup();
        let scope = part(out, &paths.join(" "));
        let is_mixed = share.is_some_and(|share| share > 0.0 && share < 1.0);
        let name = format!("span {}", self.number);
        let mut results = vec![(name.clone(), total, share)];
        if is_mixed {
            results.push((format!("{name}, its reads"), reads, Some(1.0)));
            results.push((format!("{name}, its writes"), writes, Some(0.0)));
        }
        let mut count = 0;
        for (name, got, share) in results {
            let Some(got) = got.as_ref().filter(|got| got.operations > 0.0) else { continue };
            let origin = Origin { line: got.line, ..out.origin(got.line, &name, "") };
            let size = got.bytes / got.operations;
            let iops = got.iops.or(self.seconds.map(|seconds| got.operations / seconds));
            count += 1;
            out.evidence(Evidence {
                setting: Setting { reads: share, ..setting.clone() },
                iops,
                bytes_s: iops.map(|iops| iops * size),
                mean_s: got.mean_s.filter(|seconds| *seconds > 0.0),
                quantiles: got.quantiles.clone(),
                lasted_s: self.seconds,
                ..Evidence::new(scope, name, origin)
            });
        }
        count
    }
}

/// What was asked of all targets together: what differs between them is not said.
fn setting(targets: &[Target], threads: Option<f64>) -> Setting {
    fn same<T: PartialEq + Copy>(targets: &[Target], of: impl Fn(&Target) -> Option<T>) -> Option<T> {
        let first = of(targets.first()?)?;
        targets.iter().all(|target| of(target) == Some(first)).then_some(first)
    }
    let depths: Option<Vec<f64>> =
        targets.iter().map(|target| Some(target.outstanding? * target.threads.or(threads)?)).collect();
    Setting {
        reads: None,
        sequential: same(targets, |target| target.sequential),
        block_bytes: same(targets, |target| target.block_bytes),
        depth: depths.filter(|depths| !depths.is_empty()).map(|depths| depths.iter().sum()),
        threads,
    }
}
