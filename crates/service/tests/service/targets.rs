//! Volumes as iSCSI targets: they appear and disappear, grow, survive a restart, and have the identity of their product.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use plimsoll_front::SocketProtocol as Front;
use plimsoll_front::iscsi::{TargetSettings, Targets};
use plimsoll_service::{ChapSecret, Initiators, IscsiOptions, ServiceOptions, api};

use crate::home::{Home, TIMEOUT, create_directory, options};
use crate::initiator::{Initiator, Outcome, Pdu, cdb_10};

const PORTALS: [&str; 6] =
    ["10.0.0.1:3260", "10.0.0.2:3260", "10.0.0.3:3260", "10.0.0.4:3260", "10.0.0.5:3260", "[::1]:3260"];

/// A service with portals: sockets `iscsi0` and so on in its directory stand for the addresses.
fn open(directory: PathBuf) -> Home {
    let portals = PORTALS.map(str::to_owned).to_vec();
    let iscsi = Some(IscsiOptions { portals: portals.clone(), ..IscsiOptions::default() });
    let home = Home::open(ServiceOptions { iscsi, ..options(&directory) });
    home.service
        .handle()
        .call(move |server| {
            let targets = Targets::new(TargetSettings { portals, ..TargetSettings::default() });
            for place in 0..PORTALS.len() as u16 {
                let socket = directory.join(format!("iscsi{place}"));
                let _ = std::fs::remove_file(&socket);
                let listener = UnixListener::bind(socket).unwrap();
                server.listen_for(listener, Front::Iscsi(targets.at_portal(place))).unwrap();
            }
        })
        .unwrap();
    home
}

fn log_in(home: &Home, place: usize, iqn: &str) -> Result<Initiator, u16> {
    let name = format!("iqn.2026-01.local.test:{place}");
    Initiator::log_in(&home.directory.join(format!("iscsi{place}")), &[("InitiatorName", &name), ("TargetName", iqn)])
}

/// A session through a portal, past the unit attention of power on.
fn session(home: &Home, place: usize, iqn: &str) -> Initiator {
    let mut initiator = log_in(home, place, iqn).unwrap();
    assert_eq!(ready(&mut initiator).sense, Some((6, 0x29, 0)));
    initiator
}

fn ready(initiator: &mut Initiator) -> Outcome {
    initiator.run(0, 0, &[0; 6], &[])
}

fn capacity_bytes(initiator: &mut Initiator) -> u64 {
    let data = initiator.run(0x40, 8, &[0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]).data;
    (u64::from(u32::from_be_bytes(data[..4].try_into().unwrap())) + 1) * 512
}

/// All targets with their portals and tags, as discovery returns them.
fn discovered(home: &Home) -> Vec<(String, Vec<String>)> {
    let keys = [("InitiatorName", "iqn.a"), ("SessionType", "Discovery")];
    let mut initiator = Initiator::log_in(&home.directory.join("iscsi0"), &keys).unwrap();
    let answer = initiator.exchange(&Pdu::new(0x04, 0x80, b"SendTargets=All\0").with(20, u32::MAX).with(24, 1));
    let mut targets: Vec<(String, Vec<String>)> = Vec::new();
    for pair in String::from_utf8(answer.data).unwrap().split_terminator('\0') {
        match pair.split_once('=').unwrap() {
            ("TargetName", name) => targets.push((name.to_owned(), Vec::new())),
            (_, address) => targets.last_mut().unwrap().1.push(address.to_owned()),
        }
    }
    targets
}

