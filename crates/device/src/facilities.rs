//! Facilities of the kernel and limits of this process that measurements and emulated volumes depend on.
//!
//! `None` means unknown.

use plimsoll_units::Bytes;

use crate::cgroup::{CgroupVersion, find_folders};
use crate::host::Tree;

/// Numbers of the capabilities to lock memory without a limit and to mount (`linux/capability.h`).
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_ADMIN: u32 = 21;

/// Availability of a kernel module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleState {
    /// Loaded, or built into the kernel.
    Active,
    /// Not loaded, but listed in `modules.dep`, which modprobe reads.
    Loadable,
    Missing,
}

/// The strictest memory limit of this process's control groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The file that sets it, such as `/sys/fs/cgroup/db/memory.max`.
    pub file: String,
    pub limit: Bytes,
}

/// Facilities of the kernel, and limits of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facilities {
    /// `kernel.io_uring_disabled`: 0 for none, 1 for unprivileged processes, 2 for all. Since Linux 6.6.
    pub io_uring_disabled: Option<u32>,
    /// The control groups of this process can be read.
    pub has_control_groups: bool,
    /// The strictest memory limit; `None` also without a limit.
    pub memory_limit: Option<MemoryLimit>,
    /// The NBD client of the kernel.
    pub nbd: Option<ModuleState>,
    /// This process may lock memory without a limit.
    pub locks_memory: Option<bool>,
    /// This process may mount filesystems and set up loop devices.
    pub mounts: Option<bool>,
}

impl Facilities {
    /// Reads the facilities of this machine.
    pub fn read() -> Self {
        Self::at(&Tree::system())
    }

    fn at(tree: &Tree) -> Self {
        Self {
            io_uring_disabled: tree.word("proc/sys/kernel/io_uring_disabled").and_then(|text| text.parse().ok()),
            has_control_groups: !find_folders(tree, "cpu").is_empty(),
            memory_limit: memory_limit(tree),
            nbd: module_state(tree, "nbd"),
            locks_memory: has_capability(tree, CAP_IPC_LOCK),
            mounts: has_capability(tree, CAP_SYS_ADMIN),
        }
    }
}

/// State of a module whose name has no dash or underscore. `None` if it is not active and the lists of the running
/// kernel's modules cannot be read, as in a container.
fn module_state(tree: &Tree, name: &str) -> Option<ModuleState> {
    if tree.has(format!("sys/module/{name}")) {
        return Some(ModuleState::Active);
    }
    let directory = format!("lib/modules/{}", tree.word("proc/sys/kernel/osrelease")?);
    // Modules without parameters that are built in have no directory below /sys/module.
    let is_listed = |file: &str| {
        let text = tree.text(format!("{directory}/{file}")).ok()?;
        let prefix = format!("/{name}.ko");
        Some(text.lines().any(|line| line.split(':').next().is_some_and(|path| path.contains(&prefix))))
    };
    match (is_listed("modules.builtin"), is_listed("modules.dep")) {
        (Some(true), _) => Some(ModuleState::Active),
        (_, Some(true)) => Some(ModuleState::Loadable),
        (Some(false), Some(false)) => Some(ModuleState::Missing),
        _ => None,
    }
}

/// Limits of at least 2^60 bytes are none: version 1 writes the largest multiple of the page size.
fn memory_limit(tree: &Tree) -> Option<MemoryLimit> {
    let limits = find_folders(tree, "memory").into_iter().filter_map(|folder| {
        let file = folder.file(match folder.version {
            CgroupVersion::V1 => "memory.limit_in_bytes",
            CgroupVersion::V2 => "memory.max",
        });
        let limit: u64 = tree.word(&file)?.parse().ok()?;
        (limit < 1 << 60).then(|| MemoryLimit { file: format!("/{file}"), limit: Bytes::new(limit) })
    });
    limits.min_by_key(|limit| limit.limit)
}

/// Whether a capability is effective, from the hexadecimal mask `CapEff` of `/proc/self/status`.
fn has_capability(tree: &Tree, number: u32) -> Option<bool> {
    let status = tree.text("proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? >> number & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::Fixture;

    const RELEASE: (&str, &str) = ("proc/sys/kernel/osrelease", "6.1\n");

    fn check(name: &str, files: &[(&str, &str)], expected: &Facilities) {
        assert_eq!(&Facilities::at(&Fixture::new(name, files).tree()), expected, "{name}");
    }

    #[test]
    fn unreadable_facilities_are_unknown() {
        check("facilities-none", &[], &Facilities::default());
        check("facilities-release", &[RELEASE], &Facilities::default());
        let garbled = [("proc/sys/kernel/io_uring_disabled", "?\n"), ("proc/self/status", "CapEff:\tx\n")];
        check("facilities-garbled", &garbled, &Facilities::default());
    }

    #[test]
    fn modules_are_active_loadable_or_missing() {
        let lists = |builtin, dep| {
            [RELEASE, ("lib/modules/6.1/modules.builtin", builtin), ("lib/modules/6.1/modules.dep", dep)]
        };
        let nbd = |state| Facilities { nbd: Some(state), ..Facilities::default() };
        check("module-loaded", &[("sys/module/nbd/refcnt", "0\n")], &nbd(ModuleState::Active));
        let path = "kernel/drivers/block/nbd.ko";
        check("module-builtin", &lists(path, ""), &nbd(ModuleState::Active));
        let compressed = "kernel/drivers/block/nbd.ko.xz: kernel/lib/x.ko\n";
        check("module-loadable", &lists("", compressed), &nbd(ModuleState::Loadable));
        let others = "kernel/drivers/block/xnbd.ko:\nkernel/a.ko: kernel/drivers/block/nbd.ko\n";
        check("module-missing", &lists("", others), &nbd(ModuleState::Missing));
    }

    #[test]
    fn limits_and_rights_are_found() {
        check(
            "facilities-v2",
            &[
                ("proc/self/cgroup", "0::/pod/db\n"),
                ("sys/fs/cgroup/pod/db/memory.max", "max\n"),
                ("sys/fs/cgroup/pod/memory.max", "268435456\n"),
                ("proc/sys/kernel/io_uring_disabled", "2\n"),
                ("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n"),
            ],
            &Facilities {
                io_uring_disabled: Some(2),
                has_control_groups: true,
                memory_limit: Some(MemoryLimit {
                    file: "/sys/fs/cgroup/pod/memory.max".into(),
                    limit: Bytes::mib(256),
                }),
                nbd: None,
                locks_memory: Some(true),
                mounts: Some(true),
            },
        );
        check(
            "facilities-v1",
            &[
                ("proc/self/cgroup", "4:memory:/x\n3:cpu:/\n"),
                ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
                ("proc/self/status", "CapEff:\t0000000000203fff\n"),
            ],
            &Facilities {
                has_control_groups: true,
                locks_memory: Some(false),
                mounts: Some(true),
                ..Facilities::default()
            },
        );
    }
}
