//! Configurations as Kubernetes objects: a `StorageClass`, a `VolumeAttributesClass` where the driver can change volumes in
//! use, and a `PersistentVolumeClaim`; and the Job that measures a claim.
//!
//! Keys are those of the CSI drivers: aws-ebs-csi-driver, compute-persistent-disk-csi-driver, azuredisk-csi-driver and
//! oci-cloud-controller-manager, read from their sources in 2026. The API checks neither keys nor values of parameters.

use plimsoll_catalogue::{Offer, Price};
use plimsoll_choose::Quote;
use plimsoll_choose::sizing::Sizing;
use plimsoll_language::{Language, label, say};
use plimsoll_units::Bytes;

use crate::terraform::{
    Recommendations, azure_sku, comment_line, comment_slower, count_members, ebs_type, find_recommendations,
    gcp_disk_type, kind, option, price_lines, provider_of, says_yes,
};
use crate::words::sizing as words;

/// Keys and values of a driver's parameters, in order.
type Parameters = Vec<(&'static str, String)>;

struct DriverVolume {
    driver: &'static str,
    /// Of the `StorageClass`.
    class: Parameters,
    /// Of the `VolumeAttributesClass`; empty if the driver changes no volume, or no property of this product.
    attributes: Parameters,
    /// What the objects cannot say.
    notes: Vec<String>,
}

/// Writes an offer for the driver of its provider; `None` if the driver has no such volume.
type WriteVolume = fn(&Offer) -> Option<DriverVolume>;

const PROVIDERS: [(&str, WriteVolume); 4] = [("aws", aws), ("azure", azure), ("gcp", gcp), ("oci", oci)];

/// First lines of a file of classes.
pub const KUBERNETES_HEAD: &str = "# Attributes classes need Kubernetes 1.34.\n";

/// The recommendation of each cloud; `None` if no provider of a driver has any.
pub fn kubernetes(sizing: &Sizing) -> Option<String> {
    Language::English.scope(|| {
        let recommended = recommend(sizing);
        let mut objects = Vec::new();
        for (provider, content, choice) in &recommended.volumes {
            let mut reason = comment_line(&words::reason(choice)) + &comment_slower(choice);
            if sizing.required.platform.cluster.is_some() {
                reason += &comment_line(
                    "The database is a cluster: a shared volume needs ReadWriteMany and volumeMode: Block, where the driver has them.",
                );
            }
            let name = format!("plimsoll-{provider}-{}", content.name());
            objects.extend(format_volume(&choice.offer, choice.price.as_ref(), &reason, &name));
        }
        let gaps = recommended.comment_gaps();
        let head = if objects.is_empty() { "" } else { KUBERNETES_HEAD };
        Some(format!("{head}{gaps}{}", objects.concat())).filter(|text| !text.is_empty())
    })
}

/// Recommendations that [`kubernetes`] does not contain, or not as a single claim that changes in use, with the reasons.
pub fn kubernetes_gaps(sizing: &Sizing) -> Vec<String> {
    let recommended = recommend(sizing);
    let mut gaps = recommended.gaps;
    for (_, _, choice) in recommended.volumes {
        let name = choice.offer.product().name();
        let members = count_members(&choice.offer);
        let striped = || say!("{name}: {members} claims, as no CSI driver stripes (--stripe 1 sizes for a single one)");
        gaps.extend((members > 1).then(striped));
        let is_fixed = write(&choice.offer).is_some_and(|volume| volume.attributes.is_empty());
        let fixed = || say!("{name}: no VolumeAttributesClass, as its CSI driver changes no property of it in use");
        gaps.extend(is_fixed.then(fixed));
    }
    gaps
}

fn recommend(sizing: &Sizing) -> Recommendations<'_> {
    let has_driver = |offer: &Offer| write(offer).is_some();
    find_recommendations(sizing, &PROVIDERS.map(|(name, _)| name), label!("CSI driver"), has_driver)
}

/// The volume of the driver of an offer's provider; `None` if there is no such driver or volume.
fn write(offer: &Offer) -> Option<DriverVolume> {
    let provider = provider_of(offer);
    PROVIDERS.iter().find(|(name, _)| *name == provider).and_then(|(_, create)| create(offer))
}

/// The same for configurations; `None` if no driver makes any of them.
pub fn kubernetes_of_quotes(quotes: &[Quote]) -> Option<String> {
    let objects: Vec<String> = quotes
        .iter()
        .enumerate()
        .filter_map(|(index, quote)| {
            let name = if quotes.len() > 1 { format!("plimsoll-{}", index + 1) } else { "plimsoll".to_owned() };
            format_volume(&quote.offer, quote.price.as_ref().ok(), "", &name)
        })
        .collect();
    (!objects.is_empty()).then(|| format!("{KUBERNETES_HEAD}{}", objects.concat()))
}

