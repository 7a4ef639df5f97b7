//! A watch of a running source: readings, the screen, alerts, metrics and the history.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_choose::watch::{HORIZON, LoadSample};
use plimsoll_front::sockets::{ListenAddress, SocketAccess};
use plimsoll_language::{label, say};
use plimsoll_measure::watch::{FeedError, LoadFeed, SampleLog, SampleLogError, sample_all};
use plimsoll_report::pages::WatchReport;
use plimsoll_report::{TextStyle, page_summary, pages, watch_metrics, wrap};
use plimsoll_service::http::{Control, Entrance, text_router};

use super::{EVERY, Watch};
use crate::args::WatchArgs;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::otlp::send_metrics;
use crate::portals;
use crate::volumes::screen::Screen;
use plimsoll_service::OtlpEndpoint;

/// Readings after which the cheapest next step is computed again.
const STEP_EVERY: u32 = 60;
/// Minimum number of lines of the summary on the screen.
const MIN_SUMMARY: usize = 8;
/// Wait for a key or an interruption.
const KEY_WAIT: Duration = Duration::from_millis(50);

impl Watch {
    /// Observes sources until the user or `--for` ends it.
    pub(super) fn follow(&mut self, mut feeds: Vec<LoadFeed<'_>>, args: &WatchArgs) -> Result<(), CliError> {
        let device = args.device.as_deref().unwrap_or_default();
        let recall = |folder| self.recall(folder, device);
        let mut log = args.history.as_deref().map(recall).transpose().map_err(log_error)?;
        let metrics = Arc::new(Mutex::new(String::new()));
        let mut console = Console::new(false)?;
        let _control = args.listen.as_ref().map(|address| serve(address, &metrics, &mut console)).transpose()?;
        let interrupted = console.interrupted_flag();
        let stop = || interrupted.load(Ordering::Relaxed);
        let screen = if self.forms.is_written() { None } else { Screen::enter() };
        let start = jiff::Timestamp::now();
        let (started, every) = (Instant::now(), Duration::from_nanos(args.every.unwrap_or(EVERY).as_nanos()));
        let end = args.duration.map(|duration| started + Duration::from_nanos(duration.as_nanos()));
        for reading in 0_u32.. {
            let read = sample_all(&mut feeds, &stop);
            self.cost = feeds.first().and_then(LoadFeed::cost);
            match read {
                Ok(sample) => {
                    self.trouble = None;
                    if let (Some(log), Some(sample)) = (&mut log, &sample) {
                        log.append(sample).map_err(log_error)?;
                    }
                    if let Some(sample) = sample {
                        self.observe(sample);
                    }
                }
                Err(FeedError::Stopped) => return Ok(()),
                // A source that never gave figures is a mistake in the command.
                Err(why) if reading <= 1 && self.samples.is_empty() => return Err(CliError::Failed(why.into())),
                Err(why) => self.trouble = Some(why.to_string()),
            }
            let limit = self.watcher.deciding_limit(self.period);
            if reading % STEP_EVERY == 0 || limit != self.step.as_ref().map(|step| step.limit) {
                self.update_step();
            }
            self.show(screen.as_ref(), &mut console, &metrics);
            if let Some(endpoint) = &args.otlp {
                self.send(endpoint, start, screen.as_ref(), &mut console);
            }
            // A reading that takes longer than the interval delays the following ones.
            let due = started + every.saturating_mul(reading.saturating_add(1));
            let next = end.map_or(due, |end| end.min(due));
            if end.is_some_and(|end| Instant::now() >= end) || wait_until(next, screen.as_ref(), &stop) {
                break;
            }
        }
        Ok(())
    }

    fn observe(&mut self, sample: LoadSample) {
        self.watcher.observe(sample.clone());
        let oldest = sample.end - HORIZON;
        self.samples.push(sample);
        let old = self.samples.partition_point(|sample| sample.end < oldest);
        self.samples.drain(..old);
    }

    /// Opens the history, and observes its loads.
    fn recall(&mut self, folder: &Path, device: &str) -> Result<SampleLog, SampleLogError> {
        let target = format!("{} {device}", self.name);
        let (log, samples, damaged) = SampleLog::open(folder, target.trim_end())?;
        self.damaged = damaged;
        for sample in samples {
            self.watcher.recall(sample);
        }
        Ok(log)
    }

