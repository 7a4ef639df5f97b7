//! Detection of hypervisors and containers.
//!
//! Relies on firmware names, processor flags and files of container runtimes. A hypervisor that hides them is not
//! detected.

use super::{Tree, value};

const CONTAINER_FILES: &[(&str, &str)] = &[(".dockerenv", "docker"), ("run/.containerenv", "podman")];
const CONTAINER_GROUPS: &[&str] = &["docker", "kubepods", "libpod", "containerd", "lxc", "crio"];

/// Such as `Amazon EC2 m6i.large`, `KVM, container (docker)`; `None` if nothing was detected.
pub(super) fn read(tree: &Tree, cpuinfo: &str) -> Option<String> {
    let layers: Vec<String> = [hypervisor(tree, cpuinfo), container(tree)].into_iter().flatten().collect();
    (!layers.is_empty()).then(|| layers.join(", "))
}

fn hypervisor(tree: &Tree, cpuinfo: &str) -> Option<String> {
    let flagged = value(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let vendor = tree.word("sys/class/dmi/id/sys_vendor");
    let product = tree.word("sys/class/dmi/id/product_name");
    let firmware = [vendor, product].into_iter().flatten().collect::<Vec<_>>().join(" ");
    if !flagged && !is_virtual(&firmware) {
        return xen(tree);
    }
    if firmware.is_empty() { xen(tree).or_else(|| Some("unnamed hypervisor".to_owned())) } else { Some(firmware) }
}

/// Recognises virtual machines by firmware, for architectures without the processor flag (ARM).
fn is_virtual(firmware: &str) -> bool {
    const NAMES: &[&str] = &[
        "Amazon EC2",
        "Google Compute Engine",
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "Virtual Machine",
        "Xen",
        "OpenStack",
        "Alibaba Cloud",
        "Apple Virtualization",
        "Parallels",
        "DigitalOcean",
        "Hetzner vServer",
        "bhyve",
    ];
    !firmware.contains(".metal") && NAMES.iter().any(|name| firmware.contains(name))
}

fn xen(tree: &Tree) -> Option<String> {
    // Domain 0 also runs on the hypervisor, but accesses the real devices.
    let privileged = tree.word("proc/xen/capabilities").is_some_and(|list| list.contains("control_d"));
    if privileged { None } else { tree.word("sys/hypervisor/type") }
}

fn container(tree: &Tree) -> Option<String> {
    let left = CONTAINER_FILES.iter().find(|(file, _)| tree.has(file)).map(|(_, runtime)| *runtime);
    let groups = tree.text("proc/1/cgroup").unwrap_or_default();
    let grouped = || CONTAINER_GROUPS.iter().copied().find(|name| groups.contains(name));
    left.or_else(grouped).map(|runtime| format!("container ({runtime})"))
}
