//! Volumes survive restarts and kills.

use plimsoll_front::DirectoryError;
use plimsoll_service::{OpenError, Service, api};

use crate::home::{Home, options};

#[test]
fn volume_survives_restart() {
    let home = Home::new();
    assert_eq!(home.service.list().unwrap(), []);
    let created = home.create("data", "oci:50GB@0vpu");
    assert_eq!((created.size_bytes, created.level, created.writable, created.clients), (50 << 30, Some(0), true, 0));
    assert_eq!(created.like, "oci/block-volume:50GB,vpu=0");
    assert!(created.model.contains("limit(100 per 256KiB)"), "{}", created.model);
    assert!(created.uris[0].starts_with("nbd+unix:///data?socket="), "{:?}", created.uris);
    let mut client = home.client("data");
    assert_eq!(client.size, 50 << 30);
    client.write(1 << 30, &[7; 8192]);
    assert_eq!(home.service.volume("data").unwrap().clients, 1);

    let killed = home.after_a_kill();
    assert_eq!(killed.client("data").read(1 << 30, 8192), [7; 8192]);
    drop(client);
    let again = home.again();
    let volume = again.service.volume("data").unwrap();
    assert_eq!((volume.like, volume.created, volume.model), (created.like, created.created, created.model));
    assert_eq!(again.client("data").read(1 << 30, 8192), [7; 8192]);
    // Clusters left unclean by the kill count as used until the background punch has finished.
    let is_clean = || again.service.about().unwrap().used_bytes < 1 << 20;
    let patient = (0..500).any(|_| {
        is_clean() || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            false
        }
    });
    assert!(patient, "what was unclean is free again");
    let about = again.service.about().unwrap();
    assert!(about.used_bytes >= 1 << 16 && about.used_bytes < 1 << 20 && about.capacity_bytes == 64 << 30, "{about:?}");
}

#[test]
fn unflushed_writes_survive_an_orderly_end() {
    let home = Home::new();
    home.create("data", "station(8, 1us)");
    home.client("data").write_unflushed(1 << 20, &[7; 8192]);
    let again = home.again();
    assert_eq!(again.client("data").read(1 << 20, 8192), [7; 8192]);
}

#[test]
fn metadata_survives_kill() {
    let home = Home::new();
    let vm = api::Group { name: "vm".into(), like: "oci/VM.Standard.E4.Flex:16ocpu".into() };
    let created = home.service.create_group(&vm).unwrap();
    let create = api::Create {
        name: "data".into(),
        like: "limit(300) then link(1ms)".into(),
        size_bytes: Some(10 << 20),
        group: Some("vm".into()),
        seed: Some(9),
        ..api::Create::default()
    };
    home.service.create(&create).unwrap();
    home.service.resize("data", &api::Resize::to_bytes(20 << 20)).unwrap();
    home.level("data", "oci:20vpu").unwrap();
    home.service.snapshot("data", &api::Fork { name: "before".into(), like: None }).unwrap();
    home.create("gone", "link(1ms)");
    home.service.delete("gone").unwrap();
    let idle = api::Group { name: "idle".into(), like: "limit(5)".into() };
    home.service.create_group(&idle).unwrap();
    home.service.delete_group("idle").unwrap();

    let killed = home.after_a_kill();
    assert_eq!(killed.service.groups().unwrap(), [created]);
    let names: Vec<String> = killed.service.list().unwrap().into_iter().map(|volume| volume.name).collect();
    assert_eq!(names, ["before", "data"]);
    let (data, before) = (killed.service.volume("data").unwrap(), killed.service.volume("before").unwrap());
    assert_eq!((data.size_bytes, data.level, data.group.as_deref()), (20 << 20, Some(20), Some("vm")));
    assert_eq!((before.size_bytes, before.of.as_deref(), before.writable), (20 << 20, Some("data"), false));
    assert_eq!(before.cost, None, "the price of a snapshot is another");
    let parts = data.cost.unwrap().parts;
    let likes: Vec<&str> = parts.iter().map(|part| part.like.as_str()).collect();
    assert_eq!(likes, ["limit(300) then link(1ms)", "oci/block-volume:50GB,vpu=20"]);
    assert_eq!(parts[0].cost, "unknown");
}

