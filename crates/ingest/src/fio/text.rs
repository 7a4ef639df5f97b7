//! fio's text output, versions 2 and 3; several runs in a file, each line possibly with the prefix `<host>`.

use std::collections::{BTreeSet, VecDeque};

use plimsoll_language::label;

use super::job::{ALL_CLIENTS, Got, JobResult, MAX_JOBS, Options, emit, parse_equal_size, too_many};
use super::judge::{self, DiskUse};
use super::without_progress;
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate};
use crate::refusal::{InputFault, Refusal};
use crate::text;

/// Text of fio.
pub(crate) const FORM: Form = Form::lines("fio-text", "fio result (text)", is_fio, |_| Box::new(FioText::default()));

fn is_fio(head: &Head<'_>) -> Resemblance {
    // The manual has examples of all marks.
    if head.text().starts_with(".TH") || head.has_any(&["\n.SH ", "\n.. option::"]) {
        return Resemblance::None;
    }
    let result = head.has(": (groupid=") && head.has("err=");
    let begun = head.has(": (g=") && head.has("ioengine=");
    let is = Resemblance::is(6, result && head.has_any(&["BW=", " bw="])).or_near(3, result, "line of reads or writes");
    is.or_near(3, begun, "result: let the test run to its end")
}

#[derive(Default)]
struct FioText {
    /// Options of jobs by host and name, from the lines at the beginning of a run.
    options: Vec<([String; 2], Options)>,
    clients: Clients,
    jobs: Vec<JobResult>,
    emitted: u32,
    /// The direction of the current lines.
    direction: Option<TextDirection>,
    /// The latency of quantile continuation lines, with its unit.
    quantiles: Option<(TextLatency, f64)>,
    /// The summaries of groups follow the jobs of a run.
    is_ended: bool,
    /// Lines of the disks after these.
    disks: Vec<String>,
}

/// Maximum lines of disks of a run.
const MAX_DISKS: usize = 10_000;

/// The hosts of client mode. Each client announces its results by an empty line with its name. fio prints the results
/// later and without a name, so that they are assigned in the order of these lines.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the lines so far")]
struct Clients {
    /// Whether lines of clients were found.
    is_used: bool,
    /// Announced clients without results so far.
    announced: VecDeque<String>,
    /// Client of the current results.
    host: String,
    /// Whether the next job belongs to the next client.
    is_next: bool,
    /// Whether the run has ended.
    is_complete: bool,
    /// Whether several clients were announced before the results of the first.
    is_ambiguous: bool,
    /// All connected clients.
    connected: BTreeSet<String>,
}

impl Clients {
    /// Maximum number of announced clients.
    const MAX_CLIENTS: usize = 10_000;

    fn announce(&mut self, host: &str) {
        if self.announced.len() < Self::MAX_CLIENTS {
            self.announced.push_back(host.to_owned());
        }
        self.is_next = true;
    }

    fn connect(&mut self, host: &str) {
        if self.connected.len() < Self::MAX_CLIENTS && !self.connected.contains(host) {
            self.connected.insert(host.to_owned());
        }
    }

    /// Names of connected clients without results, if others have some.
    fn without_results(&self, jobs: &[JobResult]) -> Option<String> {
        let has_results = |host: &String| jobs.iter().any(|job| job.host == **host);
        let missing: Vec<&str> = self.connected.iter().filter(|host| !has_results(host)).map(String::as_str).collect();
        // A single client has no prefix, and its results no host.
        (self.is_used && !missing.is_empty() && !jobs.is_empty()).then(|| missing.join(", "))
    }

    /// The client of a job whose line has no name.
    fn of_job(&mut self) -> String {
        if std::mem::take(&mut self.is_next)
            && let Some(host) = self.announced.pop_front()
        {
            self.is_ambiguous |= self.announced.iter().any(|other| *other != host);
            self.host = host;
        }
        self.host.clone()
    }
}

/// The place of a direction in a job.
type TextDirection = fn(&mut JobResult) -> &mut Option<Got>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextLatency {
    Total,
    Completion,
    /// Submission latency, unused.
    Other,
}

