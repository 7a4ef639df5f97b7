//! Two articles about block volumes of OCI, from their first to their last step: the oci CLI creates, attaches and changes
//! the volumes, open-iscsi and multipathd of the guest use them. Rates are those of the service, in model time.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Guest, Relay, open_portals, took};
use crate::clouds::oci::Cli;
use crate::home::Home;

const COMPARTMENT: &str = "ocid1.tenancy.oc1..plimsoll";
const DOMAIN: &str = "Plms:EU-ZURICH-1-AD-1";
const INSTANCE: &str = "vm";
/// Time dilation for 120 VPUs, and for 48 MB/s: an emulated processor makes some hundred operations a second.
const DILATION: u32 = 200;
const DILATION_OF_DD: u32 = 4;
/// Requests of fio in flight: four jobs of depth 16.
const IN_FLIGHT: u64 = 64;
/// Bytes that dd writes at each level.
const WRITTEN: u64 = 128 << 20;
/// Volume without limits, whose rate is that of the guest's processor.
const UNLIMITED: &str = "unlimited";
/// Share of that rate which a limit may have at most to be measured.
const MEASURABLE: f64 = 0.6;
/// Interval of the readings of the counters, and time for all that a measurement waits for.
const INTERVAL: Duration = Duration::from_millis(200);
const TIMEOUT: Duration = Duration::from_secs(600);

/// A service with the API of OCI, and its clients.
struct Cloud {
    home: Home,
    oci: Cli,
    guest: Guest,
    relays: Vec<Relay>,
    /// Port of the metadata of the instance `vm`.
    metadata: u16,
    dilation: u32,
}

/// Operations and bytes that a volume has completed, and the time of reading.
#[derive(Clone, Copy)]
struct Count {
    at: Instant,
    ops: u64,
    bytes: u64,
}

impl Cloud {
    fn start(name: &str, job: &str, paths: usize, dilation: u32) -> Option<Self> {
        let mut home = Home::new(name);
        let guest = Guest::new(&home, job)?;
        let (relays, flags) = open_portals(paths);
        let dilated = dilation.to_string();
        let metadata = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let of_instance = format!("{INSTANCE}=127.0.0.1:{metadata}");
        let others = ["--oci", "127.0.0.1:0", "--oci-metadata", &of_instance, "--online-uhp", "--speed-up", "60"];
        let others = [&others[..], &["--slow", &dilated]].concat();
        home.serve(&[&flags.iter().map(String::as_str).collect::<Vec<_>>(), &others[..]].concat());
        let oci = Cli::new(&home)?;
        let cloud = Self { home, oci, guest, relays, metadata, dilation };
        cloud.unlimited();
        Some(cloud)
    }

    /// Creates the volume without limits, and gives its paths to the guest.
    fn unlimited(&self) {
        // 5 ms in real time, which the host can keep.
        let model = format!("link({}us)", 5_000 / self.dilation);
        self.home.does(&["volume", "create", UNLIMITED, "--like", &model, "--size", "4GiB"]);
        let target = self.home.does(&["volume", "attach", UNLIMITED, "--iscsi", "--json"]);
        let target: Value = serde_json::from_str(&target).expect("it is JSON");
        let iqn = target["iqn"].as_str().expect("it has a name");
        let portals = target["portals"].as_array().expect("it has portals").iter().filter_map(Value::as_str);
        let lines: Vec<String> = portals.map(|portal| format!("{iqn} {portal}\n")).collect();
        self.guest.gets("unlimited", &lines.concat());
    }

    /// Creates a volume, and waits until it is available; its identifier.
    fn volume(&self, size_gb: &str, vpus: &str, name: &str) -> String {
        let create = ["bv", "volume", "create", "--compartment-id", COMPARTMENT, "--availability-domain", DOMAIN];
        let of = ["--size-in-gbs", size_gb, "--vpus-per-gb", vpus, "--display-name", name];
        self.oci.makes(&[&create[..], &of, &["--wait-for-state", "AVAILABLE"]].concat())
    }

