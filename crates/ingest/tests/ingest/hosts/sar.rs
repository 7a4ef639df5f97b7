//! sar and sadf.

use plimsoll_ingest::{Class, Measure, Resource};

use super::{check, reading};
use crate::series::{near, resources, values};

const HEAD: &str = "Linux 6.1.0 (host1) \t03/24/2025 \t_x86_64_\t(16 CPU)\n\n";

#[test]
fn transfers_and_devices_of_a_file_share_a_window() {
    check(
        "test",
        &format!(
            "{HEAD}\
11:59:50 PM       CPU     %user     %nice   %system   %iowait    %steal     %idle
12:00:00 AM       all      2.15     12.50      2.35      0.12      0.00     82.88
Average:          all      2.15     12.50      2.35      0.12      0.00     82.88

11:59:50 PM       tps      rtps      wtps      dtps   bread/s   bwrtn/s   bdscd/s
12:00:00 AM     30.00     20.00     10.00      0.00    320.00    160.00      0.00
Average:        30.00     20.00     10.00      0.00    320.00    160.00      0.00

11:59:50 PM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
12:00:00 AM    dev8-0     20.00    160.00      0.00      0.00      8.00      0.20      1.00     10.00
12:00:00 AM   dev8-16     10.00      0.00     80.00      0.00      8.00      0.10      4.00      5.00
12:00:00 AM  dev253-0     30.00    160.00     80.00      0.00      8.00      0.30      2.00     15.00
Average:       dev8-0     20.00    160.00      0.00      0.00      8.00      0.20      1.00     10.00
"
        ),
        "
        sar Linux 6.1.0
        host1/ 2025-03-24T23:59:50+10 all Iops 30 (line 8, all disks: tps)
        host1/ 2025-03-24T23:59:50+10 reads Iops 20 (line 8, all disks: rtps)
        host1/ 2025-03-24T23:59:50+10 writes Iops 10 (line 8, all disks: wtps)
        host1/ 2025-03-24T23:59:50+10 reads Throughput 163840 (line 8, all disks: bread/s)
        host1/ 2025-03-24T23:59:50+10 writes Throughput 81920 (line 8, all disks: bwrtn/s)
        host1/ 2025-03-24T23:59:50+10 reads Size 8192 (line 8, all disks: bread/s over rtps)
        host1/ 2025-03-24T23:59:50+10 writes Size 8192 (line 8, all disks: bwrtn/s over wtps)
        host1/dev8-0 2025-03-24T23:59:50+10 all Iops 20 (line 12, dev8-0: tps)
        host1/dev8-0 2025-03-24T23:59:50+10 reads Throughput 163840 (line 12, dev8-0: rkB/s)
        host1/dev8-0 2025-03-24T23:59:50+10 writes Throughput 0 (line 12, dev8-0: wkB/s)
        host1/dev8-0 2025-03-24T23:59:50+10 all Size 8192 (line 12, dev8-0: areq-sz)
        host1/dev8-0 2025-03-24T23:59:50+10 all Depth 0.2 (line 12, dev8-0: aqu-sz)
        host1/dev8-0 2025-03-24T23:59:50+10 all Latency 1 ms (line 12, dev8-0: await)
        host1/dev8-0 2025-03-24T23:59:50+10 all Busy 0.1 (line 12, dev8-0: %util)
        host1/dev8-16 2025-03-24T23:59:50+10 all Iops 10 (line 13, dev8-16: tps)
        host1/dev8-16 2025-03-24T23:59:50+10 reads Throughput 0 (line 13, dev8-16: rkB/s)
        host1/dev8-16 2025-03-24T23:59:50+10 writes Throughput 81920 (line 13, dev8-16: wkB/s)
        host1/dev8-16 2025-03-24T23:59:50+10 all Size 8192 (line 13, dev8-16: areq-sz)
        host1/dev8-16 2025-03-24T23:59:50+10 all Depth 0.1 (line 13, dev8-16: aqu-sz)
        host1/dev8-16 2025-03-24T23:59:50+10 all Latency 4 ms (line 13, dev8-16: await)
        host1/dev8-16 2025-03-24T23:59:50+10 all Busy 0.05 (line 13, dev8-16: %util)
        host1/ 2025-03-24T23:59:50+10 all Latency 2 ms (line 12, all devices: await)
        host1/ 2025-03-24T23:59:50+10 all Depth 0.3 (line 12, all devices: aqu-sz)
        devices: Read(14)
        device dev253-0: Ignored
        transfers: Read(7)",
    );
}

