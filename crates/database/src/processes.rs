//! Resource usage of a server's processes from `/proc`: processor time and bytes read from storage.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use plimsoll_record::CpuTime;
use plimsoll_units::Span;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time, in units of 10 ms.
    pub cpu: CpuTime,
    /// Bytes read from storage, without page cache hits. `None` without permission, as for the server of another user.
    pub read_bytes: Option<u64>,
}

/// A process and its descendants.
///
/// When a child ends and its parent waits for it, the kernel adds its usage to the parent. The sum over live processes
/// therefore includes ended children, however short-lived.
#[derive(Clone, Debug)]
pub struct Processes {
    root: u32,
    /// Start time of the root in clock ticks: PIDs are reused.
    began: u64,
    observed: Usage,
}

impl Processes {
    /// The process with this PID and its descendants; `None` if it does not exist.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self { root: pid, began: Stat::of(pid)?.began, observed: Usage::default() })
    }

    /// Usage since the start of the root. Monotonic: a child that is just ending may be missing from a sample, and then
    /// the previous sample counts. `None` if the root has ended.
    pub fn usage(&mut self) -> Option<Usage> {
        let all: BTreeMap<u32, Stat> = numbers().filter_map(|pid| Some((pid, Stat::of(pid)?))).collect();
        all.get(&self.root).filter(|root| root.began == self.began)?;
        let mut now = Usage { read_bytes: Some(0), ..Usage::default() };
        for pid in collect_descendants(&all, self.root) {
            let Some(stat) = all.get(&pid) else { continue };
            now.cpu = add_times(now.cpu, add_times(stat.own, stat.ended));
            // A process that has just ended has neither file; an unreadable file makes the sum unknown.
            let read = read_bytes(pid);
            if read.is_some() || fs::exists(format!("/proc/{pid}/io")).unwrap_or(true) {
                now.read_bytes = now.read_bytes.zip(read).map(|(sum, read)| sum + read);
            }
        }
        let later = |now: Span, observed: Span| if now < observed { observed } else { now };
        let (cpu, observed) = (now.cpu, self.observed.cpu);
        now.cpu = CpuTime { user: later(cpu.user, observed.user), system: later(cpu.system, observed.system) };
        now.read_bytes = now.read_bytes.map(|bytes| bytes.max(self.observed.read_bytes.unwrap_or_default()));
        self.observed = Usage { read_bytes: now.read_bytes.or(self.observed.read_bytes), ..now };
        Some(now)
    }
}

/// Usage of a single process, without descendants. `None` if it does not exist.
pub fn alone(pid: u32) -> Option<Usage> {
    Some(Usage { cpu: Stat::of(pid)?.own, read_bytes: read_bytes(pid) })
}

/// Usage of this process.
pub fn own() -> Option<Usage> {
    alone(std::process::id())
}

/// Fields of `/proc/PID/stat`.
#[derive(Clone, Copy)]
struct Stat {
    parent: u32,
    began: u64,
    own: CpuTime,
    ended: CpuTime,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The program name is in parentheses and may contain any character, parentheses included.
    fn read(text: &str) -> Option<Self> {
        let rest = text.get(text.rfind(')')? + 1..)?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // The manual counts from 1; the first field here is the state, its third.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        let time = |field| Some(Span::from_nanos(number(field)?.saturating_mul(1_000_000_000 / ticks)));
        Some(Self {
            parent: u32::try_from(number(4)?).ok()?,
            began: number(22)?,
            own: CpuTime { user: time(14)?, system: time(15)? },
            ended: CpuTime { user: time(16)?, system: time(17)? },
        })
    }
}

/// PIDs of all processes.
fn numbers() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn collect_descendants(all: &BTreeMap<u32, Stat>, root: u32) -> BTreeSet<u32> {
    let mut family = BTreeSet::from([root]);
    loop {
        let more = all.iter().filter(|(pid, stat)| family.contains(&stat.parent) && !family.contains(pid));
        let more: Vec<u32> = more.map(|(pid, _)| *pid).collect();
        if more.is_empty() {
            return family;
        }
        family.extend(more);
    }
}

/// Bytes read from storage by the process and its ended children.
fn read_bytes(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}

fn add_times(one: CpuTime, other: CpuTime) -> CpuTime {
    let sum = |one: Span, other: Span| Span::from_nanos(one.as_nanos().saturating_add(other.as_nanos()));
    CpuTime { user: sum(one.user, other.user), system: sum(one.system, other.system) }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn stat_line_is_parsed_with_any_program_name() {
        let stat = Stat::read("7 (a) b (c)) S 3 7 7 0 -1 0 0 0 0 0 150 25 400 8 20 0 1 0 9999 1 1").unwrap();
        assert_eq!((stat.parent, stat.began), (3, 9999));
        assert_eq!(stat.own.user, Span::from_millis(1500));
        assert_eq!(stat.own.system, Span::from_millis(250));
        assert_eq!(stat.ended.user, Span::from_secs(4));
        assert!(Stat::read("7 (a) S 3").is_none() && Stat::read("").is_none());
    }

    #[test]
    fn usage_of_ended_children_is_kept() {
        // A child that works and ends, while its parent waits for input.
        let script = "sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'; echo; read x; exit 0";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut processes = Processes::of(shell.id()).unwrap();
        let mut last = Span::ZERO;
        let mut line = [0];
        let (sender, done) = std::sync::mpsc::channel();
        let mut output = shell.stdout.take().unwrap();
        std::thread::spawn(move || sender.send(std::io::Read::read(&mut output, &mut line).unwrap()));
        loop {
            let ended = done.try_recv().is_ok();
            let cpu = processes.usage().unwrap().cpu;
            assert!(cpu.user >= last, "{cpu:?}");
            last = cpu.user;
            if ended {
                break;
            }
        }
        let without = alone(shell.id()).unwrap().cpu;
        assert!(last > Span::ZERO && without.user < last, "{last} {without:?}");
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(processes.usage().is_none() && Processes::of(shell.id()).is_none());
    }

    #[test]
    fn own_usage_is_available() {
        assert!(own().is_some_and(|usage| usage.read_bytes.is_some()));
    }
}
