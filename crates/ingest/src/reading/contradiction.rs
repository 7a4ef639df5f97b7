//! Times of sessions that contradict each other.

/// True if sessions waited longer than they were active, or waited and worked longer than their sampling explains: some of
/// these times are wrong. Processor time that exceeds the time of sessions alone is a fault of the latter, as in some
/// reports of Statspack.
pub(crate) fn do_waits_exceed(waited_s: f64, processor_s: Option<f64>, database_s: f64) -> bool {
    /// Those of background processes may be among the waits, and some inputs estimate them. Real reports reach 1.06.
    const MAX_WAITED: f64 = 1.15;
    /// Waits and processor time are sampled separately, and waits include work. Real reports reach 1.18.
    const MAX_SUM: f64 = 1.3;
    /// Sums of an idle database consist of rounded numbers.
    const ROUNDING_S: f64 = 2.0;
    let processor_s = processor_s.unwrap_or(0.0);
    let is_beyond = |seconds: f64, max: f64| seconds > max * database_s + ROUNDING_S;
    is_beyond(waited_s, MAX_WAITED) || processor_s <= database_s && is_beyond(waited_s + processor_s, MAX_SUM)
}