#[test]
fn old_columns_and_a_restart() {
    check(
        "test",
        &format!(
            "{HEAD}\
10:00:00          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
10:00:10          sda      2.00     16.00      0.00      8.00      0.00      1.00      0.10      0.02
10:00:15     LINUX RESTART	(16 CPU)

10:01:00          DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
10:01:10          sda      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00
10:01:20          sda      1.00      0.0
"
        ),
        "
        sar Linux 6.1.0
        host1/sda 2025-03-24T10:00:00+10 all Iops 2 (line 4, sda: tps)
        host1/sda 2025-03-24T10:00:00+10 reads Throughput 8192 (line 4, sda: rd_sec/s)
        host1/sda 2025-03-24T10:00:00+10 writes Throughput 0 (line 4, sda: wr_sec/s)
        host1/sda 2025-03-24T10:00:00+10 all Size 4096 (line 4, sda: avgrq-sz)
        host1/sda 2025-03-24T10:00:00+10 all Depth 0 (line 4, sda: avgqu-sz)
        host1/sda 2025-03-24T10:00:00+10 all Latency 1 ms (line 4, sda: await)
        host1/sda 2025-03-24T10:00:00+10 all Busy 0.0002 (line 4, sda: %util)
        host1/sda 2025-03-24T10:01:00+10 all Iops 0 (line 8, sda: tps)
        host1/sda 2025-03-24T10:01:00+10 reads Throughput 0 (line 8, sda: rd_sec/s)
        host1/sda 2025-03-24T10:01:00+10 writes Throughput 0 (line 8, sda: wr_sec/s)
        host1/sda 2025-03-24T10:01:00+10 all Depth 0 (line 8, sda: avgqu-sz)
        host1/sda 2025-03-24T10:01:00+10 all Busy 0 (line 8, sda: %util)
        devices: Read(12)
        rows: Broken
        ! line 9: an unreadable row: skipped",
    );
}

#[test]
fn sadf_lines_have_time_and_length() {
    check(
        "test",
        "\
host1;-1;2025-03-24 10:00:00 UTC;LINUX-RESTART	(16 CPU)
# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
host1;10;2025-03-24 10:00:10 UTC;-1;2.15;12.50;2.36;0.12;0.00;82.88
# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util
host1;10;2025-03-24 10:00:10 UTC;nvme0n1;20,00;160,00;0,00;8,00;0,20;1,00;10,00
host1;10;1742810420;nvme0n1;10.00;0.00;80.00;8.00;0.10;4.00;5.00
host1;10;2025-03-24 10:00:30 UTC;nvme0n1;10.00
",
        "
        sadf -
        host1/nvme0n1 2025-03-24T10:00:00+10 all Iops 20 (line 5, nvme0n1: tps)
        host1/nvme0n1 2025-03-24T10:00:00+10 reads Throughput 163840 (line 5, nvme0n1: rkB/s)
        host1/nvme0n1 2025-03-24T10:00:00+10 writes Throughput 0 (line 5, nvme0n1: wkB/s)
        host1/nvme0n1 2025-03-24T10:00:00+10 all Size 8192 (line 5, nvme0n1: areq-sz)
        host1/nvme0n1 2025-03-24T10:00:00+10 all Depth 0.2 (line 5, nvme0n1: aqu-sz)
        host1/nvme0n1 2025-03-24T10:00:00+10 all Latency 1 ms (line 5, nvme0n1: await)
        host1/nvme0n1 2025-03-24T10:00:00+10 all Busy 0.1 (line 5, nvme0n1: %util)
        host1/nvme0n1 2025-03-24T10:00:10+10 all Iops 10 (line 6, nvme0n1: tps)
        host1/nvme0n1 2025-03-24T10:00:10+10 reads Throughput 0 (line 6, nvme0n1: rkB/s)
        host1/nvme0n1 2025-03-24T10:00:10+10 writes Throughput 81920 (line 6, nvme0n1: wkB/s)
        host1/nvme0n1 2025-03-24T10:00:10+10 all Size 8192 (line 6, nvme0n1: areq-sz)
        host1/nvme0n1 2025-03-24T10:00:10+10 all Depth 0.1 (line 6, nvme0n1: aqu-sz)
        host1/nvme0n1 2025-03-24T10:00:10+10 all Latency 4 ms (line 6, nvme0n1: await)
        host1/nvme0n1 2025-03-24T10:00:10+10 all Busy 0.05 (line 6, nvme0n1: %util)
        devices: Read(14)
        lines: Broken
        ! line 7: an unreadable line: skipped",
    );
}