    /// Attaches a volume, and gives the paths of the answer to the guest; the attachment.
    fn attach(&self, volume: &str, shape: &str, further: &[&str]) -> Value {
        self.home.does(&["instance", "create", INSTANCE, "--shape", shape]);
        let instances = self.oci.does(&["compute", "instance", "list", "--compartment-id", COMPARTMENT]);
        let instance = instances["data"][0]["id"].as_str().expect("there is an instance").to_owned();
        let attach = ["compute", "volume-attachment", "attach-iscsi-volume", "--instance-id", &instance];
        let of = ["--volume-id", volume, "--wait-for-state", "ATTACHED"];
        let attachment = self.oci.does(&[&attach[..], &of, further].concat())["data"].take();
        eprintln!("{attachment:#}");
        let path = |of: &Value| {
            let (iqn, address) = (of["iqn"].as_str().unwrap(), of["ipv4"].as_str().unwrap());
            let chap = ["chap-username", "chap-secret"].map(|key| attachment[key].as_str().unwrap_or_default());
            format!("{iqn} {address}:{} {}\n", of["port"], chap.join(" "))
        };
        let others = attachment["multipath-devices"].as_array().unwrap();
        let paths: String = std::iter::once(&attachment).chain(others).map(path).collect();
        self.guest.gets("paths", &paths);
        attachment
    }

    /// Updates a volume, and waits until it is available.
    fn update(&self, volume: &str, changes: &[&str]) -> Value {
        let update = ["bv", "volume", "update", "--force", "--volume-id", volume, "--wait-for-state", "AVAILABLE"];
        self.oci.does(&[&update[..], changes].concat())["data"].take()
    }

    fn count(&self, volume: &str) -> Count {
        let stats: Value =
            serde_json::from_str(&self.home.does(&["volume", "stats", volume, "--json"])).expect("it is JSON");
        let counts = stats["counts"].as_array().expect("it has counts");
        let sum = |of: &str| counts.iter().map(|kind| kind[of].as_u64().unwrap()).sum();
        Count { at: Instant::now(), ops: sum("ops"), bytes: sum("bytes") }
    }

    /// Waits until the counters fulfil a condition.
    fn until(&self, volume: &str, is_reached: impl Fn(&Count) -> bool) -> Count {
        let begun = Instant::now();
        loop {
            let count = self.count(volume);
            if is_reached(&count) {
                return count;
            }
            assert!(begun.elapsed() < TIMEOUT, "the volume has completed {} operations only", count.ops);
            std::thread::sleep(INTERVAL);
        }
    }

    /// Operations per second of model time over the next `ops`, once those in flight are done.
    fn iops(&self, volume: &str, in_flight: u64, ops: u64) -> f64 {
        let before = self.count(volume).ops;
        let first = self.until(volume, |count| count.ops >= before + in_flight);
        let last = self.until(volume, |count| count.ops >= first.ops + ops);
        (last.ops - first.ops) as f64 / (last.at - first.at).as_secs_f64() * f64::from(self.dilation)
    }

    /// Megabytes per second of model time over the next `bytes`, from the moment that the first have passed.
    fn throughput(&self, volume: &str, bytes: u64) -> f64 {
        let before = self.count(volume).bytes;
        let first = self.until(volume, |count| count.bytes >= before + bytes / 16);
        let last = self.until(volume, |count| count.bytes >= before + bytes);
        let seconds = (last.at - first.at).as_secs_f64();
        (last.bytes - first.bytes) as f64 / 1e6 / seconds * f64::from(self.dilation)
    }
}

/// Checks that a rate is that of a limit, in the same unit. A lower rate is accepted only where the guest on a volume
/// without limits is not much faster than the limit: its processor is the limit then, it has to reach the measurable share
/// of its own rate, and the limit stays unconfirmed.
#[track_caller]
fn check(name: &str, (rate, limit): (f64, f64), tolerance: f64, of_guest: f64) {
    if (rate / limit - 1.0).abs() <= tolerance {
        return;
    }
    let own = of_guest * MEASURABLE;
    let is_of_guest = limit > own && (own * (1.0 - tolerance)..limit).contains(&rate);
    assert!(is_of_guest, "{name}: {rate:.1} instead of {limit:.1}; the guest itself reaches {of_guest:.1}");
    eprintln!("{name}: NOT CONFIRMED, {rate:.1} of {limit:.1}, as the guest itself reaches {of_guest:.1} only");
}

