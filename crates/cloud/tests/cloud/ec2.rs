//! The API of EC2 with requests that the test signs.

use std::fmt::Write;

use plimsoll_cloud::{Ec2Key, add_ec2_key};
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign};

use crate::fixture::{Plane, Reply};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn date(seconds: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Bytes of a request with signature version 4.
fn signed(key: &Ec2Key, form: &str, date: &str) -> String {
    let headers = format!("host:127.0.0.1\nx-amz-date:{date}\n");
    let canonical =
        format!("POST\n/\n\n{headers}\nhost;x-amz-date\n{}", hex(digest(&SHA256, form.as_bytes()).as_ref()));
    let scope = [&date[..8], "us-east-1", "ec2", "aws4_request"];
    let hash = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{}\n{hash}", scope.join("/"));
    let mut derived = format!("AWS4{}", key.secret).into_bytes();
    for step in scope {
        derived = sign(&Key::new(HMAC_SHA256, &derived), step.as_bytes()).as_ref().to_vec();
    }
    let signature = hex(sign(&Key::new(HMAC_SHA256, &derived), text.as_bytes()).as_ref());
    let (id, scope, length) = (&key.id, scope.join("/"), form.len());
    format!(
        "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-amz-date: {date}\r\ncontent-length: {length}\r\nauthorization: AWS4-HMAC-SHA256 \
         Credential={id}/{scope}, SignedHeaders=host;x-amz-date, Signature={signature}\r\n\r\n{form}"
    )
}

struct Client<'p> {
    plane: &'p Plane,
    key: Ec2Key,
}

impl Client<'_> {
    fn ask(&self, form: &str) -> Reply {
        let request = signed(&self.key, &format!("{form}&Version=2016-11-15"), &date(0));
        Plane::send_to(self.plane.ec2, request.as_bytes())
    }

    #[track_caller]
    fn refuses(&self, form: &str, code: &str) {
        let reply = self.ask(form);
        assert!(reply.status == 400 && reply.text.contains(&format!("<Code>{code}</Code>")), "{form}: {reply:?}");
    }
}

fn create_client(plane: &Plane) -> Client<'_> {
    let key = Ec2Key::generate();
    add_ec2_key(&plane.home.directory, key.clone()).unwrap();
    Client { plane, key }
}

/// Text of the first element with a name.
fn element<'r>(reply: &'r Reply, name: &str) -> &'r str {
    let rest = reply.text.split_once(&format!("<{name}>")).map_or("", |(_, rest)| rest);
    rest.split('<').next().unwrap_or_default()
}

#[test]
fn only_recent_requests_with_a_registered_key_are_answered() {
    let plane = Plane::start();
    let client = create_client(&plane);
    let form = "Action=DescribeVolumes&Version=2016-11-15";
    let right = signed(&client.key, form, &date(0));
    assert_eq!(Plane::send_to(plane.ec2, right.as_bytes()).status, 200);
    let other = Ec2Key { secret: "wrong".into(), ..client.key.clone() };
    let unknown = Ec2Key::generate();
    for (what, request) in [
        ("another body", right.replace("DescribeVolumes", "DeleteAllThings")),
        ("another secret", signed(&other, form, &date(0))),
        ("unknown key", signed(&unknown, form, &date(0))),
        ("no signature", right.replace("Signature=", "Signature=00")),
        ("another service", right.replace("/ec2/", "/s3/")),
        ("no header", right.replace("authorization", "x-else")),
    ] {
        let reply = Plane::send_to(plane.ec2, request.as_bytes());
        assert!(reply.status == 401 && element(&reply, "Code") == "AuthFailure", "{what}: {reply:?}");
    }
    let old = Plane::send_to(plane.ec2, signed(&client.key, form, &date(-400)).as_bytes());
    assert_eq!((old.status, element(&old, "Code")), (400, "RequestExpired"));
}

/// Makes the instance `db`.
fn create_instance(plane: &Plane) {
    let group = plimsoll_service::api::Group { name: "db".into(), like: "aws/m6i.4xlarge".into() };
    plane.home.service.create_group(&group).unwrap();
}

