//! Commands about products: output and refusals.

use crate::folder::{Folder, stderr, words};
use crate::forms::as_measured;

#[test]
fn unknown_products_are_refused_with_alternatives() {
    let folder = Folder::new("offers");
    let refuses = |arguments: &[&str], expected: &str| folder.refuses_usage(arguments, expected);
    let quote = |config: &str, expected: &str| refuses(&["quote", config], expected);
    quote("aws/gp9:3GiB", "did you mean aws/gp3 or aws/gp2?");
    quote("oci:256GB@7vpu", "the nearest are 0 or 10");
    quote("oci:256GB@130vpu", "can be 0 to 120");
    quote("azure/premium-ssd:P99", "no tier or choice \"P99\": tier can be P1, P2, P3,");
    quote("azure/premium-ssd:P99", "P70 or P80; expanded can be no or yes; on_demand_burst can be no or yes");
    quote("azure/premium-ssd:yes", "\"yes\" may be expanded or on_demand_burst: write expanded=yes");
    quote("oci:40GB", "can be 50 to 32,768 GB");
    quote("aws/gp3:500GiB,iops=90000", "iops is 90,000");
    quote("aws/gp3:500GiB,speed=3", "has no option \"speed\"");
    quote("oci/boot-volume:100GB@0vpu", "can be 10 to 120");
    quote("azure/premium-ssd:P31", "P30");
    quote("stripe(1,64KiB) of oci:100GB", "stripe");
    quote("oci:100GB on oci:100GB", "is no machine");
    quote("oci:100GB on aws/m5.large", "name a machine of the same provider");
    quote("oci:100GB on nowhere/x", "no product \"nowhere/x\"");
    quote("nowhere.toml:3GB", "nowhere.toml: No such file");
    quote("", "is no configuration");
    refuses(&["quote", "oci:100GB", "--as-of", "someday"], "someday");
    refuses(&["quote", "oci:100GB", "--currency", "dollars"], "dollars");
    refuses(&["quote", "oci:100GB", "--block-size", "0"], "is too small");
    refuses(&["simulate", "oci:100GB@11vpu"], "the nearest are 10 or 20");
    refuses(&["catalogue", "show", "aws/gp9"], "did you mean");
    refuses(&["match"], "no complete runs yet");
}

#[test]
fn a_price_that_is_not_known_is_not_guessed() {
    let folder = Folder::new("offers");
    let text = words(&folder.text(&["quote", "oci:100GB@10vpu", "--currency", "GBP"]));
    assert!(text.contains("the catalogue has no price of oci/block-volume for GBP"), "{text}");
    let text = folder.text(&["quote", "oci:100GB@10vpu", "--currency", "JPY", "--as-of", "2024-11"]);
    assert!(text.contains("659 JPY a month"), "{text}");
}