    /// Shows the current state on the screen, or prints new alerts; and updates the metrics.
    fn show(&mut self, screen: Option<&Screen>, console: &mut Console, metrics: &Mutex<String>) {
        let state = self.watcher.state();
        let report = self.report(state.as_ref());
        *metrics.lock().unwrap_or_else(PoisonError::into_inner) = watch_metrics(&report).text();
        let alerts = pages::list_firing(&report);
        if let Some(screen) = screen {
            screen.show(&render_screen(&report, screen.size(), self.forms.style()));
        } else {
            alerts.iter().filter(|alert| !self.alerts.contains(alert)).for_each(|alert| console.print_line(alert));
        }
        self.alerts = alerts;
    }

    /// Sends the metrics. A failure is reported once, and at the end if the last metrics were not sent.
    fn send(
        &mut self,
        endpoint: &OtlpEndpoint,
        start: jiff::Timestamp,
        screen: Option<&Screen>,
        console: &mut Console,
    ) {
        let state = self.watcher.state();
        let failure = send_metrics(endpoint, &watch_metrics(&self.report(state.as_ref())), start).err();
        if let Some(why) = failure.as_ref().filter(|_| screen.is_none() && self.unsent.is_none()) {
            console.print_line(&format!("{why:#}"));
        }
        self.unsent = failure;
    }
}

/// The screen of a terminal with this number of columns and rows.
fn render_screen(report: &WatchReport<'_>, (width, rows): (usize, usize), style: &TextStyle) -> String {
    let title = wrap(&say!("q ends it - {}", pages::describe_watch(report)), width);
    // An empty line follows the title, and the last row stays free.
    let lines = rows.saturating_sub(title.len() + 2).max(MIN_SUMMARY);
    let style = TextStyle { width, lines, ..*style };
    let summary = page_summary(&pages::watch(report), label!("at the end, with --details"), &style);
    format!("{}\n\n{summary}", title.join("\n"))
}

/// Waits; true if the user ends the watch.
fn wait_until(next: Instant, screen: Option<&Screen>, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        let left = next.saturating_duration_since(Instant::now());
        match screen {
            _ if left.is_zero() => return false,
            Some(screen) if screen.quits_within(left.min(KEY_WAIT), stop) => return true,
            Some(_) => {}
            None => std::thread::sleep(left.min(KEY_WAIT)),
        }
    }
    true
}

fn serve(address: &ListenAddress, metrics: &Arc<Mutex<String>>, console: &mut Console) -> Result<Control, CliError> {
    let refuse = |error| CliError::usage(format!("--listen: {:#}", anyhow::Error::new(error)));
    let listening = address.listen(SocketAccess::Owner).map_err(refuse)?;
    for address in portals::addresses(std::slice::from_ref(&listening)) {
        console.print_line(&say!("metrics at http://{address}/metrics"));
    }
    let entrance = Entrance { listening, token: None };
    let served = Control::serve(text_router("/metrics", Arc::clone(metrics)), vec![entrance]);
    served.map_err(|error| CliError::Failed(anyhow::Error::new(error).context(label!("cannot serve metrics"))))
}

fn log_error(error: SampleLogError) -> CliError {
    CliError::Failed(anyhow::Error::new(error))
}

#[cfg(test)]
mod tests {
    use plimsoll_choose::watch::{WatchOptions, WatchPeriod, Watcher};
    use plimsoll_units::Span;

    use super::*;

    #[test]
    fn a_screen_of_80_columns_has_all_of_the_title_and_the_caution_about_a_database() {
        let target = format!("postgres://db1.example.com/shop?application_name={}", "x".repeat(30));
        let watcher = Watcher::new(None, WatchOptions { lead: Span::from_secs(3600), credits: None });
        let report = WatchReport {
            target: &target,
            period: WatchPeriod::Present,
            is_database_alone: true,
            watcher: &watcher,
            state: None,
            step: None,
            samples: &[],
            cost: Some(0.0003),
            trouble: None,
            damaged: 0,
        };
        let text = render_screen(&report, (80, 24), &TextStyle::default());
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains("reading the counters takes 0.03 % of the time"), "{text}");
        assert!(joined.contains("add --device NAME"), "{text}");
        assert!(text.lines().count() < 24 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
