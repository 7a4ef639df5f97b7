//! Output before a run: a line per job, version, and number of processes.

use super::number::Units;

/// A job before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    pub name: String,
    pub group: u32,
    /// `rw` as fio names it: `randread`.
    pub rw: String,
    /// Smallest and largest block of reads, writes and trims, in bytes.
    pub blocks: [(u64, u64); 3],
    /// The engine's name.
    pub engine: String,
    /// `iodepth`.
    pub depth: u32,
    /// `numjobs`: number of copies.
    pub members: u32,
    /// Threads (`thread`) instead of processes.
    pub threads: bool,
    pub units: Units,
}

/// Lines before a run. `version` replaces fio's version.
pub fn heading(jobs: &[Heading], version: &str) -> String {
    let mut text = String::new();
    for job in jobs {
        let [read, write, trim] = job.blocks.map(|(low, high)| job.units.bytes(low) + "-" + &job.units.bytes(high));
        text.push_str(&format!(
            "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, (T) {trim}, ioengine={}, iodepth={}\n",
            job.name, job.group, job.rw, job.engine, job.depth
        ));
        if job.members > 1 {
            text.push_str("...\n");
        }
    }
    let count = |threads: bool| jobs.iter().filter(|job| job.threads == threads).map(|job| job.members).sum::<u32>();
    text + version + "\nStarting " + &begun(count(true), count(false)) + "\n"
}

fn begun(threads: u32, processes: u32) -> String {
    let threads = (threads > 0).then(|| format!("{threads} thread{}", if threads > 1 { "s" } else { "" }));
    let processes = (processes > 0).then(|| format!("{processes} process{}", if processes > 1 { "es" } else { "" }));
    let both: Vec<String> = threads.into_iter().chain(processes).collect();
    both.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::{Heading, heading};

    #[test]
    fn heading_lists_jobs() {
        let job = |name: &str, members, threads| Heading {
            name: name.to_owned(),
            rw: "randrw".to_owned(),
            blocks: [(4_096, 65_536), (8_192, 8_192), (4_096, 4_096)],
            engine: "libaio".to_owned(),
            depth: 8,
            members,
            threads,
            ..Heading::default()
        };
        let text = heading(&[job("a", 2, false), job("b", 1, true)], "fio-3.42");
        let lines: Vec<&str> = text.lines().collect();
        let first =
            "a: (g=0): rw=randrw, bs=(R) 4096B-64.0KiB, (W) 8192B-8192B, (T) 4096B-4096B, ioengine=libaio, iodepth=8";
        assert_eq!(lines[..2], [first, "..."]);
        assert_eq!(lines[3..], ["fio-3.42", "Starting 1 thread and 2 processes"]);
    }
}
