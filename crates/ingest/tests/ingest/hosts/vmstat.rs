//! vmstat.

use plimsoll_ingest::FormatInput;
use plimsoll_units::Span;

use super::{check, refusal};

#[test]
fn bytes_over_time() {
    check(
        "test",
        "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 2  0      0 279469   2108 741208    0    0     9     9   29   57  0  0 99  0  0 2025-03-24 10:00:00
 2  0      0 279469   2108 741208    0    0    10    20   29   57  0  0 99  0  0 2025-03-24 10:00:05
 2  0      0 279469   2108 7412
",
        "
        vmstat -
        / 2025-03-24T10:00:00+5 reads Throughput 10240 (line 4, bi)
        / 2025-03-24T10:00:00+5 writes Throughput 20480 (line 4, bo)
        io: Read(2)
        procs, memory, swap, system: Ignored
        first line, since boot: Ignored
        rows: Broken
        ! line 5: an unreadable row: skipped
        ! it has bytes without operations: record iostat -xt 10 for both
        ! bi, bo count blocks, which are read as 1024 bytes each, as Linux prints them since 2.6: use iostat -xk if its version prints others",
    );
}

#[test]
fn an_abbreviated_zone_is_doubted() {
    check(
        "test",
        "\
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 JST
 2  0      0 279469   2108 741208    0    0     9     9   29   57  0  0 99  0  0 2025-03-24 10:00:00
 2  0      0 279469   2108 741208    0    0    10    20   29   57  0  0 99  0  0 2025-03-24 10:00:05
",
        "
        vmstat -
        / 2025-03-24T10:00:00+5 reads Throughput 10240 (line 3, bi)
        / 2025-03-24T10:00:00+5 writes Throughput 20480 (line 3, bo)
        io: Read(2)
        procs, memory, swap, system: Ignored
        first line, since boot: Ignored
        ! its times are in JST, an abbreviation that several zones share: specify --time-zone
        ! it has bytes without operations: record iostat -xt 10 for both
        ! bi, bo count blocks, which are read as 1024 bytes each, as Linux prints them since 2.6: use iostat -xk if its version prints others",
    );
}

const DISKS: &str = "\
disk- ------------reads------------ ------------writes----------- -----IO------
       total merged sectors      ms  total merged sectors      ms    cur    sec
loop0    100      0     800     100      0      0       0       0      0      0
sda     1000      0    8000     500    500      0    8000    1000      0     10
sda     1100      0    8800     600    500      0    8000    1000      0     12
";

#[test]
fn counters_of_disks() {
    check(
        FormatInput { interval: Some(Span::from_secs(10)), ..FormatInput::from("test") },
        DISKS,
        "
        vmstat -
        /sda 1970-01-01T00:00:00+10 reads Iops 10 (line 5, sda: reads)
        /sda 1970-01-01T00:00:00+10 reads Throughput 40960 (line 5, sda: sectors read)
        /sda 1970-01-01T00:00:00+10 writes Iops 0 (line 5, sda: writes)
        /sda 1970-01-01T00:00:00+10 writes Throughput 0 (line 5, sda: sectors written)
        /sda 1970-01-01T00:00:00+10 all Busy 0.2 (line 5, sda: seconds of I/O)
        /sda 1970-01-01T00:00:00+10 reads Size 4096 (line 5, sda: sectors read)
        /sda 1970-01-01T00:00:00+10 reads Latency 1 ms (line 5, sda: ms of reads)
        disks: Read(2)
        device loop0: Ignored
        ! it has no times, so they start at 1 January 1970: specify --begin",
    );
    assert!(refusal(DISKS.as_bytes()).contains("--interval"));
    let one: Vec<&str> = DISKS.lines().take(4).collect();
    assert!(refusal(one.join("\n").as_bytes()).contains("vmstat -dt 10"));
}