#[test]
fn requests_of_the_terraform_provider_converge() {
    let plane = Plane::start();
    let client = create_client(&plane);
    create_instance(&plane);
    // As hashicorp/aws 5.100.0 sends them for aws_ebs_volume and aws_volume_attachment.
    let created = client.ask(
        "Action=CreateVolume&AvailabilityZone=us-east-1a&ClientToken=terraform-20261124&Iops=4000&Size=10&VolumeType=gp3\
         &TagSpecification.1.ResourceType=volume&TagSpecification.1.Tag.1.Key=Name&TagSpecification.1.Tag.1.Value=data",
    );
    let id = element(&created, "volumeId").to_owned();
    let volume = format!("Action=DescribeVolumes&VolumeId.1={id}");
    let until = |form: &str, name: &str, value: &str| {
        let begun = std::time::Instant::now();
        while element(&client.ask(form), name) != value {
            assert!(begun.elapsed().as_secs() < 60, "{name} of {form} is not {value:?}");
        }
    };
    until(&volume, "status", "available");
    let described = client.ask("Action=DescribeInstances");
    let instance = element(&described, "instanceId").to_owned();
    let described = client.ask(&format!("Action=DescribeInstances&InstanceId.1={instance}"));
    assert!(described.text.contains("<name>running</name>"), "{described:?}");
    // The attachment is looked up by device and instance: before it exists the answer is empty, not an error.
    let attachment = format!(
        "{volume}&Filter.1.Name=attachment.device&Filter.1.Value.1=/dev/sdf&Filter.2.Name=attachment.instance-id\
         &Filter.2.Value.1={instance}"
    );
    assert_eq!(element(&client.ask(&attachment), "volumeId"), "");
    let named = format!("VolumeId={id}&InstanceId={instance}&Device=/dev/sdf");
    assert_eq!(client.ask(&format!("Action=AttachVolume&{named}")).status, 200);
    let is_attached = |reply: &Reply| reply.text.contains("<status>attached</status>");
    let begun = std::time::Instant::now();
    while !is_attached(&client.ask(&attachment)) {
        assert!(begun.elapsed().as_secs() < 60, "the volume is not attached");
    }
    let modified = client.ask(&format!("Action=ModifyVolume&VolumeId={id}&Iops=5000&Throughput=125&VolumeType=gp3"));
    assert_eq!(element(&modified, "modificationState"), "modifying");
    let described = client.ask(&volume);
    let settings = ["iops", "throughput", "size", "volumeType"].map(|name| element(&described, name));
    assert_eq!(settings, ["5000", "125", "10", "gp3"], "the next plan finds no drift");
    assert!(is_attached(&client.ask(&attachment)));
    assert_eq!(client.ask(&format!("Action=DetachVolume&{named}")).status, 200);
    until(&attachment, "volumeId", "");
    assert_eq!(element(&client.ask(&format!("Action=DeleteVolume&VolumeId={id}")), "return"), "true");
    client.refuses(&volume, "InvalidVolume.NotFound");
}

