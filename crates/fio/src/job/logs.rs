//! Logs and reporting of a job.

use plimsoll_language::say;
use plimsoll_units::Span;

use crate::fault::{FaultKind, Findings};
use crate::number::Base;
use crate::settings::Settings;

/// Statistic of a window of a log: `log_window_value`, `log_max_value`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValue {
    #[default]
    Mean,
    Largest,
    /// Both, the mean first.
    Both,
}

/// Logs to write. An empty name stands for the job's name.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // independent flags of fio
pub struct Logs {
    /// `write_bw_log`.
    pub bandwidth: Option<String>,
    /// `write_lat_log`: three files.
    pub latency: Option<String>,
    /// `write_iops_log`.
    pub iops: Option<String>,
    /// `write_hist_log`.
    pub histogram: Option<String>,
    /// `per_job_logs`: each copy has its own files.
    pub per_copy: bool,
    /// `log_avg_msec`: window of a line; zero for a line per operation.
    pub window: Span,
    /// `log_hist_msec`: window of a histogram; zero for none.
    pub histogram_window: Span,
    /// `log_hist_coarseness`: 0 to 6; each step halves the number of bins.
    pub histogram_coarseness: u8,
    pub window_value: WindowValue,
    /// `log_offset`: adds offsets.
    pub offsets: bool,
    /// `log_prio`: adds priorities.
    pub priorities: bool,
    /// `log_unix_epoch` or `log_alternate_epoch`: times since 1970.
    pub since_1970: bool,
    /// `bwavgtime`: window of bandwidth samples.
    pub bandwidth_samples: Span,
    /// `iopsavgtime`: window of IOPS samples.
    pub iops_samples: Span,
}

pub(super) fn read(settings: &Settings) -> Logs {
    let millis = |name: &str| Span::from_millis(settings.count(name));
    let unix = settings.flag("log_unix_epoch");
    let alternate = settings.flag("log_alternate_epoch");
    Logs {
        bandwidth: settings.text("write_bw_log"),
        latency: settings.text("write_lat_log"),
        iops: settings.text("write_iops_log"),
        histogram: settings.text("write_hist_log"),
        per_copy: settings.flag("per_job_logs"),
        window: millis("log_avg_msec"),
        histogram_window: millis("log_hist_msec"),
        histogram_coarseness: settings.count("log_hist_coarseness") as u8,
        window_value: match settings.word("log_window_value") {
            "both" => WindowValue::Both,
            "max" => WindowValue::Largest,
            _ if settings.flag("log_max_value") => WindowValue::Largest,
            _ => WindowValue::Mean,
        },
        offsets: settings.flag("log_offset"),
        priorities: settings.flag("log_prio"),
        since_1970: unix || alternate,
        bandwidth_samples: millis("bwavgtime"),
        iops_samples: millis("iopsavgtime"),
    }
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporting {
    /// Separate reads and writes.
    Apart,
    Mixed,
    /// Separate, followed by combined.
    Both,
}

/// Reporting of a job.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag in fio")]
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayOptions {
    /// `percentile_list`, ascending, 0 to 100.
    pub percentiles: Vec<f64>,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `disable_slat`, or `gtod_reduce`.
    pub without_slat: bool,
    /// `disable_clat`, or `gtod_reduce`.
    pub without_clat: bool,
    /// `disable_lat`, or `gtod_reduce`.
    pub without_lat: bool,
    /// `disable_bw_measurement`, or `gtod_reduce`.
    pub without_bandwidth: bool,
    /// `unified_rw_reporting`.
    pub reporting: Reporting,
    /// `disk_util`.
    pub disk_use: bool,
    /// `significant_figures`: 1 to 10.
    pub digits: u8,
    /// `kb_base`.
    pub base: Base,
    /// `unit_base=1`: bandwidth in bits.
    pub in_bits: bool,
}

/// fio's maximum.
const PERCENTILES_MAX: usize = 20;

pub(super) fn display(settings: &Settings, findings: &mut Findings) -> DisplayOptions {
    let mut percentiles = settings.floats("percentile_list").unwrap_or_default();
    if percentiles.len() > PERCENTILES_MAX {
        let what = say!("percentile_list with {} numbers", percentiles.len());
        let remedy = say!("write at most {PERCENTILES_MAX}");
        findings.fault(settings.place("percentile_list"), FaultKind::Value, what, remedy);
    }
    percentiles.sort_by(f64::total_cmp);
    let reduced = settings.flag("gtod_reduce");
    DisplayOptions {
        percentiles,
        clat_percentiles: settings.flag("clat_percentiles"),
        lat_percentiles: settings.flag("lat_percentiles"),
        slat_percentiles: settings.flag("slat_percentiles"),
        without_slat: reduced || settings.flag("disable_slat"),
        without_clat: reduced || settings.flag("disable_clat"),
        without_lat: reduced || settings.flag("disable_lat"),
        without_bandwidth: reduced || settings.flag("disable_bw_measurement"),
        reporting: match settings.word("unified_rw_reporting") {
            "mixed" | "1" => Reporting::Mixed,
            "both" | "2" => Reporting::Both,
            _ => Reporting::Apart,
        },
        disk_use: settings.flag("disk_util"),
        digits: settings.count("significant_figures") as u8,
        base: if settings.word("kb_base") == "1000" { Base::Decimal } else { Base::Binary },
        in_bits: settings.word("unit_base") == "1",
    }
}
