//! Control groups of this process, with the groups above them.
//!
//! The forms are those of the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1.

use std::path::Path;

use crate::host::Tree;

/// Mounts of the unified hierarchy: alone, and next to version 1.
const UNIFIED: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/unified"];

/// Version of a control group's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CgroupVersion {
    V1,
    V2,
}

/// A folder of a control group, relative to the root of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CgroupFolder {
    pub(crate) version: CgroupVersion,
    pub(crate) path: String,
}

impl CgroupFolder {
    /// Path of a file of the group.
    pub(crate) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }
}

/// Folders of this process's groups with `controller`, each followed by the groups above it. Empty where they cannot be
/// read. In a container, groups outside of it are invisible.
pub(crate) fn find_folders(tree: &Tree, controller: &str) -> Vec<CgroupFolder> {
    let mut folders = Vec::new();
    for line in tree.text("proc/self/cgroup").unwrap_or_default().lines() {
        // `HIERARCHY:CONTROLLERS:PATH`, where version 2 has no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (version, mounts) = if controllers.is_empty() {
            (CgroupVersion::V2, UNIFIED.map(str::to_owned))
        } else if controllers.split(',').any(|name| name == controller) {
            (CgroupVersion::V1, [controller, controllers].map(|name| format!("sys/fs/cgroup/{name}")))
        } else {
            continue;
        };
        let Some(mount) = mounts.iter().find(|mount| tree.has(mount)) else { continue };
        for group in Path::new(path.trim_start_matches('/')).ancestors().map(|group| group.display().to_string()) {
            let path = if group.is_empty() { mount.clone() } else { format!("{mount}/{group}") };
            folders.push(CgroupFolder { version, path });
        }
    }
    folders
}