#[test]
fn volumes_appear_and_disappear_as_targets() {
    let home = open(create_directory());
    assert_eq!(discovered(&home), []);
    home.create("data", "limit(100000)");
    let created = home.create("fast", "oci:1500GB@120vpu").iscsi.unwrap();
    let listed = discovered(&home);
    let tagged = |portals: &[&str]| portals.iter().map(|portal| format!("{portal},1")).collect::<Vec<_>>();
    assert_eq!(listed[0], ("iqn.2026-01.local.plimsoll:data".to_owned(), tagged(&PORTALS)));
    assert_eq!(listed[1], (created.iqn.clone(), tagged(&PORTALS[..5])));
    assert!(created.iqn.starts_with("iqn.2015-12.com.oracleiaas:") && created.iqn.len() == 27 + 36, "{}", created.iqn);
    let target = home.service.iscsi_target("fast").unwrap();
    assert_eq!((target.clone(), target.portals.len()), (created, 5));
    let mut paths = [0, 4].map(|place| session(&home, place, &target.iqn));
    assert!(paths[0].write(0, &[7; 4096]).is_good());
    assert_eq!(paths[1].read(0, 8).data, [7; 4096], "all portals lead to the same unit");
    assert_eq!(home.service.volume("fast").unwrap().clients, 2);
    let refused = home.service.delete("fast").unwrap_err().message;
    assert!(refused.contains("fast has 2 clients"), "{refused}");
    drop(paths);
    home.until("fast", |volume| volume.clients == 0);
    home.service.delete("fast").unwrap();
    assert_eq!(log_in(&home, 0, &target.iqn).map(drop), Err(0x0203), "the target is gone");
    assert_eq!(discovered(&home).len(), 1);
    assert!(home.service.iscsi_target("fast").is_err());
}

#[test]
fn requests_are_timed_on_the_path_of_their_portal() {
    let home = open(create_directory());
    let target = home.create("data", "window(1 on 2 paths: link(300ms)) \"queue\"").iscsi.unwrap();
    let mut paths = [0, 1].map(|place| session(&home, place, &target.iqn));
    let read = |path: &mut Initiator| path.start(0x40, 512, &cdb_10(0x28, 0, 1), &[]).unwrap();
    let tags = [0, 1, 1, 1].map(|place| (place, read(&mut paths[place])));
    for (place, tag) in tags {
        assert!(paths[place].finish(tag, &[]).is_good());
    }
    let bound = home.service.stats("data").unwrap().bound_by;
    let count = |name: &str| bound.iter().find(|bound| bound.limit == name).map_or(0, |bound| bound.count);
    assert_eq!(
        [count("queue, path 1"), count("queue, path 2")],
        [0, 1],
        "the third request of path 2 waited: {bound:?}"
    );
    // A session through the third portal shares the first path again.
    let mut third = session(&home, 2, &target.iqn);
    let tags = [read(&mut paths[0]), read(&mut paths[0])];
    let last = read(&mut third);
    for tag in tags {
        assert!(paths[0].finish(tag, &[]).is_good());
    }
    assert!(third.finish(last, &[]).is_good());
    let bound = home.service.stats("data").unwrap().bound_by;
    assert!(bound.iter().any(|bound| bound.limit == "queue, path 1"), "{bound:?}");
}

