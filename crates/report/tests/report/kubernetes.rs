//! Kubernetes objects of configurations, and the Job that measures a claim.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Ask, Catalogue, Date, Offer, PriceTerms};
use plimsoll_report::{
    ClaimJob, VolumeChange, claim_job, kubernetes_class, kubernetes_of_quotes, terraform_change, terraform_label,
    terraform_variables,
};
use plimsoll_units::Bytes;

/// Keys and values.
type Pairs<'a> = &'a [(&'a str, &'a str)];

fn objects(configs: &[&str]) -> Option<String> {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let ask = Ask { block: Bytes::kib(8), reads: 1.0, sequential: false };
    let quotes: Vec<_> = configs
        .iter()
        .map(|text| {
            let config = text.parse().expect("a configuration");
            plimsoll_choose::quote(&catalogue, &config, &terms, &ask).expect("a quote")
        })
        .collect();
    kubernetes_of_quotes(&quotes)
}

/// The parameters of the first object of a kind.
fn parameters(text: &str, kind: &str) -> BTreeMap<String, String> {
    let object = text.split("---\n").find(|object| object.contains(&format!("\nkind: {kind}\n"))).unwrap_or_default();
    let lines = object.lines().skip_while(|line| *line != "parameters:").skip(1);
    let pairs = lines.take_while(|line| line.starts_with("  ")).filter_map(|line| line.trim().split_once(": "));
    pairs.map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned())).collect()
}

