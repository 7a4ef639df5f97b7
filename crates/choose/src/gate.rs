//! Gates: conditions on a result that make a pipeline fail, such as `line < 20k` or `p99@5000 > 10ms`.
//!
//! A condition holds if the complete interval of the figure meets it, and is refuted if the complete interval contradicts
//! it. Otherwise it is undetermined.

use core::fmt;
use std::str::FromStr;

use plimsoll_analyse::interval::student;
use plimsoll_analyse::{Comparison, is_saturated, reached_knee};
use plimsoll_catalogue::{AmountError, Currency, Money, parse_sum};
use plimsoll_load::Pace;
use plimsoll_record::{Curve, Estimate, Finding, LoadLine, Run};
use plimsoll_units::{Iops, Span};
use thiserror::Error;

use crate::quote::Quote;
use crate::sizing::Sizing;

/// A condition under which a result fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    figure: GateFigure,
    is_below: bool,
    threshold: Threshold,
    /// Currency of the threshold of a price, if given.
    currency: Option<Currency>,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateFigure {
    /// Operations per second at the load line.
    Line,
    /// Operations per second at the knee.
    Knee,
    /// Highest operations per second.
    Maximum,
    /// A response time at an offered load.
    Latency(Percentile, Iops),
    /// Price per month in the currency of the result.
    Price,
    /// Database time relative to today's.
    DatabaseTime,
}

/// A measure of response times that runs have with an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    Mean,
    P50,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    P999,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Threshold {
    /// In the unit of the figure; nanoseconds for times.
    Value(f64),
    /// Change relative to a baseline, such as -0.1.
    Change(f64),
}

/// Result of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum GateOutcome {
    /// Refuted: the result passes.
    Passed(JudgedFigure),
    /// Proved: the result fails.
    Failed(JudgedFigure),
    /// Undetermined, with the reason.
    Unknown(GateGap),
}

/// The figure that decided a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedFigure {
    /// In the unit of the figure; nanoseconds for times.
    pub estimate: Estimate,
    /// Currency of a price.
    pub currency: Option<Currency>,
}

/// Reason why a condition is undetermined.
#[derive(Clone, Debug, PartialEq)]
pub enum GateGap {
    /// The interval contains the threshold.
    Scatter,
    /// The figure is a lower bound below the threshold, as no higher load was offered.
    LowerBound,
    /// The result does not have the figure.
    NoFigure,
    /// The configuration or a part of it has no price.
    NoPrice,
    /// A change was to be judged on a single run.
    SingleRun,
    /// Several runs were given of one side, and a single one of the other, whose scatter is unknown.
    FewRuns,
    /// The generator was so late at this load that the response times are partly its own.
    LateGenerator,
    /// The run has no load line.
    NoLine,
    /// The run has no knee.
    NoKnee,
    /// No open loads were measured on both sides of this rate, in operations per second.
    NoLoads(f64),
    /// The price of the result has this currency, and the threshold another.
    OtherCurrency(Currency),
    /// No configuration carries the demand.
    NoConfiguration,
}

/// A text that is not a condition.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no condition: {reason}. Write FIGURE < VALUE or FIGURE > VALUE, such as 'line < 20k', 'p99@5000 > 10ms', \
     'price > 500 USD', or a change such as 'line < -10%' for two runs"
)]
pub struct GateError {
    text: String,
    reason: GateFault,
}

/// The part of a condition that cannot be parsed.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum GateFault {
    #[error("it has no < or >")] Comparison,
    #[error("the percentage is no number")] Percentage,
    #[error("figures are line, knee, max, mean@RATE, p50@RATE, p99@RATE, p99.9@RATE, price and database-time")] Figure,
    #[error("the rate after @ is not in IOPS")] Rate,
    #[error("its value is not in IOPS, such as 20k")] Iops,
    #[error("its value is not a time, such as 10ms")] Time,
    #[error(transparent)] Amount(AmountError),
    #[error("its value is a percentage, such as 2%")] DatabaseTime,
}

impl Gate {
    pub const fn figure(&self) -> GateFigure {
        self.figure
    }

    /// True if the condition is on a change relative to a baseline.
    pub const fn is_change(&self) -> bool {
        matches!(self.threshold, Threshold::Change(_))
    }

    /// Judges a figure; for a change its ratio to the baseline minus 1.
    pub fn judge(&self, figure: Estimate) -> GateOutcome {
        self.decide(JudgedFigure { estimate: figure, currency: None })
    }

