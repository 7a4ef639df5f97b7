//! Claims of Kubernetes behind volumes and devices, and their capacity: joins of labels, as the metrics of operations name no
//! claim.
//!
//! A claim has the name of its `PersistentVolume` (kube-state-metrics), and that the handle of its volume. A device of
//! `node_exporter` has the serial number of its EBS volume or the name of its disk of Google (`node_disk_info`), or is
//! mounted by kubelet in a directory that has the name of the `PersistentVolume` (`node_filesystem_*`), whatever the driver.

use std::collections::BTreeMap;

use crate::builder::Builder;
use crate::reading::{Origin, Resource, ResourceFigure};
use crate::refusal::InputFault;

/// Maximum names of each kind.
const MAX_NAMES: usize = 100_000;

/// A metric of a claim, a `PersistentVolume` or a device, or of others.
pub(super) struct ClaimMetric<'a> {
    pub name: &'a str,
    /// The owner's name of the host of its device.
    pub host: &'a str,
    /// Its last value, if it has one.
    pub value: Option<f64>,
    pub line: u64,
}

/// A number of bytes, with its metric and line.
type StatedBytes = (f64, &'static str, u64);

/// Names of volumes and claims, by the labels of metrics.
#[derive(Debug, Default)]
pub(super) struct ClaimNames {
    /// Volume of a device of a host.
    volumes: BTreeMap<(String, String), String>,
    /// `PersistentVolume` of the file system on a device of a host.
    mounts: BTreeMap<(String, String), String>,
    /// `PersistentVolume` of a volume.
    persistent: BTreeMap<String, String>,
    /// `PersistentVolume` of a disk of Google, by its name; `None` for several disks of the name.
    disks: BTreeMap<String, Option<String>>,
    /// Volume of a `PersistentVolume`.
    handles: BTreeMap<String, String>,
    /// Claim of a `PersistentVolume`, with its namespace.
    claims: BTreeMap<String, String>,
    /// `PersistentVolume` of a claim.
    bound: BTreeMap<String, String>,
    /// Capacity of a `PersistentVolume`.
    provisioned: BTreeMap<String, StatedBytes>,
    /// Capacity of a claim's file system, from kubelet.
    file_systems: BTreeMap<String, StatedBytes>,
}

impl ClaimNames {
    /// Learns the labels of a metric; false for other metrics.
    pub(super) fn learn<'a>(&mut self, metric: &ClaimMetric<'_>, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        let text = |names: &[&str]| names.iter().find_map(|name| label(name).filter(|text| !text.is_empty()));
        // Prometheus renames the label of a target that has the same.
        let claim = || text(&["exported_namespace", "namespace"]).zip(text(&["persistentvolumeclaim"]));
        let bytes = |name| metric.value.map(|bytes| (bytes, name, metric.line));
        match metric.name {
            "node_disk_info" => {
                if let Some((device, serial)) = text(&["device"]).zip(text(&["serial"])) {
                    let volume = volume_of_serial(serial).unwrap_or_else(|| serial.trim().to_owned());
                    put(&mut self.volumes, (metric.host.to_owned(), device.to_owned()), volume);
                }
            }
            "kube_persistentvolume_info" => {
                if let Some((volume, persistent)) = text(&["csi_volume_handle"]).zip(text(&["persistentvolume"])) {
                    self.put_volume(volume, persistent);
                }
            }
            "kube_persistentvolume_claim_ref" => {
                let claim = text(&["claim_namespace"]).zip(text(&["name"]));
                self.put_claim(text(&["persistentvolume"]), claim);
            }
            "kube_persistentvolumeclaim_info" => self.put_claim(text(&["volumename"]), claim()),
            "kube_persistentvolume_capacity_bytes" => {
                let stated = bytes("kube_persistentvolume_capacity_bytes");
                if let Some((persistent, stated)) = text(&["persistentvolume"]).zip(stated) {
                    put(&mut self.provisioned, persistent.to_owned(), stated);
                }
            }
            "kubelet_volume_stats_capacity_bytes" => {
                if let Some(((namespace, name), stated)) = claim().zip(bytes("kubelet_volume_stats_capacity_bytes")) {
                    put(&mut self.file_systems, format!("{namespace}/{name}"), stated);
                }
            }
            name if name.starts_with("node_filesystem_") => {
                let persistent = text(&["mountpoint"]).and_then(persistent_of_mount);
                let Some((device, persistent)) = text(&["device"]).zip(persistent) else { return false };
                let device = device.strip_prefix("/dev/").unwrap_or(device);
                put(&mut self.mounts, (metric.host.to_owned(), device.to_owned()), persistent.to_owned());
            }
            _ => return false,
        }
        true
    }

    fn put_volume(&mut self, volume: &str, persistent: &str) {
        // projects/PROJECT/zones/ZONE/disks/NAME
        let disk = volume.rsplit_once("/disks/").filter(|_| volume.starts_with("projects/"));
        if let Some((_, disk)) = disk {
            let is_other = |other: &Option<String>| other.as_deref() != Some(persistent);
            let persistent = Some(persistent.to_owned()).filter(|_| !self.disks.get(disk).is_some_and(is_other));
            put(&mut self.disks, disk.to_owned(), persistent);
        }
        put(&mut self.persistent, volume.to_owned(), persistent.to_owned());
        put(&mut self.handles, persistent.to_owned(), volume.to_owned());
    }

    fn put_claim(&mut self, persistent: Option<&str>, claim: Option<(&str, &str)>) {
        if let Some((persistent, (namespace, name))) = persistent.zip(claim) {
            let claim = format!("{namespace}/{name}");
            put(&mut self.bound, claim.clone(), persistent.to_owned());
            put(&mut self.claims, persistent.to_owned(), claim);
        }
    }

    /// The claim of a volume, or of a device of a host.
    pub(super) fn claim(&self, host: &str, device: &str) -> Option<&str> {
        self.claims.get(self.find_persistent(host, device)?).map(String::as_str)
    }

    /// The provider's identifier of a volume, or of a device of a host.
    pub(super) fn volume(&self, host: &str, device: &str) -> Option<String> {
        let place = (host.to_owned(), device.to_owned());
        let volume = self.volumes.get(&place).map_or(device, String::as_str);
        if volume_of_serial(volume).is_some() {
            return Some(volume.to_owned());
        }
        self.handles.get(self.find_persistent(host, device)?).cloned()
    }

    fn find_persistent(&self, host: &str, device: &str) -> Option<&String> {
        let place = (host.to_owned(), device.to_owned());
        let volume = self.volumes.get(&place).map_or(device, String::as_str);
        let of_disk = || self.disks.get(volume)?.as_ref();
        self.persistent.get(volume).or_else(of_disk).or_else(|| self.mounts.get(&place))
    }

    /// The fault of metrics without operations: `otherwise`, unless kubelet's metrics of claims are among them.
    pub(super) fn explain_missing(&self, otherwise: InputFault) -> InputFault {
        if self.file_systems.is_empty() {
            return otherwise;
        }
        InputFault::missing(
            "operations: kubelet counts only bytes",
            &["aws_ebs_csi_* of the EBS driver", "node_disk_* of node_exporter"],
        )
    }

    /// Emits the capacity of a claim in the latest window: that of its volume, or without it that of its file system.
    pub(super) fn emit_capacity(&self, claim: &str, scope: u32, out: &mut Builder) {
        let provisioned = self.bound.get(claim).and_then(|persistent| self.provisioned.get(persistent));
        let stated = provisioned.or_else(|| self.file_systems.get(claim));
        let (Some((value, metric, line)), Some(window)) = (stated.copied(), out.latest_window()) else { return };
        let origin = Origin { line, table: None, field: out.text(metric) };
        let (instance, resource) = (claim.to_owned(), Resource::ClaimCapacity);
        out.resource(ResourceFigure { scope, window, instance, resource, value, origin });
    }
}

