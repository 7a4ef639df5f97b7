//! Aggregation of jobs (`group_reporting`) and directions (`unified_rw_reporting`).

use super::result::{Depths, DirectionResult, FioReport, JobReport, LatencyCounts, SampleStatistics};

impl FioReport {
    /// Merges the jobs of each group (`group_reporting`).
    #[must_use]
    pub fn grouped(mut self) -> Self {
        let mut groups: Vec<JobReport> = Vec::new();
        for job in std::mem::take(&mut self.jobs) {
            match groups.iter_mut().find(|existing| existing.group == job.group) {
                Some(existing) => existing.merge(&job),
                None => groups.push(job),
            }
        }
        Self { jobs: groups, ..self }
    }
}

impl JobReport {
    /// Adds the figures of another job of the group. Name, description and failure are those of the first; options and
    /// percentiles those of the last, as in fio.
    pub fn merge(&mut self, other: &Self) {
        self.members += other.members;
        self.failure = self.failure.take().or_else(|| other.failure.clone());
        self.started_unix_ms = self.started_unix_ms.min(other.started_unix_ms);
        self.eta_s = self.eta_s.max(other.eta_s);
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.options.clone_from(&other.options);
        self.percentiles.clone_from(&other.percentiles);
        self.latency_counts = self.joint_counts(other);
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.trim.merge(&other.trim);
        self.sync.merge(&other.sync);
        self.runtime_ms += other.runtime_ms;
        self.user += other.user;
        self.system += other.system;
        self.switches += other.switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
        self.depths.merge(&other.depths);
        match (&mut self.errors, &other.errors) {
            (Some(mine), Some(more)) => mine.total += more.total,
            (mine @ None, more) => mine.clone_from(more),
            (Some(_), None) => {}
        }
    }

    /// Sum of the counts; absent if both are derived from bins.
    fn joint_counts(&self, other: &Self) -> Option<LatencyCounts> {
        if self.latency_counts.is_none() && other.latency_counts.is_none() {
            return None;
        }
        let (mut counts, more) = (self.counts(), other.counts());
        add(&mut counts.ns, &more.ns);
        add(&mut counts.us, &more.us);
        add(&mut counts.ms, &more.ms);
        Some(counts)
    }

    /// Sum of all directions.
    pub(super) fn mixed(&self) -> DirectionResult {
        let mut mixed = DirectionResult::default();
        self.lanes().into_iter().for_each(|lane| mixed.merge(lane));
        mixed
    }
}

impl DirectionResult {
    /// Adds concurrent figures: the runtime is the longer of both.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.operations += other.operations;
        self.short += other.short;
        self.dropped += other.dropped;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
        self.total.merge(&other.total);
        self.bandwidth.merge(&other.bandwidth);
        self.rate.merge(&other.rate);
    }
}

impl SampleStatistics {
    /// Adds the samples of a concurrent job.
    ///
    /// Times of samples are unknown. Therefore minimum, maximum and mean are added, and the deviation is the root mean
    /// square of both, as in fio.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let squares = |samples: &Self| samples.deviation.powi(2) * (samples.count - 1) as f64;
        let all = self.count + other.count;
        *self = Self {
            least: self.least + other.least,
            max: self.max + other.max,
            mean: self.mean + other.mean,
            deviation: ((squares(self) + squares(other)) / (all - 1) as f64).sqrt(),
            count: all,
        };
    }

    /// Statistics of sampled rates. The deviation is the sample deviation, 0 for a single sample.
    pub fn of(rates: &[f64]) -> Self {
        let count = rates.len() as f64;
        if rates.is_empty() {
            return Self::default();
        }
        let mean = rates.iter().sum::<f64>() / count;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        Self {
            least: rates.iter().copied().fold(f64::INFINITY, f64::min) as u64,
            max: rates.iter().copied().fold(0.0, f64::max) as u64,
            mean,
            deviation: if rates.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
            count: rates.len() as u64,
        }
    }
}

impl Depths {
    /// Adds the counts of another job.
    pub fn merge(&mut self, other: &Self) {
        add(&mut self.level, &other.level);
        add(&mut self.submitted, &other.submitted);
        add(&mut self.completed, &other.completed);
    }
}

fn add(counts: &mut [u64], more: &[u64]) {
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
}

#[cfg(test)]
mod tests {
    use super::{FioReport, JobReport, SampleStatistics};

    #[test]
    fn concurrent_samples_are_added() {
        // Reads, writes and their sum of a job reported by fio 3.42 with unified_rw_reporting=both.
        let of = |least, max, mean, deviation, count| SampleStatistics { least, max, mean, deviation, count };
        let mut all = of(23_952, 25_205, 24_578.5, 886.004_797, 2);
        all.merge(&of(23_440, 25_029, 24_234.5, 1_123.592_675, 2));
        all.merge(&SampleStatistics::default());
        assert_eq!((all.least, all.max, all.mean as u64, all.count), (47_392, 50_234, 48_813, 4));
        assert!((all.deviation - 826.13).abs() < 0.005, "{all:?}");
        assert_eq!(SampleStatistics::of(&[1.0, 2.0, 6.0]).deviation.to_bits(), 7.0_f64.sqrt().to_bits());
        assert_eq!((SampleStatistics::of(&[]).count, SampleStatistics::of(&[5.0]).deviation as u64), (0, 0));
    }

    #[test]
    fn grouped_jobs_are_merged() {
        let job = |name: &str, group, bytes, runtime_ms| {
            let mut job = JobReport { group, runtime_ms, ..JobReport::new(name) };
            (job.read.bytes, job.read.operations, job.read.runtime_ms) = (bytes, bytes / 4_096, runtime_ms);
            job
        };
        let report = FioReport {
            jobs: vec![job("a", 0, 4_096, 7), job("b", 0, 8_192, 9), job("c", 1, 0, 1)],
            ..FioReport::default()
        };
        let grouped = report.grouped();
        let merged: Vec<_> =
            grouped.jobs.iter().map(|job| (job.name.as_str(), job.members, job.read.operations)).collect();
        assert_eq!(merged, [("a", 2, 3), ("c", 1, 0)]);
        assert_eq!((grouped.jobs[0].runtime_ms, grouped.jobs[0].read.runtime_ms), (16, 9));
    }
}
