//! Properties of any input: outcomes are independent of piece sizes, and arbitrary bytes yield an outcome.

use proptest::prelude::*;

use super::{describe, outcome};

const IOSTAT: &str = "Linux 6.1.0 (host1) \t03/24/2025 \t_x86_64_\t(16 CPU)\r
\r
Device             r/s     w/s    rkB/s    wkB/s r_await w_await\r
sda               1.00    1.00     8.00     8.00    1.00    1.00\r
\r
03/24/2025 16:46:10\r
Device             r/s     w/s    rkB/s    wkB/s r_await w_await\r
sda               2.00    1.00     8.00     8.00    1.00    1.00\r
dm-0              2.00    1.00     8.00     8.00    1.00    1.00\r
\r
";
const SAR: &str = "Linux 6.1.0 (host1) \t03/24/2025 \t_x86_64_\t(16 CPU)

10:00:00          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
10:00:10          sda      2.00     16.00      0.00      8.00      0.00      1.00      0.02

10:00:00          tps      rtps      wtps   bread/s   bwrtn/s
10:00:10         2.00      2.00      0.00     32.00      0.00
";
const SADF: &str = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util
host1;10;2025-03-24 10:00:10 UTC;sda;20.00;160.00;0.00;8.00;0.20;1.00;10.00
";
const VMSTAT: &str = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 2  0      0 279469   2108 741208    0    0     9     9   29   57  0  0 99  0  0
 2  0      0 279469   2108 741208    0    0    10    20   29   57  0  0 99  0  0
disk- ------------reads------------ ------------writes----------- -----IO------
       total merged sectors      ms  total merged sectors      ms    cur    sec
sda     1000      0    8000     500    500      0    8000    1000      0     10
";
const JSON: &str = r#"{"sysstat": {"hosts": [{"nodename": "host1", "statistics": [
{"disk": [{"disk_device": "sda", "r/s": 1.0, "w/s": 1.0, "rkB/s": 8.0, "wkB/s": 8.0}]},
{"disk": [{"disk_device": "sda", "r/s": 2.0, "w/s": 1.0, "rkB/s": 8.0, "wkB/s": 8.0}]}]}]}}"#;
const ALL: [&str; 5] = [IOSTAT, SAR, SADF, VMSTAT, JSON];

proptest! {
    #[test]
    fn outcomes_are_independent_of_piece_sizes(which in 0..ALL.len(), step in 1_usize..200) {
        let text = ALL[which];
        prop_assert_eq!(describe(&outcome("test", text.as_bytes(), text.len())), describe(&outcome("test", text.as_bytes(), step)));
    }

    #[test]
    fn damage_yields_an_outcome(which in 0..ALL.len(), damage in prop::collection::vec((0_usize..600, any::<u8>()), 0..20), cut in 0_usize..700) {
        let mut bytes = ALL[which].as_bytes().to_vec();
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut.max(1));
        describe(&outcome("test", &bytes, 64));
    }

    #[test]
    fn lines_in_any_order_yield_an_outcome(lines in prop::collection::vec((0..ALL.len(), 0_usize..12), 0..40)) {
        let lines = lines.into_iter().map(|(which, line)| ALL[which].lines().nth(line).unwrap_or_default());
        let text: Vec<&str> = lines.collect();
        describe(&outcome("test", text.join("\n").as_bytes(), 64));
    }
}
