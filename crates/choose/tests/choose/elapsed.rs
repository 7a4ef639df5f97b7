//! Elapsed times of jobs, against NetApp's article about a million single reads (TR-4969, article 001), and by arithmetic.
#![allow(clippy::unwrap_used)] // a failure of a test is a panic

use plimsoll_catalogue::{Catalogue, Date, Offer, PriceTerms};
use plimsoll_choose::elapsed::{JobTimes, StorageJob, jobs_on};
use plimsoll_units::Span;

fn offer(text: &str) -> Offer {
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
    Catalogue::built_in().offer(&text.parse().unwrap(), &terms).unwrap()
}

fn times(configs: &[&str], jobs: &[&str]) -> JobTimes {
    let jobs: Vec<StorageJob> = jobs.iter().map(|job| job.parse().unwrap()).collect();
    let offers: Vec<Offer> = configs.iter().map(|config| offer(config)).collect();
    jobs_on(&jobs, offers.iter().map(|offer| (offer, None)))
}

fn seconds(time: Option<Span>) -> f64 {
    time.expect("it has a model").as_secs_f64()
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= expected * share, "{found}, expected {expected}");
}

/// Turning disks, QLC without hits in the controllers' memory, TLC at the latency of the array itself.
const ARRAYS: [&str; 3] =
    ["netapp/hdd-array:10TB", "netapp/aff-c800:10TB,hits=0", "netapp/aff-a800:10TB,latency_of=array"];

#[test]
fn a_million_single_reads_take_the_time_of_the_medium() {
    let found = times(&ARRAYS, &["reads=1e6,size=8KiB,depth=1,cpu=20min"]);
    assert_eq!(found.jobs[0].name, "job");
    for (row, reads_s) in found.rows.iter().zip([8_058.0, 1_994.0, 181.0]) {
        near(seconds(row.times[0].alone) - 1_200.0, reads_s, 0.01);
        assert_eq!(row.times[0].beside, None, "there is no other load");
    }
}

#[test]
fn sessions_do_not_feel_the_medium_that_a_batch_feels() {
    let batch = "name=batch,reads=1e6,size=8KiB,depth=1";
    let orders = "name=order entry,sessions=50,reads=5,writes=1,cpu=20ms,think=10s";
    let found = times(&ARRAYS[1..], &[batch, orders]);
    let [qlc, tlc] = &found.rows[..] else { panic!("two configurations") };
    let ratio = |job: usize| seconds(qlc.times[job].beside) / seconds(tlc.times[job].beside);
    assert!(ratio(0) > 8.0, "the batch waits for each read: {}", ratio(0));
    assert!(ratio(1) < 1.6, "a transaction is mostly processor time: {}", ratio(1));
    for row in &found.rows {
        for time in &row.times {
            let (alone, beside) = (seconds(time.alone), seconds(time.beside));
            assert!(beside >= alone * 0.97 && beside < alone * 1.5, "idle arrays: {alone} and {beside}");
        }
    }
}

#[test]
fn sessions_and_depth_share_the_work_until_the_storage_is_full() {
    let drive = |job: &str| {
        let offers = [offer("aws/gp3:100GiB,iops=3000")];
        let found = jobs_on(&[job.parse().unwrap()], offers.iter().map(|offer| (offer, None)));
        seconds(found.rows[0].times[0].alone)
    };
    let single = drive("reads=1e6");
    near(drive("reads=1e6,depth=2"), single / 2.0, 0.1);
    near(drive("reads=1e6,sessions=2,cpu=100s"), single / 2.0 + 50.0, 0.1);
    near(drive("reads=3e6,depth=64"), 1_000.0, 0.05);
}

#[test]
fn more_load_than_the_storage_carries_has_no_time_beside() {
    let session_run = "name=crowd,sessions=4000,reads=100,think=1s";
    let offers = [offer("aws/gp3:100GiB,iops=3000")];
    let jobs = ["reads=1e6".parse().unwrap(), session_run.parse().unwrap()];
    let found = jobs_on(&jobs, offers.iter().map(|offer| (offer, None)));
    assert_eq!((found.jobs[0].name.as_str(), found.jobs[1].name.as_str()), ("job 1", "crowd"));
    assert!(found.rows[0].times[0].alone.is_some());
    assert_eq!(found.rows[0].times[0].beside, None);
}

#[test]
fn contradictory_jobs_are_refused() {
    for text in [
        "",
        "reads",
        "reads=0",
        "reads=-1",
        "reads=1e6,size=1",
        "reads=1,depth=0",
        "reads=1,cpu=5",
        "reads=1,speed=3",
        "cpu=20min",
        "reads=1,think=0s,sessions=2",
        "reads=1,sequential=perhaps",
        "reads=1,depth=4096,sessions=4096",
    ] {
        let refused = text.parse::<StorageJob>().expect_err(text).to_string();
        assert!(refused.contains("reads=1e6,size=8KiB"), "{text}: {refused}");
    }
}