#[test]
fn volume_attaches_modifies_and_detaches() {
    let plane = Plane::start();
    let client = create_client(&plane);
    create_instance(&plane);
    let create = "Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&VolumeType=gp3&Iops=4000&ClientToken=t";
    let created = client.ask(create);
    assert_eq!((created.status, element(&created, "status"), element(&created, "iops")), (200, "creating", "4000"));
    let id = element(&created, "volumeId").to_owned();
    assert_eq!(element(&client.ask(create), "volumeId"), id, "a repeated request");
    client.refuses(&create.replace("Size=10", "Size=11"), "IdempotentParameterMismatch");
    let until = |state: &str| {
        let begun = std::time::Instant::now();
        while element(&client.ask(&format!("Action=DescribeVolumes&VolumeId.1={id}")), "status") != state {
            assert!(begun.elapsed().as_secs() < 60, "the volume is not {state}");
        }
    };
    until("available");
    let instance = element(&client.ask("Action=DescribeInstances"), "instanceId").to_owned();
    let attach = format!("Action=AttachVolume&VolumeId={id}&InstanceId={instance}&Device=/dev/sdf");
    assert_eq!(element(&client.ask(&attach), "status"), "attaching");
    let glance = || plane.home.service.list_summaries().into_iter().next().unwrap();
    assert_eq!(glance().group.as_deref(), Some("db"), "it shares the limits of the instance");
    client.refuses(&attach, "VolumeInUse");
    client.refuses(&format!("Action=DeleteVolume&VolumeId={id}"), "VolumeInUse");
    // Optimizing a volume of this size takes 105 s here, longer than the next request.
    let modified = client.ask(&format!("Action=ModifyVolume&VolumeId={id}&Size=1000&VolumeType=io2&Iops=5000"));
    assert_eq!(element(&modified, "modificationState"), "modifying");
    let glance = glance();
    assert_eq!((glance.product.as_deref(), glance.size_bytes), (Some("aws/io2"), 1_000 << 30));
    client.refuses(&format!("Action=ModifyVolume&VolumeId={id}&Iops=6000"), "IncorrectModificationState");
    assert_eq!(element(&client.ask(&format!("Action=DetachVolume&VolumeId={id}")), "status"), "detaching");
    until("available");
    assert_eq!(element(&client.ask(&format!("Action=DeleteVolume&VolumeId={id}")), "return"), "true");
    client.refuses(&format!("Action=DescribeVolumes&VolumeId.1={id}"), "InvalidVolume.NotFound");
}

#[test]
fn descriptions_that_scripts_read_are_answered() {
    let plane = Plane::start();
    let client = create_client(&plane);
    create_instance(&plane);
    let created = client.ask(
        "Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&VolumeType=gp3&TagSpecification.1.ResourceType=volume\
         &TagSpecification.1.Tag.1.Key=team&TagSpecification.1.Tag.1.Value=red",
    );
    let id = element(&created, "volumeId").to_owned();
    let tags = client.ask("Action=DescribeTags&Filter.1.Name=key&Filter.1.Value.1=team");
    assert_eq!([element(&tags, "resourceId"), element(&tags, "value")], [id.as_str(), "red"]);
    let status = client.ask(&format!("Action=DescribeVolumeStatus&VolumeId.1={id}"));
    assert_eq!([element(&status, "volumeId"), element(&status, "status")], [id.as_str(), "ok"]);
    let attribute = client.ask(&format!("Action=DescribeVolumeAttribute&VolumeId={id}&Attribute=autoEnableIO"));
    assert_eq!(element(&attribute, "value"), "false");
    client.refuses(&format!("Action=DescribeVolumeAttribute&VolumeId={id}&Attribute=size"), "InvalidParameterValue");
    assert_eq!(element(&client.ask("Action=DescribeRegions"), "regionName"), "us-east-1");
    client.refuses("Action=DescribeRegions&RegionName.1=mars-1", "InvalidParameterValue");
    let types = client.ask("Action=DescribeInstanceTypes&InstanceType.1=m6i.4xlarge");
    assert_eq!([element(&types, "defaultVCpus"), element(&types, "sizeInMiB")], ["16", "65536"]);
    let limits = ["baselineIops", "maximumIops", "baselineBandwidthInMbps", "maximumBandwidthInMbps"];
    assert_eq!(limits.map(|name| element(&types, name)), ["20000", "40000", "5000", "10000"]);
    assert!(types.text.contains("<networkInfo></networkInfo><placementGroupInfo></placementGroupInfo>"), "{types:?}");
    let limits = ["baselineThroughputInMBps", "maximumThroughputInMBps"];
    assert_eq!(limits.map(|name| element(&types, name)), ["625", "1250"]);
    client.refuses("Action=DescribeInstanceTypes&InstanceType.1=m6i.nano", "InvalidInstanceType");
    let first = client.ask("Action=DescribeInstanceTypes&MaxResults=5");
    assert_eq!((first.text.matches("<instanceType>").count(), element(&first, "nextToken")), (5, "5"));
    assert_eq!(element(&client.ask("Action=DescribeInstanceStatus"), "status"), "ok");
    for action in ["Get", "Disable"] {
        let reply = client.ask(&format!("Action={action}EbsEncryptionByDefault"));
        assert_eq!(element(&reply, "ebsEncryptionByDefault"), "false");
    }
    client.refuses("Action=EnableEbsEncryptionByDefault", "UnsupportedOperation");
}

