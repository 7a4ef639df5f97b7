//! Level and product changes with connected clients.

use std::time::{Duration, Instant};

use plimsoll_service::{Initiators, LevelChanges, RefusalKind, ServiceOptions, api};

use crate::home::{Client, Home, TIMEOUT, create_directory, options};

/// Duration of 60 reads at 100 per second, with the first at once.
const SLOW: Duration = Duration::from_millis(589);

/// Reads until the rate exceeds 100 per second: a busy host may need several attempts.
fn becomes_fast(client: &mut Client) {
    let end = Instant::now() + TIMEOUT;
    while client.reads(60, 8) >= SLOW {
        assert!(Instant::now() < end, "60 reads go on taking more than {SLOW:?}");
    }
}

#[test]
fn level_change_online_changes_rate() {
    let home = Home::new();
    home.create("data", "oci:50GB@0vpu");
    let mut client = home.client("data");
    let took = client.reads(60, 8);
    assert!(took >= SLOW, "100 IOPS: {took:?}");
    let levelled = home.level("data", "10").unwrap();
    assert_eq!((levelled.level, levelled.clients, levelled.like.as_str()), (Some(10), 1, "oci/block-volume:50GB"));
    becomes_fast(&mut client);
    let back = home.level("data", "vpu=0").unwrap();
    assert_eq!(back.cost.unwrap().parts.len(), 2);
    let took = client.reads(60, 8);
    assert!(took >= SLOW, "{took:?}");

    let stats = home.service.stats("data").unwrap();
    let reads = stats.counts[0].ops;
    assert!(reads >= 180 && stats.counts[0].bytes == reads * 4096 && stats.counts[0].errors == 0, "{stats:?}");
    assert_eq!(stats.bound_by.iter().map(|bound| bound.count).sum::<u64>(), reads);
    let limit = stats.bound_by.iter().find(|bound| bound.limit == "IOPS that the size gives at this level");
    assert!(limit.is_some_and(|limit| limit.count >= 100), "counts go on by name: {:?}", stats.bound_by);
    assert!(stats.faithful + stats.unfaithful >= 1 && stats.last.is_some(), "{stats:?}");
    assert!(stats.lateness.iter().map(|bin| bin.count).sum::<u64>() >= 60, "{stats:?}");
}

#[test]
fn detached_only_change_is_refused_while_connected() {
    let home = Home::new();
    home.create("data", "oci:50GB@20vpu");
    let mut client = home.client("data");
    let level = |to: &str, force_detach| home.service.level("data", &api::Level { to: to.into(), force_detach });
    let refused = level("30", false).unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Conflict);
    for part in
        ["vpu goes from or to 30 and more on a detached volume only", "Ultra High", "1 client", "--force-detach"]
    {
        assert!(refused.message.contains(part), "{refused}");
    }
    assert_eq!(home.service.volume("data").unwrap().level, Some(20));
    let forced = level("30", true).unwrap();
    assert_eq!((forced.level, forced.clients), (Some(30), 0));
    assert!(client.is_torn());
    let mut client = home.client("data");
    client.write(0, &[1; 512]);
    level("60", false).unwrap_err();
    drop(client);
    home.until("data", |volume| volume.clients == 0);
    assert_eq!(level("60", false).unwrap().level, Some(60));

    let attachment = api::Attachment { device: Some("/dev/loop7".into()), ..api::Attachment::default() };
    home.service.attach("data", &attachment).unwrap();
    let refused = level("20", true).unwrap_err();
    assert!(refused.message.contains("attached at /dev/loop7") && !refused.message.contains("force"), "{refused}");
    home.service.detach("data").unwrap();
    assert_eq!(level("20", false).unwrap().level, Some(20));
}

#[test]
fn volume_of_an_instance_is_changed_and_deleted_after_its_detachment_only() {
    let attach = |home: &Home, group| {
        let tag = ("cloud", String::new());
        home.service.set_group("data", group, &Initiators::OfService, tag).unwrap();
    };
    let home = Home::new();
    home.service
        .create_group(&api::Group { name: "vm".into(), like: "oci/VM.Standard.E4.Flex:16ocpu".into() })
        .unwrap();
    home.create("data", "oci:50GB@20vpu");
    attach(&home, Some("vm"));
    let level = |to: &str, force_detach| home.service.level("data", &api::Level { to: to.into(), force_detach });
    for refused in [level("30", false), level("30", true)] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind, RefusalKind::Conflict);
        for part in ["on a detached volume only", "attached to instance vm", "--online-uhp"] {
            assert!(refused.message.contains(part), "{part} in {refused}");
        }
        assert!(!refused.message.contains("--force-detach"), "{refused}");
    }
    assert_eq!(level("10", false).unwrap().level, Some(10), "below 30 it is changed online");
    let refused = home.service.delete("data").unwrap_err();
    assert!(refused.kind == RefusalKind::Conflict && refused.message.contains("attached to instance vm"), "{refused}");
    assert!(home.after_a_kill().service.delete("data").is_err(), "the attachment is durable");
    attach(&home, None);
    assert_eq!(level("30", false).unwrap().level, Some(30));
    home.service.delete("data").unwrap();

    let online = ServiceOptions { level_changes: LevelChanges::Online, ..options(&create_directory()) };
    let home = Home::open(online);
    home.create("data", "oci:50GB@20vpu");
    let _client = home.client("data");
    assert_eq!(home.level("data", "30").unwrap().level, Some(30));
}

#[test]
fn product_change_is_online() {
    let home = Home::new();
    home.create("data", "oci:50GB@40vpu");
    let mut client = home.client("data");
    client.write(4096, &[4; 4096]);
    let moved = home.level("data", "gp3").unwrap();
    assert_eq!((moved.like.as_str(), moved.clients, moved.size_bytes), ("aws/gp3:50GiB", 1, 50 << 30));
    assert_eq!(client.read(4096, 4096), [4; 4096]);
    let raised = home.level("data", "iops=12000,throughput=500").unwrap();
    assert_eq!((raised.like.as_str(), raised.level), ("aws/gp3:50GiB,iops=12000,throughput=500", Some(12_000)));
    let tier = home.level("data", "azure/premium-ssd:P30").unwrap();
    assert!(home.level("data", "P40").unwrap().like.contains("P40"), "{tier:?}");
    let stages = home.level("data", "limit(500) then link(1ms)").unwrap();
    assert_eq!((stages.level, stages.like.as_str()), (None, "limit(500) then link(1ms)"));
    assert_eq!(client.read(4096, 4096), [4; 4096]);
}

#[test]
fn value_outside_offer_is_refused_with_range() {
    let home = Home::new();
    home.create("data", "oci:50GB@10vpu");
    home.create("bare", "link(1ms)");
    let refused = |name: &str, to: &str| home.level(name, to).unwrap_err();
    assert!(refused("data", "130").contains("vpu is 130, and can be 0 to 120"), "{}", refused("data", "130"));
    assert!(
        refused("data", "15").contains("goes in steps of 10: the nearest are 10 or 20"),
        "{}",
        refused("data", "15")
    );
    assert!(refused("data", "iops=9").contains("has no option \"iops\""), "{}", refused("data", "iops=9"));
    assert!(refused("data", "gp3:20GiB").contains("holds 20"), "{}", refused("data", "gp3:20GiB"));
    assert!(refused("data", "link(1").contains("link"), "{}", refused("data", "link(1"));
    assert!(refused("bare", "10").contains("has no levels"), "{}", refused("bare", "10"));
    assert_eq!(home.service.volume("data").unwrap().level, Some(10));
}
