//! Results of other programs where runs are expected, and models fitted to them.

use crate::folder::{Folder, stderr, words};

/// Table of a curve: depth, IOPS, latency in microseconds.
const CURVE: &str = "depth,iops,latency_us\n1,9900,101\n2,19500,103\n4,38000,105\n8,70000,114\n16,95000,168\n32,99800,321\n\
                     64,100100,639\n";

/// Buffered libaio on a file in memory: fio's own output shows that the device served 0.06 % of the reads.
const CACHED: &str = r#"{"fio version":"fio-3.28","global options":{"ioengine":"libaio","iodepth":"32","size":"1g",
    "filename":"/data/t"},"jobs":[{"jobname":"r","groupid":0,"error":0,"job options":{"name":"r","rw":"randread","bs":"4k",
    "runtime":"60"},"read":{"io_bytes":60000000000,"bw_bytes":1000000000,"iops":244140.6,"runtime":60000,
    "total_ios":14648437,"clat_ns":{"mean":125000.0,"percentile":{"99.000000":180000}},"lat_ns":{"mean":128500.0}},
    "write":{"io_bytes":0,"iops":0.0,"runtime":0,"total_ios":0},"usr_cpu":20.0,"sys_cpu":79.0}],"disk_util":[{
    "name":"nvme1n1","read_ios":8100,"write_ios":10,"read_merges":0,"write_merges":0,"util":8.5}]}"#;

#[test]
fn tables_of_other_measurements_are_fitted_explained_and_compared() {
    let folder = Folder::new("imports");
    folder.write("curve.csv", CURVE);
    let (curve, model) = (&folder.file("curve.csv"), &folder.file("own.toml"));
    let fitted = words(&folder.text(&["fit", curve, "--output", model]));
    assert!(fitted.contains("only operations of 4 KiB were measured"), "{fitted}");
    assert!(fitted.contains("plimsoll measure PATH --block-size 64KiB"), "{fitted}");
    let file = folder.read("own.toml");
    assert!(file.contains("[model.fit]") && file.contains("block_bytes = [4096, 4096]"), "{file}");
    for arguments in [
        &["quote", model][..],
        &["simulate", model, "--quick", "--reads", "100", "--block-size", "4KiB"],
        &["explain", curve, "--as", model],
    ] {
        let answer = words(&folder.text(arguments));
        assert!(answer.contains("fitted within") && answer.contains("outside of that range: extrapolated"), "{answer}");
    }
    let larger = words(&folder.text(&["simulate", model, "--quick", "--reads", "100", "--block-size", "64KiB"]));
    assert!(
        larger.contains("extrapolated beyond the fitted loads: operations of 64 KiB (fitted to 4 KiB)"),
        "{larger}"
    );
    let report = words(&folder.text(&["report", curve]));
    assert!(report.contains("99,800") || report.contains("100,000"), "{report}");
    folder.write("faster.csv", CURVE.replace("321", "301").replace("99800", "106000"));
    folder.text(&["compare", curve, &folder.file("faster.csv")]);
    folder.text(&["match", curve, "--capacity", "500GiB", "--iops", "20k", "--objective", "mean<=1ms"]);
    folder.refuses(&["match", curve, "--iops", "20k", "--objective", "mean<=1ms"], "add --capacity SIZE");
}

#[test]
fn inaccurate_fits_are_refused_unless_accepted() {
    let folder = Folder::new("inaccurate");
    folder.write("odd.csv", "depth,iops\n1,10000\n2,12000\n4,11000\n8,40000\n16,41000\n");
    let (odd, model) = (&folder.file("odd.csv"), &folder.file("own.toml"));
    let refused = folder.run(&["fit", odd, "--output", model]);
    assert!(!refused.status.success() && stderr(&refused).contains("no model is written"), "{refused:?}");
    assert!(!folder.join("own.toml").exists());
    folder.text(&["fit", odd, "--output", model, "--max-error", "400"]);
    assert!(words(&folder.text(&["quote", model])).contains("fitted within"));
    folder.refuses_usage(&["fit", odd, "--max-error", "0"], "not a percentage above zero");
}

#[test]
fn results_that_prove_their_invalidity_are_no_evidence() {
    let folder = Folder::new("invalid");
    folder.write("cached.json", CACHED);
    let cached = &folder.file("cached.json");
    let void = "99.9 % of the reads came from the page cache: not a figure of the storage";
    let demand = words(&folder.text(&["demand", cached]));
    assert!(demand.contains(void) && demand.contains("libaio was used without direct I/O"), "{demand}");
    let explained = words(&folder.text(&["explain", cached, "--as", "aws/gp3:100GiB"]));
    assert!(explained.contains(void), "{explained}");
    folder.refuses(&["fit", cached], void);
    folder.refuses(&["match", cached, "--iops", "1000", "--objective", "p99<=1ms"], void);
    assert!(words(&folder.text(&["report", cached])).contains(void));
}

#[test]
fn one_of_several_results_is_chosen_by_name() {
    let folder = Folder::new("several");
    folder.write("two.csv", "depth,iops,block\n1,1000,4KiB\n2,2000,4KiB\n1,900,64KiB\n2,1800,64KiB\n");
    let two = &folder.file("two.csv");
    folder.refuses(&["explain", two, "--as", "aws/gp3:100GiB"], "results of 2 different loads");
    let chosen = format!("{two}#64 KiB");
    assert!(words(&folder.text(&["explain", &chosen, "--as", "aws/gp3:100GiB"])).contains("1,800 IOPS measured"));
    folder.refuses(&["explain", &format!("{two}#nothing"), "--as", "aws/gp3:100GiB"], "no result \"nothing\"");
}
