//! Host descriptions from fixture trees.

use std::fs;
use std::path::PathBuf;

use super::*;

/// A temporary directory, removed on drop.
pub(crate) struct Fixture(pub(crate) PathBuf);

impl Fixture {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("plimsoll-fixture-{}-{name}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let fixture = Self(root);
        for (path, text) in files {
            fixture.put(path, text);
        }
        fixture
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn tree(&self) -> Tree {
        Tree::at(&self.0)
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn check(name: &str, files: &[(&str, &str)], expected: &str) {
    let host = read(&Fixture::new(name, files).tree(), None);
    let displayed = [host.kernel, host.cpu, host.memory.map(|m| m.to_string()), host.virtualization, host.clock_source];
    let displayed = displayed.map(|part| part.unwrap_or_else(|| "-".into())).join(" | ");
    assert_eq!(displayed, expected, "{name}");
}

#[test]
fn hosts_are_described() {
    check("nothing", &[], "- | - | - | - | -");
    check(
        "real",
        &[
            ("proc/sys/kernel/osrelease", "6.8.0\n"),
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: Xeon 6\nflags\t\t: fpu vme\n\nprocessor\t: 1\n"),
            ("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\n"),
            ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
            ("sys/class/dmi/id/product_name", "PowerEdge\n"),
            (CLOCK_SOURCE, "tsc\n"),
        ],
        "6.8.0 | Xeon 6 | 16 GiB | - | tsc",
    );
    check(
        "guest",
        &[
            ("proc/cpuinfo", "model name\t: EPYC\nflags\t\t: fpu hypervisor vme\n"),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "m6i.large\n"),
            (".dockerenv", ""),
        ],
        "- | EPYC | - | Amazon EC2 m6i.large, container (docker) | -",
    );
    check("hidden", &[("proc/cpuinfo", "flags : hypervisor\n")], "- | - | - | unnamed hypervisor | -");
    check(
        "arm-metal",
        &[
            ("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "c6g.metal\n"),
            ("proc/1/cgroup", "0::/kubepods/pod1\n"),
        ],
        "- | ARM Neoverse-N1 | - | container (kubepods) | -",
    );
    check("xen", &[("sys/hypervisor/type", "xen\n")], "- | - | - | xen | -");
}

#[test]
fn this_host_has_processors() {
    assert!(describe().cpus.is_some_and(|cpus| cpus > 0));
}
