//! Claims of Kubernetes behind volumes and devices: joins of labels, as the metrics of operations name no claim.
//!
//! A device has the serial number of its EBS volume (`node_disk_info` of `node_exporter`), a `PersistentVolume` its handle
//! (`kube_persistentvolume_info` of kube-state-metrics), and the claim the name of its `PersistentVolume`.

use std::collections::BTreeMap;

/// Maximum names of each kind.
const MAX_NAMES: usize = 100_000;

/// Names of volumes and claims, by the labels of metrics.
#[derive(Debug, Default)]
pub(super) struct ClaimNames {
    /// Volume of a device of a host.
    volumes: BTreeMap<(String, String), String>,
    /// `PersistentVolume` of a volume.
    persistent: BTreeMap<String, String>,
    /// Claim of a `PersistentVolume`, with its namespace.
    claims: BTreeMap<String, String>,
}

impl ClaimNames {
    /// Learns the labels of a metric; false for other metrics. `host` is the owner's name of the device's host.
    pub(super) fn learn<'a>(&mut self, name: &str, host: &str, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        let text = |names: &[&str]| names.iter().find_map(|name| label(name).filter(|text| !text.is_empty()));
        match name {
            "node_disk_info" => {
                let volume = text(&["serial"]).and_then(volume_of_serial);
                if let Some((device, volume)) = text(&["device"]).zip(volume) {
                    put(&mut self.volumes, (host.to_owned(), device.to_owned()), volume);
                }
            }
            "kube_persistentvolume_info" => {
                if let Some((volume, persistent)) = text(&["csi_volume_handle"]).zip(text(&["persistentvolume"])) {
                    put(&mut self.persistent, volume.to_owned(), persistent.to_owned());
                }
            }
            "kube_persistentvolume_claim_ref" => {
                let claim = text(&["claim_namespace"]).zip(text(&["name"]));
                self.put_claim(text(&["persistentvolume"]), claim);
            }
            "kube_persistentvolumeclaim_info" => {
                // Prometheus renames the label of a target that has the same.
                let claim = text(&["exported_namespace", "namespace"]).zip(text(&["persistentvolumeclaim"]));
                self.put_claim(text(&["volumename"]), claim);
            }
            _ => return false,
        }
        true
    }

    fn put_claim(&mut self, persistent: Option<&str>, claim: Option<(&str, &str)>) {
        if let Some((persistent, (namespace, name))) = persistent.zip(claim) {
            put(&mut self.claims, persistent.to_owned(), format!("{namespace}/{name}"));
        }
    }

    /// The claim of a volume, or of a device of a host.
    pub(super) fn claim(&self, host: &str, device: &str) -> Option<&str> {
        let volume = self.volumes.get(&(host.to_owned(), device.to_owned())).map_or(device, String::as_str);
        self.claims.get(self.persistent.get(volume)?).map(String::as_str)
    }
}

fn put<K: Ord>(names: &mut BTreeMap<K, String>, key: K, name: String) {
    if names.len() < MAX_NAMES {
        names.insert(key, name);
    }
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
}
