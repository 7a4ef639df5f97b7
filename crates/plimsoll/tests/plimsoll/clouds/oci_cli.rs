//! Every command of the oci CLI that concerns volumes, with its exit code.

use serde_json::json;

use crate::clouds::oci::Cli;
use crate::home::Home;

const COMPARTMENT: &str = "ocid1.compartment.oc1..c";
const TENANCY: &str = "ocid1.tenancy.oc1..plimsoll";
const DOMAIN: &str = "XYZ:EU-ZURICH-1-AD-1";
/// States pass quickly, and a volume of 120 VPUs is within the reach of every host.
const FLAGS: &[&str] = &["--oci", "127.0.0.1:0", "--slow", "100", "--speed-up", "60"];

#[test]
fn every_command_of_the_oci_cli_ends_as_with_the_real_service() {
    let home = Home::serving("oci", FLAGS);
    let Some(oci) = Cli::new(&home) else { return };
    home.does(&["instance", "create", "vm", "--shape", "VM.Standard.E4.Flex:16ocpu"]);
    let volume = create_volumes(&oci);
    let clone = copies(&oci, &volume);
    attachments(&oci, &volume, &clone);
    home.does(&["volume", "create", "boot", "--like", "oci/boot-volume:50GB"]);
    boot_volumes(&oci);
    groups(&oci, &volume, &clone);
    others(&oci, &volume);
    oci.does(&["bv", "volume", "delete", "--volume-id", &volume, "--force", "--wait-for-state", "TERMINATED"]);
    let wrong = oci.ends(1, &["bv", "volume", "get", "--volume-id", "nope"]);
    assert!(wrong.to_string().contains("NotAuthorizedOrNotFound"), "{wrong}");
}

/// Create, list, get and update; the volume.
fn create_volumes(oci: &Cli) -> String {
    let policies = r#"[{"autotuneType":"PERFORMANCE_BASED","maxVpusPerGB":120},{"autotuneType":"DETACHED_VOLUME"}]"#;
    let create = [
        ["bv", "volume", "create", "--compartment-id", COMPARTMENT].as_slice(),
        &["--availability-domain", DOMAIN, "--size-in-gbs", "256", "--vpus-per-gb", "100", "--display-name", "data"],
        &["--autotune-policies", policies, "--wait-for-state", "AVAILABLE"],
    ]
    .concat();
    let volume = oci.makes(&create);
    let list = ["bv", "volume", "list", "--compartment-id", COMPARTMENT];
    assert_eq!(oci.does(&list)["data"][0]["vpus-per-gb"], 100);
    oci.does(&[&list[..], &["--all"]].concat());
    oci.does(&[&list[..], &["--all", "--page-size", "1"]].concat());
    let got = oci.does(&["bv", "volume", "get", "--volume-id", &volume]);
    let etag = got["etag"].as_str().expect("it has an etag");
    let update = ["bv", "volume", "update", "--volume-id", &volume];
    let stale = oci.ends(1, &[&update[..], &["--vpus-per-gb", "50", "--if-match", "e1"]].concat());
    assert!(stale.to_string().contains("NoEtagMatch"), "{stale}");
    let level = ["--vpus-per-gb", "50", "--if-match", etag, "--wait-for-state", "AVAILABLE"];
    assert_eq!(oci.does(&[&update[..], &level].concat())["data"]["vpus-per-gb"], 50);
    let policies = r#"[{"autotuneType":"PERFORMANCE_BASED","maxVpusPerGB":60}]"#;
    oci.does(&[&update[..], &["--autotune-policies", policies, "--force"]].concat());
    let size = ["--size-in-gbs", "512", "--wait-for-state", "AVAILABLE"];
    assert_eq!(oci.does(&[&update[..], &size].concat())["data"]["size-in-gbs"], 512);
    volume
}

