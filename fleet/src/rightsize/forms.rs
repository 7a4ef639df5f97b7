//! Changes in the forms of Terraform and Kubernetes.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use plimsoll_catalogue::Offer;
use plimsoll_report::{
    KUBERNETES_HEAD, KubernetesClass, TerraformChange, VolumeChange, kubernetes_class, terraform_change,
    terraform_label, terraform_variables,
};

use super::Answer;
use crate::folder::{AtomicFile, remove_leftovers};
use crate::points::{HASH_START, hash_bytes};
use crate::records::{Record, Scratch, Sorter};
use crate::volumes::finish_table;

/// Name of the files of Terraform: a folder is a module.
const MODULE: &str = "volumes.tf";
/// Stands for the label of a resource, which is unique in its module, until the module is written.
const LABEL: &str = "\0";
/// Classes that are not written again, in memory.
const MAX_CLASSES: usize = 10_000;

/// A change in all forms.
#[derive(Debug, Default)]
pub struct ChangeForms {
    /// The module, and the resource with [`LABEL`].
    terraform: Option<(String, TerraformChange)>,
    class: Option<KubernetesClass>,
}

impl ChangeForms {
    /// The forms of a proposal.
    pub fn of(answer: &Answer, offer: &Offer) -> Self {
        let change = VolumeChange { id: &answer.volume.id, offer };
        if !has_same_provider(answer, &change) {
            return Self::default();
        }
        let terraform = is_importable(&change).then(|| terraform_change(&change, LABEL)).flatten();
        Self { terraform: terraform.map(|change| (module_of(answer, offer), change)), class: kubernetes_class(offer) }
    }
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

/// The module of a volume: `PROVIDER-ACCOUNT-REGION`.
fn module_of(answer: &Answer, offer: &Offer) -> String {
    let provider = offer.product().name().split('/').next().unwrap_or_default();
    let parts = [provider, &answer.volume.account, &answer.volume.region];
    let named = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    named.replace(|letter: char| !is_plain(letter), "_")
}

/// Files of changes: `terraform/PROVIDER-ACCOUNT-REGION/volumes.tf`, `kubernetes.yaml` and `kubernetes.csv`.
pub struct FormFiles<'a> {
    out: PathBuf,
    /// Resources by module and volume.
    resources: Sorter<'a>,
    /// Variables of each module.
    modules: BTreeMap<String, BTreeSet<(&'static str, &'static str)>>,
    /// Objects by the name of the class, some of them several times.
    classes: Sorter<'a>,
    last_classes: HashSet<String>,
    table: Option<csv::Writer<AtomicFile>>,
}

impl<'a> FormFiles<'a> {
    /// Files in a folder that exists.
    pub fn new(out: &Path, scratch: &'a Scratch) -> Self {
        Self {
            out: out.to_owned(),
            resources: scratch.sorter(),
            modules: BTreeMap::new(),
            classes: scratch.sorter(),
            last_classes: HashSet::new(),
            table: None,
        }
    }

    /// Adds a change, in the order of volumes.
    pub fn push(&mut self, answer: &Answer, forms: ChangeForms) -> Result<()> {
        if let Some((module, change)) = forms.terraform {
            let key = [module.as_bytes(), &[0], &answer.volume.volume.to_be_bytes()].concat();
            self.resources.push_json(&key, &(&answer.volume.id, &change.text))?;
            self.modules.entry(module).or_default().extend(change.variables);
        }
        let Some(class) = forms.class else { return Ok(()) };
        if self.last_classes.len() == MAX_CLASSES {
            self.last_classes.clear();
        }
        if self.last_classes.insert(class.name.clone()) {
            self.classes.push(class.name.as_bytes(), class.objects.as_bytes())?;
        }
        let attributes = if class.has_attributes { class.name.as_str() } else { "" };
        let row = [answer.volume.id.as_str(), &class.name, attributes];
        if self.table.is_none() {
            let file = AtomicFile::create(&self.out.join("kubernetes.csv"))?;
            let table = self.table.insert(csv::Writer::from_writer(file));
            table.write_record(["volume_handle", "storage_class", "volume_attributes_class"])?;
        }
        match &mut self.table {
            Some(table) => Ok(table.write_record(row)?),
            None => Ok(()),
        }
    }

    /// Writes the files, and removes those of an earlier run that have no changes now.
    pub fn finish(self) -> Result<()> {
        write_modules(&self.out.join("terraform"), &self.modules, self.resources)?;
        let (objects, rows) = (self.out.join("kubernetes.yaml"), self.out.join("kubernetes.csv"));
        let Some(table) = self.table else {
            remove_file(&objects)?;
            return remove_file(&rows);
        };
        finish_table(table)?;
        let mut file = AtomicFile::create(&objects)?;
        file.write_all(KUBERNETES_HEAD.as_bytes())?;
        let mut last = None;
        for class in self.classes.finish()? {
            let Record { key, value } = class?;
            // Volumes share classes.
            if last.as_ref() != Some(&key) {
                file.write_all(&value)?;
            }
            last = Some(key);
        }
        file.finish()
    }
}

fn write_modules(
    folder: &Path,
    modules: &BTreeMap<String, BTreeSet<(&'static str, &'static str)>>,
    resources: Sorter<'_>,
) -> Result<()> {
    if folder.exists() {
        for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
            let entry = entry?;
            if !modules.contains_key(&*entry.file_name().to_string_lossy()) {
                remove_file(&entry.path().join(MODULE))?;
            }
        }
    }
    let mut resources = resources.finish()?.peekable();
    for (name, variables) in modules {
        let module = folder.join(name);
        fs::create_dir_all(&module).with_context(|| format!("create {}", module.display()))?;
        remove_leftovers(&module)?;
        let mut file = AtomicFile::create(&module.join(MODULE))?;
        file.write_all(terraform_variables(variables).as_bytes())?;
        let begin = [name.as_bytes(), &[0]].concat();
        let is_own = |record: &Result<Record>| record.as_ref().map_or(true, |record| record.key.starts_with(&begin));
        let mut labels = HashSet::new();
        while let Some(record) = resources.next_if(is_own).transpose()? {
            let (id, text): (String, String) = serde_json::from_slice(&record.value)?;
            let mut label = terraform_label(&id);
            // Their hashes, for modules of millions.
            while !labels.insert(hash_bytes(HASH_START, label.as_bytes())) {
                label.push('_');
            }
            write!(file, "\n{}", text.replace(LABEL, &label))?;
        }
        file.finish()?;
    }
    Ok(())
}

fn remove_file(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_file(path).with_context(|| format!("remove {}", path.display()))?;
    }
    Ok(())
}