/// Creates a volume of 10 GiB with tags, as `KEY=VALUE`; its identifier.
fn create_tagged(client: &Client<'_>, tags: &[&str]) -> String {
    let mut form =
        "Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&TagSpecification.1.ResourceType=volume".to_owned();
    for (at, (key, value)) in tags.iter().filter_map(|tag| tag.split_once('=')).enumerate() {
        let tag = format!("TagSpecification.1.Tag.{}", at + 1);
        write!(form, "&{tag}.Key={key}&{tag}.Value={value}").unwrap();
    }
    element(&client.ask(&form), "volumeId").to_owned()
}

#[test]
fn tag_filters_select_objects_with_the_key_and_a_value() {
    let plane = Plane::start();
    let client = create_client(&plane);
    create_instance(&plane);
    let red = create_tagged(&client, &["team=red", "tier=1"]);
    let blue = create_tagged(&client, &["tier=2"]);
    for (filter, expected) in [
        ("tag:team&Filter.1.Value.1=red", vec![&red]),
        ("tag:team&Filter.1.Value.1=green&Filter.1.Value.2=r?d?", vec![&red]),
        ("tag:team&Filter.1.Value.1=R*", vec![]),
        ("tag:tier&Filter.1.Value.1=*", vec![&red, &blue]),
        ("tag:nowhere&Filter.1.Value.1=*", vec![]),
        ("tag-key&Filter.1.Value.1=team", vec![&red]),
        ("tag-key&Filter.1.Value.1=t*", vec![&red, &blue]),
    ] {
        let reply = client.ask(&format!("Action=DescribeVolumes&Filter.1.Name={filter}"));
        assert_eq!(reply.status, 200, "{filter}: {reply:?}");
        let found = [&red, &blue].into_iter().filter(|id| reply.text.contains(*id)).collect::<Vec<&String>>();
        assert_eq!(found, expected, "{filter}");
    }
    let count = |form: &str, of: &str| {
        let reply = client.ask(form);
        assert_eq!(reply.status, 200, "{form}: {reply:?}");
        reply.text.matches(of).count()
    };
    for (filter, expected) in [
        ("tag:team&Filter.1.Value.1=red", 1),
        ("tag:team&Filter.1.Value.1=blue", 0),
        ("tag:tier&Filter.1.Value.1=*", 2),
        ("tag:nowhere&Filter.1.Value.1=*", 0),
    ] {
        assert_eq!(count(&format!("Action=DescribeTags&Filter.1.Name={filter}"), "<resourceId>"), expected, "{filter}");
    }
    for (filter, expected) in [
        ("tag:Name&Filter.1.Value.1=d*", 1),
        ("tag:team&Filter.1.Value.1=red", 0),
        ("tag-key&Filter.1.Value.1=Name", 1),
        ("tag-key&Filter.1.Value.1=team", 0),
    ] {
        let form = format!("Action=DescribeInstances&Filter.1.Name={filter}");
        assert_eq!(count(&form, "<instanceId>"), expected, "{filter}");
    }
}

