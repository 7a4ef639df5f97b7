//! What a job was asked, by the options of its job file.

use crate::evidence::Setting;

use super::words;

/// The options of a job that matter here, those of its own after those of all.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) rw: Option<String>,
    pub(super) block: Option<f64>,
    pub(super) depth: Option<f64>,
    pub(super) jobs: Option<f64>,
    pub(super) engine: Option<String>,
    /// Percent of reads in a mix.
    pub(super) reads: Option<f64>,
    pub(super) part: Option<String>,
}

impl Options {
    /// Takes one option; later ones overrule. Those that do not matter are passed over.
    pub(super) fn take(&mut self, name: &str, value: &str) {
        match name {
            "rw" | "readwrite" => self.rw = Some(value.to_owned()),
            // Of ranges and of sizes by direction the first is as good as any, if all are alike.
            "bs" | "blocksize" => self.block = alike(value),
            "bssplit" | "bsrange" | "blocksize_range" => self.block = None,
            "iodepth" => self.depth = words::count(value),
            "numjobs" => self.jobs = words::count(value),
            "ioengine" => self.engine = Some(value.to_owned()),
            "rwmixread" => self.reads = words::count(value),
            "rwmixwrite" => self.reads = words::count(value).map(|writes| 100.0 - writes),
            "filename" | "directory" => self.part = Some(value.to_owned()),
            _ => {}
        }
    }

    /// What was asked of one result, which so many jobs were told as.
    pub(super) fn setting(&self, threads: Option<f64>) -> Setting {
        // These engines wait for each operation, whatever depth was asked for.
        let waits = self
            .engine
            .as_deref()
            .is_some_and(|engine| ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"].contains(&engine));
        // fio's own default holds where it says what it was told.
        let depth = if waits { Some(1.0) } else { self.depth.or(self.rw.is_some().then_some(1.0)) };
        let (sequential, reads) = self.rw.as_deref().map_or((None, None), |rw| pattern(rw, self.reads));
        Setting {
            reads,
            sequential,
            block_bytes: self.block,
            depth: depth.zip(threads).map(|(depth, threads)| depth * threads),
            threads,
        }
    }
}

/// A size, where all directions have the same: `4k`, `4k,4k`, `4K-4K/4K-4K/4K-4K`.
pub(super) fn alike(value: &str) -> Option<f64> {
    let mut sizes = value.split([',', '-', '/']).filter(|part| !part.is_empty()).map(words::bytes);
    let first = sizes.next()??;
    sizes.all(|size| size.is_some_and(|size| (size - first).abs() < 0.5)).then_some(first)
}

/// Whether a pattern is sequential, and its share of reads.
fn pattern(rw: &str, percent: Option<f64>) -> (Option<bool>, Option<f64>) {
    let name = rw.split(':').next().unwrap_or(rw);
    let mix = || Some(percent.unwrap_or(50.0) / 100.0);
    match name {
        "read" => (Some(true), Some(1.0)),
        "write" => (Some(true), Some(0.0)),
        "randread" => (Some(false), Some(1.0)),
        "randwrite" => (Some(false), Some(0.0)),
        "rw" | "readwrite" => (Some(true), mix()),
        "randrw" => (Some(false), mix()),
        "trim" => (Some(true), None),
        "randtrim" => (Some(false), None),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_say_what_was_asked() {
        let setting = |options: &[(&str, &str)], told: Option<f64>| {
            let mut all = Options::default();
            for (name, value) in options {
                all.take(name, value);
            }
            let setting = all.setting(told);
            (setting.reads, setting.sequential, setting.block_bytes, setting.depth, setting.threads)
        };
        let mixed = [
            ("rw", "randrw:2"),
            ("rwmixread", "70"),
            ("bs", "8k"),
            ("iodepth", "16"),
            ("numjobs", "4"),
            ("ioengine", "libaio"),
        ];
        assert_eq!(setting(&mixed, Some(1.0)), (Some(0.7), Some(false), Some(8192.0), Some(16.0), Some(1.0)));
        assert_eq!(setting(&mixed, Some(4.0)).3, Some(64.0));
        let waits = [("rw", "write"), ("iodepth", "32"), ("ioengine", "psync"), ("bs", "4k,8k")];
        assert_eq!(setting(&waits, Some(1.0)), (Some(0.0), Some(true), None, Some(1.0), Some(1.0)));
        assert_eq!(setting(&[], None), (None, None, None, None, None));
    }
}
