//! iostat of Linux, as text and JSON.

use plimsoll_ingest::{FormatInput, Resource};
use plimsoll_units::Span;

use super::{check, reading, refusal};
use crate::series::{near, resources};

const BANNER: &str = "Linux 6.1.0 (host1) \t03/24/2025 \t_x86_64_\t(16 CPU)\n\n";

/// Two reports: the first is since boot, with a partition, a logical volume and a loop device.
const NEW: &str = "\
03/24/2025 04:46:00 PM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.19    0.00    4.40    0.00    0.00   94.41

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
sda              9.00     99.00     0.00   0.00    9.00    99.00    9.00     99.00     0.00   0.00    9.00    99.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    9.00   9.00
sda1             9.00     99.00     0.00   0.00    9.00    99.00    9.00     99.00     0.00   0.00    9.00    99.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    9.00   9.00
dm-0             9.00     99.00     0.00   0.00    9.00    99.00    9.00     99.00     0.00   0.00    9.00    99.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    9.00   9.00
loop0            9.00     99.00     0.00   0.00    9.00    99.00    9.00     99.00     0.00   0.00    9.00    99.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    9.00   9.00

03/24/2025 04:46:10 PM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.19    0.00    4.40    0.00    0.00   94.41

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
sda            100.00    800.00     0.00   0.00    0.50     8.00    0.00      0.00     0.00   0.00    0.00     0.00    2.00     64.00     0.00   0.00    0.10    32.00    1.00    2.00    0.05   5.00
dm-0           100.00    800.00     0.00   0.00    0.50     8.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.05   5.00

";

#[test]
fn newest_columns_with_times() {
    check(
        "test",
        &format!("{BANNER}{NEW}"),
        "
        iostat Linux 6.1.0
        host1/sda 2025-03-24T16:46:00+10 reads Iops 100 (line 18, sda: r/s)
        host1/sda 2025-03-24T16:46:00+10 writes Iops 0 (line 18, sda: w/s)
        host1/sda 2025-03-24T16:46:00+10 discards Iops 2 (line 18, sda: d/s)
        host1/sda 2025-03-24T16:46:00+10 flushes Iops 1 (line 18, sda: f/s)
        host1/sda 2025-03-24T16:46:00+10 reads Throughput 819200 (line 18, sda: rkB/s)
        host1/sda 2025-03-24T16:46:00+10 reads Latency 0.5 ms (line 18, sda: r_await)
        host1/sda 2025-03-24T16:46:00+10 reads Size 8192 (line 18, sda: rareq-sz)
        host1/sda 2025-03-24T16:46:00+10 writes Throughput 0 (line 18, sda: wkB/s)
        host1/sda 2025-03-24T16:46:00+10 discards Throughput 65536 (line 18, sda: dkB/s)
        host1/sda 2025-03-24T16:46:00+10 discards Latency 0.1 ms (line 18, sda: d_await)
        host1/sda 2025-03-24T16:46:00+10 discards Size 32768 (line 18, sda: dareq-sz)
        host1/sda 2025-03-24T16:46:00+10 flushes Latency 2 ms (line 18, sda: f_await)
        host1/sda 2025-03-24T16:46:00+10 all Depth 0.05 (line 18, sda: aqu-sz)
        host1/sda 2025-03-24T16:46:00+10 all Busy 0.05 (line 18, sda: %util)
        devices: Read(14)
        device sda1: Ignored
        device dm-0: Ignored
        device loop0: Ignored
        first report, since boot: Ignored
        avg-cpu: Read(1)",
    );
}

#[test]
fn a_joint_latency_of_old_versions_is_weighted_by_all_operations() {
    let old = "\
Device:    rrqm/s wrqm/s   r/s   w/s  rsec/s  wsec/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
hda          0.00   0.00  1.00  1.00    8.00    8.00     4.00     4.00    16.00     0.01    1.00   1.00   1.00
";
    let second =
        old.replace("1.00  1.00    8.00    8.00     4.00     4.00", "4.00  6.00   64.00   96.00    32.00    48.00");
    let input = FormatInput { interval: Some(Span::from_secs(5)), ..FormatInput::from("test") };
    check(
        input,
        &format!("{old}\n{second}\n"),
        "
        iostat -
        /hda -+5 reads Iops 4 (line 5, hda: r/s)
        /hda -+5 writes Iops 6 (line 5, hda: w/s)
        /hda -+5 all Iops 10 (line 5, hda: r/s + w/s)
        /hda -+5 reads Throughput 32768 (line 5, hda: rsec/s)
        /hda -+5 writes Throughput 49152 (line 5, hda: wsec/s)
        /hda -+5 all Depth 0.01 (line 5, hda: avgqu-sz)
        /hda -+5 all Latency 1 ms (line 5, hda: await)
        /hda -+5 all Busy 0.01 (line 5, hda: %util)
        /hda -+5 reads Size 8192 (line 5, hda: rsec/s over r/s)
        /hda -+5 writes Size 8192 (line 5, hda: wsec/s over w/s)
        devices: Read(10)
        first report, since boot: Ignored",
    );
}

