//! Commands of the aws CLI that concern EBS volumes, with its waiters and exit codes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::clouds::oci::client;
use crate::home::Home;

/// The time that is enough for all states.
const TIMEOUT: Duration = Duration::from_secs(180);
/// States pass within seconds, and 24 hours in 864 s.
const FLAGS: &[&str] = &["--ec2", "127.0.0.1:0", "--slow", "100", "--speed-up", "100"];
const ZONE: &str = "us-east-1a";

struct Cli {
    program: PathBuf,
    key: Value,
}

impl Cli {
    /// Runs a command; its exit code and what it printed.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let of_key = |name: &str| self.key[name].as_str().expect("the key is whole");
        let mut command = Command::new(&self.program);
        command.args(["ec2", "--output", "json"]).args(arguments).stdin(Stdio::null());
        command.env("AWS_ACCESS_KEY_ID", of_key("AccessKeyId"));
        command.env("AWS_SECRET_ACCESS_KEY", of_key("SecretAccessKey"));
        command.env("AWS_ENDPOINT_URL_EC2", of_key("endpoint")).env("AWS_DEFAULT_REGION", "us-east-1");
        command.env("AWS_MAX_ATTEMPTS", "1").env("AWS_EC2_METADATA_DISABLED", "true");
        command.env_remove("AWS_PROFILE").env_remove("AWS_SESSION_TOKEN");
        let output = command.output().expect("the CLI starts");
        let (reported, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        eprintln!("$ aws ec2 {}\n{}{}{}", arguments.join(" "), reported, wrong.trim_start(), output.status);
        let printed = serde_json::from_str(&reported).unwrap_or_else(|_| Value::String(format!("{reported}{wrong}")));
        (output.status.code(), printed)
    }

    #[track_caller]
    fn does(&self, arguments: &[&str]) -> Value {
        let (code, printed) = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {printed}");
        printed
    }

    /// Runs a command that is refused with one of these error codes. The CLI ends with 254, before version 2 with 255.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], errors: &[&str]) {
        let (code, printed) = self.run(arguments);
        let text = printed.to_string();
        let is_refused = matches!(code, Some(254 | 255)) && errors.iter().any(|error| text.contains(error));
        assert!(is_refused, "{arguments:?}: {code:?} {text}");
    }
}

#[test]
fn commands_and_waiters_of_the_aws_cli_end_as_with_the_real_service() {
    let home = Home::serving("aws", FLAGS);
    let Some(program) = client("PLIMSOLL_AWS_CLI", "aws") else { return };
    let key = serde_json::from_str(&home.does(&["ec2-key", "--json"])).expect("it is JSON");
    let aws = Cli { program, key };
    home.does(&["instance", "create", "db", "--shape", "m6i.4xlarge"]);
    let create = ["create-volume", "--availability-zone", ZONE, "--size", "10", "--volume-type"];
    let created = aws.does(&[&create[..], &["gp3", "--iops", "4000", "--throughput", "200"]].concat());
    let volume = created["VolumeId"].as_str().expect("it has an identifier");
    assert_eq!(
        (&created["State"], &created["Iops"], &created["Throughput"]),
        (&"creating".into(), &4000.into(), &200.into())
    );
    aws.does(&["wait", "volume-available", "--volume-ids", volume]);
    refused(&aws, &create);
    attached(&aws, volume);
    modified(&aws, volume);
    snapshots(&aws, volume);
    descriptions(&aws, volume);
    aws.does(&["delete-volume", "--volume-id", volume]);
    aws.does(&["wait", "volume-deleted", "--volume-ids", volume]);
    aws.refuses(&["describe-volumes", "--volume-ids", volume], &["InvalidVolume.NotFound"]);
}

/// Requests that the rules of the products refuse.
fn refused(aws: &Cli, create: &[&str]) {
    aws.refuses(&[create, &["gp3", "--iops", "99999"]].concat(), &["InvalidParameterValue"]);
    aws.refuses(&[create, &["gp3", "--iops", "3000", "--throughput", "1000"]].concat(), &["InvalidParameterValue"]);
    aws.refuses(&[create, &["gp2", "--iops", "3000"]].concat(), &["InvalidParameterCombination"]);
    aws.refuses(&[create, &["io2"]].concat(), &["MissingParameter"]);
    aws.refuses(&[create, &["io2", "--iops", "100", "--multi-attach-enabled"]].concat(), &["UnsupportedOperation"]);
    aws.refuses(&[create, &["io1", "--iops", "600"]].concat(), &["InvalidParameterValue"]);
    aws.refuses(&[create, &["st1"]].concat(), &["InvalidParameterValue"]);
    let elsewhere = ["create-volume", "--availability-zone", "eu-west-9a", "--size", "10"];
    aws.refuses(&elsewhere, &["InvalidZone.NotFound"]);
    aws.refuses(&["describe-volumes", "--volume-ids", "vol-0"], &["InvalidVolume.NotFound"]);
    aws.refuses(&["describe-volumes", "--filters", "Name=colour,Values=red"], &["InvalidParameterValue"]);
}

