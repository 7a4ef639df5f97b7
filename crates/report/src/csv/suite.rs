//! A suite as comma-separated values: one row for each step and round.

use plimsoll_record::{Bins, StepWork, SuiteRun};

use super::row;

const HEADER: &[&str] = &[
    "suite",
    "subject",
    "source",
    "step",
    "round",
    "counts",
    "workers",
    "span_s",
    "operations",
    "failed_operations",
    "iops",
    "bytes_per_s",
    "mean_ns",
    "p50_ns",
    "p99_ns",
    "p99.9_ns",
    "max_ns",
    "user_s",
    "system_s",
    "skipped",
];

/// One row per step and round, those that prepare included. Lines end in CR LF; a figure that is not known is an empty field.
pub fn suite_csv(suite: &SuiteRun) -> String {
    let mut out = String::new();
    row(&mut out, HEADER.iter().map(|name| (*name).to_owned()));
    for step in &suite.steps {
        let head = [
            suite.suite.clone(),
            suite.subject.name.clone(),
            suite.source.word().to_owned(),
            step.name.clone(),
            step.round.to_string(),
            step.counts.to_string(),
        ];
        row(&mut out, head.into_iter().chain(figures(&step.work)));
    }
    out
}

fn figures(work: &StepWork) -> Vec<String> {
    let (workers, span, operations, failed, bytes, times, cpu) = match work {
        StepWork::Io { jobs, run, span } => {
            let mut times = Bins::default();
            for job in jobs {
                times.merge(&job.total.service());
            }
            let sum = |of: fn(&plimsoll_record::Tally) -> u64| jobs.iter().map(|job| of(&job.total)).sum::<u64>();
            let bytes = Some(sum(plimsoll_record::Tally::bytes));
            let (operations, errors) = (sum(plimsoll_record::Tally::operations), sum(plimsoll_record::Tally::errors));
            (jobs.len(), *span, operations, Some(errors), bytes, times, run.cpu)
        }
        StepWork::Files { files, span, each, cpu } => (1, *span, *files, None, None, each.clone(), Some(*cpu)),
        StepWork::Statements(work) => (1, work.span, work.done, None, None, work.each.clone(), Some(work.client)),
        StepWork::Crowd(crowd) => {
            let total = &crowd.run.total;
            let failed = Some(total.errors());
            let sessions = crowd.sessions as usize;
            (sessions, crowd.run.span, total.operations(), failed, None, total.response(), crowd.client)
        }
        StepWork::Skipped { why } => {
            let mut fields = vec![String::new(); HEADER.len() - 7];
            fields.push(why.clone());
            return fields;
        }
    };
    let seconds = span.as_secs_f64();
    let rate = |count: u64| if seconds > 0.0 { (count as f64 / seconds).to_string() } else { String::new() };
    let quantile = |q: f64| times.quantile(q).map_or(String::new(), |span| span.as_nanos().to_string());
    let optional = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    vec![
        workers.to_string(),
        seconds.to_string(),
        operations.to_string(),
        optional(failed),
        rate(operations),
        bytes.map_or(String::new(), rate),
        optional(times.sum_ns.checked_div(times.count)),
        quantile(0.5),
        quantile(0.99),
        quantile(0.999),
        optional((times.count > 0).then_some(times.max_ns)),
        cpu.map_or(String::new(), |cpu| cpu.user.as_secs_f64().to_string()),
        cpu.map_or(String::new(), |cpu| cpu.system.as_secs_f64().to_string()),
        String::new(),
    ]
}