#[test]
fn lengths_of_windows_follow_from_totals() {
    check(
        "test",
        "\
Device             tps    MB_read/s    MB_wrtn/s    MB_read    MB_wrtn
sda               1.00         1.00         1.00          1          1

Device             tps    MB_read/s    MB_wrtn/s    MB_read    MB_wrtn
sda             100.00        50.00        30.00        250        150

",
        "
        iostat -
        /sda -+5 all Iops 100 (line 5, sda: tps)
        /sda -+5 reads Throughput 52428800 (line 5, sda: MB_read/s)
        /sda -+5 writes Throughput 31457280 (line 5, sda: MB_wrtn/s)
        devices: Read(3)
        first report, since boot: Ignored",
    );
}

#[test]
fn human_readable_output_with_commas_units_and_trailing_names() {
    check(
        "test",
        "\
      tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd Device
     1,00         1,0k         0,0k         0,0k       1,0M       0,0k       0,0k nvme0n1

      tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd Device
     2,50         1,5M         8,0k         0,0k       7,5M      40,0k       0,0k nvme0n1
",
        "
        iostat -
        /nvme0n1 -+5 all Iops 2.5 (line 5, nvme0n1: tps)
        /nvme0n1 -+5 reads Throughput 1572864 (line 5, nvme0n1: kB_read/s)
        /nvme0n1 -+5 writes Throughput 8192 (line 5, nvme0n1: kB_wrtn/s)
        devices: Read(3)
        first report, since boot: Ignored",
    );
}

#[test]
fn a_report_in_several_tables_is_one_window() {
    let report = |reads: &str| {
        format!(
            "\
     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device
  {reads}    800.0k     0.00   0.0%    0.50     8.0k nvme0n1

     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device
   50.00      1.0M     0.00   0.0%    0.25    20.5k nvme0n1

     f/s f_await  aqu-sz  %util Device
    1.00    2.00    0.07   3.1% nvme0n1


"
        )
    };
    check(
        "test",
        &["1.00", "100.00", "200.00"].map(report).concat(),
        "
        iostat -
        /nvme0n1 -+1 reads Iops 100 (line 12, nvme0n1: r/s)
        /nvme0n1 -+1 writes Iops 50 (line 12, nvme0n1: w/s)
        /nvme0n1 -+1 flushes Iops 1 (line 12, nvme0n1: f/s)
        /nvme0n1 -+1 reads Throughput 819200 (line 12, nvme0n1: rkB/s)
        /nvme0n1 -+1 reads Latency 0.5 ms (line 12, nvme0n1: r_await)
        /nvme0n1 -+1 reads Size 8192 (line 12, nvme0n1: rareq-sz)
        /nvme0n1 -+1 writes Throughput 1048576 (line 12, nvme0n1: wkB/s)
        /nvme0n1 -+1 writes Latency 0.25 ms (line 12, nvme0n1: w_await)
        /nvme0n1 -+1 writes Size 20992 (line 12, nvme0n1: wareq-sz)
        /nvme0n1 -+1 flushes Latency 2 ms (line 12, nvme0n1: f_await)
        /nvme0n1 -+1 all Depth 0.07 (line 12, nvme0n1: aqu-sz)
        /nvme0n1 -+1 all Busy 0.031 (line 12, nvme0n1: %util)
        /nvme0n1 -+1 reads Iops 200 (line 22, nvme0n1: r/s)
        /nvme0n1 -+1 writes Iops 50 (line 22, nvme0n1: w/s)
        /nvme0n1 -+1 flushes Iops 1 (line 22, nvme0n1: f/s)
        /nvme0n1 -+1 reads Throughput 819200 (line 22, nvme0n1: rkB/s)
        /nvme0n1 -+1 reads Latency 0.5 ms (line 22, nvme0n1: r_await)
        /nvme0n1 -+1 reads Size 4096 (line 22, nvme0n1: rkB/s over r/s)
        /nvme0n1 -+1 writes Throughput 1048576 (line 22, nvme0n1: wkB/s)
        /nvme0n1 -+1 writes Latency 0.25 ms (line 22, nvme0n1: w_await)
        /nvme0n1 -+1 writes Size 20992 (line 22, nvme0n1: wareq-sz)
        /nvme0n1 -+1 flushes Latency 2 ms (line 22, nvme0n1: f_await)
        /nvme0n1 -+1 all Depth 0.07 (line 22, nvme0n1: aqu-sz)
        /nvme0n1 -+1 all Busy 0.031 (line 22, nvme0n1: %util)
        devices: Read(24)
        first report, since boot: Ignored
        ! line 12: it lacks the interval of its samples, and a second is assumed: specify --interval",
    );
}