/// A clone, a backup, and a volume of the backup; the clone.
fn copies(oci: &Cli, volume: &str) -> String {
    let wait = ["--wait-for-state", "AVAILABLE"];
    let clone = ["bv", "volume", "create", "--source-volume-id", volume, "--display-name", "clone"];
    let clone = oci.makes(&[&clone[..], &wait].concat());
    let backup = ["bv", "backup", "create", "--volume-id", volume, "--type", "INCREMENTAL", "--display-name", "b"];
    let backup = oci.makes(&[&backup[..], &wait].concat());
    let create = ["bv", "volume", "create", "--volume-backup-id", &backup, "--availability-domain", DOMAIN];
    oci.makes(&[&create[..], &["--compartment-id", COMPARTMENT], &wait].concat());
    oci.does(&["bv", "backup", "list", "--compartment-id", COMPARTMENT, "--volume-id", volume]);
    oci.does(&["bv", "backup", "get", "--volume-backup-id", &backup]);
    oci.does(&["bv", "backup", "delete", "--volume-backup-id", &backup, "--force"]);
    clone
}

fn attachments(oci: &Cli, volume: &str, clone: &str) {
    let instances = oci.does(&["compute", "instance", "list", "--compartment-id", TENANCY]);
    let instance = instances["data"][0]["id"].as_str().expect("there is an instance");
    oci.does(&["compute", "instance", "get", "--instance-id", instance]);
    let to = ["--instance-id", instance, "--volume-id", volume];
    let of = ["compute", "volume-attachment"];
    // The CLI refuses this itself: it has a command for each type.
    oci.ends(2, &[&of[..], &["attach"], &to, &["--type", "iscsi", "--use-chap", "true"]].concat());
    let device = ["--device", "/dev/oracleoci/oraclevdb", "--is-agent-auto-iscsi-login-enabled", "true"];
    let wait = ["--wait-for-state", "ATTACHED"];
    let iscsi = oci.makes(&[&of[..], &["attach-iscsi-volume"], &to, &device, &wait].concat());
    let to_clone = ["--instance-id", instance, "--volume-id", clone];
    let other = oci.makes(&[&of[..], &["attach-paravirtualized-volume"], &to_clone, &wait].concat());
    oci.does(&[&of[..], &["list", "--compartment-id", COMPARTMENT, "--instance-id", instance]].concat());
    oci.does(&[&of[..], &["get", "--volume-attachment-id", &iscsi]].concat());
    let login = ["update", "--volume-attachment-id", &iscsi, "--iscsi-login-state", "LOGIN_SUCCEEDED"];
    oci.does(&[&of[..], &login].concat());
    let lower = oci.ends(1, &["bv", "volume", "update", "--volume-id", volume, "--vpus-per-gb", "10", "--force"]);
    assert!(lower.to_string().contains("--online-uhp"), "{lower}");
    oci.ends(1, &["bv", "volume", "delete", "--volume-id", volume, "--force"]);
    oci.does(&["compute", "device", "list-instance", "--instance-id", instance]);
    let detach = ["detach", "--force", "--wait-for-state", "SUCCEEDED", "--volume-attachment-id"];
    oci.does(&[&of[..], &detach, &[iscsi.as_str()]].concat());
    oci.does(&[&of[..], &["detach", "--force", "--volume-attachment-id", &other]].concat());
}

fn boot_volumes(oci: &Cli) {
    let of = ["bv", "boot-volume"];
    let attached = ["compute", "boot-volume-attachment", "list", "--compartment-id", COMPARTMENT];
    oci.does(&[&attached[..], &["--availability-domain", DOMAIN]].concat());
    oci.does(&[&of[..], &["list", "--compartment-id", COMPARTMENT, "--availability-domain", DOMAIN]].concat());
    let volumes = oci.does(&[&of[..], &["list", "--compartment-id", TENANCY]].concat());
    let id = volumes["data"][0]["id"].as_str().expect("there is a boot volume");
    oci.does(&[&of[..], &["get", "--boot-volume-id", id]].concat());
    let update = ["update", "--boot-volume-id", id, "--vpus-per-gb", "20", "--wait-for-state", "AVAILABLE"];
    assert_eq!(oci.does(&[&of[..], &update].concat())["data"]["vpus-per-gb"], 20);
    oci.does(&[&of[..], &["delete", "--boot-volume-id", id, "--force"]].concat());
}

