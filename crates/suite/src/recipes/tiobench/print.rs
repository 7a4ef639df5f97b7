//! The boxes and lines of tiotest, and the tables of tiobench.
//!
//! Knows figures only. Where there is no processor time, as in virtual time, a dash stands for it.

use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Span};

use super::super::phase::{Phase, per_second};
use super::Test;

const MIB: f64 = 1_048_576.0;
/// Operations above these are counted.
const SLOW: [Span; 2] = [Span::from_secs(2), Span::from_secs(10)];

/// What is printed of a test.
pub(super) type Rows = [(Test, Phase)];

fn mib(phase: &Phase) -> f64 {
    phase.bytes as f64 / MIB
}

fn mib_per_second(phase: &Phase) -> f64 {
    phase.bytes_per_second().unwrap_or(0.0) / MIB
}

fn per_cent(phase: &Phase, part: impl Fn(&plimsoll_record::CpuTime) -> Span) -> Option<f64> {
    per_second(part(phase.cpu.as_ref()?).as_secs_f64() * 100.0, phase.span)
}

fn mean_ms(times: &Bins) -> f64 {
    if times.is_empty() { 0.0 } else { times.sum_ns as f64 / times.count as f64 / 1e6 }
}

fn longest_ms(times: &Bins) -> f64 {
    times.max_ns as f64 / 1e6
}

/// Per cent of the operations that took longer.
fn above(times: &Bins, limit: Span) -> f64 {
    // A share of one is exact: what is left after it would not be zero.
    let within = times.share_within(limit);
    if within >= 1.0 { 0.0 } else { (1.0 - within) * 100.0 }
}

/// The first box.
pub(super) fn rates(threads: u32, rows: &Rows) -> String {
    let mut text = format!("Tiotest results for {threads} concurrent io threads:\n");
    text += ",----------------------------------------------------------------------.\n";
    text += "| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |\n";
    text += "+-----------------------+----------+--------------+----------+---------+\n";
    for (test, phase) in rows {
        let amount = mib(phase);
        let item = match test {
            Test::Write => format!("Write {amount:>11.0}"),
            Test::RandomWrite => format!("Random Write {amount:>4.0}"),
            Test::Read => format!("Read {amount:>12.0}"),
            Test::RandomRead => format!("Random Read {amount:>5.0}"),
        };
        let cpu = |share: Option<f64>| share.map_or("    -".into(), |share| format!("{share:5.1}"));
        let (user, system) = (per_cent(phase, |cpu| cpu.user), per_cent(phase, |cpu| cpu.system));
        let (seconds, rate) = (phase.span.as_secs_f64(), mib_per_second(phase));
        text += &format!("| {item} MBs | {seconds:6.1} s | {rate:7.3} MB/s | {} %  | {} % |\n", cpu(user), cpu(system));
    }
    text + "`----------------------------------------------------------------------'\n"
}

/// The second box.
pub(super) fn latencies(rows: &Rows) -> String {
    let mut text = "Tiotest latency results:\n".to_owned();
    text += ",-------------------------------------------------------------------------.\n";
    text += "| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |\n";
    let line = "+--------------+-----------------+-----------------+----------+-----------+\n";
    text += line;
    let row = |name: &str, times: &Bins| {
        let [mean, longest] = [mean_ms(times), longest_ms(times)];
        let [some, many] = SLOW.map(|limit| above(times, limit));
        format!("| {name:<12} | {mean:12.3} ms | {longest:12.3} ms | {some:8.5} | {many:9.5} |\n")
    };
    for (test, phase) in rows {
        text += &row(title(*test), &phase.times);
    }
    text += &line.replacen('+', "|", 1).replace("+\n", "|\n");
    text += &row("Total", &total(rows));
    text + "`--------------+-----------------+-----------------+----------+-----------'\n\n"
}

const fn title(test: Test) -> &'static str {
    match test {
        Test::Write => "Write",
        Test::RandomWrite => "Random Write",
        Test::Read => "Read",
        Test::RandomRead => "Random Read",
    }
}

fn total(rows: &Rows) -> Bins {
    let mut total = Bins::default();
    for (_, phase) in rows {
        total.merge(&phase.times);
    }
    total
}