impl LineFormat for FioText {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let line = without_progress(line);
        // In client mode, lines have the server's name as a prefix.
        let (host, line) = match line.strip_prefix('<').and_then(|rest| rest.split_once("> ")) {
            Some((host, rest)) => (host, rest),
            None => ("", line),
        };
        let trimmed = line.trim();
        self.clients.is_used |= !host.is_empty();
        if !host.is_empty() {
            self.clients.connect(host);
        }
        // `hostname=db1, be=0, 64-bit, os=Linux`: the clients of a run connect at its beginning.
        if let Some(name) = trimmed.strip_prefix("hostname=").and_then(|rest| rest.split(',').next()) {
            if !self.jobs.is_empty() {
                self.flush(out);
            }
            self.clients.connect(name);
            return Ok(());
        }
        if trimmed.is_empty() && !host.is_empty() {
            self.clients.announce(host);
            return Ok(());
        }
        if let Some((name, rest)) = trimmed.split_once(": (g=") {
            self.begin([host, name], rest, out);
            return Ok(());
        }
        if let Some((name, rest)) = trimmed.split_once(": (groupid=") {
            return self.job(host, name, rest, number, out);
        }
        if trimmed.starts_with("Run status group") {
            // The jobs of other clients follow.
            if self.clients.is_used {
                (self.clients.is_next, self.clients.is_complete) = (true, true);
            } else {
                self.is_ended = true;
            }
        } else if self.is_ended {
            if self.disks.len() < MAX_DISKS && DiskUse::of_line(trimmed).is_some() {
                self.disks.push(trimmed.to_owned());
            }
        } else if trimmed.starts_with("fio-") && !trimmed.contains(' ') {
            out.version(trimmed);
        } else if !self.jobs.is_empty() {
            self.result(trimmed, number);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        if !self.jobs.is_empty() && !self.clients.is_complete && !self.is_ended {
            out.caution(None, Doubt::UnfinishedRun);
            out.part("last run", Fate::Broken);
        }
        self.flush(out);
        out.require(self.emitted > 0, InputFault::Unfinished { lacks: label!("job with operations") })?;
        out.part("jobs", Fate::Read(self.emitted));
        Ok(())
    }
}

impl FioText {
    /// Emits the jobs so far.
    fn flush(&mut self, out: &mut Builder) {
        let mut jobs = std::mem::take(&mut self.jobs);
        let clients = std::mem::take(&mut self.clients);
        if clients.is_ambiguous {
            out.caution(None, Doubt::NamelessClients);
        }
        if let Some(hosts) = clients.without_results(&jobs) {
            out.caution(None, Doubt::ClientsWithoutResults { hosts });
        }
        judge::judge(&mut jobs, DiskUse::of_lines(&std::mem::take(&mut self.disks)));
        self.is_ended = false;
        self.emitted += emit(&jobs, out);
        (self.direction, self.quantiles) = (None, None);
    }

    /// `NAME: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, ioengine=libaio, iodepth=32`.
    fn begin(&mut self, key: [&str; 2], rest: &str, out: &mut Builder) {
        // A new run ends the preceding one, even without its final lines.
        if !self.jobs.is_empty() {
            self.flush(out);
        }
        let mut options = Options::default();
        for key in ["rw", "ioengine", "iodepth"] {
            if let Some(value) = after(rest, &format!("{key}=")) {
                options.take(key, value);
            }
        }
        let sizes = rest.split_once("bs=").map_or("", |(_, sizes)| sizes.split(", ioengine").next().unwrap_or(""));
        let sizes: String =
            sizes.split("(R)").flat_map(|part| part.split("(W)")).flat_map(|part| part.split("(T)")).collect();
        options.block = parse_equal_size(&sizes.replace(' ', ""));
        self.options.retain(|(existing, _)| *existing != key);
        if self.options.len() < MAX_JOBS {
            self.options.push((key.map(str::to_owned), options));
        }
    }

    /// `NAME: (groupid=0, jobs=8): err= 0: pid=4692: Tue Apr  4 17:34:19 2017`.
    fn job(&mut self, host: &str, name: &str, rest: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        // Jobs of a group are adjacent; another run may reuse the group number.
        if self.is_ended {
            self.flush(out);
        }
        if self.jobs.len() >= MAX_JOBS {
            return Err(too_many(number, out));
        }
        let is_total = name == ALL_CLIENTS && host.is_empty() && self.clients.is_used;
        let host = match host {
            _ if is_total => String::new(),
            "" => self.clients.of_job(),
            host => host.to_owned(),
        };
        self.clients.is_complete |= is_total;
        let options = self.options.iter().find(|([on, existing], _)| *on == host && existing == name);
        let options = options.map(|(_, options)| options.clone());
        let existing = options.is_some();
        let options = options.unwrap_or_default();
        let threads = after(rest, "jobs=").and_then(text::parse_count);
        let setting = options.setting(threads);
        let group = rest.split([',', ')']).next().and_then(|group| group.trim().parse().ok());
        self.jobs.push(JobResult {
            name: name.to_owned(),
            host,
            is_total,
            group: group.unwrap_or(0),
            error: after(rest, "err=").and_then(|error| error.trim_matches([':', ' ', '-']).parse().ok()).unwrap_or(0),
            offering: options.offering(threads),
            setting: crate::reading::Setting { depth: setting.depth.filter(|_| existing), ..setting },
            ..JobResult::default()
        });
        (self.direction, self.quantiles) = (None, None);
        Ok(())
    }