/// A section of `multipath.conf` as the agent's, for the volume without limits.
const MULTIPATH: &str = "defaults {
    user_friendly_names yes
    find_multipaths yes
}
devices {
    device {
        vendor \"PLIMSOLL\"
        product \".*\"
        path_grouping_policy multibus
        path_selector \"queue-length 0\"
        path_checker tur
        no_path_retry queue
        features \"2 queue_mode bio\"
        failback immediate
        rr_min_io_rq 1
    }
}
";

#[test]
fn ultra_high_performance_from_creation_to_fio() {
    let Some(cloud) = Cloud::start("uhp", include_str!("uhp.sh"), 5, DILATION) else { return };
    let volume = cloud.volume("256", "100", "data");
    let device = ["--device", "/dev/oracleoci/oraclevdb", "--is-agent-auto-iscsi-login-enabled", "true"];
    let attachment = cloud.attach(&volume, "VM.Standard.E4.Flex:16ocpu", &device);
    assert_eq!((&attachment["is-multipath"], cloud.relays.len()), (&true.into(), 5));
    let of = ["compute", "volume-attachment"];
    let id = attachment["id"].as_str().unwrap();
    cloud.guest.gets("multipath.conf", MULTIPATH);
    cloud.guest.gets_program();
    cloud.guest.gets("agent.sh", &format!("/guest/plimsoll oci-agent --metadata http://10.0.2.2:{}", cloud.metadata));
    let logged_in = |step: &str| {
        if step == "logged in" {
            let attachment = cloud.oci.does(&[&of[..], &["get", "--volume-attachment-id", id]].concat());
            assert_eq!(attachment["data"]["iscsi-login-state"], "LOGIN_SUCCEEDED", "{attachment}");
        }
    };
    let steps = cloud.guest.run(false, logged_in);
    took(&steps, &["logged in", "filesystem"]);
    let lines = |part: &str| steps.iter().filter(|step| step.contains(part)).count();
    assert_eq!(lines("active ready running"), 5, "{steps:#?}");
    assert!(lines("mpatha-part1") >= 5, "the partition is on each of the five devices: {steps:#?}");
    let mut of_guest = 0.0;
    let act = |step: &str| match step {
        "unlimited" => {
            of_guest = cloud.iops(UNLIMITED, IN_FLIGHT, 6_000);
            eprintln!("the guest reaches {of_guest:.0} IOPS without limits, with a dilation of {DILATION}");
            cloud.guest.gets("unlimited-counted", "");
        }
        "fio" => levels(&cloud, &volume, of_guest),
        "cut a path" => cloud.relays[2].cut(),
        "restore the path" => cloud.relays[2].restore(),
        "detach" => {
            let detach = ["detach", "--force", "--wait-for-state", "SUCCEEDED", "--volume-attachment-id", id];
            cloud.oci.does(&[&of[..], &detach].concat());
        }
        _ => {}
    };
    let steps = cloud.guest.run(true, act);
    let expected = [
        "the boot goes on without the volume",
        "mounted with the same data after the reboot",
        "written after the restoration",
        "no error of fio",
        "clean",
        "sessions after the detachment: 0",
    ];
    took(&steps, &expected);
}

/// Changes the level of the volume while fio reads, and compares the rate with that of the article.
fn levels(cloud: &Cloud, volume: &str, of_guest: f64) {
    let published = [
        ("0", "532, 514, 547", 512.0, 60),
        ("50", "30,400 to 30,900", 30_720.0, 6_000),
        ("120", "56,900 to 57,500", 57_600.0, 9_000),
    ];
    for (vpus, article, limit, ops) in published {
        cloud.update(volume, &["--vpus-per-gb", vpus]);
        let iops = cloud.iops("data", IN_FLIGHT, ops);
        eprintln!("VPU {vpus}: {iops:.0} IOPS, emulated with a dilation of {DILATION}; the article has {article}");
        check(&format!("VPU {vpus}, IOPS"), (iops, limit), 0.05, of_guest);
    }
    cloud.guest.gets("levels-changed", "");
}