    /// Judges a figure without an interval; an absent one is undetermined, as is a change, which needs two results.
    pub fn judge_exact(&self, figure: Option<f64>) -> GateOutcome {
        if self.is_change() {
            return GateOutcome::Unknown(GateGap::SingleRun);
        }
        figure.map_or(GateOutcome::Unknown(GateGap::NoFigure), |figure| self.judge(Estimate::bare(figure)))
    }

    /// Judges a price; an absent one is undetermined, as is a change.
    pub fn judge_price(&self, price: Option<Money>) -> GateOutcome {
        if self.is_change() {
            return GateOutcome::Unknown(GateGap::SingleRun);
        }
        let Some(price) = price else { return GateOutcome::Unknown(GateGap::NoPrice) };
        if self.currency.is_some_and(|own| own != price.currency) {
            return GateOutcome::Unknown(GateGap::OtherCurrency(price.currency));
        }
        self.decide(JudgedFigure { estimate: Estimate::bare(price.as_f64()), currency: Some(price.currency) })
    }

    pub fn judge_quote(&self, quote: &Quote) -> GateOutcome {
        match self.figure {
            GateFigure::Price => self.judge_price(quote.monthly()),
            GateFigure::Maximum => self.judge_exact(quote.standing.binding().map(|bound| bound.iops)),
            _ => self.judge_exact(None),
        }
    }

    /// Judges the recommended configuration, also if it is slower than today's storage.
    pub fn judge_sizing(&self, sizing: &Sizing) -> GateOutcome {
        let least_saved = || sizing.best_effect()?.least_saved();
        match self.figure {
            _ if sizing.best().is_none() => GateOutcome::Unknown(GateGap::NoConfiguration),
            GateFigure::Price => self.judge_price(sizing.best_total()),
            GateFigure::DatabaseTime => self.judge_exact(least_saved().map(|saved| -saved)),
            _ => self.judge_exact(None),
        }
    }

    fn decide(&self, figure: JudgedFigure) -> GateOutcome {
        let (Threshold::Value(threshold) | Threshold::Change(threshold)) = self.threshold;
        let value = figure.estimate.value;
        let (low, high) = figure.estimate.interval.unwrap_or((value, value));
        let (is_proved, is_refuted) =
            if self.is_below { (high < threshold, low >= threshold) } else { (low > threshold, high <= threshold) };
        match (is_proved, is_refuted) {
            (true, _) => GateOutcome::Failed(figure),
            (_, true) => GateOutcome::Passed(figure),
            _ if high.is_infinite() => GateOutcome::Unknown(GateGap::LowerBound),
            _ => GateOutcome::Unknown(GateGap::Scatter),
        }
    }

    pub fn judge_curve(&self, curve: &Curve) -> GateOutcome {
        if self.is_change() {
            return GateOutcome::Unknown(GateGap::SingleRun);
        }
        figure_of(self.figure, curve).map_or_else(GateOutcome::Unknown, |figure| self.judge(figure))
    }

    /// Judges the change between two sides of a comparison, each of one or several runs; a value, of the second side.
    pub fn judge_change(&self, comparison: &Comparison, sides: [&[Curve]; 2]) -> GateOutcome {
        let figures = |side: &[Curve]| -> Result<Vec<Estimate>, GateGap> {
            side.iter().map(|curve| figure_of(self.figure, curve)).collect()
        };
        let judged = match (self.figure, &comparison.line) {
            _ if !self.is_change() => figures(sides[1]).and_then(|own| combine(&own)),
            (GateFigure::Line, Some(line)) => Ok(change(line.ratio)),
            _ => figures(sides[0]).and_then(|a| Ok(change(ratio_of(&a, &figures(sides[1])?)?))),
        };
        match judged.map_or_else(GateOutcome::Unknown, |figure| self.judge(figure)) {
            GateOutcome::Unknown(GateGap::Scatter) if self.is_change() && has_lower_bound(self.figure, sides) => {
                GateOutcome::Unknown(GateGap::LowerBound)
            }
            outcome => outcome,
        }
    }
}

fn change(ratio: Estimate) -> Estimate {
    Estimate { value: ratio.value - 1.0, interval: ratio.interval.map(|(low, high)| (low - 1.0, high - 1.0)) }
}

