//! Throughput in MB/s of each input format on a single core, with peak memory.
//!
//! `cargo bench -p plimsoll-ingest --bench forms [FORM]`. Inputs are generated: each format is an entry of `FORMS` with
//! its head and a generator of samples.
// Benches are outside the pure crate and may use clocks, arguments and kernel files.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write;
use std::time::Instant;

use plimsoll_ingest::{Ingest, Outcome};

/// Bytes of each input.
const SIZE: usize = 240 << 20;
const DEVICES: u64 = 8;

/// A format: name, text before the samples, sample generator, and end of the input.
struct Form {
    name: &'static str,
    head: &'static str,
    sample: fn(u64, &mut String),
    tail: &'static str,
}

const FORMS: &[Form] = &[
    Form { name: "iostat", head: BANNER, sample: iostat, tail: "" },
    Form { name: "iostat (old)", head: BANNER, sample: iostat_old, tail: "" },
    Form { name: "sysstat-json", head: JSON_HEAD, sample: iostat_json, tail: "{}]}]}}" },
    Form { name: "sar", head: BANNER, sample: sar, tail: "" },
    Form {
        name: "sadf",
        head: "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n",
        sample: sadf,
        tail: "",
    },
    Form { name: "vmstat", head: VMSTAT_HEAD, sample: vmstat, tail: "" },
];

const BANNER: &str = "Linux 6.1.0 (host1) \t03/24/2025 \t_x86_64_\t(16 CPU)\n\n";
const JSON_HEAD: &str = "{\"sysstat\": {\"hosts\": [{\"nodename\": \"host1\", \"statistics\": [\n";
const VMSTAT_HEAD: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `cargo test --benches` passes --test.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    println!("one core, {DEVICES} devices, {} MB each\n", SIZE / 1_000_000);
    println!("| form | MB/s | figures kept |\n|---|---|---|");
    for form in FORMS.iter().filter(|form| arguments.is_empty() || arguments.iter().any(|name| name == form.name)) {
        measure(form);
    }
    println!("\nmost memory: {}", most_memory().unwrap_or_default());
}

fn measure(form: &Form) {
    let mut ingest = Ingest::new(form.name);
    ingest.feed(form.head.as_bytes());
    let (mut piece, mut fed, mut number, mut seconds) = (String::new(), 0, 0, 0.0);
    while fed < SIZE {
        piece.clear();
        while piece.len() < 1 << 20 {
            (form.sample)(number, &mut piece);
            number += 1;
        }
        let start = Watch::start();
        ingest.feed(piece.as_bytes());
        seconds += start.seconds();
        fed += piece.len();
    }
    let start = Watch::start();
    ingest.feed(form.tail.as_bytes());
    let outcome = ingest.finish().remove(0);
    seconds += start.seconds();
    let figures = match &outcome {
        Outcome::Read(reading) => reading.figures.len().to_string(),
        Outcome::Refused { refusal, .. } => refusal.to_string(),
    };
    println!("| {} | {:.0} | {figures} |", form.name, fed as f64 / 1e6 / seconds);
}

/// CPU time, which excludes other processes; wall time if the kernel does not provide it.
struct Watch {
    began: Instant,
    ran_ns: Option<u64>,
}

impl Watch {
    fn start() -> Self {
        Self { began: Instant::now(), ran_ns: ran_ns() }
    }

    fn seconds(&self) -> f64 {
        match (self.ran_ns, ran_ns()) {
            (Some(before), Some(after)) => (after - before) as f64 / 1e9,
            _ => self.began.elapsed().as_secs_f64(),
        }
    }
}

fn ran_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

/// Peak memory of the process, from the kernel.
fn most_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_owned())
}

/// A number that varies between samples.
fn some(number: u64, device: u64, below: u64) -> f64 {
    let mixed = (number * DEVICES + device).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (mixed % (below * 100)) as f64 / 100.0
}

fn clock(second: u64) -> String {
    format!("{:02}:{:02}:{:02}", second / 3_600 % 24, second / 60 % 60, second % 60)
}