#[test]
fn tags_are_deleted_by_key_by_value_or_all() {
    let plane = Plane::start();
    let client = create_client(&plane);
    for (form, left) in [
        ("&Tag.1.Key=team", vec!["aws:a", "empty", "tier"]),
        ("&Tag.1.Key=team&Tag.1.Value=red", vec!["aws:a", "empty", "tier"]),
        ("&Tag.1.Key=team&Tag.1.Value=blue", vec!["aws:a", "empty", "team", "tier"]),
        ("&Tag.1.Key=team&Tag.1.Value=", vec!["aws:a", "empty", "team", "tier"]),
        ("&Tag.1.Key=empty&Tag.1.Value=&Tag.2.Key=tier&Tag.2.Value=2", vec!["aws:a", "team", "tier"]),
        ("&Tag.1.Key=nowhere", vec!["aws:a", "empty", "team", "tier"]),
        ("", vec!["aws:a"]),
    ] {
        let id = create_tagged(&client, &["team=red", "tier=1", "empty=", "aws:a=1"]);
        assert_eq!(client.ask(&format!("Action=DeleteTags&ResourceId.1={id}{form}")).status, 200, "{form}");
        let tags = client.ask(&format!("Action=DescribeTags&Filter.1.Name=resource-id&Filter.1.Value.1={id}"));
        let keys = tags.text.split("<key>").skip(1).filter_map(|rest| rest.split('<').next());
        assert_eq!(keys.collect::<Vec<&str>>(), left, "{form}");
    }
    client.refuses("Action=DeleteTags&Tag.1.Key=team", "MissingParameter");
}

#[test]
fn zones_are_selected_by_name_identifier_and_filter() {
    let plane = Plane::start();
    let client = create_client(&plane);
    for (selection, expected) in [
        ("", vec!["us-east-1a", "us-east-1b", "us-east-1c"]),
        ("&ZoneName.1=us-east-1b", vec!["us-east-1b"]),
        ("&ZoneName.1=us-east-1b&ZoneId.1=use1-az3", vec!["us-east-1b", "us-east-1c"]),
        ("&ZoneId.1=use1-az1", vec!["us-east-1a"]),
        ("&Filter.1.Name=zone-name&Filter.1.Value.1=*c", vec!["us-east-1c"]),
        ("&Filter.1.Name=zone-id&Filter.1.Value.1=use1-az2", vec!["us-east-1b"]),
        ("&Filter.1.Name=region-name&Filter.1.Value.1=eu-west-1", vec![]),
        ("&Filter.1.Name=state&Filter.1.Value.1=available&ZoneName.1=us-east-1a", vec!["us-east-1a"]),
        ("&Filter.1.Name=state&Filter.1.Value.1=impaired", vec![]),
        ("&Filter.1.Name=opt-in-status&Filter.1.Value.1=opted-in", vec![]),
        ("&Filter.1.Name=group-name&Filter.1.Value.1=us-east-1-zg-1&ZoneName.1=us-east-1a", vec!["us-east-1a"]),
        ("&Filter.1.Name=zone-type&Filter.1.Value.1=local-zone", vec![]),
    ] {
        let reply = client.ask(&format!("Action=DescribeAvailabilityZones{selection}"));
        assert_eq!(reply.status, 200, "{selection}: {reply:?}");
        let names = reply.text.split("<zoneName>").skip(1).filter_map(|rest| rest.split('<').next());
        assert_eq!(names.collect::<Vec<&str>>(), expected, "{selection}");
    }
    for unknown in ["ZoneName.1=us-east-1z", "ZoneId.1=use1-az9", "Filter.1.Name=colour&Filter.1.Value.1=red"] {
        client.refuses(&format!("Action=DescribeAvailabilityZones&{unknown}"), "InvalidParameterValue");
    }
}

