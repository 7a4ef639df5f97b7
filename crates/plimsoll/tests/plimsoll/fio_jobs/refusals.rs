//! Refusals: exit code 1, a remedy, and no files left.

use super::JobFolder;
use crate::folder::stderr;

/// A directory with a file `foreign` that plimsoll did not create.
#[track_caller]
fn check(words: &str, expected: &str) {
    let folder = JobFolder::new("refused");
    folder.write("foreign", "data".repeat(4_096));
    folder.write("bad.fio", "[a]\nrw=randread\nfoo=1\nsize=1m\nioengine=rbd\n");
    let before = folder.names(".");
    let output = folder.run(words);
    assert_eq!(output.status.code(), Some(1), "{words}: {}", stderr(&output));
    assert!(stderr(&output).contains(expected), "{words}: {}", stderr(&output));
    assert_eq!(folder.names("."), before, "{words} left something behind");
    assert_eq!(folder.read("foreign"), "data".repeat(4_096));
}

#[test]
fn foreign_files_are_read_only() {
    check("--name=a --rw=write --size=16k --filename=foreign", "add --destroy foreign");
    check("--name=a --rw=randrw --filename=foreign --destroy ./foreign", "foreign");
    // A file that is too short to be read would have to be written.
    check("--name=a --rw=read --size=64k --filename=foreign", "add --destroy foreign");
    // No file is created if another file of the jobs is refused.
    check("--name=a --rw=write --size=16k --name=b --rw=write --size=16k --filename=foreign", "add --destroy foreign");
}

#[test]
fn named_files_are_written_and_foreign_files_read() {
    let folder = JobFolder::new("destroyed");
    folder.write("foreign", "data".repeat(4_096));
    let output = folder.run("--name=a --rw=randread --filename=foreign --unlink=1 --notes=-");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("foreign: unlink=1 is ignored, as no job created the file"),
        "{}",
        stderr(&output)
    );
    let output = folder.run("--name=a --rw=write --filename=foreign --destroy=foreign");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_ne!(folder.bytes("foreign"), "data".repeat(4_096).into_bytes());
}

#[test]
fn invalid_jobs_are_refused() {
    check("bad.fio", "bad.fio:3: fio has no option foo");
    check("bad.fio --section=a", "bad.fio:5: ioengine=rbd is not supported");
    check("none.fio", "none.fio cannot be read");
    check("", "no job at all");
    check("--name=a --rw=read", "size= is required");
    check("--name=a --rw=read --size=64k --filename=/dev/null", "neither a file nor a block device");
    check("--name=a --rw=read --size=64k --directory=nowhere", "directory=nowhere: not a directory");
    check("--name=a --rw=read --size=64k --cpus_allowed=0,60000", "no processor 60000 here");
    check("--name=a --rw=read --size=64k --allow_file_create=0", "a.0.0: missing, and allow_file_create=0 is set");
    check("--name=a --rw=write --size=64k --verify=pattern", "verify=pattern requires verify_pattern");
    check("--name=a --rw=write --size=64k --bs=1k+1 --verify=md5", "1k+1");
    check(
        "--name=a --rw=write --size=64k --bs=1001 --verify=md5 --bs_unaligned",
        "verify: blocks of 1 bytes cannot be checked",
    );
    check("--name=a --rw=write --size=64k --fsync=2 --fdatasync=3", "fsync and fdatasync together");
    check("--name=a --rw=write --size=64k --readonly", "writes (rw=write), and --readonly");
    check("--name=a --rw=randread --size=64k --random_distribution=zipf:1.1:0.5", "with a centre");
    check("--name=a --rw=randread --size=64k --latency_target=1ms", "plimsoll measure finds the load line");
    check("--name=a --rw=randread --size=64k --on station(1,1ms) --ioengine=null", "null transfers no data");
    check("--name=a --rw=randread --size=64k --on /tmp", "files are named in the job");
    check("--name=a --rw=randread --size=64k --numjobs=257 --on station(1,1ms)", "more than 256 concurrent clones");
    check("--name=a --rw=randread --size=64k --client=host", "plimsoll speaks to no other fio");
}