fn put<K: Ord, V>(names: &mut BTreeMap<K, V>, key: K, name: V) {
    if names.len() < MAX_NAMES {
        names.insert(key, name);
    }
}

/// The `PersistentVolume` of a directory in which kubelet mounts one: `.../pods/UID/volumes/kubernetes.io~csi/NAME/mount`, or
/// `.../plugins/kubernetes.io/csi/pv/NAME/globalmount` before Kubernetes 1.24 (`csi_mounter.go`, `csi_attacher.go`).
fn persistent_of_mount(path: &str) -> Option<&str> {
    let of_pod = || path.split_once("/volumes/kubernetes.io~csi/")?.1.strip_suffix("/mount");
    let of_node = || path.split_once("/plugins/kubernetes.io/csi/pv/")?.1.strip_suffix("/globalmount");
    of_pod().or_else(of_node).filter(|name| !name.contains('/'))
}

/// `vol-0a1` of the serial number `vol0a1`; none for other devices.
fn volume_of_serial(serial: &str) -> Option<String> {
    let digits = serial.trim().strip_prefix("vol")?;
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    let has_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    has_hex.then(|| format!("vol-{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_of_volumes_are_identifiers() {
        let ids = ["vol0a1f", "vol-0a1f", "vol0a1f  ", "volume7", "vol", "AWS0a1f"].map(volume_of_serial);
        let vol = || Some("vol-0a1f".to_owned());
        assert_eq!(ids, [vol(), vol(), vol(), None, None, None]);
    }

    #[test]
    fn directories_of_kubelet_have_the_name_of_a_volume() {
        let check = |path: &str, expected: Option<&str>| assert_eq!(persistent_of_mount(path), expected, "{path}");
        let pod = "/var/lib/kubelet/pods/0a1b/volumes";
        check(&format!("{pod}/kubernetes.io~csi/pvc-7/mount"), Some("pvc-7"));
        check("/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pvc-7/globalmount", Some("pvc-7"));
        check("/var/lib/kubelet/plugins/kubernetes.io/csi/disk.csi.azure.com/0a1b/globalmount", None);
        check(&format!("{pod}/kubernetes.io~empty-dir/cache"), None);
        check(&format!("{pod}/kubernetes.io~csi/pvc-7/mount/sub/mount"), None);
    }

    #[test]
    fn disks_of_one_name_in_several_zones_have_no_claim() {
        let mut names = ClaimNames::default();
        let put = |names: &mut ClaimNames, zone: &str, persistent: &str| {
            names.put_volume(&format!("projects/p/zones/{zone}/disks/data"), persistent);
            names.put_claim(Some(persistent), Some(("db", persistent)));
        };
        put(&mut names, "a", "pv-1");
        assert_eq!(names.claim("", "data"), Some("db/pv-1"));
        put(&mut names, "b", "pv-2");
        assert_eq!(names.claim("", "data"), None);
        put(&mut names, "b", "pv-2");
        assert_eq!(names.claim("", "data"), None);
        assert_eq!(names.claim("", "projects/p/zones/b/disks/data"), Some("db/pv-2"));
    }
}