#[test]
fn a_report_without_rows_was_idle() {
    let heading = "Device             r/s     w/s    rkB/s    wkB/s\n";
    let text = format!("{heading}sda 1 1 1 1\n\n{heading}sda 2 0 8 0\n\n{heading}\n{heading}sda 4 0 8 0\n\n");
    let input = FormatInput { interval: Some(Span::from_secs(1)), ..FormatInput::from("test") };
    check(
        input,
        &text,
        "
        iostat -
        /sda -+1 reads Iops 2 (line 5, sda: r/s)
        /sda -+1 writes Iops 0 (line 5, sda: w/s)
        /sda -+1 reads Throughput 8192 (line 5, sda: rkB/s)
        /sda -+1 writes Throughput 0 (line 5, sda: wkB/s)
        /sda -+1 reads Size 4096 (line 5, sda: rkB/s over r/s)
        /sda -+1 reads Iops 0 (sda: r/s)
        /sda -+1 writes Iops 0 (sda: w/s)
        /sda -+1 reads Throughput 0 (sda: rkB/s)
        /sda -+1 writes Throughput 0 (sda: wkB/s)
        /sda -+1 reads Iops 4 (line 10, sda: r/s)
        /sda -+1 writes Iops 0 (line 10, sda: w/s)
        /sda -+1 reads Throughput 8192 (line 10, sda: rkB/s)
        /sda -+1 writes Throughput 0 (line 10, sda: wkB/s)
        /sda -+1 reads Size 2048 (line 10, sda: rkB/s over r/s)
        devices: Read(10)
        first report, since boot: Ignored",
    );
}

#[test]
fn devices_without_a_row_were_idle() {
    let heading = "Device             r/s     w/s    rkB/s    wkB/s\n";
    let text = format!("{heading}sda 1 1 1 1\nsdb 1 1 1 1\n\n{heading}sdb 2 0 8 0\n\n");
    let input = FormatInput { interval: Some(Span::from_secs(1)), ..FormatInput::from("test") };
    check(
        input,
        &text,
        "
        iostat -
        /sdb -+1 reads Iops 2 (line 6, sdb: r/s)
        /sdb -+1 writes Iops 0 (line 6, sdb: w/s)
        /sdb -+1 reads Throughput 8192 (line 6, sdb: rkB/s)
        /sdb -+1 writes Throughput 0 (line 6, sdb: wkB/s)
        /sdb -+1 reads Size 4096 (line 6, sdb: rkB/s over r/s)
        /sda -+1 reads Iops 0 (line 6, sda: r/s)
        /sda -+1 writes Iops 0 (line 6, sda: w/s)
        /sda -+1 reads Throughput 0 (line 6, sda: rkB/s)
        /sda -+1 writes Throughput 0 (line 6, sda: wkB/s)
        devices: Read(5)
        first report, since boot: Ignored",
    );
}

#[test]
fn groups_are_used_only_without_their_members() {
    let heading = "Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n";
    check(
        FormatInput { interval: Some(Span::from_secs(1)), ..FormatInput::from("test") },
        &format!("{heading}sda 1 1 1 1 1\n all 1 1 1 1 1\n\n{heading}sda 2 0 0 0 0\n all 2 0 0 0 0\n\n"),
        "
        iostat -
        /sda -+1 all Iops 2 (line 6, sda: tps)
        /sda -+1 reads Throughput 0 (line 6, sda: kB_read/s)
        /sda -+1 writes Throughput 0 (line 6, sda: kB_wrtn/s)
        devices: Read(3)
        device all: Ignored
        first report, since boot: Ignored",
    );
}

