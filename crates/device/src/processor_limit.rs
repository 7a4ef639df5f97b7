//! Limits of processor time that control groups place on this process: `cpu.max` of cgroup v2, `cpu.cfs_quota_us` of v1.
//!
//! A group that has used its quota is stopped until the next period, usually of 100 ms.

use plimsoll_units::Span;

use crate::cgroup::{CgroupFolder, CgroupVersion, find_folders};
use crate::host::Tree;

#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorLimit {
    /// The file that sets it, such as `/sys/fs/cgroup/db/cpu.max`.
    pub file: String,
    /// Number of processors, such as 0.6.
    pub processors: f64,
}

/// The strictest limit of this process's control groups and of the groups above them; `None` without a limit, and where
/// the groups cannot be read.
pub fn processor_limit() -> Option<ProcessorLimit> {
    strictest(&Tree::system())
}

fn strictest(tree: &Tree) -> Option<ProcessorLimit> {
    let limits = find_folders(tree, "cpu").into_iter().filter_map(|folder| limit(tree, &folder));
    limits.min_by(|a, b| a.processors.total_cmp(&b.processors))
}

fn limit(tree: &Tree, folder: &CgroupFolder) -> Option<ProcessorLimit> {
    let (file, quota, period): (String, f64, f64) = match folder.version {
        CgroupVersion::V2 => {
            // `max 100000` or `60000 100000`.
            let file = folder.file("cpu.max");
            let text = tree.word(&file)?;
            let (quota, period) = text.split_once(' ')?;
            (file, quota.parse().ok()?, period.trim().parse().ok()?)
        }
        CgroupVersion::V1 => {
            // -1 without a limit.
            let file = folder.file("cpu.cfs_quota_us");
            let quota = tree.word(&file)?.parse().ok()?;
            (file, quota, tree.word(folder.file("cpu.cfs_period_us"))?.parse().ok()?)
        }
    };
    let processors = quota / period;
    (processors.is_finite() && processors > 0.0).then(|| ProcessorLimit { file: format!("/{file}"), processors })
}

/// Total time for which limits stopped this process's groups, over all processors; that of the most affected group.
/// `None` without a group that counts it.
pub(crate) fn throttled(tree: &Tree) -> Option<Span> {
    let stopped = |folder: CgroupFolder| time(&tree.text(folder.file("cpu.stat")).ok()?, folder.version);
    find_folders(tree, "cpu").into_iter().filter_map(stopped).max()
}

/// `throttled_usec` of version 2, `throttled_time` (in nanoseconds) of version 1.
fn time(text: &str, version: CgroupVersion) -> Option<Span> {
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok());
    match version {
        CgroupVersion::V2 => value("throttled_usec ").map(Span::from_micros),
        CgroupVersion::V1 => value("throttled_time ").map(Span::from_nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::sda;

    fn check(name: &str, files: &[(&str, &str)], expected: Option<(&str, f64)>, stopped_us: Option<u64>) {
        let fixture = sda(name);
        for (path, text) in files {
            fixture.put(path, text);
        }
        let found = strictest(&fixture.tree());
        let expected = expected.map(|(file, processors)| ProcessorLimit { file: file.into(), processors });
        assert_eq!(found, expected, "{name}");
        assert_eq!(throttled(&fixture.tree()), stopped_us.map(Span::from_micros), "{name}");
    }

    #[test]
    fn strictest_limit_of_the_group_and_its_ancestors_is_found() {
        check("quota-none", &[("proc/self/cgroup", "0::/\n")], None, None);
        check(
            "quota-v2-max",
            &[
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_throttled 0\nthrottled_usec 0\n"),
            ],
            None,
            Some(0),
        );
        check(
            "quota-v2",
            &[
                ("proc/self/cgroup", "0::/pod/db\n"),
                ("sys/fs/cgroup/pod/db/cpu.max", "150000 100000\n"),
                ("sys/fs/cgroup/pod/db/cpu.stat", "nr_throttled 2\nthrottled_usec 40\n"),
                ("sys/fs/cgroup/pod/cpu.max", "60000 100000\n"),
                ("sys/fs/cgroup/pod/cpu.stat", "nr_throttled 9\nthrottled_usec 700\n"),
            ],
            Some(("/sys/fs/cgroup/pod/cpu.max", 0.6)),
            Some(700),
        );
        check(
            "quota-v1",
            &[
                ("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/docker/a\n0::/\n"),
                ("sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_quota_us", "25000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_period_us", "50000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.stat", "nr_throttled 1\nthrottled_time 30000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ],
            Some(("/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_quota_us", 0.5)),
            Some(30),
        );
        // Version 1 in a container whose groups are mounted at their root.
        check(
            "quota-v1-container",
            &[
                ("proc/self/cgroup", "1:cpu:/docker/abc\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "60000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ],
            Some(("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", 0.6)),
            None,
        );
    }
}
