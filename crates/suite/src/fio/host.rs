//! Access of job files to the host: files, variables, sizes.

use std::io::Read;

use plimsoll_fio::Surroundings;

/// Calls `read` with the files and properties of this host, and these variables of the environment.
pub fn with_surroundings<T>(variable: &dyn Fn(&str) -> Option<String>, read: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    read(&Surroundings {
        read: &read_text,
        variable,
        page_bytes: rustix::param::page_size() as u64,
        memory_mib: memory_mib().unwrap_or(0),
        processors: usable_processors(),
        processors_present: processors_present().unwrap_or_else(usable_processors),
    })
}

fn usable_processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// Number of processors of the host: `0-1` and `0,2-3` are 2 and 3.
fn processors_present() -> Option<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/present").ok()?;
    let last: u32 = text.trim().rsplit(['-', ',']).next()?.parse().ok()?;
    last.checked_add(1)
}

/// Maximum size of a job file.
const MAX_TEXT_BYTES: u64 = 16 << 20;

fn read_text(path: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = |source: &mut dyn Read, bytes: &mut Vec<u8>| source.take(MAX_TEXT_BYTES).read_to_end(bytes);
    let done = if path == "-" {
        read(&mut std::io::stdin().lock(), &mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file, &mut bytes))
    };
    done.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `MemTotal: 24625948 kB`
fn memory_mib() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1_024)
}