    fn result(&mut self, line: &str, number: u64) {
        if line.starts_with('|') {
            return self.percentiles(line);
        }
        self.quantiles = None;
        let (key, rest) = line.split_once([':', '=']).unwrap_or((line, ""));
        let key = key.trim();
        // fio 3.42 also names `syncfs`.
        let of_syncs = key.starts_with("fsync/fdatasync/sync_file_range");
        let direction: Option<TextDirection> = match key {
            "read" => Some(|job| &mut job.reads),
            "write" => Some(|job| &mut job.writes),
            "trim" => Some(|job| &mut job.trims),
            "mixed" => Some(|job| &mut job.mixed),
            _ if of_syncs => Some(|job| &mut job.syncs),
            _ => None,
        };
        if let Some(direction) = direction {
            self.direction = Some(direction);
            let got = if of_syncs { Got::default() } else { rates(rest) };
            if let Some(job) = self.jobs.last_mut() {
                *direction(job) = Some(Got { line: number, field: key.to_owned(), ..got });
            }
        } else if let Some((latency, unit, is_quantiles)) = parse_latency(line) {
            if is_quantiles {
                self.quantiles = Some((latency, unit));
            } else if let Some(mean) = after(rest_of(line), "avg=").and_then(text::parse_count) {
                self.mean(latency, mean * unit);
            }
        } else if key.starts_with("issued") {
            self.issued(line);
        } else if ["cpu", "IO depths"].contains(&key) {
            self.direction = None;
            let share = |key: &str| text::parse_count(after(rest, key)?.trim_end_matches('%'));
            if let Some((job, (user, system))) = self.jobs.last_mut().zip(share("usr=").zip(share("sys="))) {
                job.processor = Some((user + system) / 100.0);
            }
        }
    }

    fn current(&mut self) -> Option<&mut Got> {
        let direction = self.direction?;
        direction(self.jobs.last_mut()?).as_mut()
    }

    fn mean(&mut self, latency: TextLatency, mean_s: f64) {
        let Some(got) = self.current() else { return };
        // The total follows completion, and replaces it.
        if latency != TextLatency::Other && mean_s > 0.0 {
            got.mean_s = Some(mean_s);
        }
    }

    /// `|  1.00th=[  876],  5.00th=[ 1576], ...`.
    fn percentiles(&mut self, line: &str) {
        let Some((latency, unit)) = self.quantiles.filter(|(latency, _)| *latency != TextLatency::Other) else {
            return;
        };
        let Some(got) = self.current() else { return };
        for pair in line.split(']') {
            let Some((percent, value)) = pair.split_once("th=[") else { continue };
            let percent = percent.trim_matches(['|', ',', ' ']).parse::<f64>();
            if let (Ok(percent), Some(value)) = (percent, text::parse_count(value)) {
                // Quantiles of the total follow those of completion, beginning again.
                if got.quantiles.last().is_some_and(|(last, _)| *last >= percent / 100.0)
                    && latency == TextLatency::Total
                {
                    got.quantiles.clear();
                }
                if value > 0.0 && got.quantiles.last().is_none_or(|(last, _)| *last < percent / 100.0) {
                    got.quantiles.push((percent / 100.0, value * unit));
                }
            }
        }
    }

    /// `issued rwts: total=210000,90000,0,0 short=...`, or `issued    : total=r=0/w=1048576/d=0, ...`.
    fn issued(&mut self, line: &str) {
        let Some((_, totals)) = line.split_once("total=") else { return };
        let totals = totals.split([' ', ';']).next().unwrap_or("");
        let of = |part: &str| part.rsplit('=').next().and_then(|count| count.parse::<f64>().ok());
        let counts: Vec<f64> = totals.split(['/', ',']).map_while(of).collect();
        let Some(job) = self.jobs.last_mut() else { return };
        for (got, count) in [&mut job.reads, &mut job.writes, &mut job.trims].into_iter().zip(&counts) {
            if let Some(got) = got {
                got.operations = Some(*count);
            }
        }
        // The fourth counts flushes, since version 3.
        if let (Some(syncs), Some(count)) = (&mut job.syncs, counts.get(3).filter(|count| **count > 0.0)) {
            syncs.operations = Some(*count);
        }
        // `short=0,0,0,0 dropped=0,0,0,0`, or `short=r=0/w=0/d=0, drop=r=0/w=0/d=0`.
        for (kind, keys) in [["short="; 2], ["dropped=", "drop="]].into_iter().enumerate() {
            let Some((_, rest)) = keys.iter().find_map(|key| line.split_once(key)) else { continue };
            let listed = rest.split([' ', ';']).next().unwrap_or("").trim_end_matches(',');
            let counts = listed.split(['/', ',']).map_while(of);
            for (got, count) in [&mut job.reads, &mut job.writes, &mut job.trims].into_iter().zip(counts) {
                if let Some(got) = got {
                    got.incomplete[kind] = count;
                }
            }
        }
    }
}

