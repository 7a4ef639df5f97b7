//! `docs/scorecard.md`: published curves, and predictions of models that were calibrated with at most three of their
//! points. `curves.rs` has the curves and models.

use std::fmt::Write;

use crate::articles::curves;
use crate::articles::page::{number, quantile, share, signed, write_or_compare};

/// A published curve with a model.
pub struct Card {
    pub title: &'static str,
    /// Subject, author and publication in a sentence or two of Markdown.
    pub about: &'static str,
    /// The model, its calibration and its limitations.
    pub model: String,
    /// Unit of published and predicted values.
    pub unit: &'static str,
    /// The points, in the order of the source.
    pub points: Vec<Point>,
    /// Goal of the predictions, if any.
    pub goal: Option<Goal>,
    /// Tolerance of the test: a worse prediction is a defect.
    pub allowed: f64,
}

pub struct Point {
    pub load: String,
    pub published: f64,
    pub modelled: f64,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter was set from it.
    Calibrated,
    Predicted,
    /// A limit applies that the model lacks, as stated in the text.
    OtherRegime,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Maximum relative error.
    Worst(f64),
    /// Maximum of the median relative error.
    Median(f64),
    /// Maximum difference in the unit of the card.
    Difference(f64),
}

impl Card {
    /// Sorted absolute errors of a role: relative, or differences if the goal is a difference.
    fn errors(&self, role: Role) -> Vec<f64> {
        let chosen = self.points.iter().filter(|point| point.role == role);
        let mut errors: Vec<f64> = chosen.map(|point| self.error(point).abs()).collect();
        errors.sort_by(f64::total_cmp);
        errors
    }

    fn error(&self, point: &Point) -> f64 {
        match self.goal {
            Some(Goal::Difference(_)) => point.modelled - point.published,
            _ => point.modelled / point.published - 1.0,
        }
    }

    fn display(&self, error: Option<f64>) -> String {
        match (self.goal, error) {
            (Some(Goal::Difference(_)), Some(error)) => format!("{error:.2} {}", self.unit),
            (_, error) => share(error),
        }
    }

    fn met(&self) -> Option<bool> {
        let errors = self.errors(Role::Predicted);
        let (reached, max) = match self.goal? {
            Goal::Worst(max) | Goal::Difference(max) => (errors.last().copied()?, max),
            Goal::Median(max) => (quantile(&errors, 0.5)?, max),
        };
        Some(reached <= max)
    }

    fn complaint(&self) -> Option<String> {
        let calibrated = self.errors(Role::Calibrated).len();
        if calibrated > 3 {
            return Some(format!("{}: calibrated on {calibrated} points, which is more than 3", self.title));
        }
        let off = self.points.iter().filter(|point| point.role == Role::Predicted);
        let worst = off.max_by(|a, b| self.error(a).abs().total_cmp(&self.error(b).abs()))?;
        let error = self.error(worst);
        (error.is_nan() || error.abs() > self.allowed)
            .then(|| format!("{}, {}: {error:+.3}, allowed {:.3}", self.title, worst.load, self.allowed))
    }
}

const HEAD: &str = "# Scorecard: predictions of published curves

Curves that others measured and published. A model of each was calibrated with at most three of its points; only the other
points count. A test recomputes the page, and fails if a prediction becomes worse or the page is stale:
`cargo test -p plimsoll --test plimsoll articles` (`UPDATE_GENERATED=1` writes the page). Models are simulated, except where
stated; the notation is that of [models.md](models.md).

An error is model / published - 1. Points of another regime, with a limit that the model does not have, are
shown and not counted.

| curve | points | calibrated on | predicted | median error | worst | goal | |
|---|---:|---:|---:|---:|---:|---|---|
";

/// The page is up to date, and predictions are within their tolerances.
pub fn check() {
    let cards = curves::build_cards();
    let complaints: Vec<String> = cards.iter().filter_map(Card::complaint).collect();
    write_or_compare("scorecard.md", &write_page(&cards));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn write_page(cards: &[Card]) -> String {
    let mut page = String::from(HEAD);
    for card in cards {
        let errors = card.errors(Role::Predicted);
        let goal = match card.goal {
            Some(Goal::Worst(max)) => format!("worst {:.0} %", max * 100.0),
            Some(Goal::Median(max)) => format!("median {:.0} %", max * 100.0),
            Some(Goal::Difference(max)) => format!("within {max} {}", card.unit),
            None => "-".into(),
        };
        let _ = writeln!(
            page,
            "| [{}](#{}) | {} | {} | {} | {} | {} | {goal} | {} |",
            card.title,
            anchor(card.title),
            card.points.len(),
            card.errors(Role::Calibrated).len(),
            errors.len(),
            card.display(quantile(&errors, 0.5)),
            card.display(errors.last().copied()),
            card.met().map_or("", |met| if met { "met" } else { "missed" }),
        );
    }
    for card in cards {
        section(&mut page, card);
    }
    page
}

fn section(page: &mut String, card: &Card) {
    let Card { title, about, model, unit, .. } = card;
    let _ = write!(page, "\n## {title}\n\n{about}\n\n{model}\n\n");
    let _ = writeln!(page, "| load | published, {unit} | model, {unit} | error | |\n|---|---:|---:|---:|---|");
    for point in &card.points {
        let role = match point.role {
            Role::Calibrated => "calibrated",
            Role::Predicted => "",
            Role::OtherRegime => "another regime",
        };
        let error = match card.goal {
            _ if !point.modelled.is_finite() => "-".into(),
            Some(Goal::Difference(_)) => format!("{:+.2}", card.error(point)),
            _ => signed(card.error(point)),
        };
        let modelled = if point.modelled.is_finite() { figures(point.modelled) } else { "overloaded".into() };
        let _ = writeln!(page, "| {} | {} | {modelled} | {error} | {role} |", point.load, number(point.published));
    }
}

/// Four significant digits.
fn figures(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm of a finite number")]
    let scale = 10_f64.powi(3 - value.abs().max(1e-9).log10().floor() as i32);
    number((value * scale).round() / scale)
}

/// Anchor of a heading in Markdown.
fn anchor(title: &str) -> String {
    let characters = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    characters.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}
