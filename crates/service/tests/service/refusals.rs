//! Refusals, with cause and remedy in a single line.

use std::time::{Duration, Instant};

use plimsoll_device::nbd::WireRequest;
use plimsoll_device::nbd::wire::{Style, command};
use plimsoll_service::{Refusal, RefusalKind, api};

use crate::home::Home;

/// Asserts the kind and the words of a refusal.
#[track_caller]
fn check<T: std::fmt::Debug>(result: Result<T, Refusal>, kind: RefusalKind, words: &[&str]) {
    let refusal = result.unwrap_err();
    assert_eq!(refusal.kind, kind, "{refusal}");
    for word in words {
        assert!(refusal.message.contains(word), "{word:?} is not in: {refusal}");
    }
    assert!(!refusal.message.contains('\n'), "one line: {refusal}");
}

fn create_volume(home: &Home, name: &str, like: &str, size_bytes: Option<u64>) -> Result<api::Volume, Refusal> {
    home.service.create(&api::Create { name: name.into(), like: like.into(), size_bytes, ..api::Create::default() })
}

#[test]
fn invalid_names_are_refused() {
    let home = Home::new();
    check(home.service.volume("data"), RefusalKind::NotFound, &["no volume \"data\"", "there is no volume yet"]);
    home.create("database", "link(1ms)");
    check(home.service.volume("databse"), RefusalKind::NotFound, &["did you mean database?"]);
    check(home.service.delete("x"), RefusalKind::NotFound, &["plimsoll volume list"]);
    check(home.service.stats("x\n"), RefusalKind::NotFound, &["\"x\\n\""]);
    check(
        create_volume(&home, "database", "link(1ms)", Some(1 << 20)),
        RefusalKind::Conflict,
        &["a volume database already"],
    );
    for name in ["", "-data", "a/b", "a b", "..", "ä", &"x".repeat(65)] {
        check(
            create_volume(&home, name, "link(1ms)", Some(1 << 20)),
            RefusalKind::Bad,
            &["is not a valid name: write 1 to 64"],
        );
    }
    assert_eq!(home.create("flash", "generic/nvme-tlc").level, None, "spare blocks are not a level");
    create_volume(&home, &"x".repeat(64), "link(1ms)", Some(1 << 20)).unwrap();
    let group = api::Group { name: "vm".into(), like: "limit(3)".into() };
    home.service.create_group(&group).unwrap();
    check(home.service.create_group(&group), RefusalKind::Conflict, &["a group vm already"]);
    check(home.service.delete_group("vms"), RefusalKind::NotFound, &["did you mean vm?"]);
}

#[test]
fn unavailable_configuration_is_refused() {
    let home = Home::new();
    let refused = |like: &str, size| create_volume(&home, "data", like, size);
    check(refused("aws/gp4", None), RefusalKind::Bad, &["no product \"aws/gp4\"", "aws/gp3"]);
    check(refused("./mine.toml:1TiB", None), RefusalKind::Bad, &["start the service with --products FOLDER"]);
    check(refused("floppydisk", None), RefusalKind::Bad, &["plimsoll catalogue lists all"]);
    check(refused("link(1ms)", None), RefusalKind::Bad, &["stages have no size"]);
    check(refused("link(1ms)", Some(0)), RefusalKind::Bad, &["has 1 byte to", "not 0 B"]);
    check(refused("oci:50GB@10vpu", Some(51 << 30)), RefusalKind::Bad, &["holds 50", "not 51"]);
    check(refused("oci/VM.Standard.E4.Flex:16ocpu", None), RefusalKind::Bad, &["is a machine", "make a group"]);
    check(refused("limit()", Some(1 << 20)), RefusalKind::Bad, &["limit"]);
    check(refused(&"x".repeat(5_000), None), RefusalKind::Bad, &["limited to 4096 bytes"]);
    let group = |like: &str| home.service.create_group(&api::Group { name: "vm".into(), like: like.into() });
    check(group("gp3:50GiB"), RefusalKind::Bad, &["is not a machine"]);
    let create = api::Create {
        name: "data".into(),
        like: "link(1ms)".into(),
        size_bytes: Some(1 << 20),
        group: Some("none".into()),
        ..api::Create::default()
    };
    check(home.service.create(&create), RefusalKind::NotFound, &["no group \"none\""]);
    assert_eq!(home.service.list().unwrap(), []);
    let fitting = create_sized(&home);
    assert_eq!(fitting, "oci/block-volume:70GB");
}