/// The figure of runs of the same thing: of a single one with its interval, of several by their scatter.
fn combine(figures: &[Estimate]) -> Result<Estimate, GateGap> {
    if let [figure] = figures {
        return Ok(*figure);
    }
    let [mean, error] = log_mean(figures)?;
    let half = student(figures.len() - 1) * error;
    let high = if figures.iter().any(is_lower_bound) { f64::INFINITY } else { (mean + half).exp() };
    Ok(Estimate { value: mean.exp(), interval: Some(((mean - half).exp(), high)) })
}

/// The ratio of a figure of the second side to that of the first: of single runs by their intervals, of several by the
/// scatter between them (Welch 1947).
fn ratio_of(a: &[Estimate], b: &[Estimate]) -> Result<Estimate, GateGap> {
    if let ([a], [b]) = (a, b) {
        return Ok(divide(*a, *b));
    }
    let ([mean_a, error_a], [mean_b, error_b]) = (log_mean(a)?, log_mean(b)?);
    let (square_a, square_b) = (error_a.powi(2), error_b.powi(2));
    let share = |square: f64, runs: usize| square.powi(2) / (runs - 1) as f64;
    let degrees = (square_a + square_b).powi(2) / (share(square_a, a.len()) + share(square_b, b.len()));
    let half = if degrees.is_nan() { 0.0 } else { student(degrees as usize) * (square_a + square_b).sqrt() };
    let ratio = mean_b - mean_a;
    let low = if a.iter().any(is_lower_bound) { 0.0 } else { (ratio - half).exp() };
    let high = if b.iter().any(is_lower_bound) { f64::INFINITY } else { (ratio + half).exp() };
    Ok(Estimate { value: ratio.exp(), interval: Some((low, high)) })
}

/// The mean of the logarithms of figures and its standard error; at least two figures above 0.
fn log_mean(figures: &[Estimate]) -> Result<[f64; 2], GateGap> {
    if figures.len() < 2 {
        return Err(GateGap::FewRuns);
    }
    if figures.iter().any(|figure| figure.value <= 0.0) {
        return Err(GateGap::NoLine);
    }
    let logs: Vec<f64> = figures.iter().map(|figure| figure.value.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Ok([mean, (variance / n).sqrt()])
}

/// The figure of a curve, or the reason why it has none.
fn figure_of(figure: GateFigure, curve: &Curve) -> Result<Estimate, GateGap> {
    match figure {
        GateFigure::Line => match curve.load_line {
            Some(LoadLine::At { iops, .. }) => Ok(iops),
            Some(LoadLine::Beyond { iops, .. }) => Ok(at_least(iops)),
            Some(LoadLine::Never { .. }) => Ok(Estimate::bare(0.0)),
            Some(LoadLine::Refused { .. }) | None => Err(GateGap::NoLine),
        },
        GateFigure::Knee => {
            let knee = curve.knee.filter(|_| reached_knee(&curve.runs).is_some());
            knee.map(|knee| Estimate::bare(knee.iops)).ok_or(GateGap::NoKnee)
        }
        GateFigure::Maximum => {
            let fastest = curve.runs.iter().max_by(|a, b| a.figures.iops.value.total_cmp(&b.figures.iops.value));
            let max = fastest.map(|run| run.figures.iops).ok_or(GateGap::NoFigure)?;
            Ok(if is_saturated(&curve.runs) { max } else { at_least(max) })
        }
        GateFigure::Latency(percentile, rate) => latency_at(percentile, rate.as_f64(), curve),
        GateFigure::Price | GateFigure::DatabaseTime => Err(GateGap::NoFigure),
    }
}

/// A lower bound, of a load that was carried without reaching a limit.
fn at_least(iops: Estimate) -> Estimate {
    let low = iops.interval.map_or(iops.value, |(low, _)| low);
    Estimate { value: iops.value, interval: Some((low, f64::INFINITY)) }
}

fn is_lower_bound(figure: &Estimate) -> bool {
    figure.interval.is_some_and(|(_, high)| high.is_infinite())
}

/// A figure whose interval is its value, if it has none, so that it can be related to a lower bound.
fn with_ends(figure: Estimate) -> Estimate {
    Estimate { interval: figure.interval.or(Some((figure.value, figure.value))), ..figure }
}

/// True if the figure of a run is only a lower bound.
fn has_lower_bound(figure: GateFigure, sides: [&[Curve]; 2]) -> bool {
    let is_bound = |curve: &Curve| figure_of(figure, curve).is_ok_and(|figure| is_lower_bound(&figure));
    sides.into_iter().flatten().any(is_bound)
}

/// Response time at an offered rate, interpolated in logarithms between the nearest open loads.
fn latency_at(percentile: Percentile, rate: f64, curve: &Curve) -> Result<Estimate, GateGap> {
    let offered = |run: &Run| match run.offered {
        Pace::Open { rate, .. } => {
            let is_late = run.findings.iter().any(|finding| matches!(finding, Finding::GeneratorLate { .. }));
            Some((rate.as_f64(), percentile.of(run), is_late))
        }
        Pace::Closed { .. } => None,
    };
    let loads: Vec<(f64, Estimate, bool)> = curve.runs.iter().filter_map(offered).collect();
    let below = loads.iter().filter(|(load, ..)| *load <= rate).max_by(|a, b| a.0.total_cmp(&b.0));
    let above = loads.iter().filter(|(load, ..)| *load >= rate).min_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(below), Some(above)) = (below, above) else {
        return Err(GateGap::NoLoads(rate));
    };
    if [below, above].iter().any(|(_, _, is_late)| *is_late) {
        return Err(GateGap::LateGenerator);
    }
    let share = if above.0 > below.0 { (rate / below.0).ln() / (above.0 / below.0).ln() } else { 0.0 };
    let between = |a: f64, b: f64| (a.ln() * (1.0 - share) + b.ln() * share).exp();
    let interval = below.1.interval.zip(above.1.interval);
    Ok(Estimate {
        value: between(below.1.value, above.1.value),
        interval: interval.map(|(a, b)| (between(a.0, b.0), between(a.1, b.1))),
    })
}