fn map(pairs: Pairs<'_>) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Keys as in the drivers' sources: unknown keys fail only when a volume is made.
#[test]
fn parameters_have_the_keys_of_the_drivers() {
    let gp3 = [("type", "gp3"), ("iops", "12000"), ("throughput", "500")];
    let ultra = [("DiskIOPSReadWrite", "6000"), ("DiskMBpsReadWrite", "200")];
    let cases: [(&str, Pairs<'_>, Pairs<'_>); 4] = [
        ("aws/gp3:500GiB,iops=12000,throughput=500", &gp3, &gp3),
        (
            "gcp/hyperdisk-balanced:500GiB,iops=6000,throughput=290",
            &[
                ("type", "hyperdisk-balanced"),
                ("provisioned-iops-on-create", "6000"),
                ("provisioned-throughput-on-create", "290Mi"),
            ],
            &[("iops", "6000"), ("throughput", "290Mi")],
        ),
        (
            "azure/ultra:512GiB,iops=6000,throughput=200",
            &[
                ("skuName", "UltraSSD_LRS"),
                ("cachingMode", "None"),
                ("DiskIOPSReadWrite", "6000"),
                ("DiskMBpsReadWrite", "200"),
                ("LogicalSectorSize", "4096"),
            ],
            &ultra,
        ),
        ("oci:500GB@20vpu", &[("vpusPerGB", "20"), ("attachment-type", "paravirtualized")], &[]),
    ];
    for (config, class, attributes) in cases {
        let text = objects(&[config]).unwrap();
        assert_eq!(parameters(&text, "StorageClass"), map(class), "{text}");
        assert_eq!(parameters(&text, "VolumeAttributesClass"), map(attributes), "{text}");
        assert_eq!(text.contains("volumeAttributesClassName: plimsoll\n"), !attributes.is_empty(), "{text}");
        let annotations = "annotate pvc CLAIM ebs.csi.aws.com/volumeType=gp3 ebs.csi.aws.com/iops=12000 ebs.csi.aws.com/throughput=500";
        assert_eq!(text.contains(annotations), config.starts_with("aws/"), "{text}");
        assert!(text.contains("storage: 500Gi") || text.contains("storage: 512Gi"), "{text}");
    }
}

#[test]
fn a_stripe_is_a_claim_for_each_member() {
    let text = objects(&["stripe(3,64KiB) of aws/gp3:100GiB"]).unwrap();
    assert_eq!(text.matches("kind: PersistentVolumeClaim").count(), 3, "{text}");
    assert!(text.contains("name: plimsoll-3\n") && text.contains("# 3 claims: no driver stripes them"), "{text}");
}

#[test]
fn storage_without_a_driver_has_no_objects() {
    assert_eq!(objects(&["netapp/aff-a800:10TB"]), None);
    assert_eq!(objects(&["aws/aurora:500GiB,tier=db.r6g.2xlarge"]), None);
}

fn make_offers(configs: &[&str]) -> Vec<Offer> {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    let offer = |config: &&str| catalogue.offer(&config.parse().expect("it is valid"), &terms).expect("it is offered");
    configs.iter().map(offer).collect()
}

#[test]
fn volumes_of_any_size_share_a_class() {
    let offers = make_offers(&[
        "aws/gp3:500GiB,iops=12000,throughput=500",
        "aws/gp3:800GiB,iops=12000,throughput=500",
        "oci:500GB@20vpu",
        "netapp/aff-a800:10TB",
    ]);
    let classes: Vec<_> = offers.iter().map(kubernetes_class).collect();
    let names: Vec<_> = classes.iter().flatten().map(|class| (&*class.name, class.has_attributes)).collect();
    let gp3 = ("plimsoll-aws-gp3-12000-500", true);
    assert_eq!(names, [gp3, gp3, ("plimsoll-oci-20-paravirtualized", false)]);
    assert_eq!(classes[0], classes[1]);
    assert_eq!(classes[3], None);
    for (class, attributes) in classes.iter().flatten().zip([1, 1, 0]) {
        assert_eq!(class.objects.matches("kind: StorageClass").count(), 1, "{}", class.objects);
        assert_eq!(class.objects.matches("kind: VolumeAttributesClass").count(), attributes, "{}", class.objects);
        assert!(!class.objects.contains("PersistentVolumeClaim"));
    }
}

#[test]
fn changes_import_volumes_and_never_replace_them() {
    let offers = make_offers(&[
        "aws/gp3:500GiB,iops=12000,throughput=500",
        "oci:500GB@20vpu",
        "aws/aurora:500GiB,tier=db.r6g.2xlarge",
    ]);
    let ids = ["vol-0a.1", "vol-0a 1", "a\"${b}"];
    // Identifiers may differ in letters that labels do not have.
    assert_eq!(ids.map(terraform_label), ["plimsoll_vol-0a_1", "plimsoll_vol-0a_1", "plimsoll_a___b_"]);
    let changes: Vec<_> = offers.iter().zip(ids).map(|(offer, id)| VolumeChange { id, offer }).collect();
    let ebs = terraform_change(&changes[0], "plimsoll_a").unwrap();
    assert!(
        ebs.text.starts_with("import {\n  to = aws_ebs_volume.plimsoll_a\n  id = \"vol-0a.1\"\n}\n"),
        "{}",
        ebs.text
    );
    assert!(ebs.text.contains("resource \"aws_ebs_volume\" \"plimsoll_a\" {\n"), "{}", ebs.text);
    assert_eq!(ebs.text.matches("prevent_destroy = true").count(), 1, "{}", ebs.text);
    let declared = terraform_variables(&ebs.variables.iter().copied().collect());
    assert!(declared.contains("variable \"aws_availability_zone\""), "{declared}");
    let oci = terraform_change(&changes[1], "b").unwrap();
    assert!(oci.text.contains("  vpus_per_gb         = 20\n"), "{}", oci.text);
    assert_eq!(terraform_change(&changes[2], "c"), None);
    let escaped = VolumeChange { id: ids[2], offer: &offers[0] };
    assert!(terraform_change(&escaped, "d").unwrap().text.contains("id = \"a\\\"$${b}\"\n"));
}

#[test]
fn a_block_claim_is_a_device_of_the_job() {
    let arguments = ["--preset".to_owned(), "a \"b\"".to_owned()];
    let job = ClaimJob {
        claim: "data-0",
        namespace: Some("db"),
        image: "r/plimsoll:1",
        is_block: true,
        arguments: &arguments,
    };
    let block = claim_job(&job);
    assert!(block.contains("devicePath: /dev/claim") && !block.contains("mountPath"), "{block}");
    assert!(block.contains("        - \"a \\\"b\\\"\"\n") && block.contains("  namespace: db\n"), "{block}");
    let files = claim_job(&ClaimJob { is_block: false, namespace: None, ..job });
    assert!(files.contains("mountPath: /claim") && !files.contains("namespace"), "{files}");
}