#[test]
fn performance_levels_from_creation_to_price() {
    let Some(cloud) = Cloud::start("levels", include_str!("levels.sh"), 1, DILATION_OF_DD) else { return };
    let volume = cloud.volume("50", "0", "data");
    let attachment = cloud.attach(&volume, "VM.Standard.E4.Flex:1ocpu", &["--use-chap", "true"]);
    assert_eq!((&attachment["is-multipath"], &attachment["chap-username"]), (&false.into(), &volume.as_str().into()));
    let mut of_guest = 0.0;
    let act = |step: &str| {
        if step == "unlimited" {
            of_guest = cloud.throughput(UNLIMITED, WRITTEN);
            eprintln!("the guest reaches {of_guest:.1} MB/s without limits, with a dilation of {DILATION_OF_DD}");
            cloud.guest.gets("unlimited-counted", "");
        } else if step == "autotune" {
            autotune(&cloud, &volume);
        } else if let Some(file) = step.strip_prefix("write ") {
            let (article, limit) = read_published(file);
            let rate = cloud.throughput("data", WRITTEN * 15 / 16);
            eprintln!(
                "{file}: {rate:.1} MB/s, emulated; the article measured {article} and gives {limit} as the limit"
            );
            // A KB of the catalogue's figure for each GB has 1,024 bytes, that of the article 1,000.
            check(&format!("{file}, MB/s"), (rate, limit), 0.08, of_guest);
            cloud.guest.gets(&format!("counted-{file}"), "");
        } else if let Some(file) = step.strip_prefix("change ") {
            let (level, size) = file.split_once('_').unwrap();
            let vpus = match level {
                "low" => "0",
                "balance" => "10",
                _ => "20",
            };
            cloud.update(&volume, &["--vpus-per-gb", vpus]);
            if size == "100G" {
                cloud.update(&volume, &["--size-in-gbs", "100"]);
            }
            cloud.guest.gets(&format!("changed-{file}"), "");
        }
    };
    let steps = cloud.guest.run(false, act);
    took(&steps, &["filesystem", "size 107374182400", "clean"]);
    after_the_guest(&cloud, &volume);
}

/// The rate of dd that the article measured, and the limit that it gives, in MB/s.
fn read_published(file: &str) -> (&'static str, f64) {
    match file {
        "low_50G" => ("15.4 MB/s", 12.0),
        "balance_50G" | "low_100G" => ("30.8 MB/s", 24.0),
        "higher_50G" => ("no rate", 30.0),
        _ => ("62.3 MB/s", 48.0),
    }
}

/// Permits up to 20 VPUs, and waits until the load has raised the level.
fn autotune(cloud: &Cloud, volume: &str) {
    let policies = r#"[{"autotuneType":"PERFORMANCE_BASED","maxVpusPerGB":20},{"autotuneType":"DETACHED_VOLUME"}]"#;
    let tuned = cloud.update(volume, &["--autotune-policies", policies]);
    assert_eq!(tuned["autotune-policies"].as_array().map(Vec::len), Some(2), "{tuned}");
    let begun = Instant::now();
    let raised = loop {
        let got = cloud.oci.does(&["bv", "volume", "get", "--volume-id", volume])["data"].take();
        if got["auto-tuned-vpus-per-gb"] != 0 {
            break got;
        }
        assert!(begun.elapsed() < TIMEOUT, "the level stays: {got}");
    };
    assert_eq!((&raised["vpus-per-gb"], &raised["auto-tuned-vpus-per-gb"]), (&0.into(), &10.into()), "{raised}");
    eprintln!("autotune: 10 VPUs after {:.0} s of load", begun.elapsed().as_secs_f64());
    cloud.guest.gets("tuned", "");
}

/// Clone and price.
fn after_the_guest(cloud: &Cloud, volume: &str) {
    let clone = ["bv", "volume", "create", "--source-volume-id", volume, "--display-name", "clone"];
    let clone = cloud.oci.does(&[&clone[..], &["--wait-for-state", "AVAILABLE"]].concat());
    assert_eq!((&clone["data"]["size-in-gbs"], &clone["data"]["vpus-per-gb"]), (&100.into(), &0.into()));
    // Storage at 3.9525 yen and ten units at 0.2635 yen for each of 100 GB.
    let quote = cloud.home.does(&["quote", "oci:100GB@10vpu", "--as-of", "2024-11", "--currency", "JPY"]);
    eprintln!("{quote}");
    assert!(quote.contains("658.75"), "{quote}");
}