/// `b / a` with an interval from both, by their relative widths as of independent figures.
fn divide(a: Estimate, b: Estimate) -> Estimate {
    let value = b.value / a.value;
    let [a, b] = if is_lower_bound(&a) || is_lower_bound(&b) { [a, b].map(with_ends) } else { [a, b] };
    let interval = a.interval.zip(b.interval).map(|(of_a, of_b)| {
        let down = (of_a.1 / a.value).ln().hypot((b.value / of_b.0).ln());
        let up = (a.value / of_a.0).ln().hypot((of_b.1 / b.value).ln());
        (value * (-down).exp(), value * up.exp())
    });
    Estimate { value, interval }
}

impl Percentile {
    const fn of(self, run: &Run) -> Estimate {
        match self {
            Self::Mean => run.figures.mean_ns,
            Self::P50 => run.figures.p50_ns,
            Self::P99 => run.figures.p99_ns,
            Self::P999 => run.figures.p999_ns,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let error = |reason| GateError { text: text.to_owned(), reason };
        let at = text.find(['<', '>']).ok_or_else(|| error(GateFault::Comparison))?;
        let (figure, rest) = text.split_at(at);
        let value = rest[1..].trim();
        let figure = parse_figure(figure.trim()).map_err(error)?;
        let (threshold, currency) = if let Some(percent) = value.strip_suffix('%') {
            let percent = percent.trim().parse::<f64>().ok().filter(|percent| percent.is_finite());
            (Threshold::Change(percent.ok_or_else(|| error(GateFault::Percentage))? / 100.0), None)
        } else {
            let (value, currency) = parse_value(figure, value).map_err(error)?;
            (Threshold::Value(value), currency)
        };
        Ok(Self { figure, is_below: rest.starts_with('<'), threshold, currency, text: text.trim().to_owned() })
    }
}

/// Names of figures; those that end in `@` need a rate in IOPS.
pub const GATE_FIGURES: [&str; 9] =
    ["line", "knee", "max", "mean@", "p50@", "p99@", "p99.9@", "price", "database-time"];

fn parse_figure(text: &str) -> Result<GateFigure, GateFault> {
    Ok(match text {
        "line" => GateFigure::Line,
        "knee" => GateFigure::Knee,
        "max" => GateFigure::Maximum,
        "price" => GateFigure::Price,
        "database-time" => GateFigure::DatabaseTime,
        _ => {
            let (percentile, rate) = text.split_once('@').ok_or(GateFault::Figure)?;
            let percentile = match percentile.trim() {
                "mean" => Percentile::Mean,
                "p50" | "median" => Percentile::P50,
                "p99" => Percentile::P99,
                "p99.9" => Percentile::P999,
                _ => return Err(GateFault::Figure),
            };
            GateFigure::Latency(percentile, rate.parse().map_err(|_| GateFault::Rate)?)
        }
    })
}

/// The value in the unit of the figure, and the currency of a price, if it has one.
fn parse_value(figure: GateFigure, value: &str) -> Result<(f64, Option<Currency>), GateFault> {
    match figure {
        GateFigure::Line | GateFigure::Knee | GateFigure::Maximum => {
            let iops: Result<Iops, _> = value.parse();
            iops.map(|iops| (iops.as_f64(), None)).map_err(|_| GateFault::Iops)
        }
        GateFigure::Latency(..) => {
            let span: Result<Span, _> = value.parse();
            span.map(|span| (span.as_nanos() as f64, None)).map_err(|_| GateFault::Time)
        }
        GateFigure::Price => parse_sum(value).map_err(GateFault::Amount),
        GateFigure::DatabaseTime => Err(GateFault::DatabaseTime),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::parse_money;

    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some((low, high)) }
    }