fn day(second: u64) -> String {
    format!("{}-{:02}-{:02}", 2020 + second / 86_400 / 336, 1 + second / 86_400 / 28 % 12, 1 + second / 86_400 % 28)
}

fn iostat(number: u64, out: &mut String) {
    writeln!(out, "{}T{}+0000", day(number), clock(number)).unwrap();
    out.push_str(
        "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          12.13    0.00    7.74    1.38    0.00   \
         78.75\n\nDevice            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm \
         w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util\n",
    );
    for device in 0..DEVICES {
        let (reads, writes) = (some(number, device, 900), some(number, device, 300));
        writeln!(
            out,
            "nvme{device}n1      {reads:>9.2} {:>9.2}     0.00   0.00    0.42     8.00 {writes:>7.2} {:>9.2}     1.00   0.20    \
             0.31    16.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00 {:>7.2} {:>6.2}",
            reads * 8.0,
            writes * 16.0,
            reads * 0.000_42,
            reads / 10.0,
        )
        .unwrap();
    }
    out.push_str("\n\n");
}

fn iostat_old(number: u64, out: &mut String) {
    writeln!(out, "{}T{}+0000", day(number), clock(number)).unwrap();
    out.push_str(
        "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util\n",
    );
    for device in 0..DEVICES {
        let reads = some(number, device, 900);
        writeln!(
            out,
            "sd{}               0.00     0.00 {reads:>8.2}    0.00 {:>8.2}     0.00    16.00 {:>8.2}    0.42    0.42    0.00   0.10 {:>6.2}",
            char::from(b'a' + device as u8),
            reads * 8.0,
            reads * 0.000_42,
            reads / 10.0,
        )
        .unwrap();
    }
    out.push('\n');
}

fn iostat_json(number: u64, out: &mut String) {
    write!(out, "{{\"timestamp\": \"{}T{}+0000\", \"disk\": [", day(number), clock(number)).unwrap();
    for device in 0..DEVICES {
        let (comma, reads) = (if device > 0 { "," } else { "" }, some(number, device, 900));
        write!(
            out,
            "{comma}\n{{\"disk_device\": \"nvme{device}n1\", \"r/s\": {reads:.2}, \"w/s\": 1.00, \"rkB/s\": {:.2}, \"wkB/s\": 8.00, \
             \"rrqm/s\": 0.00, \"r_await\": 0.42, \"w_await\": 0.31, \"rareq-sz\": 8.00, \"wareq-sz\": 8.00, \"aqu-sz\": 0.10, \
             \"util\": {:.2}}}",
            reads * 8.0,
            reads / 10.0,
        )
        .unwrap();
    }
    out.push_str("]},\n");
}

fn sar(number: u64, out: &mut String) {
    let second = 10 * number;
    let (from, at) = (clock(second), clock(second + 10));
    writeln!(
        out,
        "\n{from}          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util"
    )
    .unwrap();
    for device in 0..DEVICES {
        let all = some(number, device, 900);
        writeln!(
            out,
            "{at}       dev8-{} {all:>9.2} {:>9.2}      0.00      0.00      8.00 {:>9.2}      0.42 {:>9.2}",
            device * 16,
            all * 8.0,
            all * 0.000_42,
            all / 10.0,
        )
        .unwrap();
    }
}

fn sadf(number: u64, out: &mut String) {
    for device in 0..DEVICES {
        let (all, second) = (some(number, device, 900), 10 * number);
        writeln!(
            out,
            "host1;10;{} {} UTC;dev8-{};{all:.2};{:.2};0.00;0.00;8.00;{:.2};0.42;{:.2}",
            day(second),
            clock(second),
            device * 16,
            all * 8.0,
            all * 0.000_42,
            all / 10.0,
        )
        .unwrap();
    }
}

fn vmstat(number: u64, out: &mut String) {
    let bytes = some(number, 0, 9_000);
    writeln!(
        out,
        " 2  0      0 2794696 295968 312736    0    0 {bytes:>5.0}   128 2900 5700 10  2 80  8  0 {} {}",
        day(number),
        clock(number),
    )
    .unwrap();
}
