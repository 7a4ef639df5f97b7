//! A watch of PostgreSQL on an emulated volume, until its burst credits are used up.
//!
//! Prints the forecast and the end, which docs/performance.md has; fails if they contradict each other, not if the host is
//! slow.

use std::io::BufReader;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::stderr;
use crate::home::{Home, Running, find_program};
use crate::postgres::{Postgres, find_programs};
use crate::watch::{read_address, scrape};

/// 30 IOPS, 150 while 24,000 credits last: 200 s of the full burst.
const PRODUCT: &str = include_str!("burst.toml");
const CONFIG: &str = "test/burst:8GiB";
/// Time in which a slow host may spend the credits.
const MAX_TIME: Duration = Duration::from_secs(1_200);
/// Credits that the reading interval and the host may hide at the end: 20 s of the full burst.
const MAX_LEFT: f64 = 0.1;

/// Detaches the volume, also after a failure.
struct Attached<'a>(&'a Home);

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        let output = self.0.run(&["volume", "detach", "db"]);
        if !output.status.success() {
            eprintln!("{}", stderr(&output));
        }
    }
}

/// Figures of the watch at a time.
struct Balance {
    at: f64,
    left: f64,
    ends_in: Option<f64>,
    is_alert: bool,
}

/// Value of the first metric whose name and labels contain all of `parts`.
fn find_metric(text: &str, parts: &[&str]) -> Option<f64> {
    let line = text.lines().find(|line| !line.starts_with('#') && parts.iter().all(|part| line.contains(part)))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

/// Replies of the volume that waited for credits.
fn count_waits(home: &Home) -> u64 {
    let stats: Value = serde_json::from_str(&home.does(&["volume", "stats", "db", "--json"])).unwrap();
    let limits = stats["bound_by"].as_array().unwrap();
    let credits = limits.iter().find(|limit| limit["limit"] == "credits of the volume");
    credits.map_or(0, |limit| limit["count"].as_u64().unwrap())
}

/// Watches until replies wait for credits. Returns the balances and the end; without an end if the host was too slow.
fn follow(home: &Home, metrics: &str) -> (Vec<Balance>, Option<f64>) {
    let (begun, mut balances) = (Instant::now(), Vec::new());
    while begun.elapsed() < MAX_TIME {
        let text = scrape(metrics);
        let at = begun.elapsed().as_secs_f64();
        if let Some(left) = find_metric(&text, &["credits_ratio", "bound=\"most\""]) {
            let ends_in = find_metric(&text, &["credits_end_seconds"]);
            let is_alert = find_metric(&text, &["plimsoll_watch_alert{", "credits-"]) == Some(1.0);
            let is_same = |last: &Balance| (last.left, last.ends_in, last.is_alert) == (left, ends_in, is_alert);
            // Forecasts are relative to the reading of the counters.
            if !balances.last().is_some_and(is_same) {
                balances.push(Balance { at, left, ends_in, is_alert });
            }
        }
        if count_waits(home) > 0 {
            return (balances, Some(at));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    (balances, None)
}

#[test]
fn credits_of_postgres_end_after_their_alert() {
    let Some(programs) = find_programs().filter(|_| find_program("psql")) else { return };
    let mut home = Home::new("watch-pg");
    home.make("config/plimsoll/products");
    home.write("config/plimsoll/products/burst.toml", PRODUCT);
    home.serve(&[]);
    home.does(&["volume", "create", "db", "--like", "limit(50000)", "--size", "8GiB", "--force"]);
    let mount = home.join("mnt");
    home.does(&["volume", "attach", "db", mount.to_str().unwrap(), "--mkfs", "ext4"]);
    let _attached = Attached(&home);
    let postgres = Postgres::start(programs, &mount);
    let volume: Value = serde_json::from_str(&home.does(&["volume", "show", "db", "--json"])).unwrap();
    let device = volume["attachment"]["device"].as_str().unwrap().to_owned();
    // Loading used no credits: they are full from here on.
    home.does(&["volume", "level", "db", CONFIG]);

    let url = format!("postgres:///postgres?host={}&user=postgres", postgres.sockets().display());
    let mut watch = home.command(&["watch", &url, "--device", &device, "--on", CONFIG, "--credits", "100%"]);
    watch.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut watch = Running(watch.spawn().unwrap());
    // Open until the end, as the watch writes its alerts there.
    let mut messages = BufReader::new(watch.0.stderr.take().unwrap());
    let metrics = read_address(&mut messages);
    let mut load = postgres.command("pgbench");
    load.args(["--client", "8", "--time", "1200", "--no-vacuum", "postgres"]);
    let load = Running(load.spawn().unwrap());
    let (balances, end) = follow(&home, &metrics);
    drop(load);
    match end {
        Some(end) => check(&balances, end),
        None => eprintln!("skipped: this host is too slow to use up the credits"),
    }
}

/// Compares the watch with the end of credits in the volume, and prints the figures.
fn check(balances: &[Balance], end: f64) {
    let alert = balances.iter().find(|balance| balance.is_alert);
    let alert = alert.unwrap_or_else(|| panic!("the credits ended after {end:.0} s without an alert"));
    let last = balances.last().unwrap();
    assert!(last.left < MAX_LEFT, "{:.1} % of the credits are left at their end", last.left * 100.0);
    println!("credits ended after {end:.0} s; alert {:.0} s before", end - alert.at);
    for Balance { at, left, ends_in, .. } in balances {
        let (rest, percent) = (end - at, left * 100.0);
        if let Some(ends_in) = ends_in.filter(|_| rest > 0.0) {
            println!(
                "{rest:.0} s before: {percent:.1} % left, forecast {ends_in:.0} s, {:+.1} %",
                (ends_in / rest - 1.0) * 100.0
            );
        }
    }
}