#[test]
fn sadf_as_json() {
    check(
        "test",
        r#"{"sysstat": {"hosts": [{"nodename": "host1", "statistics": [
{"timestamp": {"date": "2025-03-24", "time": "10:00:10", "utc": 1, "interval": 10},
 "io": {"tps": 30.0, "io-reads": {"rtps": 20.0, "bread": 320.0}, "io-writes": {"wtps": 10.0, "bwrtn": 160.0}},
 "disk": [{"disk-device": "sda", "tps": 30.0, "rkB": 160.0, "wkB": 80.0, "areq-sz": 8.0, "aqu-sz": 0.3, "await": 2.0, "util": 15.0}]}]}]}}"#,
        "
        sysstat-json -
        host1/ 2025-03-24T10:00:00+10 reads Iops 20 (line 2, all disks: rtps)
        host1/ 2025-03-24T10:00:00+10 writes Iops 10 (line 2, all disks: wtps)
        host1/ 2025-03-24T10:00:00+10 all Iops 30 (line 2, all disks: tps)
        host1/ 2025-03-24T10:00:00+10 reads Throughput 163840 (line 2, all disks: bread)
        host1/ 2025-03-24T10:00:00+10 writes Throughput 81920 (line 2, all disks: bwrtn)
        host1/ 2025-03-24T10:00:00+10 reads Size 8192 (line 2, all disks: bread over rtps)
        host1/ 2025-03-24T10:00:00+10 writes Size 8192 (line 2, all disks: bwrtn over wtps)
        host1/sda 2025-03-24T10:00:00+10 all Iops 30 (line 2, sda: tps)
        host1/sda 2025-03-24T10:00:00+10 all Depth 0.3 (line 2, sda: aqu-sz)
        host1/sda 2025-03-24T10:00:00+10 all Size 8192 (line 2, sda: areq-sz)
        host1/sda 2025-03-24T10:00:00+10 all Latency 2 ms (line 2, sda: await)
        host1/sda 2025-03-24T10:00:00+10 reads Throughput 163840 (line 2, sda: rkB)
        host1/sda 2025-03-24T10:00:00+10 all Busy 0.15 (line 2, sda: util)
        host1/sda 2025-03-24T10:00:00+10 writes Throughput 81920 (line 2, sda: wkB)
        host1/ 2025-03-24T10:00:00+10 all Latency 2 ms (line 2, all devices: await)
        host1/ 2025-03-24T10:00:00+10 all Depth 0.3 (line 2, all devices: aqu-sz)
        devices: Read(7)
        transfers: Read(7)",
    );
}

#[test]
fn processors_and_memory_of_the_host_are_read() {
    let text = "\
Linux 6.1.0 (host1) \t2025-03-24 \t_x86_64_\t(32 CPU)

10:00:00        CPU     %user     %nice   %system   %iowait    %steal     %idle
10:00:10        all     10.00      0.00      5.00     35.00      0.00     50.00
10:00:10          0     90.00      0.00      5.00      0.00      0.00      5.00
10:00:30        all     40.00      0.00      5.00      5.00      0.00     50.00
Average:        all     30.00      0.00      5.00     15.00      0.00     50.00

10:00:00    kbmemfree   kbavail kbmemused  %memused kbbuffers
10:00:10      1000000   1500000    500000     25.00    100000

10:00:00          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
10:00:10          sda     30.00    160.00     80.00      8.00      0.30      2.00     15.00
10:00:30          sda     10.00     80.00     40.00      8.00      0.10      2.00      5.00
";
    let reading = reading(text);
    // 15 % of 32 processors for 10 s, and 45 % for 20 s.
    near(&resources(&reading, Resource::UsedProcessors), &[32.0 * (0.15 + 2.0 * 0.45) / 3.0]);
    near(&resources(&reading, Resource::HostMemory), &[2_000_000.0 * 1_024.0]);
    near(&values(&reading, "sda", Class::All, Measure::Iops), &[30.0, 10.0]);
}
