//! What-ifs of `plimsoll size`, and properties that inputs lack, on the command line.

use plimsoll_testkit::{DailyWorkload, Release, Workload, Writing};

use crate::folder::Folder;

fn day(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.make("day");
    let course = DailyWorkload { busiest: Workload::shop(0), windows: 24, instances: 1 };
    for file in Writing::AwrHtml(Release::R19).write(&course) {
        folder.write(&format!("day/{}", file.name), file.text);
    }
    folder
}

#[test]
fn levels_and_memory_are_added_to_the_sizing() {
    let folder = day("all");
    let requested = ["--what-if", "levels,cache", "--ram-price", "5 USD", "--json", "-"];
    let size = ["size", "day", "--capacity", "500GiB", "--provider", "oci", "--stripe", "1", "--burst", "none"];
    let output = folder.run(&[&size[..], &["--may-be-slower"], &requested].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let rules = json["what_ifs"]["levels"][0]["rules"].as_array().expect("the block volume has levels");
    for name in ["fixed", "autotune", "daily"] {
        assert!(rules.iter().any(|rule| rule["rule"] == name), "{name}: {rules:?}");
    }
    let sizes = json["what_ifs"]["cache"]["sizes"].as_array().expect("the report has advice");
    assert!(sizes.len() > 1 && sizes.iter().all(|size| size["sum_monthly"]["currency"] == "USD"), "{sizes:?}");
    assert!(json["what_ifs"]["growth"].is_null());
}

#[test]
fn hot_and_cold_disks_are_sized_apart() {
    let folder = Folder::new("tiers");
    let head = "Linux 6.1.0 (db1)\t03/02/2026\t_x86_64_\t(8 CPU)\n\n";
    let block = |second: u32| {
        format!(
            "03/02/2026 09:00:{second:02}\nDevice  r/s  w/s  rkB/s  wkB/s  await  aqu-sz  %util\n\
             sda  3000.00  0.00  24000.00  0.00  0.50  1.50  60.00\nsdb  10.00  0.00  80.00  0.00  0.50  0.01  1.00\n\n"
        )
    };
    let text: String = std::iter::once(head.to_owned()).chain((0..5).map(|at| block(at * 10))).collect();
    folder.write("iostat.txt", text);
    let arguments =
        ["size", "iostat.txt", "--capacity", "1TiB", "--burst", "none", "--what-if", "tiers", "--json", "-"];
    let output = folder.run(&arguments);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let splits = json["what_ifs"]["tiers"]["splits"].as_array().expect("there are two disks");
    assert_eq!((splits.len(), &splits[0]["hot_parts"]), (1, &serde_json::json!(["sda"])), "{splits:?}");
}

#[test]
fn contradictory_flags_are_refused_with_a_remedy() {
    let folder = Folder::new("refused");
    let size = ["size", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--capacity", "1TiB"];
    let refuses = |flags: &[&str], expected: &str| folder.refuses(&[&size[..], flags].concat(), expected);
    refuses(&["--what-if", "growth"], "--growth 30%/year");
    refuses(&["--growth", "30%/year"], "--months");
    refuses(&["--ram-price", "5 USD"], "--what-if cache");
    refuses(&["--what-if", "cache", "--ram-price", "5 EUR"], "prices are not converted");
    refuses(&["--what-if", "levels", "--autotune-default", "20", "--autotune-most", "10"], "exceeds");
}

#[test]
fn begin_interval_and_only_apply_to_samples() {
    let folder = Folder::new("part");
    let head = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util";
    let device = |name: &str, reads: u32| {
        format!("{name} {reads}.00 {}.00 0.00 0.00 1.00 8.00 0.00 0.00 0.00 0.00 0.00 0.00 0.10 9.00", reads * 8)
    };
    let report = format!("{head}\n{}\n{}\n\n", device("sda", 100), device("sdb", 300));
    folder.write("iostat.txt", report.repeat(4));
    let arguments = ["demand", "iostat.txt", "--interval", "10s", "--begin", "2026-03-02T08:00:00"];
    let demand = |more: &[&str]| folder.text(&[&arguments[..], more].concat());
    let (both, one) = (demand(&[]), demand(&["--only", "SDB"]));
    assert!(both.contains(" 400 ") && !one.contains(" 400 ") && one.contains(" 300 "), "{both}\n{one}");
    assert!(one.contains("2026-03-02 08:00:00  10 s"), "{one}");
    folder.refuses(&["demand", "iostat.txt", "--only", "sdc"], "did you mean sda or sdb?");
}

#[test]
fn jobs_and_the_work_of_the_inputs_have_elapsed_times_on_each_choice() {
    let folder = day("jobs");
    let size = ["size", "day", "--capacity", "500GiB", "--provider", "oci,netapp", "--stripe", "1", "--burst", "none"];
    let job = ["--may-be-slower", "--job", "name=batch,reads=1e6,size=8KiB,depth=1,cpu=20min", "--job", "inputs"];
    let output = folder.run(&[&size[..], &job, &["--json", "-"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let jobs = &json["what_ifs"]["jobs"];
    // A day with less than one active session takes its database time.
    assert!(jobs["window"]["today_ns"].as_u64() <= Some(86_400_000_000_000), "{jobs}");
    assert!(jobs["window"]["top_wait"]["waits"].as_f64() > Some(0.0), "{jobs}");
    let configurations = jobs["configurations"].as_array().expect("choices");
    assert!(configurations.len() > 1, "{jobs}");
    for configuration in configurations {
        let (job, window) = (&configuration["jobs"][0], &configuration["window_ns"]);
        assert!(job["together_ns"].as_u64() > Some(1_200_000_000_000), "{configuration}");
        assert!(window.as_u64() > Some(0), "{configuration}");
    }
    let output = folder.run(&[&size[..], &job].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    for part in ["Elapsed times of jobs, simulated", "work of the inputs: ", "1,000,000 reads of 8 KiB, 1 in flight"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_work_of_inputs_without_waits_is_refused() {
    let folder = Folder::new("job-inputs");
    let head = "Linux 6.1.0 (db1)\t03/02/2026\t_x86_64_\t(8 CPU)\n\n03/02/2026 09:00:01\n";
    let table = "Device  r/s  w/s  rkB/s  wkB/s  await  aqu-sz  %util\n\
                 sda  3000.00  10.00  24000.00  80.00  0.50  1.50  60.00\n\n03/02/2026 09:00:11\n";
    folder.write("iostat.txt", format!("{head}{table}{table}"));
    let size = ["size", "iostat.txt", "--capacity", "1TiB", "--provider", "oci", "--stripe", "1"];
    folder.refuses_usage(&[&size[..], &["--job", "inputs"]].concat(), "use an AWR or Statspack report");
    folder.refuses_usage(&[&size[..], &["--job", "reads=many"]].concat(), "reads=1e6,size=8KiB,depth=1,cpu=20min");
}
