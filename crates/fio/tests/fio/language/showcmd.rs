//! `--showcmd`: known lines, and comparison with an installed fio.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test of a pure crate that runs fio, and says that it did not"
)]

use std::process::Command;

use super::file;

/// Job files, and their lines.
const SHOWN: &[(&str, &str)] = &[
    ("[a]\nsize=1m\n", "fio --name=a --size=1m \n"),
    (
        "[global]\nsize=1m\nblocksize=16k\nstonewall\n[a]\nreadwrite=write\nnorandommap\ndescription=hello world\n\
         [b]\nrw=read\n[global]\ndirect=1\nbs=512\n[global]\niodepth=3\n[c]\nname=other\nrw=randread\n[d]\n",
        "fio --size=1m --bs=16k --stonewall --name=a --rw=write --norandommap --description=\"hello world\" --name=b \
         --rw=read --size=1m --bs=16k --stonewall --direct=1 --bs=512 --size=1m --bs=16k --stonewall --direct=1 \
         --bs=512 --iodepth=3 --name=c --name=other --rw=randread --name=d \n",
    ),
    (
        "[a ]\nwrite_bw_log\nfilename=/tmp/a b\n rw =read\nbs=4k,8k\n[ b]\nclat_percentiles=1\ndisable_bw=1\n\
         timeout=10\nwait_for_previous\nnr_files=2\nfileoffset=0\niomem=malloc\ndirectory= /tmp\nfilename= /tmp/q\n\
         kb_base=1000\n",
        "fio --name=a  --write_bw_log --rw=read --bs=4k,8k --filename=/tmp/a b --name= b --kb_base=1000 \
         --clat_percentiles=1 --disable_bw_measurement=1 --runtime=10 --stonewall --nrfiles=2 --offset=0 --mem=malloc \
         --directory= /tmp --filename= /tmp/q \n",
    ),
    (
        "[job1]\ndescription=\"one;two\"\nfilename=a\\:b\nbs=4k;c\n[job1]\nrw=write\nioengine= null\n",
        "fio --name=job1 --description=\"\"one\" --bs=4k --filename=a\\:b --name=job1 --rw=write --ioengine= null \n",
    ),
    (
        "[a]\nbs=1k\nbs=2k\nunified_rw_reporting=both\nfile_service_type=random:8\nsteadystate=iops:1%\nss_dur=5\n\
         cpus_allowed_policy=split\n",
        "fio --name=a --cpus_allowed_policy=split --bs=1k --bs=2k --unified_rw_reporting=both \
         --file_service_type=random:8 --steadystate=iops:1% --steadystate_duration=5 \n",
    ),
];

#[test]
fn showcmd_prints_command_lines() {
    for (text, expected) in SHOWN {
        let found = file(text).unwrap_or_else(|faults| panic!("{text}: {faults:?}")).showcmd;
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn showcmd_matches_fio() {
    if Command::new("fio").arg("--version").output().is_err() {
        return println!("skipped: fio is not installed");
    }
    let path = std::env::temp_dir().join(format!("plimsoll-showcmd-{}.fio", std::process::id()));
    for (text, expected) in SHOWN {
        std::fs::write(&path, text).unwrap();
        let output = Command::new("fio").args(["--parse-only", "--showcmd"]).arg(&path).output().unwrap();
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(found, *expected, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::remove_file(path).unwrap();
}