/// Lines of commas: MiB, seconds, user and system seconds, mean and longest in milliseconds, shares above 2 and 10 s.
pub(super) fn terse(rows: &Rows) -> String {
    let mut text = String::new();
    for (test, phase) in rows {
        let name = match test {
            Test::Write => "write",
            Test::RandomWrite => "rwrite",
            Test::Read => "read",
            Test::RandomRead => "rread",
        };
        let cpu = |span: Option<Span>| span.map_or("-".into(), |span| format!("{:.5}", span.as_secs_f64()));
        let (user, system) = (phase.cpu.map(|cpu| cpu.user), phase.cpu.map(|cpu| cpu.system));
        let (amount, seconds) = (mib(phase), phase.span.as_secs_f64());
        text +=
            &format!("{name}:{amount:.5},{seconds:.5},{},{},{}\n", cpu(user), cpu(system), terse_times(&phase.times));
    }
    text + &format!("total:{}\n", terse_times(&total(rows)))
}

fn terse_times(times: &Bins) -> String {
    let [some, many] = SLOW.map(|limit| above(times, limit));
    format!("{:.5},{:.5},{some:.5},{many:.5}", mean_ms(times), longest_ms(times))
}

/// Rounds with one number of threads, added up.
struct Row {
    threads: u32,
    rounds: Vec<Phase>,
}

impl Row {
    fn sum(&self, of: impl Fn(&Phase) -> f64) -> f64 {
        self.rounds.iter().map(of).sum()
    }

    fn text(&self, identifier: &str, size: Bytes, block: u32) -> String {
        let seconds = self.sum(|phase| phase.span.as_secs_f64()).max(f64::MIN_POSITIVE);
        let rate = self.sum(mib) / seconds;
        let used = |phase: &Phase| phase.cpu.map_or(f64::NAN, |cpu| (cpu.user + cpu.system).as_secs_f64());
        let cpu = Some(100.0 * self.sum(used) / seconds).filter(|cpu| !cpu.is_nan());
        let cpu_text: String = cpu.map_or("-".into(), five_letters);
        // The program adds a little below the line, so that nothing is divided by zero.
        let efficiency = cpu.map_or("-".into(), |cpu| format!("{:.0}", rate / (cpu / 100.0 + 1e-5)));
        // It adds up the latencies of rounds too, and so prints their sum. Here stands what one name means.
        let rounds = self.rounds.len().max(1) as f64;
        let mean = self.sum(|phase| mean_ms(&phase.times)) / rounds;
        let longest = self.rounds.iter().map(|phase| longest_ms(&phase.times)).fold(0.0, f64::max);
        let [some, many] = SLOW.map(|limit| self.sum(|phase| above(&phase.times, limit)) / rounds);
        let name: String = identifier.chars().take(28).collect();
        let size = centred(&(size.get() >> 20).to_string());
        format!(
            "{name:<28} {size} {} {:>3}  {rate:>12.2} {cpu_text:>5}% {mean:>9.3} {longest:>11.2}  {some:>8.5} {many:>8.5} \
             {efficiency:>7}\n",
            centred(&block.to_string()),
            self.threads,
        )
    }
}

/// The first five letters of a number that was rounded to 15 digits: what fits into its column.
fn five_letters(value: f64) -> String {
    let whole = format!("{value:.12}");
    whole.trim_end_matches('0').trim_end_matches('.').chars().take(5).collect()
}

/// In the middle of six characters, the odd one to the right.
fn centred(text: &str) -> String {
    format!("{text:^6}")
}

const HEAD: &str =
    "                              File   Blk   Num                         Avg      Maximum      Lat%     Lat%     CPU
Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency      >2s      >10s     Eff
---------------------------- ------ ------ ---  ------------ ------ --------- -----------  -------- -------- -------
";

const UNITS: &str = "
Unit information
================
File size = megabytes (2^20 bytes, 1,048,576 bytes)
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load
";

/// The four tables, a row for each number of threads.
pub(super) fn tables(
    identifier: &str,
    threads: &[u32],
    size: Bytes,
    block: u32,
    passes: &[(u32, Vec<(Test, Phase)>)],
) -> String {
    let titles = [
        (Test::Read, "Sequential Reads"),
        (Test::RandomRead, "Random Reads"),
        (Test::Write, "Sequential Writes"),
        (Test::RandomWrite, "Random Writes"),
    ];
    let mut text = UNITS.to_owned();
    for (wanted, title) in titles {
        text += &format!("\n{title}\n{}\n{HEAD}", "=".repeat(title.len()));
        for count in threads {
            let of = |pass: &(u32, Vec<(Test, Phase)>)| pass.1.iter().find(|(test, _)| *test == wanted).cloned();
            let rounds = passes.iter().filter(|pass| pass.0 == *count).filter_map(of).map(|(_, phase)| phase);
            let row = Row { threads: *count, rounds: rounds.collect() };
            if !row.rounds.is_empty() {
                text += &row.text(identifier, size, block);
            }
        }
    }
    text
}