#[test]
fn snapshots_of_an_instance_are_of_one_moment_and_are_copied() {
    let plane = Plane::start();
    let client = create_client(&plane);
    create_instance(&plane);
    let instance = element(&client.ask("Action=DescribeInstances"), "instanceId").to_owned();
    let several = format!("Action=CreateSnapshots&InstanceSpecification.InstanceId={instance}");
    client.refuses(&several, "IncorrectState");
    let mut volumes = Vec::new();
    for device in ["/dev/sdf", "/dev/sdg"] {
        let created = client.ask("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&VolumeType=gp3");
        let id = element(&created, "volumeId").to_owned();
        let attach = format!("Action=AttachVolume&VolumeId={id}&InstanceId={instance}&Device={device}");
        let begun = std::time::Instant::now();
        while client.ask(&attach).status != 200 {
            assert!(begun.elapsed().as_secs() < 60, "{id} is not available");
        }
        volumes.push(id);
    }
    let of =
        |reply: &Reply| volumes.iter().filter(|id| reply.text.contains(&format!("<volumeId>{id}</volumeId>"))).count();
    let both = client.ask(&several);
    assert_eq!((of(&both), both.text.matches("<state>pending</state>").count()), (2, 2), "{both:?}");
    let one = client.ask(&format!("{several}&InstanceSpecification.ExcludeDataVolumeId.1={}", volumes[0]));
    assert_eq!(of(&one), 1);
    let source = element(&one, "snapshotId").to_owned();
    let described = client.ask(&format!("Action=DescribeSnapshots&SnapshotId.1={source}"));
    assert!(!element(&described, "status").is_empty() && element(&described, "state").is_empty(), "{described:?}");
    let copied = client.ask(&format!("Action=CopySnapshot&SourceRegion=us-east-1&SourceSnapshotId={source}"));
    let copy = element(&copied, "snapshotId").to_owned();
    assert!(copy.starts_with("snap-") && copy != source, "{copied:?}");
    let described = client.ask(&format!("Action=DescribeSnapshots&SnapshotId.1={copy}"));
    assert_eq!(element(&described, "volumeId"), volumes[1], "that of the source");
    client.refuses(
        &format!("Action=CopySnapshot&SourceRegion=eu-west-1&SourceSnapshotId={source}"),
        "InvalidParameterValue",
    );
}

/// Waits until the last modification of a volume is completed.
fn until_completed(client: &Client<'_>, id: &str) {
    let begun = std::time::Instant::now();
    let describe = format!("Action=DescribeVolumesModifications&VolumeId.1={id}");
    while element(&client.ask(&describe), "modificationState") != "completed" {
        assert!(begun.elapsed().as_secs() < 60, "the modification is not completed");
    }
}

#[test]
fn four_modifications_pass_in_a_day_and_the_fifth_is_refused() {
    // 24 hours take 432 s: longer than the test.
    let plane = Plane::start();
    let client = create_client(&plane);
    let created = client.ask("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=1&VolumeType=gp3");
    let id = element(&created, "volumeId").to_owned();
    let modify = |throughput: u32| format!("Action=ModifyVolume&VolumeId={id}&Throughput={throughput}");
    let begun = std::time::Instant::now();
    while client.ask(&modify(200)).status != 200 {
        assert!(begun.elapsed().as_secs() < 60, "the volume is not available");
    }
    for throughput in [210, 220, 230] {
        until_completed(&client, &id);
        let modified = client.ask(&modify(throughput));
        assert_eq!(element(&modified, "modificationState"), "modifying", "{modified:?}");
    }
    until_completed(&client, &id);
    let fifth = client.ask(&modify(240));
    assert_eq!((fifth.status, element(&fifth, "Code")), (400, "VolumeModificationRateExceeded"));
    assert!(element(&fifth, "Message").contains("possible at 20"), "{fifth:?}");
}

#[test]
fn gp2_that_becomes_gp3_keeps_its_performance() {
    let plane = Plane::start();
    let client = create_client(&plane);
    for (size, settings) in [(1_500, ["4500", "250"]), (100, ["3000", "128"])] {
        let create = format!("Action=CreateVolume&AvailabilityZone=us-east-1a&Size={size}&VolumeType=gp2");
        let id = element(&client.ask(&create), "volumeId").to_owned();
        let modify = format!("Action=ModifyVolume&VolumeId={id}&VolumeType=gp3");
        let begun = std::time::Instant::now();
        let modified = loop {
            let reply = client.ask(&modify);
            if reply.status == 200 {
                break reply;
            }
            assert!(begun.elapsed().as_secs() < 60, "the volume is not available: {reply:?}");
        };
        assert_eq!(["targetIops", "targetThroughput"].map(|name| element(&modified, name)), settings);
    }
}