/// The objects of a volume, each after a separator.
fn format_volume(offer: &Offer, price: Option<&Price>, reason: &str, name: &str) -> Option<String> {
    let volume = write(offer)?;
    let size = option(offer, "size")?;
    let (_, unit) = offer.product().capacity_unit();
    let bytes = size.parse::<f64>().ok()? * unit.get() as f64;
    let gib = (bytes / Bytes::gib(1).get() as f64).ceil();
    let mut out = format!("---\n{}{}{reason}", comment_line(&offer.short().to_string()), price_lines(price));
    for note in &volume.notes {
        out += &comment_line(note);
    }
    let members = count_members(offer);
    if members > 1 {
        out += &comment_line(&format!(
            "{members} claims: no driver stripes them. Join them inside the node or pod, or size again with --stripe 1"
        ));
    }
    let has_attributes = !volume.attributes.is_empty();
    out += &format_classes(&volume, name);
    let attributes = if has_attributes { format!("  volumeAttributesClassName: {name}\n") } else { String::new() };
    for member in 1..=members {
        let claim = if members > 1 { format!("{name}-{member}") } else { name.to_owned() };
        out += &format!(
            "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: {claim}\nspec:\n  accessModes:\n  \
             - ReadWriteOnce\n  storageClassName: {name}\n{attributes}  resources:\n    requests:\n      storage: {gib}Gi\n"
        );
    }
    Some(out)
}

fn format_classes(volume: &DriverVolume, name: &str) -> String {
    let mut out = format!(
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: {name}\nprovisioner: {}\n{}\
         reclaimPolicy: Retain\nallowVolumeExpansion: true\nvolumeBindingMode: WaitForFirstConsumer\n",
        volume.driver,
        format_parameters(&volume.class)
    );
    if !volume.attributes.is_empty() {
        out += &format!(
            "---\napiVersion: storage.k8s.io/v1\nkind: VolumeAttributesClass\nmetadata:\n  name: {name}\n\
             driverName: {}\n{}",
            volume.driver,
            format_parameters(&volume.attributes)
        );
    }
    out
}

/// The class of a volume that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubernetesClass {
    /// Made of its parameters, which are immutable: volumes of the same parameters share a class, whatever their sizes.
    pub name: String,
    /// True if there is a `VolumeAttributesClass` of this name, which changes volumes in use.
    pub has_attributes: bool,
    /// Its objects, without claims.
    pub objects: String,
}

/// The class of an offer; `None` if no driver makes such a volume.
pub fn kubernetes_class(offer: &Offer) -> Option<KubernetesClass> {
    let volume = write(offer)?;
    let values = volume.class.iter().map(|(_, value)| format!("-{}", value.to_lowercase().replace('_', "-")));
    let name = format!("plimsoll-{}{}", provider_of(offer), values.collect::<String>());
    let notes: String = volume.notes.iter().map(|note| comment_line(note)).collect();
    let objects = format!("---\n{notes}{}", format_classes(&volume, &name));
    Some(KubernetesClass { name, has_attributes: !volume.attributes.is_empty(), objects })
}

fn format_parameters(parameters: &Parameters) -> String {
    let lines = parameters.iter().map(|(key, value)| format!("  {key}: \"{value}\"\n"));
    format!("parameters:\n{}", lines.collect::<String>())
}

