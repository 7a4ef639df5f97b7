//! The same jobs with the installed fio: equal operations and bytes, and results of the same form.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use super::{JobFolder, integer, read};

/// Result of fio for a job file in a temporary directory; `None` if fio is not installed.
fn run_fio(folder: &JobFolder, jobs: &str) -> Option<Value> {
    folder.write("theirs.fio", jobs);
    let output =
        Command::new("fio").args(["--output-format=json+", "theirs.fio"]).current_dir(folder.path()).output().ok()?;
    Some(read(&output))
}

/// The paths of all keys, with bins and percentiles merged.
pub fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            let is_numbered = matches!(path.rsplit('.').next(), Some("bins" | "percentile"));
            for (key, value) in object {
                keys(value, &format!("{path}.{}", if is_numbered { "*" } else { key }), found);
            }
        }
        Value::Array(all) => all.iter().for_each(|value| keys(value, &format!("{path}[]"), found)),
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// Keys of fio's results that plimsoll's results lack.
pub fn list_missing(theirs: &Value, ours: &Value) -> Vec<String> {
    let (mut required, mut found) = (BTreeSet::new(), BTreeSet::new());
    keys(theirs, "", &mut required);
    keys(ours, "", &mut found);
    required.difference(&found).cloned().collect()
}

#[track_caller]
fn check(name: &str, jobs: &str) {
    let (mine, other) = (JobFolder::new(&format!("ours-{name}")), JobFolder::new(&format!("theirs-{name}")));
    let Some(theirs) = run_fio(&other, jobs) else { return println!("skipped: no fio is installed") };
    let ours = mine.json("", jobs);
    let (theirs_jobs, ours_jobs) = (theirs["jobs"].as_array().unwrap(), ours["jobs"].as_array().unwrap());
    assert_eq!(theirs_jobs.len(), ours_jobs.len(), "{jobs}");
    for (their, our) in theirs_jobs.iter().zip(ours_jobs) {
        assert_eq!(their["jobname"], our["jobname"]);
        assert_eq!(integer(their, "groupid"), integer(our, "groupid"), "{jobs}");
        // The reads of a mix are drawn differently by each program.
        let is_mixed = jobs.contains("rw=randrw") || jobs.contains("rw=rw");
        let sum =
            |job: &Value, what: &str| integer(job, &format!("read.{what}")) + integer(job, &format!("write.{what}"));
        for what in ["total_ios", "io_bytes"] {
            assert_eq!(sum(their, what), sum(our, what), "{what} of {jobs}");
            let read = format!("read.{what}");
            assert!(is_mixed || integer(their, &read) == integer(our, &read), "{read} of {jobs}");
        }
        for counted in ["clat_ns.N", "lat_ns.N"] {
            let both = ["read", "write"].map(|way| integer(our, &format!("{way}.{counted}"))).iter().sum::<u64>();
            assert_eq!(both, sum(our, "total_ios"), "{counted} of {jobs}");
        }
    }
    let missing = list_missing(&theirs, &ours);
    // Disk statistics differ between runs.
    let missing: Vec<&String> = missing.iter().filter(|key| !key.starts_with(".disk_util")).collect();
    assert!(missing.is_empty(), "{missing:?} of {jobs}");
}

#[test]
fn jobs_do_the_same_as_in_fio() {
    check("read", "[a]\nrw=read\nsize=256k\n");
    check("write", "[a]\nrw=write\nsize=256k\nbs=16k\nend_fsync=1\n");
    check("mixed", "[a]\nrw=randrw\nsize=256k\nrwmixread=70\n");
    check("split", "[a]\nrw=randwrite\nsize=100k\nnrfiles=3\n");
    check("depth", "[a]\nrw=randread\nsize=256k\nioengine=libaio\niodepth=8\ndirect=1\nloops=2\n");
    check(
        "stages",
        "[global]\nsize=64k\n[a]\nrw=write\nnumjobs=2\n[b]\nstonewall\nrw=read\nnumjobs=3\n[c]\nnew_group\n",
    );
    check("group", "[global]\nsize=64k\ngroup_reporting\n[a]\nrw=write\nnumjobs=2\n[b]\nrw=read\n[c]\nnew_group\n");
    check("verify", "[a]\nrw=randwrite\nsize=64k\nverify=crc32c\n[b]\nrw=write\nsize=64k\nverify=md5\nloops=2\n");
    check("unified", "[a]\nrw=read\nsize=64k\nunified_rw_reporting=both\nlat_percentiles=1\ndescription=text\n");
    check("percentiles", "[a]\nrw=write\nsize=64k\npercentile_list=50:99:99.9\ncontinue_on_error=all\n");
    check("offset", "[a]\nrw=write\nsize=64k\noffset=32k\nnumjobs=2\nfilename=f\noffset_increment=64k\n");
    check("percent", "[a]\nrw=randwrite\nsize=64k\nio_size=25%\n[b]\nrw=read\nsize=64k\nnumber_ios=3\n");
    check("percent-of-filesize", "[a]\nrw=write\nsize=50%\nfilesize=32k\nnrfiles=3\n");
    check("filesize", "[a]\nrw=write\nfilesize=32k\nnrfiles=3\n[b]\nrw=read\nsize=16k\nfilesize=64k\n");
}