#[test]
fn jobs_have_elapsed_times_in_every_form() {
    let folder = Folder::new("jobs");
    let quote = [
        "quote",
        "netapp/aff-c800:10TB,hits=0",
        "netapp/aff-a800:10TB",
        "--job",
        "name=batch,reads=1e6",
        "--job",
        "name=order entry,sessions=50,reads=5,writes=1,cpu=20ms,think=10s",
    ];
    let text = words(&folder.text(&quote));
    for part in ["order entry", "together", "50 sessions, each again after 10 s", "5 reads and 1 writes of 8 KiB"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    folder.text(&[&quote[..], &["--html", "jobs.html"]].concat());
    let html = std::fs::read_to_string(folder.file("jobs.html")).unwrap();
    assert!(html.contains("order entry") && html.contains("Elapsed times of jobs, simulated"));
    let json: serde_json::Value = serde_json::from_str(&folder.text(&[&quote[..], &["--json", "-"]].concat())).unwrap();
    let alone = |row: usize, job: usize| json["jobs"]["configurations"][row]["jobs"][job]["alone_ns"].as_f64().unwrap();
    assert!(alone(0, 0) > 5.0 * alone(1, 0) && alone(0, 1) < 2.0 * alone(1, 1), "{}", json["jobs"]);
}

#[test]
fn a_product_file_is_checked_line_by_line_and_used() {
    let folder = Folder::new("offers");
    let prints = |arguments: &[&str]| words(&folder.text(arguments));
    let good = r#"product = "own/array"
title = "Our array"
kind = "array"
about = "What stands in the cellar"
capacity_unit = "GB"
capacity_bytes = 1000000000
[default]
source = "sheet"
date = "2026"
status = "secondary"
[sources.sheet]
title = "data sheet"
date = "2026"
[options.size]
kind = "size"
min = 100
max = 1000
step = 100
[[limit]]
name = "controller"
scope = "controller"
iops = "20000"
[model]
stages = "station(32, 500us)"
"#;
    folder.write("own.toml", good);
    let path = folder.file("own.toml");
    assert!(prints(&["catalogue", "check", &path]).ends_with("valid"));
    assert!(prints(&["quote", &format!("{path}:200GB")]).contains("20,000 IOPS"));
    let simulated = prints(&["simulate", &format!("{path}:200GB"), "--quick"]);
    assert!(simulated.contains("own/array:200GB"), "{simulated}");
    folder.write("own.toml", good.replace("scope = \"controller\"", "scope = \"cellar\""));
    let checked = folder.run(&["catalogue", "check", &path]);
    assert_eq!((checked.status.code(), checked.stdout.len()), (Some(1), 0));
    assert!(stderr(&checked).contains("own.toml:21:9:"), "{checked:?}");
    folder.refuses(&["quote", &format!("{path}:200GB")], "cellar");
}

#[test]
fn models_are_fitted_to_measured_runs_only() {
    let folder = Folder::new("offers");
    let prints = |arguments: &[&str]| words(&folder.text(arguments));
    let refuses = |arguments: &[&str], expected: &str| folder.refuses(arguments, expected);
    let path = &folder.file("simulated.json");
    prints(&["simulate", "bank(16, 90us, lognormal 0.3)", "--quick", "--reads", "100", "--json", path]);
    refuses(&["fit", path], "simulated figures are no evidence");
    refuses(&["fit", path, "--name", "noslash"], "write PROVIDER/NAME");
    // With the source changed to measured, the fit returns the model as a product file.
    folder.write("simulated.json", as_measured(&folder.read("simulated.json")));
    let file = &folder.file("fitted.toml");
    let fitted = prints(&["fit", path, "--output", file]);
    assert!(fitted.contains("dies"), "{fitted}");
    assert!(prints(&["catalogue", "check", file]).ends_with("valid"));
    assert!(prints(&["simulate", file, "--quick", "--reads", "100"]).contains("dies"));
    let explained = prints(&["explain", path, "--as", file]);
    assert!(explained.contains("Measured against theory"), "{explained}");
    assert!(prints(&["match", path, "--json", "-"]).contains("plimsoll.match/1"));
    refuses(&["match", path, "--region", "nowhere"], "for region \"nowhere\": use one of Japan, ap-northeast-1,");
    refuses(&["match", path, "--currency", "XXX"], "in XXX: prices are in EUR, JPY, USD");
}

#[test]
fn simulated_products_carry_their_doubts() {
    let text = words(&Folder::new("offers").text(&["simulate", "netapp/aff-c800", "--quick", "--reads", "100"]));
    assert!(text.contains("known only from anchors"), "{text}");
    // 5.4 million credits for 3,000 IOPS, which 300 refill.
    let text = words(&Folder::new("bursts").text(&["simulate", "aws/gp2:100GiB", "--quick"]));
    assert!(text.contains("3000 IOPS for 2000 s from full credits, then 300 IOPS"), "{text}");
}

#[test]
fn output_never_replaces_special_files() {
    let folder = Folder::short("offers");
    let socket = folder.join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("a socket can be made");
    let output = folder.run(&["quote", "oci:50GB@10vpu", "--json", &folder.file("socket")]);
    let message = stderr(&output);
    assert!(!output.status.success() && message.contains("not a regular file"), "{message}");
    assert!(!socket.is_file() && socket.exists(), "it is a socket still");
}