/// The driver's keys of options that the product has.
fn rename<const N: usize>(offer: &Offer, names: [(&'static str, &str); N]) -> Parameters {
    names.into_iter().filter_map(|(key, name)| Some((key, option(offer, name)?))).collect()
}

fn aws(offer: &Offer) -> Option<DriverVolume> {
    let mut class = vec![("type", ebs_type(offer)?.to_owned())];
    class.extend(rename(offer, [("iops", "iops"), ("throughput", "throughput")]));
    // Of the driver's volume modifier, for clusters without attributes classes.
    let annotations = class.iter().map(|(key, value)| {
        let key = if *key == "type" { "volumeType" } else { key };
        format!(" ebs.csi.aws.com/{key}={value}")
    });
    let notes = vec![
        "EBS accepts four changes of a volume in 24 hours, each after the previous one has ended.".to_owned(),
        format!("Before Kubernetes 1.34: kubectl annotate pvc CLAIM{}", annotations.collect::<String>()),
    ];
    Some(DriverVolume { driver: "ebs.csi.aws.com", attributes: class.clone(), class, notes })
}

fn gcp(offer: &Offer) -> Option<DriverVolume> {
    let disk_type = gcp_disk_type(offer)?;
    let throughput = option(offer, "throughput").map(|mib_s| format!("{mib_s}Mi"));
    let mut class = vec![("type", disk_type.to_owned())];
    class.extend(rename(offer, [("provisioned-iops-on-create", "iops")]));
    class.extend(throughput.clone().map(|quantity| ("provisioned-throughput-on-create", quantity)));
    let mut attributes = rename(offer, [("iops", "iops")]);
    attributes.extend(throughput.map(|quantity| ("throughput", quantity)));
    if !disk_type.starts_with("hyperdisk-") {
        attributes.clear();
    }
    Some(DriverVolume { driver: "pd.csi.storage.gke.io", class, attributes, notes: Vec::new() })
}

fn azure(offer: &Offer) -> Option<DriverVolume> {
    let sku = azure_sku(offer)?;
    let is_provisioned = matches!(kind(offer), "premium-ssd-v2" | "ultra");
    let rates = rename(offer, [("DiskIOPSReadWrite", "iops"), ("DiskMBpsReadWrite", "throughput")]);
    let mut class = vec![("skuName", sku.to_owned()), ("cachingMode", "None".to_owned())];
    if is_provisioned {
        class.extend(rates.clone());
        class.extend(rename(offer, [("LogicalSectorSize", "sector")]));
    }
    class.extend(says_yes(offer, "on_demand_burst").then(|| ("enableBursting", "true".to_owned())));
    class.extend(says_yes(offer, "expanded").then(|| ("enablePerformancePlus", "true".to_owned())));
    let tier = "The driver has no key for tiers: for one above that of the size, az disk update --set tier=... after the claim is bound.";
    let notes = option(offer, "tier").map(|_| tier.to_owned()).into_iter().collect();
    Some(DriverVolume {
        driver: "disk.csi.azure.com",
        class,
        attributes: if is_provisioned { rates } else { Vec::new() },
        notes,
    })
}

fn oci(offer: &Offer) -> Option<DriverVolume> {
    if kind(offer) != "block-volume" {
        return None;
    }
    let mut class = rename(offer, [("vpusPerGB", "vpu")]);
    class.push(("attachment-type", "paravirtualized".to_owned()));
    Some(DriverVolume {
        driver: "blockvolume.csi.oraclecloud.com",
        class,
        attributes: Vec::new(),
        notes: vec![
            "The driver changes no volume: for another level later, oci bv volume update --vpus-per-gb.".to_owned(),
            "From 30 VPUs on the driver refuses volumeMode: Block.".to_owned(),
        ],
    })
}

/// A measurement of a claim inside its cluster.
pub struct ClaimJob<'a> {
    /// Name of the `PersistentVolumeClaim`.
    pub claim: &'a str,
    /// Its namespace; that of the client if `None`.
    pub namespace: Option<&'a str>,
    /// Container image with the program as its entry point.
    pub image: &'a str,
    /// True for a claim with `volumeMode: Block`, which is only read.
    pub is_block: bool,
    /// Further arguments of `measure`.
    pub arguments: &'a [String],
}

pub fn claim_job_name(claim: &str) -> String {
    format!("measure-{claim}")
}

/// The manifest of the Job, which writes the run as JSON to its log, and only to the claim otherwise.
pub fn claim_job(job: &ClaimJob<'_>) -> String {
    let ClaimJob { claim, namespace, image, is_block, arguments } = job;
    let place = if *is_block { "/dev/claim" } else { "/claim" };
    let kind = if *is_block {
        "        volumeDevices:\n        - name: claim\n          devicePath: /dev/claim\n"
    } else {
        "        volumeMounts:\n        - name: claim\n          mountPath: /claim\n"
    };
    let namespace_line = namespace.map_or_else(String::new, |name| format!("  namespace: {name}\n"));
    let of = namespace.map_or_else(String::new, |name| format!(" --namespace {name}"));
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    let name = claim_job_name(claim);
    let words: Vec<String> = ["measure", place, "--quiet", "--keep", "no", "--json", "-"]
        .into_iter()
        .map(str::to_owned)
        .chain(arguments.iter().cloned())
        .map(|word| format!("        - {}\n", quote(&word)))
        .collect();
    format!(
        "# kubectl apply -f FILE{of}, then, after the measurement:\n\
         # kubectl wait --for=condition=complete --timeout=30m{of} job/{name}\n\
         # plimsoll k8s collect {claim}{of}\n\
         # A claim with WaitForFirstConsumer is bound where this pod is placed; ReadWriteOnce needs the node of its user.\n\
         apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n{namespace_line}spec:\n  backoffLimit: 0\n  \
         template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: plimsoll\n        image: {}\n        \
         securityContext:\n          allowPrivilegeEscalation: false\n          readOnlyRootFilesystem: true\n        args:\n{}{kind}      volumes:\n      - name: claim\n        persistentVolumeClaim:\n          claimName: {claim}\n",
        quote(image),
        words.concat(),
    )
}
