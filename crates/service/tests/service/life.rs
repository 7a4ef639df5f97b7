//! Automation, faults and groups of volumes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plimsoll_service::{ServiceOptions, api};
use plimsoll_volume::Slow;

use crate::home::{Home, create_directory, options};
use crate::logged;

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn level_follows_load() {
    let home = Home::new();
    home.create("data", "oci:50GB@0vpu");
    let autotune = api::Autotune {
        default: Some(0),
        max: Some(20),
        up_after_ns: Some(SECOND_NS),
        down_first_ns: Some(SECOND_NS),
        down_next_ns: Some(SECOND_NS),
        ..api::Autotune::default()
    };
    let set = home.service.set_autotune("data", &autotune).unwrap();
    assert_eq!((set.level, set.autotune.as_ref()), (Some(0), Some(&autotune)));
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = home.client("data");
            while busy.load(Ordering::Relaxed) {
                client.reads(50, 16);
            }
        });
        home.until("data", |volume| volume.level >= Some(10));
        busy.store(false, Ordering::Relaxed);
    });
    let idle = home.until("data", |volume| volume.level == Some(0));
    assert!(idle.cost.unwrap().parts.len() >= 2);
    assert_eq!(home.after_a_kill().service.volume("data").unwrap().autotune, Some(autotune));
    assert_eq!(home.service.clear_autotune("data").unwrap().autotune, None);
}

#[test]
fn level_of_a_used_volume_does_not_follow_the_load_to_30() {
    const TIMES: u32 = 20;
    logged::keep();
    let home = Home::open(ServiceOptions { slow: Slow::by(TIMES), ..options(&create_directory()) });
    home.create("data", "oci:50GB@20vpu");
    let up_after_ns = Some(SECOND_NS / u64::from(TIMES));
    let autotune = api::Autotune { default: Some(20), max: Some(40), up_after_ns, ..api::Autotune::default() };
    home.service.set_autotune("data", &autotune).unwrap();
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = home.client("data");
            while busy.load(Ordering::Relaxed) {
                client.reads(50, 16);
            }
        });
        home.until("data", |_| logged::has(&["does not follow the load", "level=30"]));
        assert_eq!(home.service.volume("data").unwrap().level, Some(20));
        busy.store(false, Ordering::Relaxed);
    });
}

#[test]
fn unused_volume_rests_and_returns() {
    let home = Home::new();
    home.create("data", "oci:50GB@40vpu");
    let autotune = api::Autotune { detached_after_ns: Some(SECOND_NS), ..api::Autotune::default() };
    home.service.set_autotune("data", &autotune).unwrap();
    home.until("data", |volume| volume.level == Some(0));

    let killed = home.after_a_kill();
    assert_eq!(killed.service.volume("data").unwrap().level, Some(0));
    let client = killed.client("data");
    killed.until("data", |volume| volume.level == Some(40));
    drop((client, killed));

    let client = home.client("data");
    home.until("data", |volume| volume.level == Some(40));
    drop(client);
    home.until("data", |volume| volume.level == Some(0));
    assert_eq!(home.service.clear_autotune("data").unwrap().level, Some(40), "switched off, it comes back at once");
}

#[test]
fn group_limits_are_shared() {
    let home = Home::new();
    home.service.create_group(&api::Group { name: "vm".into(), like: "limit(100)".into() }).unwrap();
    for name in ["one", "two"] {
        let create = api::Create {
            name: name.into(),
            like: "limit(1000) then link(1ms)".into(),
            size_bytes: Some(1 << 20),
            group: Some("vm".into()),
            ..api::Create::default()
        };
        home.service.create(&create).unwrap();
    }
    let begin = Instant::now();
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            scope.spawn(|| home.client(name).reads(40, 4));
        }
    });
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(789), "80 reads at 100 a second: {took:?}");
    let stats = home.service.stats("one").unwrap();
    let shared = stats.bound_by.iter().find(|bound| bound.limit == "group: limit(100)");
    assert!(shared.is_some_and(|shared| shared.count >= 30), "{:?}", stats.bound_by);
    let refused = home.service.delete_group("vm").unwrap_err().message;
    assert!(refused.contains("one, two"), "{refused}");
    home.until("one", |volume| volume.clients == 0);
    home.until("two", |volume| volume.clients == 0);
    home.service.delete("one").unwrap();
    home.service.delete("two").unwrap();
    home.service.delete_group("vm").unwrap();
    assert_eq!(home.service.groups().unwrap(), []);
}