/// A configuration without a size gets the smallest sufficient size.
fn create_sized(home: &Home) -> String {
    create_volume(home, "sized", "oci:10vpu", Some(70 << 30)).unwrap().like
}

#[test]
fn volume_in_use_is_neither_deleted_nor_attached_again() {
    let home = Home::new();
    home.create("data", "link(1ms)");
    let client = home.client("data");
    check(home.service.delete("data"), RefusalKind::Conflict, &["has 1 client", "when they have disconnected"]);
    drop(client);
    home.until("data", |volume| volume.clients == 0);
    let attach = |file: &str, device: Option<&str>| {
        let attachment =
            api::Attachment { file: Some(file.into()), device: device.map(String::from), ..api::Attachment::default() };
        home.service.attach("data", &attachment)
    };
    check(home.service.detach("data"), RefusalKind::Conflict, &["is not attached"]);
    check(home.service.attach("data", &api::Attachment::default()), RefusalKind::Bad, &["names a file, a device"]);
    attach("/mnt/data", None).unwrap();
    check(attach("/mnt/data", None), RefusalKind::Conflict, &["attached already at /mnt/data", "volume detach data"]);
    attach("/mnt/data", Some("/dev/loop3")).unwrap();
    check(attach("/mnt/data", Some("/dev/loop4")), RefusalKind::Conflict, &["already at /dev/loop3"]);
    check(home.service.delete("data"), RefusalKind::Conflict, &["is attached at /dev/loop3", "volume detach data"]);
    home.service.detach("data").unwrap();
    home.service.delete("data").unwrap();
}

#[test]
fn waiting_deletion_does_not_delay_other_requests() {
    let home = Home::new();
    home.create("data", "link(1us)");
    home.create("other", "link(1us)");
    let client = home.client("data");
    let service = &home.service;
    std::thread::scope(|scope| {
        let deletion = scope.spawn(|| service.delete("data"));
        let mut answered = 0;
        while !deletion.is_finished() {
            let begun = Instant::now();
            service.volume("other").unwrap();
            assert!(begun.elapsed() < Duration::from_millis(500), "it took {:?}", begun.elapsed());
            answered += 1;
        }
        assert!(answered > 10, "only {answered} requests were answered while a deletion waited for 1 s");
        check(deletion.join().unwrap(), RefusalKind::Conflict, &["has 1 client"]);
    });
    drop(client);
}

#[test]
fn volumes_only_grow_and_snapshots_are_immutable() {
    let home = Home::new();
    home.create("data", "link(1ms)");
    let resize = |name: &str, size_bytes| home.service.resize(name, &api::Resize::to_bytes(size_bytes));
    check(resize("data", 1 << 20), RefusalKind::Bad, &["data has 64 MiB", "only grows: 1 MiB is less"]);
    check(resize("data", (64 << 20) - 1), RefusalKind::Bad, &["64 MiB (67108863 B) is less"]);
    check(resize("data", u64::MAX), RefusalKind::Bad, &["has 1 byte to"]);
    assert_eq!(resize("data", 64 << 20).unwrap().size_bytes, 64 << 20);
    let fork = |name: &str, like: Option<&str>| api::Fork { name: name.into(), like: like.map(String::from) };
    check(
        home.service.snapshot("data", &fork("old", Some("gp3"))),
        RefusalKind::Bad,
        &["a snapshot is like its volume"],
    );
    check(home.service.snapshot("data", &fork("data", None)), RefusalKind::Conflict, &["already"]);
    home.service.snapshot("data", &fork("old", None)).unwrap();
    check(resize("old", 128 << 20), RefusalKind::Bad, &["old is a snapshot", "clone it"]);
    resize("data", 128 << 20).unwrap();
    home.service.clone_volume("data", &fork("large", None)).unwrap();
    let restore = |name: &str, from: &str| home.service.restore(name, &api::Restore { from: from.into() });
    check(restore("data", "data"), RefusalKind::Bad, &["from itself"]);
    check(restore("old", "data"), RefusalKind::Bad, &["resize old first"]);
    home.service.clone_volume("old", &fork("small", None)).unwrap();
    check(restore("small", "large"), RefusalKind::Bad, &["large has 128", "resize small first"]);
    restore("large", "old").unwrap();
    home.create("drive", "generic/hdd-7200");
    check(resize("drive", 100 << 40), RefusalKind::Bad, &["its largest size is less than"]);
}