/// The text after a unit in brackets.
fn rest_of(line: &str) -> &str {
    line.split_once(')').map_or("", |(_, rest)| rest)
}

/// `io=6115.0MB, bw=103759KB/s, iops=101, runt= 60349msec`, or `IOPS=699, BW=2800KiB/s (2867kB/s)(820MiB/300003msec)`.
fn rates(line: &str) -> Got {
    let either = |new: &str, old: &str| after(line, new).or_else(|| after(line, old));
    let runtime =
        after(line, "runt=").or_else(|| line.rsplit_once('/').map(|(_, end)| end.split(')').next().unwrap_or("")));
    let lasted = runtime.and_then(|text| {
        let digits = text.trim_end_matches(char::is_alphabetic);
        Some(text::parse_count(digits)? * text::time_unit(&text[digits.len()..])?)
    });
    Got {
        iops: either("IOPS=", "iops=").and_then(text::parse_count),
        bytes_s: after(line, "BW=").map_or_else(|| after(line, "bw=").and_then(text::size), bandwidth),
        lasted_s: lasted.filter(|seconds| *seconds > 0.0),
        ..Got::default()
    }
}

/// `2800KiB/s`, `118MB/s` of 1,000 bytes with `kb_base=1000`, or with `unit_base=1` bits, `957Mibit/s`. Before 3.0,
/// `KB/s` are of 1,024 bytes.
fn bandwidth(text: &str) -> Option<f64> {
    let (number, unit) = text::leading(text).filter(|(number, _)| *number >= 0.0)?;
    let binary = text::byte_unit(unit)?;
    let is_decimal = unit.get(1..2).is_some_and(|next| next != "i");
    let bytes = if is_decimal && binary > 1.0 { 1000_f64.powf(binary.log(1024.0).round()) } else { binary };
    Some(number * if unit.contains("bit") { bytes / 8.0 } else { bytes })
}

/// `clat (usec): min=...`, `lat percentiles (nsec):`: the latency, its unit, and whether quantiles follow.
fn parse_latency(line: &str) -> Option<(TextLatency, f64, bool)> {
    let (name, rest) = line.split_once('(')?;
    let (unit, rest) = rest.split_once(')')?;
    let unit = text::time_unit(unit.trim())?;
    let name = name.trim();
    let is_quantiles = name.ends_with("percentiles");
    let latency = match name.trim_end_matches("percentiles").trim() {
        "lat" => TextLatency::Total,
        "clat" | "sync" => TextLatency::Completion,
        "slat" => TextLatency::Other,
        _ => return None,
    };
    // Distributions of latencies look alike, but have no mean.
    (is_quantiles || rest.contains("avg=")).then_some((latency, unit, is_quantiles))
}

/// The text after `key` up to a comma, bracket or blank, without leading blanks.
fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let at = line.match_indices(key).find(|(at, _)| *at == 0 || !line.as_bytes()[at - 1].is_ascii_alphanumeric())?.0;
    let rest = line[at + key.len()..].trim_start();
    let end = rest.find([',', ')', '(', ' ', ';', ']']).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::{after, bandwidth};

    #[test]
    fn bandwidths_have_units_of_their_text() {
        for (text, expected) in [
            ("2800KiB/s", 2_867_200.0),
            ("2867kB/s", 2_867e3),
            ("118MB/s", 118e6),
            ("957Mibit/s", 957.0 * 1_048_576.0 / 8.0),
            ("1003Mbit/s", 1_003e6 / 8.0),
            ("1471Mi", 1_471.0 * 1_048_576.0),
            ("4079B/s", 4_079.0),
            ("0", 0.0),
        ] {
            let found = bandwidth(text).unwrap_or(f64::NAN);
            assert!((found - expected).abs() <= 1e-9 * expected, "{text}: {found}");
        }
    }

    #[test]
    fn values_follow_their_keys() {
        let line = "  read : io=6115.0MB, bw=103759KB/s, iops=101, runt= 60349msec";
        assert_eq!((after(line, "bw="), after(line, "runt=")), (Some("103759KB/s"), Some("60349msec")));
        assert_eq!((after(line, "no="), after("aggrbw=1, bw=2", "bw=")), (None, Some("2")));
    }
}