#[test]
fn resize_is_visible_to_connected_clients() {
    let home = Home::new();
    home.create("data", "oci:50GB@10vpu");
    let mut client = home.client("data");
    assert_eq!(client.try_write(50 << 30, &[1; 4096]), 28, "beyond the end: ENOSPC");
    let larger = home.service.resize("data", &api::Resize::to_bytes(100 << 30)).unwrap();
    assert_eq!((larger.size_bytes, larger.like.as_str()), (100 << 30, "oci/block-volume:100GB"));
    assert!(larger.model.contains("limit(6000 per 256KiB)"), "its limits grow with it: {}", larger.model);
    client.write(50 << 30, &[1; 4096]);
    assert_eq!(home.client("data").size, 100 << 30);
    let text = |size: &str| api::Resize { size: Some(size.into()), ..api::Resize::default() };
    assert_eq!(home.service.resize("data", &text("1TB")).unwrap().size_bytes, 1 << 40, "1,024 of the vendor's GB");
    assert!(home.service.resize("data", &text("much")).unwrap_err().message.contains("is not a size"));
    assert!(home.service.resize("data", &api::Resize::default()).unwrap_err().message.contains("is missing"));
}

#[test]
fn data_directory_is_locked() {
    let home = Home::new();
    let second = Service::open(options(&home.directory));
    assert!(matches!(second, Err(OpenError::Directory(DirectoryError::InUse(_)))));
}

#[test]
fn foreign_directory_is_not_opened() {
    let home = Home::new();
    home.service.handle().edit(plimsoll_volume::Edit::Create { size: 1, text: "of somebody else".into() }).unwrap();
    let mut options = options(&home.directory);
    let directory = crate::home::copy_files(&home.directory);
    options.directory.clone_from(&directory);
    let refused = Service::open(options).map(drop).unwrap_err();
    assert!(matches!(refused, OpenError::VolumeMetadata { volume: 0, .. }), "{refused}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn product_removed_from_catalogue_keeps_its_model() {
    let home = Home::new();
    home.create("data", "oci:50GB@10vpu");
    home.client("data").write(0, &[3; 512]);
    let model = home.service.volume("data").unwrap().model;
    let mut poorer = options(&home.keep());
    poorer.products = plimsoll_catalogue::Catalogue::default();
    let poor = Home::open(poorer);
    let volume = poor.service.volume("data").unwrap();
    assert_eq!((volume.model, volume.level), (model, None));
    assert!(volume.doubts[0].contains("stored model"), "{:?}", volume.doubts);
    assert_eq!(poor.client("data").read(0, 512), [3; 512]);
}

#[test]
fn full_store_is_reported_and_recovers() {
    let mut small = options(&crate::home::create_directory());
    small.capacity = Some(1 << 20);
    let home = Home::open(small);
    home.create("data", "link(10us)");
    let mut client = home.client("data");
    client.write(0, &vec![1; 512 << 10]);
    assert_eq!(client.try_write(1 << 20, &vec![2; 1 << 20]), 28, "ENOSPC");
    assert_eq!(client.read(0, 512 << 10), vec![1; 512 << 10]);
    assert!(home.service.health().is_ok(), "half of the space is left");
    // Scattered blocks take a cluster of 64 KiB each.
    for block in 8..16 {
        client.write(block << 20, &[3; 4096]);
    }
    let trouble = home.service.health().unwrap_err().message;
    assert!(
        trouble.contains("1 MiB of 1 MiB of space are taken") && trouble.contains("clusters of 64 KiB"),
        "{trouble}"
    );
    assert_eq!(client.try_write(16 << 20, &[3; 4096]), 28, "ENOSPC");
    for block in 8..16 {
        client.trim(block << 20, 64 << 10);
    }
    client.trim(0, 512 << 10);
    let end = std::time::Instant::now() + crate::home::TIMEOUT;
    while client.try_write(1 << 20, &vec![2; 768 << 10]) != 0 {
        assert!(std::time::Instant::now() < end, "what was trimmed is free again: {:?}", home.service.about());
    }
}