#[test]
fn a_single_report_is_a_mean_since_boot() {
    check(
        "test",
        "\
Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda               2.00       100.00         0.00     720000          0
",
        "
        iostat -
        /sda -+7200 all Iops 2 (line 2, sda: tps)
        /sda -+7200 reads Throughput 102400 (line 2, sda: kB_read/s)
        /sda -+7200 writes Throughput 0 (line 2, sda: kB_wrtn/s)
        devices: Read(3)
        ! line 2: its only report is a mean since the host was started (unless it was run with -y), which hides all peaks: let it run longer, as in iostat -xt 10 or vmstat -t 10",
    );
}

#[test]
fn a_truncated_row_is_skipped_and_the_rest_is_read() {
    let heading = "Device             r/s     w/s    rkB/s    wkB/s\n";
    let text = format!("{heading}sda 1 1 1 1\nsdb 1 1 1 1\n\n{heading}sda 2 0 0 0\nsdb 2 0");
    check(
        FormatInput { interval: Some(Span::from_secs(1)), ..FormatInput::from("test") },
        &text,
        "
        iostat -
        /sda -+1 reads Iops 2 (line 6, sda: r/s)
        /sda -+1 writes Iops 0 (line 6, sda: w/s)
        /sda -+1 reads Throughput 0 (line 6, sda: rkB/s)
        /sda -+1 writes Throughput 0 (line 6, sda: wkB/s)
        devices: Read(4)
        first report, since boot: Ignored
        rows of devices: Broken
        ! line 7: an unreadable row of devices: skipped",
    );
    // A device without a complete row is no idle one.
    let text = format!("{heading}sda 1 1 1 1\n\n{heading}sda 2 0 0 0\nsdb 2 0 3.");
    check(
        FormatInput { interval: Some(Span::from_secs(1)), ..FormatInput::from("test") },
        &text,
        "
        iostat -
        /sda -+1 reads Iops 2 (line 5, sda: r/s)
        /sda -+1 writes Iops 0 (line 5, sda: w/s)
        /sda -+1 reads Throughput 0 (line 5, sda: rkB/s)
        /sda -+1 writes Throughput 0 (line 5, sda: wkB/s)
        devices: Read(4)
        first report, since boot: Ignored
        rows of devices: Broken
        ! line 6: an unreadable row of devices: skipped",
    );
}

#[test]
fn json_has_the_same_figures() {
    let sample = |time: &str, reads: f64| {
        format!(
            "{{\"timestamp\": \"2025-03-24T16:46:{time}-0700\", \"disk\": [\n{{\"disk_device\": \"sda\", \"r/s\": {reads}, \
             \"rkB/s\": 800.0, \"r_await\": 0.5, \"rareq-sz\": 8.0, \"aqu-sz\": 0.05, \"util\": 5.0}}]}}"
        )
    };
    let head = "{\"sysstat\": {\"hosts\": [{\"nodename\": \"host1\", \"release\": \"6.1.0\",\n\"statistics\": [\n";
    let text = format!("{head}{},\n{}", sample("00", 1.0), sample("10", 100.0));
    let expected = "
        sysstat-json Linux 6.1.0
        host1/sda 2025-03-24T23:46:00+10 reads Iops 100 (line 5, sda: r/s)
        host1/sda 2025-03-24T23:46:00+10 all Depth 0.05 (line 5, sda: aqu-sz)
        host1/sda 2025-03-24T23:46:00+10 reads Latency 0.5 ms (line 5, sda: r_await)
        host1/sda 2025-03-24T23:46:00+10 reads Size 8192 (line 5, sda: rareq-sz)
        host1/sda 2025-03-24T23:46:00+10 reads Throughput 819200 (line 5, sda: rkB/s)
        host1/sda 2025-03-24T23:46:00+10 all Busy 0.05 (line 5, sda: util)
        devices: Read(6)
        first report, since boot: Ignored";
    check("test", &format!("{text}]}}]}}}}"), expected);
    // Ended by Ctrl-C: complete reports are read.
    let cut = "
        document: Broken
        ! line 6: it is not JSON from here on (EOF while parsing a list at line 6 column 114), because it is truncated or has decimal commas: run it with LC_ALL=C";
    check("test", &text, &format!("{expected}{cut}"));
}