    fn gate(text: &str) -> Gate {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn conditions_have_a_figure_and_a_value_in_its_unit() {
        for text in
            ["line < 20k", "p99@5000 > 10ms", "mean@2k>500us", "price > 500 USD", "line < -10%", "database-time > 2%"]
        {
            assert_eq!(gate(text).to_string(), text);
        }
        for text in
            ["line", "line < 5ms", "p98@10 > 1ms", "p99 > 1ms", "price > USD", "price > 5 dollars", "database-time > 3"]
        {
            assert!(text.parse::<Gate>().is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_figures_are_parsed() {
        for name in GATE_FIGURES {
            let rate = if name.ends_with('@') { "2k" } else { "" };
            assert!(parse_figure(&format!("{name}{rate}")).is_ok(), "{name}");
        }
    }

    #[test]
    fn the_interval_decides() {
        let below = gate("line < 20k");
        assert!(matches!(below.judge(estimate(18e3, 19e3, 19.9e3)), GateOutcome::Failed(_)));
        assert!(matches!(below.judge(estimate(20e3, 21e3, 22e3)), GateOutcome::Passed(_)));
        assert!(matches!(below.judge(estimate(18e3, 19e3, 20.1e3)), GateOutcome::Unknown(_)));
        let change = gate("p99@5000 > 20%");
        assert!(matches!(change.judge(estimate(0.21, 0.3, 0.5)), GateOutcome::Failed(_)));
        assert!(matches!(change.judge(estimate(-0.1, 0.0, 0.1)), GateOutcome::Passed(_)));
    }

    #[test]
    fn price_is_compared_in_its_currency_only() {
        let price = |text: &str| Some(parse_money(text).expect("an amount"));
        for text in ["price > 1500 USD", "price > 1500usd", "price > $1500.00", "price > US$1,500.00", "price > 1500"] {
            assert!(matches!(gate(text).judge_price(price("1501 USD")), GateOutcome::Failed(_)), "{text}");
            assert!(matches!(gate(text).judge_price(price("1499 USD")), GateOutcome::Passed(_)), "{text}");
        }
        assert!(matches!(gate("price > ¥1,450,000").judge_price(price("1450001 JPY")), GateOutcome::Failed(_)));
        let other = gate("price > 500 USD").judge_price(price("499 JPY"));
        assert_eq!(other, GateOutcome::Unknown(GateGap::OtherCurrency("JPY".parse().expect("a currency"))));
        assert_eq!(gate("price > 500").judge_price(None), GateOutcome::Unknown(GateGap::NoPrice));
    }

    #[test]
    fn amount_that_may_be_two_numbers_is_refused() {
        let refusal = "price > 1,450".parse::<Gate>().expect_err("it is ambiguous").to_string();
        assert!(refusal.contains("\"1,450\" may be 1450 or 1.45: write 1450 or 1.45"), "{refusal}");
    }

    #[test]
    fn a_ratio_is_wider_than_either_figure() {
        let figure = estimate(90.0, 100.0, 110.0);
        let one = divide(figure, figure);
        let (low, high) = one.interval.expect("both have intervals");
        assert!((one.value - 1.0).abs() < 1e-12);
        assert!(low < 0.9 && high > 1.1 && low > 0.8 && high < 1.25, "{low} {high}");
    }
}