#[test]
fn attachment_to_several_instances_is_refused_with_the_reason() {
    let plane = Plane::start();
    let client = create_client(&plane);
    let create = "Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10";
    for (settings, code) in [
        ("VolumeType=gp3", "InvalidParameterCombination"),
        ("VolumeType=gp2", "InvalidParameterCombination"),
        ("VolumeType=io1&Iops=100", "UnsupportedOperation"),
        ("VolumeType=io2&Iops=100", "UnsupportedOperation"),
    ] {
        client.refuses(&format!("{create}&{settings}&MultiAttachEnabled=true"), code);
        let id = element(&client.ask(&format!("{create}&{settings}&MultiAttachEnabled=false")), "volumeId").to_owned();
        let begun = std::time::Instant::now();
        while element(&client.ask(&format!("Action=DescribeVolumes&VolumeId.1={id}")), "status") != "available" {
            assert!(begun.elapsed().as_secs() < 60, "{id} is not available");
        }
        let modify = format!("Action=ModifyVolume&VolumeId={id}&Size=20&MultiAttachEnabled");
        client.refuses(&format!("{modify}=true"), code);
        assert_eq!(element(&client.ask(&format!("{modify}=false")), "targetSize"), "20", "{settings}");
    }
}

#[test]
fn attributes_of_an_instance_are_described() {
    let plane = Plane::start();
    let client = create_client(&plane);
    create_instance(&plane);
    let id = element(&client.ask("Action=DescribeInstances"), "instanceId").to_owned();
    let describe = |attribute: &str| format!("Action=DescribeInstanceAttribute&InstanceId={id}&Attribute={attribute}");
    for (attribute, expected) in [
        ("instanceType", "m6i.4xlarge"),
        ("disableApiTermination", "false"),
        ("disableApiStop", "false"),
        ("instanceInitiatedShutdownBehavior", "stop"),
        ("userData", ""),
        ("rootDeviceName", "/dev/xvda"),
    ] {
        let reply = client.ask(&describe(attribute));
        assert_eq!((element(&reply, "instanceId"), element(&reply, "value")), (id.as_str(), expected), "{attribute}");
        assert!(reply.text.contains(&format!("<{attribute}>")), "{reply:?}");
    }
    client.refuses(&describe("colour"), "InvalidParameterValue");
    client.refuses(&describe("sourceDestCheck"), "UnsupportedOperation");
    let other = "Action=DescribeInstanceAttribute&InstanceId=i-0&Attribute=userData";
    client.refuses(other, "InvalidInstanceID.NotFound");
}

#[test]
fn malformed_requests_are_refused() {
    let plane = Plane::start();
    let client = create_client(&plane);
    client.refuses("Action=TerminateEverything", "InvalidAction");
    client.refuses("Size=1", "MissingParameter");
    client.refuses("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=x", "InvalidParameterValue");
    client.refuses("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&VolumeType=gp9", "UnknownVolumeType");
    client.refuses("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&Colour=red", "UnknownParameter");
    client.refuses("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&DryRun=true", "DryRunOperation");
    client.refuses("Action=CreateVolume&AvailabilityZone=nowhere-1a&Size=10&DryRun=true", "InvalidZone.NotFound");
    client.refuses("Action=CreateVolume&AvailabilityZone=us-east-1a&Size=65537&DryRun=true", "InvalidParameterValue");
    client.refuses("Action=DeleteVolume&VolumeId=vol-nope&DryRun=true", "InvalidVolume.NotFound");
    let tagged = "Action=CreateVolume&AvailabilityZone=us-east-1a&Size=10&TagSpecification.1.ResourceType=volume\
                  &TagSpecification.1.Tag.1.Key=Name&TagSpecification.1.Tag.1.Value=%3Cdata%3E%2F..";
    let created = client.ask(tagged);
    assert!(created.text.contains("<value>&lt;data&gt;/..</value>"), "{created:?}");
    let found = client.ask("Action=DescribeVolumes&Filter.1.Name=tag:Name&Filter.1.Value.1=%3Cda*");
    assert_eq!(element(&found, "volumeId"), element(&created, "volumeId"));
    assert!(plane.home.service.list_summaries().iter().all(|volume| !volume.name.contains('/')));
}
