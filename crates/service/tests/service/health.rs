//! Failures of the store are visible, and durability is stated.

use std::time::{Duration, Instant};

use plimsoll_service::{RefusalKind, ServiceOptions, api};
use plimsoll_units::Span;
use plimsoll_volume::{Durability, Errno, Io};

use crate::home::{Client, Home, TIMEOUT, create_directory, options};
use crate::logged;

/// Writes, and fails the sync of the commit that follows. The end of the returned client begins another one.
fn fail_sync(home: &Home, errno: Errno) -> Client {
    let mut client = home.client("data");
    client.write_unflushed(0, &[7; 4096]);
    let failed = home.service.handle().call(move |server| {
        let (volumes, now, jobs) = server.volumes();
        volumes.flush_all(jobs);
        let syncs: Vec<_> = jobs.extract_if(.., |job| matches!(job.io, Io::Sync { .. })).collect();
        for job in &syncs {
            volumes.worked(now, job.id, Err(errno), jobs);
        }
        syncs.len()
    });
    assert_eq!(failed.unwrap(), 1);
    client
}

#[test]
fn failed_store_is_visible_everywhere() {
    logged::keep();
    let home = Home::new();
    home.create("data", "link(10us)");
    let healthy = home.service.health().unwrap();
    assert!(healthy.healthy && home.service.volume("data").unwrap().trouble.is_none());

    let mut client = fail_sync(&home, Errno::NoSpc);
    let error = home.service.health().unwrap_err();
    assert!(error.kind == RefusalKind::Unavailable && error.message.contains("is full"), "{error:?}");
    logged::until(&["is full"]);
    client.write(0, &[8; 4096]);
    assert!(home.service.health().is_ok(), "a flush repeats the commit");
    logged::until(&["accepts changes again"]);

    let mut client = fail_sync(&home, Errno::Io);
    let remedy = "restart the service";
    assert!(home.service.health().unwrap_err().message.contains(remedy));
    let names_remedy = |trouble: Option<String>| trouble.is_some_and(|trouble| trouble.contains(remedy));
    assert!(names_remedy(home.service.volume("data").unwrap().trouble));
    assert!(names_remedy(home.service.list().unwrap().remove(0).trouble));
    assert!(names_remedy(home.service.about().unwrap().trouble));
    logged::until(&[remedy]);
    assert_ne!(client.try_write(0, &[9; 4096]), 0);
    let home = home.again();
    let mut client = home.client("data");
    client.write(0, &[9; 4096]);
    assert!(client.read(0, 4096) == [9; 4096] && home.service.health().is_ok());
}

#[test]
fn durability_is_stated_and_applied() {
    let of = |durability, commit_interval| {
        let home = Home::open(ServiceOptions { durability, commit_interval, ..options(&create_directory()) });
        let volume = home.create("data", "link(10us)");
        let mut client = home.client("data");
        client.write_unflushed(0, &[7; 4096]);
        (home, client, volume.durability)
    };
    let (home, _client, terms) = of(Durability::Changes, None);
    assert_eq!(terms, api::DurabilityTerms { at_acknowledgement: true, within_ns: None });
    assert_eq!(home.after_a_kill().client("data").read(0, 4096), [7; 4096]);
    let (home, _client, terms) = of(Durability::Flushes, Some(Span::from_secs(1)));
    assert_eq!(terms, api::DurabilityTerms { at_acknowledgement: false, within_ns: Some(1_000_000_000) });
    let end = Instant::now() + TIMEOUT;
    let is_pending = || {
        home.service.handle().call(|server| {
            let volumes = server.volumes().0;
            volumes.store().has_changes() || volumes.is_flushing()
        })
    };
    while is_pending().unwrap() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(home.after_a_kill().client("data").read(0, 4096), [7; 4096]);
}