#[test]
fn faults_apply_until_cleared() {
    let home = Home::new();
    home.create("data", "link(10us)");
    let all = 1_000_000;
    let suffer = |faults: api::Faults| home.service.set_faults("data", &faults).unwrap();
    let errors = api::Faults { errors_ppm: all, only: Some("write".into()), ..api::Faults::default() };
    assert_eq!(suffer(errors.clone()).faults, Some(errors));
    let mut client = home.client("data");
    assert_eq!(client.try_write(0, &[1; 512]), 5, "EIO");
    assert_eq!(client.read(0, 512), [0; 512]);
    suffer(api::Faults { spikes_ppm: all, spike_ns: 30_000_000, ..api::Faults::default() });
    assert!(client.reads(1, 1) >= Duration::from_millis(30));
    let begin = Instant::now();
    suffer(api::Faults { stall_ns: 200_000_000, ..api::Faults::default() });
    client.reads(4, 4);
    assert!(begin.elapsed() >= Duration::from_millis(200), "the stall begins when it is asked for");
    suffer(api::Faults { tears_ppm: all, ..api::Faults::default() });
    assert!(client.is_torn());
    assert_eq!(home.service.clear_faults("data").unwrap().faults, None);
    let mut client = home.client("data");
    client.write(0, &[1; 512]);
    let stats = home.service.stats("data").unwrap();
    let errors: Vec<(&str, u64)> = stats.counts.iter().map(|count| (count.kind.as_str(), count.errors)).collect();
    assert_eq!(errors, [("read", 0), ("write", 1), ("flush", 0), ("trim", 0)]);
    assert!(stats.bound_by.iter().any(|bound| bound.limit == "fault" && bound.count >= 2), "{:?}", stats.bound_by);
}

#[test]
fn cold_read_is_slow_once_and_credits_deplete() {
    let home = Home::new();
    home.create("cold", "cold(rest 1h, extra 50ms, grain 1MiB, share 100%) then link(100us)");
    let mut client = home.client("cold");
    assert!(client.reads(1, 1) >= Duration::from_millis(50));
    let warm = client.reads(20, 1);
    assert!(warm < Duration::from_secs(1), "{warm:?}");

    home.create("burst", "limit(5, burst 40) then link(100us)");
    let mut client = home.client("burst");
    let credits = client.reads(40, 4);
    assert!(credits < Duration::from_secs(7), "40 at 5 a second would take 8 s: {credits:?}");
    let without = client.reads(6, 2);
    assert!(without >= Duration::from_millis(500), "{without:?}");
}

#[test]
fn dilation_is_reported() {
    let mut slow = options(&create_directory());
    slow.slow = Slow::by(10);
    slow.floor = api::Floor { iops: 40_000, timer_p50_ns: 12_000, ..api::Floor::default() };
    let home = Home::open(slow);
    home.create("data", "link(10ms)");
    let took = home.client("data").reads(2, 1);
    assert!(took >= Duration::from_millis(200), "{took:?}");
    assert_eq!((home.service.stats("data").unwrap().slow, home.service.about().unwrap().slow), (10, 10));
    let fast = home.create("fast", "oci:2000GB@120vpu");
    assert_eq!(fast.host, Some(api::HostCeiling { host_iops: 200_000, product_iops: 300_000 }));
    assert_eq!((home.service.volume("data").unwrap().host, fast.forced), (None, false));
}

#[test]
fn too_fast_responses_are_refused_after_a_second_measurement_or_forced() {
    const SLOW: api::Floor =
        api::Floor { iops: 40_000, timer_p50_ns: 50_000, round_trip_p50_ns: 0, round_trip_p99_ns: 0, timer_p99_ns: 0 };
    let mut busy = options(&create_directory());
    busy.floor = SLOW;
    let create = |name: &str, like: &str, force| {
        let (name, like, size_bytes) = (name.into(), like.into(), Some(64 << 20));
        api::Create { name, like, size_bytes, force, ..api::Create::default() }
    };
    busy.measure_floor = || Some(api::Floor { timer_p50_ns: 20_000, ..SLOW });
    let home = Home::open(busy);
    home.service.create(&create("measured", "link(30us)", false)).unwrap();
    assert_eq!(home.service.about().unwrap().floor.timer_p50_ns, 20_000);
    let refused = home.service.create(&create("fast", "link(5us)", false)).unwrap_err().message;
    assert!(refused.contains("late by 20") && refused.contains("--slow 4") && refused.contains("--force"), "{refused}");
    assert!(home.service.create(&create("fast", "link(5us)", true)).unwrap().forced);
    assert!(!home.service.create(&create("fit", "link(5ms)", true)).unwrap().forced, "it is not necessary");
    home.level("fast", "link(6us)").unwrap();
    let home = home.again();
    assert!(home.service.volume("fast").unwrap().forced, "the mark is durable");
}

#[test]
fn delete_frees_space() {
    let home = Home::new();
    home.create("data", "link(10us)");
    home.client("data").write(0, &vec![1; 4 << 20]);
    assert!(home.service.about().unwrap().used_bytes >= 4 << 20);
    home.until("data", |volume| volume.clients == 0);
    home.service.delete("data").unwrap();
    let end = Instant::now() + crate::home::TIMEOUT;
    while home.service.about().unwrap().used_bytes > 0 {
        assert!(Instant::now() < end, "{:?}", home.service.about());
        std::thread::sleep(Duration::from_millis(20));
    }
    home.create("data", "link(10us)");
    assert_eq!(home.client("data").read(0, 4096), [0; 4096], "a new volume of an old name has nothing of it");
}
