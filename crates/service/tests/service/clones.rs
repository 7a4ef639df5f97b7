//! Snapshots and clones: shared and private data.

use std::time::{Duration, Instant};

use plimsoll_service::api;

use crate::home::Home;

fn fork(name: &str) -> api::Fork {
    api::Fork { name: name.into(), like: None }
}

#[test]
fn snapshot_restores_overwritten_data() {
    let home = Home::new();
    home.create("data", "link(10us)");
    let mut client = home.client("data");
    let before: Vec<u8> = (0..1_u32 << 20).map(|byte| (byte % 251) as u8).collect();
    client.write(3_000, &before);
    home.service.snapshot("data", &fork("monday")).unwrap();
    client.write(0, &vec![9; 2 << 20]);
    assert_eq!(client.read(3_000, 1 << 20), vec![9; 1 << 20]);
    let mut old = home.client("monday");
    assert_eq!(old.try_write(0, &[1; 512]), 1, "EPERM");
    assert!(old.read(3_000, 1 << 20) == before);

    let restore = api::Restore { from: "monday".into() };
    let in_use = home.service.restore("data", &restore).unwrap_err();
    assert!(in_use.message.contains("has 1 client"), "{in_use}");
    drop((client, old));
    home.until("data", |volume| volume.clients == 0);
    home.service.restore("data", &restore).unwrap();
    let mut client = home.client("data");
    assert!(client.read(3_000, 1 << 20) == before && client.read(2 << 20, 4_096) == [0; 4_096]);
    assert!(home.after_a_kill().client("data").read(3_000, 1 << 20) == before);
}

#[test]
fn large_clone_is_instant_and_uses_no_space() {
    let home = Home::new();
    let create = api::Create {
        name: "data".into(),
        like: "link(10us)".into(),
        size_bytes: Some(10 << 30),
        ..api::Create::default()
    };
    home.service.create(&create).unwrap();
    let mut client = home.client("data");
    for part in 0..64_u64 {
        client.write(part * (160 << 20), &vec![part as u8 + 1; 64 << 10]);
    }
    let used = || home.service.about().unwrap().used_bytes;
    let before = used();
    let begin = Instant::now();
    home.service.clone_volume("data", &fork("copy")).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(used(), before, "they share every cluster");
    let mut copy = home.client("copy");
    copy.write(160 << 20, &[200; 100]);
    assert_eq!(used(), before + (64 << 10), "one cluster is its own now");
    assert_eq!(client.read(160 << 20, 100), [2; 100]);
    assert_eq!(copy.read(160 << 20, 101), [vec![200; 100], vec![2]].concat());
    home.service.delete("copy").unwrap_err();
    drop(copy);
    home.until("copy", |volume| volume.clients == 0);
    home.service.delete("copy").unwrap();
    assert_eq!(client.read(160 << 20, 100), [2; 100]);
}

#[test]
fn clone_may_have_other_product_and_size() {
    let home = Home::new();
    home.create("data", "oci:50GB@0vpu");
    home.client("data").write(4_096, &[5; 4_096]);
    let larger = api::Fork { name: "large".into(), like: Some("aws/gp3:100GiB".into()) };
    let created = home.service.clone_volume("data", &larger).unwrap();
    assert_eq!((created.size_bytes, created.of.as_deref()), (100 << 30, Some("data")));
    assert_eq!(home.client("large").read(4_096, 4_096), [5; 4_096]);
    let same = api::Fork { name: "same".into(), like: Some("gp3".into()) };
    assert_eq!(home.service.clone_volume("data", &same).unwrap().like, "aws/gp3:50GiB");
    let small = api::Fork { name: "small".into(), like: Some("gp3:20GiB".into()) };
    let refused = home.service.clone_volume("data", &small).unwrap_err().message;
    assert!(refused.contains("holds 20 GiB, not 50 GiB"), "{refused}");
}