#[test]
fn incomplete_autotune_and_faults_are_refused() {
    let home = Home::new();
    home.create("bare", "link(1ms)");
    home.create("oci", "oci:50GB@10vpu");
    home.create("gp3", "gp3:50GiB");
    let tune = |name: &str, default, max, detached_after_ns| {
        let autotune = api::Autotune { default, max, detached_after_ns, ..api::Autotune::default() };
        home.service.set_autotune(name, &autotune)
    };
    check(tune("bare", Some(1), None, None), RefusalKind::Bad, &["has no levels"]);
    check(tune("gp3", Some(3_000), None, None), RefusalKind::Bad, &["no performance autotune of aws/gp3"]);
    check(tune("oci", None, Some(20), None), RefusalKind::Bad, &["needs a default"]);
    check(tune("oci", None, None, None), RefusalKind::Bad, &["nothing to do"]);
    check(tune("oci", Some(20), Some(10), None), RefusalKind::Bad, &["(10) is below the default (20)"]);
    check(tune("oci", Some(10), Some(130), None), RefusalKind::Bad, &["vpu is 130"]);
    tune("oci", Some(10), None, Some(1 << 60)).unwrap();
    let suffer = |faults: api::Faults| home.service.set_faults("bare", &faults);
    check(
        suffer(api::Faults { errors_ppm: 2_000_000, ..api::Faults::default() }),
        RefusalKind::Bad,
        &["errors_ppm is 2000000"],
    );
    check(suffer(api::Faults { spikes_ppm: 1, ..api::Faults::default() }), RefusalKind::Bad, &["give spike_ns"]);
    let only = Some("writes".to_owned());
    check(suffer(api::Faults { only, ..api::Faults::default() }), RefusalKind::Bad, &["\"writes\" is none of read"]);
}

#[test]
fn volume_in_group_obeys_machine_rules() {
    let home = Home::new();
    let group = api::Group { name: "vm1".into(), like: "oci/VM.Standard.E4.Flex:1ocpu".into() };
    home.service.create_group(&group).unwrap();
    let create = |name: &str, like: &str| {
        let (name, group) = (name.to_owned(), Some("vm1".to_owned()));
        home.service.create(&api::Create { name, like: like.into(), group, ..api::Create::default() })
    };
    create("g1", "oci:256GB@20vpu").unwrap();
    // Ultra High Performance on a small machine is a caution, with one path, and no refusal.
    assert_eq!(create("g2", "oci:256GB@120vpu").unwrap().level, Some(120));
    let level = api::Level { to: "120".into(), force_detach: false };
    assert_eq!(home.service.level("g1", &level).unwrap().level, Some(120));
    check(create("g4", "aws/gp3:256GiB"), RefusalKind::Bad, &["vm1"]);
}

/// A product with a rule on machines that depends on its size.
const SHELF: &str = r#"
product = "oci/shelf"
title = "Shelf"
kind = "volume"
about = "Volumes of a shelf"
capacity_unit = "GiB"
capacity_bytes = 1073741824

