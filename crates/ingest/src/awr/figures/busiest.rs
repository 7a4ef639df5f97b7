//! Bytes that the storage cells of Exadata filter, and the part of the busiest instance in reports of a whole cluster, which
//! state the highest rate of an instance in a column of their statistics.

use super::{Page, is_cluster};
use crate::awr::report::StatedValue;
use crate::reading::{Resource, ResourceFigure};

const ELIGIBLE: &str = "cell physical IO bytes eligible for predicate offload";
const RETURNED: &str = "cell physical IO interconnect bytes returned by smart scan";

/// Bytes of scans that the cells do not return, and the statistic of those that they may filter. Decompressed rows can be
/// larger than the blocks: then nothing is saved.
pub(super) fn filtered_bytes<'a>(page: &Page<'a>) -> Option<(f64, &'a StatedValue)> {
    let (eligible, returned) = (page.statistic(ELIGIBLE)?, page.statistic(RETURNED)?);
    Some(((eligible.value - returned.value).max(0.0), eligible))
}

/// Emits the rate of the filtered bytes, and the shares of the busiest instance of a cluster.
pub(super) fn emit(page: &mut Page<'_>) {
    let maximum = |name: &str| page.report.maxima.get(name);
    let filtered = filtered_bytes(page).filter(|(bytes, _)| *bytes > 0.0).map(|(bytes, eligible)| {
        let mean = bytes / page.seconds;
        let busiest = maximum(ELIGIBLE).map(|maximum| (maximum.value * bytes / eligible.value).min(mean));
        (Resource::FilteredBytes, busiest.unwrap_or(mean), eligible)
    });
    let share = |resource: Resource, names: [&str; 2]| {
        let total: f64 = names.iter().map(|name| Some(page.statistic(name)?.value)).sum::<Option<f64>>()?;
        // The busiest in reads may not be the busiest in writes: the sum is an upper bound.
        let highest: f64 = names.iter().map(|name| Some(maximum(name)?.value)).sum::<Option<f64>>()?;
        let share = highest * page.seconds / total;
        (share > 0.0 && share.is_finite()).then_some((resource, share.min(1.0), maximum(names[0])?))
    };
    let operations = ["physical read total IO requests", "physical write total IO requests"];
    let shares = is_cluster(page).then(|| {
        let bytes = ["physical read total bytes", "physical write total bytes"];
        [share(Resource::BusiestOperations, operations), share(Resource::BusiestBytes, bytes)]
    });
    let found: Vec<_> = filtered.into_iter().chain(shares.into_iter().flatten().flatten()).collect();
    let (section, (scope, window)) = (page.statistics(), page.at);
    for (resource, value, stated) in found {
        let origin = page.origin(section, stated);
        page.out.resource(ResourceFigure { scope, window, instance: String::new(), resource, value, origin });
    }
}