fn groups(oci: &Cli, volume: &str, clone: &str) {
    let source = json!({ "type": "volumeIds", "volumeIds": [volume] }).to_string();
    let create = ["bv", "volume-group", "create", "--compartment-id", COMPARTMENT, "--availability-domain", DOMAIN];
    let wait = ["--wait-for-state", "AVAILABLE"];
    let group = oci.makes(&[&create[..], &["--source-details", &source], &wait].concat());
    let of = ["bv", "volume-group"];
    oci.does(&[&of[..], &["list", "--compartment-id", COMPARTMENT]].concat());
    oci.does(&[&of[..], &["get", "--volume-group-id", &group]].concat());
    let members = json!([volume, clone]).to_string();
    oci.does(&[&of[..], &["update", "--volume-group-id", &group, "--volume-ids", &members, "--force"], &wait].concat());
    oci.makes(&["bv", "volume-group-backup", "create", "--volume-group-id", &group]);
    oci.does(&[&of[..], &["delete", "--volume-group-id", &group, "--force"]].concat());
}

fn others(oci: &Cli, volume: &str) {
    let policies = oci.does(&["bv", "volume-backup-policy", "list"]);
    let policy = policies["data"][0]["id"].as_str().expect("there are policies");
    let of = ["bv", "volume-backup-policy-assignment"];
    oci.does(&[&of[..], &["create", "--asset-id", volume, "--policy-id", policy]].concat());
    let assigned = ["get-volume-backup-policy-asset-assignment", "--asset-id", volume];
    assert_eq!(oci.does(&[&of[..], &assigned].concat())["data"][0]["policy-id"], policy);
    oci.does(&["bv", "volume-kms-key", "get", "--volume-id", volume]);
    let change = ["bv", "volume", "change-compartment", "--compartment-id", "ocid1.compartment.oc1..d"];
    oci.does(&[&change[..], &["--volume-id", volume]].concat());
    oci.does(&["iam", "availability-domain", "list", "--compartment-id", COMPARTMENT]);
    let images = ["compute", "image", "list", "--compartment-id", TENANCY, "--operating-system", "Oracle Linux"];
    oci.does(&[&images[..], &["--operating-system-version", "9", "--sort-by", "DISPLAYNAME"]].concat());
    oci.does(&["network", "subnet", "list", "--compartment-id", TENANCY, "--vcn-id", "ocid1.vcn.oc1..v"]);
    let compartments = ["iam", "compartment", "list", "--compartment-id", TENANCY, "--access-level", "ACCESSIBLE"];
    let named = ["--compartment-id-in-subtree", "true", "--name", "compartment-d", "--all"];
    let found = oci.does(&[&compartments[..], &named].concat());
    assert_eq!(found["data"][0]["id"], "ocid1.compartment.oc1..d", "{found}");
    assert_eq!(oci.does(&["iam", "region", "list"])["data"][0]["key"], "ZRH");
    let metrics = ["monitoring", "metric", "list", "--compartment-id", "ocid1.compartment.oc1..d"];
    let metrics = oci.does(&[&metrics[..], &["--namespace", "oci_blockstore", "--name", "VolumeReadOps"]].concat());
    assert_eq!(metrics["data"][0]["dimensions"]["resourceId"], *volume, "{metrics}");
    let replicas = ["bv", "volume", "update", "--volume-id", volume, "--force", "--block-volume-replicas"];
    oci.does(&[&replicas[..], &["[]"]].concat());
    let replica = json!([{ "availabilityDomain": "XYZ:EU-FRANKFURT-1-AD-1" }]).to_string();
    let refused = oci.ends(1, &[&replicas[..], &[replica.as_str()]].concat());
    assert!(refused.to_string().contains("not emulated"), "{refused}");
}