[default]
source = "own"
date = "2026-05"
status = "verified"

[sources.own]
title = "Own"
date = "2026-05"

[options.size]
kind = "size"
min = 1
max = 1024
step = 1
default = 10

[[rule]]
require = "size <= 100 or ocpu >= 16"
message = "more than 100 GiB need 16 OCPUs"

[[limit]]
name = "IOPS"
scope = "volume"
iops = "1000"

[model]
stages = "link(1ms)"
"#;

#[test]
fn volume_in_group_does_not_grow_to_excluded_product() {
    let mut options = crate::home::options(&crate::home::create_directory());
    options.products.add("shelf.toml", SHELF, &|_| None).unwrap();
    let home = Home::open(options);
    let group = api::Group { name: "vm1".into(), like: "oci/VM.Standard.E4.Flex:1ocpu".into() };
    home.service.create_group(&group).unwrap();
    for (name, group) in [("in", Some("vm1".to_owned())), ("out", None)] {
        let like = "oci/shelf:10GiB".to_owned();
        home.service.create(&api::Create { name: name.into(), like, group, ..api::Create::default() }).unwrap();
    }
    let resize = |name: &str, gib: u64| home.service.resize(name, &api::Resize::to_bytes(gib << 30));
    check(resize("in", 101), RefusalKind::Bad, &["in the group vm1", "more than 100 GiB need 16 OCPUs"]);
    assert_eq!(home.service.volume("in").unwrap().size_bytes, 10 << 30);
    assert_eq!(resize("in", 100).unwrap().like, "oci/shelf:100GiB");
    assert_eq!(resize("out", 101).unwrap().like, "oci/shelf:101GiB");
}

#[test]
fn client_during_deletion_is_refused_or_served() {
    let home = Home::new();
    home.create("data", "link(1us)");
    let mut deleted = 0;
    for round in 0..400_u64 {
        let (service, volume) = (&home.service, home.service.volume("data"));
        if volume.is_err() {
            home.create("data", "link(1us)");
        }
        let mut talk = home.talk("data");
        let start = std::sync::Barrier::new(2);
        let (deletion, chosen) = std::thread::scope(|scope| {
            let deletion = scope.spawn(|| {
                start.wait();
                service.delete("data")
            });
            start.wait();
            std::thread::sleep(Duration::from_micros(round % 80 * 5));
            let chosen = talk.choose("data", true);
            let request = WireRequest { command: command::READ, length: 512, ..WireRequest::default() };
            let served =
                chosen.is_ok() && talk.request(Style::Simple, &request, &[]).is_ok() && talk.chunk(512).is_ok();
            assert_eq!(chosen.is_ok(), served, "round {round}: a client that was let in was broken off");
            drop(talk);
            (deletion.join().unwrap(), served)
        });
        deleted += u32::from(deletion.is_ok());
        // A client that disconnects in time does not prevent deletion.
        assert!(chosen || deletion.is_ok(), "round {round}: {deletion:?}");
    }
    assert!(deleted > 0, "no deletion was tested");
}

#[test]
fn volume_too_fast_for_host_can_be_copied() {
    let home = Home::new();
    home.create("fast", "oci:256GB@120vpu");
    home.client("fast").write(0, &[5; 512]);
    let mut options = crate::home::options(&home.keep());
    options.floor =
        api::Floor { round_trip_p50_ns: 20_000, timer_p50_ns: 50_000, iops: 1_000, ..api::Floor::default() };
    let home = Home::open(options);
    let fork = |name: &str, like: Option<&str>| api::Fork { name: name.into(), like: like.map(str::to_owned) };
    home.service.snapshot("fast", &fork("before", None)).unwrap();
    home.service.clone_volume("fast", &fork("test", None)).unwrap();
    assert_eq!(home.client("test").read(0, 512), [5; 512]);
    check(home.service.clone_volume("fast", &fork("other", Some("link(5us)"))), RefusalKind::Bad, &["--slow"]);
}