#[test]
fn initiators_know_the_product() {
    let home = open(create_directory());
    let inquiry = |like: &str| {
        let name = like.split(['/', ':', '(']).next().unwrap();
        let target = home.create(name, like).iscsi.unwrap();
        let mut initiator = session(&home, 1, &target.iqn);
        let standard = initiator.run(0x40, 96, &[0x12, 0, 0, 0, 96, 0], &[]).data;
        let page = initiator.run(0x40, 255, &[0x12, 1, 0x83, 0, 255, 0], &[]).data;
        let naa = page[8..24].iter().fold("3".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!((page[5], naa), (3, target.wwid), "the first designator");
        (String::from_utf8(standard[8..36].to_vec()).unwrap(), standard[5] >> 4 & 3)
    };
    assert_eq!(inquiry("oci:50GB@10vpu"), ("ORACLE  BlockVolume     1.0 ".to_owned(), 0));
    assert_eq!(inquiry("netapp/aff-a800"), ("NETAPP  LUN C-Mode      9131".to_owned(), 1));
    assert_eq!(inquiry("limit(1000)"), ("PLIMSOLLVOLUME          1.0 ".to_owned(), 0));
}

#[test]
fn growth_is_announced_to_every_session() {
    let home = open(create_directory());
    let target = home.create("data", "limit(100000)").iscsi.unwrap();
    let mut paths = [0, 1].map(|place| session(&home, place, &target.iqn));
    assert_eq!(capacity_bytes(&mut paths[0]), 64 << 20);
    home.service.resize("data", &api::Resize::to_bytes(128 << 20)).unwrap();
    for path in &mut paths {
        assert_eq!(ready(path).sense, Some((6, 0x2a, 9)), "capacity data have changed");
        assert!(ready(path).is_good(), "reported once");
        assert_eq!(capacity_bytes(path), 128 << 20);
    }
    assert!(paths[1].write((127 << 20) / 512, &[3; 4096]).is_good());
}

#[test]
fn snapshot_is_a_target_that_cannot_be_written() {
    let home = open(create_directory());
    let target = home.create("data", "limit(100000)").iscsi.unwrap();
    assert!(session(&home, 0, &target.iqn).write(0, &[1; 512]).is_good());
    let fork = api::Fork { name: "before".into(), like: None };
    let snapshot = home.service.snapshot("data", &fork).unwrap().iscsi.unwrap();
    assert_ne!(snapshot.wwid, target.wwid);
    let mut initiator = session(&home, 0, &snapshot.iqn);
    assert_eq!(initiator.write(0, &[2; 512]).sense, Some((7, 0x27, 0)));
    assert_eq!(initiator.read(0, 1).data, [1; 512]);
    let modes = initiator.run(0x40, 64, &[0x1a, 0, 0x3f, 0, 64, 0], &[]).data;
    assert_eq!(modes[2] & 0x80, 0x80, "write-protected");
}

#[test]
fn restart_keeps_targets_and_data() {
    let home = open(create_directory());
    let before =
        [("data", "limit(100000)"), ("fast", "oci:1500GB@120vpu")].map(|(name, like)| home.create(name, like).iscsi);
    let iqn = before[0].clone().unwrap().iqn;
    let mut initiator = session(&home, 0, &iqn);
    assert!(initiator.write(8, &[9; 4096]).is_good());
    assert!(initiator.run(0, 0, &[0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]).is_good(), "made durable");
    let directory = home.keep();
    let announced = initiator.receive().unwrap();
    assert_eq!((announced.header[0], announced.header[36]), (0x32, 3), "the target drops the session");
    let home = open(directory);
    assert_eq!(["data", "fast"].map(|name| home.service.volume(name).unwrap().iscsi), before);
    assert_eq!(session(&home, 0, &iqn).read(8, 8).data, [9; 4096]);
}

#[test]
fn detachment_ends_sessions_and_closes_the_target() {
    let home = open(create_directory());
    let iqn = home.create("data", "oci:1500GB@120vpu").iscsi.unwrap().iqn;
    home.create("other", "limit(100000)");
    let mut paths = [0, 1].map(|place| session(&home, place, &iqn));
    let mut other = session(&home, 0, "iqn.2026-01.local.plimsoll:other");
    let admit = |home: &Home, initiators: &Initiators| {
        home.service.set_group("data", None, initiators, ("cloud", "detached".to_owned())).unwrap();
    };
    admit(&home, &Initiators::None);
    for path in &mut paths {
        let announced = path.receive().unwrap();
        assert_eq!((announced.header[0], announced.header[36]), (0x32, 3), "the target drops the session");
        assert!(path.receive().is_err(), "the connection has ended");
    }
    assert!(other.read(0, 8).is_good(), "sessions of other volumes go on");
    home.until("data", |volume| volume.clients == 0);
    assert_eq!(log_in(&home, 0, &iqn).map(drop), Err(0x0203), "no target");
    assert_eq!((discovered(&home).len(), home.service.volume("data").unwrap().iscsi), (1, None));
    let refused = home.service.iscsi_target("data").unwrap_err().message;
    assert!(refused.contains("data was detached by a control plane"), "{refused}");
    let home = open(home.keep());
    assert_eq!(log_in(&home, 0, &iqn).map(drop), Err(0x0203), "it stays closed after a restart");
    let secret = ChapSecret { user: "initiator".into(), secret: "a secret of sixteen".into() };
    admit(&home, &Initiators::WithSecret(secret));
    assert_eq!(home.service.iscsi_target("data").unwrap().chap_user.as_deref(), Some("initiator"));
    let home = open(home.keep());
    assert_eq!(log_in(&home, 0, &iqn).map(drop), Err(0x0201), "it needs the secret");
    session(&home, 0, "iqn.2026-01.local.plimsoll:other");
    admit(&home, &Initiators::OfService);
    session(&home, 0, &iqn);
}

/// REPORT TARGET PORT GROUPS: state, group and first port of each.
fn report_groups(initiator: &mut Initiator) -> Vec<(u8, u8, u8)> {
    let data = initiator.run(0x40, 255, &[0xa3, 0x0a, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0], &[]).data;
    let mut rows = &data[4..];
    let mut groups = Vec::new();
    while let [state, _, _, group, _, _, _, ports, rest @ ..] = rows {
        groups.push((*state, *group, rest[3]));
        rows = &rest[4 * usize::from(*ports)..];
    }
    groups
}

#[test]
fn failover_changes_the_optimized_paths() {
    let home = open(create_directory());
    let target = home.create("lun", "netapp/aff-a800").iscsi.unwrap();
    assert_eq!(target.optimized, Some(vec![PORTALS[0].to_owned(), PORTALS[2].to_owned(), PORTALS[4].to_owned()]));
    let tags: Vec<String> = discovered(&home)[0].1.iter().map(|portal| portal[portal.len() - 1..].to_owned()).collect();
    assert_eq!(tags, ["1", "2", "1", "2", "1", "2"]);
    let mut paths = [0, 1].map(|place| session(&home, place, &target.iqn));
    assert_eq!([0, 1].map(|path: usize| paths[path].answers["TargetPortalGroupTag"].clone()), ["1", "2"]);
    assert_eq!(report_groups(&mut paths[0]), [(0x80, 1, 1), (1, 2, 2)]);
    let after = home.service.fail_over("lun").unwrap();
    assert_eq!(after.optimized, Some(vec![PORTALS[1].to_owned(), PORTALS[3].to_owned(), PORTALS[5].to_owned()]));
    for path in &mut paths {
        assert_eq!(ready(path).sense, Some((6, 0x2a, 6)), "asymmetric access state has changed");
        assert_eq!(report_groups(path), [(1, 1, 1), (0x80, 2, 2)]);
        assert!(path.read(0, 8).is_good(), "both paths work");
    }
    assert_eq!(home.service.fail_over("lun").unwrap(), target);
    home.create("data", "limit(1000)");
    let refused = home.service.fail_over("data").unwrap_err().message;
    assert!(refused.contains("data has no controllers"), "{refused}");
    assert!(Home::new().service.fail_over("lun").is_err());
}

/// Reads of 4 KiB in flight at once until all are answered; their time.
fn reads_at_once(paths: &mut [Initiator], each: usize) -> std::time::Duration {
    let begun = std::time::Instant::now();
    let mut cdb = [0; 10];
    (cdb[0], cdb[8]) = (0x28, 8);
    let tags: Vec<Vec<u32>> =
        paths.iter_mut().map(|path| (0..each).map(|_| path.start(0x40, 4096, &cdb, &[]).unwrap()).collect()).collect();
    for (path, tags) in paths.iter_mut().zip(tags) {
        for tag in tags {
            assert!(path.finish(tag, &[]).is_good());
        }
    }
    assert!(begun.elapsed() < TIMEOUT);
    begun.elapsed()
}

#[test]
fn path_volume_and_group_have_limits_of_their_own() {
    let home = open(create_directory());
    let group = api::Group { name: "vm".into(), like: "limit(200)".into() };
    home.service.create_group(&group).unwrap();
    let create = |name: &str, like: &str, group: Option<&str>| {
        let (name, like, group) = (name.into(), like.into(), group.map(str::to_owned));
        let create = api::Create { name, like, group, size_bytes: Some(64 << 20), ..api::Create::default() };
        home.service.create(&create).unwrap().iscsi.unwrap()
    };
    let capped = create("capped", "limit(100)", None);
    let members = ["a", "b"].map(|name| create(name, "limit(100000)", Some("vm")));
    let mut two = [0, 1].map(|place| session(&home, place, &capped.iqn));
    // 41 reads at 100 a second over both paths; what was read before counts.
    let level = reads_at_once(&mut two, 20);
    assert!(level >= std::time::Duration::from_millis(350), "{level:?}");
    let mut both = [session(&home, 0, &members[0].iqn), session(&home, 0, &members[1].iqn)];
    let shared = reads_at_once(&mut both, 40);
    assert!(shared >= std::time::Duration::from_millis(350), "80 reads at 200 a second: {shared:?}");
    let oci = home.create("uhp", "oci:1500GB@120vpu,queue_depth=8").iscsi.unwrap();
    assert_eq!(oci.queue_depth, 8);
    let mut path = session(&home, 2, &oci.iqn);
    let answer = path.exchange(&Pdu::new(0x40, 0x80, &[]).with(16, 9).with(20, u32::MAX).with(24, 2));
    assert_eq!(answer.word(32) - answer.word(28) + 1, 8, "the window of a path");
}
