//! A published figure with its reproduction by a command.

use crate::articles::command::Reading;

pub struct Article {
    /// Heading on the page.
    pub title: &'static str,
    /// Author, date and subject in a sentence or two of Markdown.
    pub about: &'static str,
    /// All figures that a model could reproduce, in the article's order.
    pub figures: Vec<Figure>,
    /// Omissions of the article, a sentence each.
    pub missed: Vec<String>,
}

pub struct Figure {
    /// Place in the article: `table 8, random read, SATA`.
    pub place: String,
    /// Quantity: `throughput`, `mean latency`.
    pub what: String,
    pub published: Published,
    /// Unit of both values; empty for a ratio.
    pub unit: &'static str,
    pub answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    Exactly(f64),
    /// A range, such as `150 to 250 us`.
    Between(f64, f64),
}

/// Reproduction of a figure.
pub enum Answer {
    Given {
        /// The reproduced value in the figure's unit.
        value: f64,
        /// Source of the value.
        by: By,
        /// Commands, and the places of the value in their output.
        how: String,
        /// Tolerance as a share of the published value.
        tolerance: f64,
        /// True if a parameter was set from this figure, so that its error is not meaningful.
        fitted: bool,
    },
    /// Not reproduced, for this reason.
    Missing(String),
}

/// Source of a reproduced value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The catalogue's limits or prices.
    Quote,
    /// A model simulated in virtual time.
    Simulation,
}

/// Column of the page for a reproduced value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A price, specification or measurement in the catalogue or a model that is taken from this figure, or from the
    /// vendor that the article repeats.
    Echo,
    /// A model value that was not set from this figure.
    Prediction,
}

impl Published {
    /// Signed error of `value`: 0 inside a range, otherwise the distance to the nearer end as a share of it.
    pub fn error(self, value: f64) -> f64 {
        match self {
            // Only one-time prices are published as 0, for which any payment is an error of 100 %.
            Self::Exactly(0.0) => value.abs().min(1.0),
            Self::Exactly(published) => value / published - 1.0,
            Self::Between(low, high) => value / value.clamp(low, high) - 1.0,
        }
    }
}

impl Figure {
    /// A figure without a reproduction yet.
    pub fn new(place: impl Into<String>, what: impl Into<String>, published: Published, unit: &'static str) -> Self {
        let answer = Answer::Missing("nothing was asked".into());
        Self { place: place.into(), what: what.into(), published, unit, answer }
    }

    /// Reproduced by the output of commands in the figure's unit, within `tolerance` as a share.
    pub fn given(self, by: By, reading: Reading, tolerance: f64) -> Self {
        let Reading { value, how } = reading;
        let answer = Answer::Given { value, by, how, tolerance, fitted: false };
        Self { answer, ..self }
    }

    /// Limits or prices of the catalogue.
    pub fn quoted(self, reading: Reading, tolerance: f64) -> Self {
        self.given(By::Quote, reading, tolerance)
    }

    pub fn simulated(self, reading: Reading, tolerance: f64) -> Self {
        self.given(By::Simulation, reading, tolerance)
    }

    /// The same if a parameter was set from this figure.
    pub fn fitted(mut self) -> Self {
        if let Answer::Given { fitted, .. } = &mut self.answer {
            *fitted = true;
        }
        self
    }

    /// Not reproduced, with the reason.
    pub fn missing(self, why: impl Into<String>) -> Self {
        Self { answer: Answer::Missing(why.into()), ..self }
    }

    /// Signed error as a share; `None` if not reproduced.
    pub fn error(&self) -> Option<f64> {
        match &self.answer {
            Answer::Given { value, .. } => Some(self.published.error(*value)),
            Answer::Missing(_) => None,
        }
    }

    /// Column on the page; `None` if not reproduced.
    pub fn column(&self) -> Option<Column> {
        match self.answer {
            Answer::Missing(_) => None,
            Answer::Given { fitted: true, .. } | Answer::Given { by: By::Quote, .. } => Some(Column::Echo),
            Answer::Given { by: By::Simulation, .. } => Some(Column::Prediction),
        }
    }

    /// Error message, if any.
    pub fn complaint(&self) -> Option<String> {
        let Answer::Given { value, tolerance, how, .. } = &self.answer else { return None };
        let error = self.error()?;
        // NaN is an error.
        (error.is_nan() || error.abs() > *tolerance).then(|| {
            format!(
                "{}, {}: published {:?} {}, {how} gives {value} ({:+.1} %, allowed {:.1} %)",
                self.place,
                self.what,
                self.published,
                self.unit,
                error * 100.0,
                tolerance * 100.0
            )
        })
    }
}