fn attached(aws: &Cli, volume: &str) {
    let instances = aws.does(&["describe-instances", "--filters", "Name=instance-state-name,Values=running"]);
    let instance = instances["Reservations"][0]["Instances"][0]["InstanceId"].as_str().expect("there is an instance");
    let of = ["--volume-id", volume, "--instance-id", instance, "--device", "/dev/sdf"];
    aws.does(&[&["attach-volume"], &of[..]].concat());
    aws.does(&["wait", "volume-in-use", "--volume-ids", volume]);
    aws.refuses(&[&["attach-volume"], &of[..]].concat(), &["VolumeInUse"]);
    aws.refuses(&["delete-volume", "--volume-id", volume], &["VolumeInUse"]);
    let by_instance = format!("Name=attachment.instance-id,Values={instance}");
    let filters = ["describe-volumes", "--filters", "Name=attachment.device,Values=/dev/sdf", &by_instance];
    assert_eq!(aws.does(&filters)["Volumes"][0]["VolumeId"], volume);
    aws.does(&["detach-volume", "--volume-id", volume]);
    aws.does(&["wait", "volume-available", "--volume-ids", volume]);
}

fn modified(aws: &Cli, volume: &str) {
    let modify = |iops: &'static str| ["modify-volume", "--volume-id", volume, "--iops", iops];
    let several = ["modify-volume", "--volume-id", volume, "--multi-attach-enabled"];
    aws.refuses(&several, &["InvalidParameterCombination"]);
    let first = aws.does(&[&modify("5000")[..], &["--size", "20"]].concat());
    assert_eq!(first["VolumeModification"]["TargetIops"], 5000);
    let volumes = aws.does(&["describe-volumes", "--volume-ids", volume]);
    let (iops, size) = (&volumes["Volumes"][0]["Iops"], &volumes["Volumes"][0]["Size"]);
    assert_eq!((iops, size), (&5000.into(), &20.into()), "values change at once");
    for (before, iops) in [(4000, "6000"), (5000, "7000"), (6000, "8000")] {
        until_completed(aws, volume, before);
        aws.does(&modify(iops));
    }
    until_completed(aws, volume, 7000);
    aws.refuses(&modify("9000"), &["VolumeModificationRateExceeded"]);
}

/// Waits until the modification of a volume that had `iops` before is completed.
fn until_completed(aws: &Cli, volume: &str, iops: u32) {
    let begun = Instant::now();
    loop {
        let modifications = aws.does(&["describe-volumes-modifications", "--volume-ids", volume]);
        let modification = &modifications["VolumesModifications"][0];
        assert_eq!(modification["OriginalIops"], iops);
        match modification["ModificationState"].as_str() {
            Some("completed") => return,
            Some("modifying" | "optimizing") => {}
            _ => panic!("{modification}"),
        }
        assert!(begun.elapsed() < TIMEOUT, "{modification}");
    }
}

fn snapshots(aws: &Cli, volume: &str) {
    let created = aws.does(&["create-snapshot", "--volume-id", volume, "--description", "nightly"]);
    let snapshot = created["SnapshotId"].as_str().expect("it has an identifier");
    aws.does(&["wait", "snapshot-completed", "--snapshot-ids", snapshot]);
    let create = ["create-volume", "--availability-zone", ZONE, "--snapshot-id", snapshot, "--volume-type", "gp3"];
    let copy = aws.does(&create);
    assert_eq!((&copy["SnapshotId"], &copy["Size"]), (&snapshot.into(), &20.into()));
    let listed = aws.does(&["describe-snapshots", "--owner-ids", "self"]);
    assert_eq!(listed["Snapshots"].as_array().map(Vec::len), Some(1));
}

fn descriptions(aws: &Cli, volume: &str) {
    aws.does(&["create-tags", "--resources", volume, "--tags", "Key=team,Value=red", "Key=tier,Value=1"]);
    let tagged = ["describe-volumes", "--filters", "Name=tag:team,Values=r*", "Name=tag-key,Values=tier"];
    assert_eq!(aws.does(&tagged)["Volumes"][0]["VolumeId"], volume);
    aws.does(&["delete-tags", "--resources", volume, "--tags", "Key=team,Value=blue", "Key=tier"]);
    let tags = aws.does(&["describe-tags", "--filters", "Name=tag:team,Values=red"]);
    assert_eq!(tags["Tags"].as_array().map(Vec::len), Some(1), "{tags}");
    aws.does(&["delete-tags", "--resources", volume]);
    assert_eq!(aws.does(&["describe-tags"])["Tags"].as_array().map(Vec::len), Some(0));
    let zones = aws.does(&["describe-availability-zones", "--zone-names", ZONE]);
    assert_eq!(zones["AvailabilityZones"].as_array().map(Vec::len), Some(1), "{zones}");
    aws.refuses(&["describe-availability-zones", "--zone-names", "us-east-1z"], &["InvalidParameterValue"]);
    let types = aws.does(&["describe-instance-types", "--instance-types", "m6i.4xlarge"]);
    let limits = &types["InstanceTypes"][0]["EbsInfo"]["EbsOptimizedInfo"];
    assert_eq!((&limits["BaselineIops"], &limits["MaximumIops"]), (&20_000.into(), &40_000.into()));
}