#[test]
fn processors_in_use_are_read_from_json() {
    let host = |statistics: &str| {
        format!(
            r#"{{"sysstat": {{"hosts": [{{"nodename": "host1", "number-of-cpus": 24, "statistics": [{statistics}]}}]}}}}"#
        )
    };
    let used = |text: &str| resources(&reading(text), Resource::UsedProcessors);
    let report = |time: u32, idle: f64| {
        format!(
            r#"{{"timestamp": "2025-03-24T16:46:{time}-0700", "avg-cpu": {{"user": 1, "iowait": 15, "steal": 5, "idle": {idle}}},
                "disk": [{{"disk_device": "sda", "r/s": 100, "rkB/s": 800}}]}}"#
        )
    };
    // The first report is a mean since boot. Waiting for storage and for the hypervisor uses no processor.
    near(&used(&host(&format!("{}, {}", report(10, 0.0), report(20, 30.0)))), &[12.0]);
    let activity = r#"{"timestamp": {"date": "2025-03-24", "time": "10:00:10", "utc": 1, "interval": 10},
        "cpu-load": [{"cpu": "all", "idle": 70, "iowait": 5}, {"cpu": "0", "idle": 0}],
        "disk": [{"disk-device": "sda", "tps": 30, "rkB": 160, "wkB": 80}]}"#;
    near(&used(&host(activity)), &[6.0]);
    near(&used(&host(&activity.replace("idle", "other"))), &[]);
}

#[test]
fn other_outputs_are_refused_by_name() {
    let heading = "Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n";
    assert!(refusal(heading.as_bytes()).contains("no row below it"));
    let solaris = "                    extended device statistics              \n    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n";
    assert!(refusal(solaris.as_bytes()).contains("only iostat, sar and vmstat of Linux"));
    let aix = "System configuration: lcpu=8 drives=3\n\nDisks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn\nhdisk0 1 1 1 1 1\n";
    assert!(refusal(aix.as_bytes()).contains("only iostat, sar and vmstat of Linux"));
    let sar = "SunOS db1 5.10 Generic_147440-01 sun4v    03/02/2026\n\n00:00:01   device        %busy   avque   r+w/s  blks/s  avwait  avserv\n00:05:01   sd0               2     0.0       3      59     0.0     8.1\n";
    let refused = refusal(sar.as_bytes());
    assert!(
        refused.contains("only iostat, sar and vmstat of Linux") && refused.contains("sar of another system"),
        "{refused}"
    );
    assert!(refusal(b"\x96\xd5\x75\x21 and more").contains("sar -bd -f FILE"));
    let xml = "<?xml version=\"1.0\"?>\n<!DOCTYPE sysstat>\n<sysstat>\n<host nodename=\"host1\">";
    assert!(refusal(xml.as_bytes()).contains("sadf -d FILE"));
    let cpu =
        "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n  1.19    0.00    4.40    0.00    0.00   94.41\n";
    assert!(refusal(cpu.as_bytes()).contains("run it without -c"));
}

#[test]
fn a_size_that_contradicts_bytes_and_operations_is_derived() {
    // Some versions print half of the mean size of all operations for reads and for writes.
    let report = |reads: &str| {
        format!(
            "Device            r/s     w/s     rMB/s     wMB/s   rrqm/s   wrqm/s r_await w_await aqu-sz rareq-sz wareq-sz  %util\n\
             sdb           {reads} 1076.67     18.82     10.27    74.67   134.00    0.26    0.38   1.28     3.41     9.77  28.13\n\n"
        )
    };
    let text = ["3292.33", "3292.33", "3292.33"].map(report).concat();
    let found = reading(&text);
    let sizes: Vec<(f64, &str)> = found
        .figures
        .iter()
        .filter(|figure| figure.measure == plimsoll_ingest::Measure::Size)
        .map(|figure| (figure.value, &*figure.origin.field))
        .take(2)
        .collect();
    let derived = 18.82 * 1_048_576.0 / 3_292.33;
    assert!((sizes[0].0 - derived).abs() < 1e-6 && sizes[0].1 == "rMB/s over r/s", "{sizes:?}");
    assert!((sizes[1].0 - 9.77 * 1_024.0).abs() < 1e-6 && sizes[1].1 == "wareq-sz", "{sizes:?}");
}
