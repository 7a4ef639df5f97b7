//! Changes in the forms of Terraform and Kubernetes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use plimsoll_report::{VolumeChange, kubernetes_classes, terraform_of_changes};

use super::{Answer, Rightsized};
use crate::folder::write_atomically;

/// Name of the files of Terraform: a folder is a module.
const MODULE: &str = "volumes.tf";

/// Writes `terraform/PROVIDER-ACCOUNT-REGION/volumes.tf`, `kubernetes.yaml` and `kubernetes.csv`, and removes those of an
/// earlier run that have no changes now.
pub fn write(rightsized: &Rightsized) -> Result<()> {
    let out = &rightsized.out;
    let proposals = rightsized.answers.iter().zip(&rightsized.offers);
    let changes: Vec<(&Answer, VolumeChange<'_>)> = proposals
        .filter_map(|(answer, offer)| Some((answer, VolumeChange { id: &answer.volume.id, offer: offer.as_ref()? })))
        .filter(|(answer, change)| has_same_provider(answer, change))
        .collect();
    write_terraform(&out.join("terraform"), &changes)?;
    write_kubernetes(out, &changes)
}

/// A volume of another provider is a new volume, not a change.
fn has_same_provider(answer: &Answer, change: &VolumeChange<'_>) -> bool {
    let own = answer.volume.config.split(['/', ':', '@']).next();
    change.offer.product().name().split('/').next() == own
}

/// True if the identifier is that of the provider, by which Terraform imports: metrics may name a device of a machine.
fn is_importable(change: &VolumeChange<'_>) -> bool {
    match change.offer.product().name().split('/').next() {
        Some("aws") => change.id.starts_with("vol-"),
        Some("azure") => change.id.starts_with("/subscriptions/"),
        Some("gcp") => change.id.starts_with("projects/"),
        Some("oci") => change.id.starts_with("ocid1."),
        _ => false,
    }
}

fn write_terraform(folder: &Path, changes: &[(&Answer, VolumeChange<'_>)]) -> Result<()> {
    let mut groups: BTreeMap<String, Vec<VolumeChange<'_>>> = BTreeMap::new();
    for (answer, change) in changes {
        let provider = change.offer.product().name().split('/').next().unwrap_or_default();
        let parts = [provider, &answer.volume.account, &answer.volume.region];
        let named = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        groups.entry(named.replace(|letter: char| !is_plain(letter), "_")).or_default().push(*change);
    }
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for (name, changes) in groups {
        let importable: Vec<_> = changes.into_iter().filter(is_importable).collect();
        modules.extend(terraform_of_changes(&importable).map(|text| (name, text)));
    }
    if folder.exists() {
        for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
            let entry = entry?;
            if !modules.contains_key(&*entry.file_name().to_string_lossy()) {
                remove_file(&entry.path().join(MODULE))?;
            }
        }
    }
    for (name, text) in modules {
        let module = folder.join(name);
        fs::create_dir_all(&module).with_context(|| format!("create {}", module.display()))?;
        write_atomically(&module.join(MODULE), text.as_bytes())?;
    }
    Ok(())
}

/// Classes, and the class of each volume: its claim is that of the persistent volume with its identifier as handle.
fn write_kubernetes(out: &Path, changes: &[(&Answer, VolumeChange<'_>)]) -> Result<()> {
    let found = kubernetes_classes(changes.iter().map(|(_, change)| change.offer));
    let (objects, table) = (out.join("kubernetes.yaml"), out.join("kubernetes.csv"));
    if found.objects.is_empty() {
        remove_file(&objects)?;
        return remove_file(&table);
    }
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(["volume_handle", "storage_class", "volume_attributes_class"])?;
    for ((answer, _), class) in changes.iter().zip(&found.classes) {
        let Some(class) = class else { continue };
        let attributes = if class.has_attributes { class.name.as_str() } else { "" };
        rows.write_record([answer.volume.id.as_str(), &class.name, attributes])?;
    }
    write_atomically(&objects, found.objects.as_bytes())?;
    write_atomically(&table, &rows.into_inner()?)
}

fn remove_file(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_file(path).with_context(|| format!("remove {}", path.display()))?;
    }
    Ok(())
}
