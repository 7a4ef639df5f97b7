//! One figure of an article beside what the models make of it. Knows nothing about where the figures come from.

/// An article and its figures.
pub struct Article {
    /// What it is called on the page: a heading.
    pub title: &'static str,
    /// Author, date, and what was measured, in a sentence or two of Markdown.
    pub about: &'static str,
    /// Every figure of it that a model could give, in the article's order.
    pub figures: Vec<Figure>,
    /// What the author missed, a plain sentence each.
    pub missed: Vec<String>,
}

/// A published figure.
pub struct Figure {
    /// Where in the article: `table 8, random read, SATA`.
    pub place: String,
    /// What it is: `throughput`, `mean latency`.
    pub what: String,
    /// What is published.
    pub published: Published,
    /// The unit of both values; empty for a ratio.
    pub unit: &'static str,
    /// What the models make of it.
    pub answer: Answer,
}

/// A published value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// One number.
    Exactly(f64),
    /// `150 to 250 us`: anything between the two is right.
    Between(f64, f64),
}

/// What the models make of a figure.
pub enum Answer {
    /// They give it.
    Given {
        /// The reproduced value, in the figure's unit.
        value: f64,
        /// What gave it.
        by: By,
        /// How, in a few words.
        how: String,
        /// Largest error allowed, as a share of what is published.
        tolerance: f64,
        /// Whether a parameter was set from this very figure, so that its error says little.
        fitted: bool,
    },
    /// None gives it, for this reason.
    Missing(String),
}

/// What gave a reproduced value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The catalogue's limits or prices.
    Quote,
    /// A model, simulated in virtual time.
    Simulation,
    /// A law of queueing, or arithmetic on the article's own figures.
    Law,
}

/// The column of the page that a reproduced value stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A price, a specification or a measurement that was put into the catalogue or a model from this very figure, or from
    /// the vendor that the article repeats.
    Echo,
    /// Arithmetic on the article's own numbers.
    Law,
    /// What a model gives that was not set from this figure.
    Prediction,
}

impl Published {
    /// The signed error of `value`: 0 inside a range, else the distance to its nearer end, as a share of that end.
    pub fn error(self, value: f64) -> f64 {
        match self {
            // Nothing is published as 0 but what is paid once: there any payment is a whole error.
            Self::Exactly(0.0) => value.abs().min(1.0),
            Self::Exactly(published) => value / published - 1.0,
            Self::Between(low, high) => value / value.clamp(low, high) - 1.0,
        }
    }
}

impl Figure {
    /// A figure that no model has been asked for yet.
    pub fn new(place: impl Into<String>, what: impl Into<String>, published: Published, unit: &'static str) -> Self {
        let answer = Answer::Missing("nothing was asked".into());
        Self { place: place.into(), what: what.into(), published, unit, answer }
    }

    /// Reproduced as `value` by `by`, within `tolerance` as a share.
    pub fn given(self, by: By, how: impl Into<String>, value: f64, tolerance: f64) -> Self {
        let answer = Answer::Given { value, by, how: how.into(), tolerance, fitted: false };
        Self { answer, ..self }
    }

    /// The same, where a parameter was set from this very figure.
    pub fn fitted(mut self) -> Self {
        if let Answer::Given { fitted, .. } = &mut self.answer {
            *fitted = true;
        }
        self
    }

    /// Not reproduced, and why.
    pub fn missing(self, why: impl Into<String>) -> Self {
        Self { answer: Answer::Missing(why.into()), ..self }
    }

    /// The signed error of what was reproduced, as a share; `None` when nothing was.
    pub fn error(&self) -> Option<f64> {
        match &self.answer {
            Answer::Given { value, .. } => Some(self.published.error(*value)),
            Answer::Missing(_) => None,
        }
    }

    /// Where it stands on the page; `None` when it was not reproduced.
    pub fn column(&self) -> Option<Column> {
        match self.answer {
            Answer::Missing(_) => None,
            Answer::Given { fitted: true, .. } | Answer::Given { by: By::Quote, .. } => Some(Column::Echo),
            Answer::Given { by: By::Law, .. } => Some(Column::Law),
            Answer::Given { by: By::Simulation, .. } => Some(Column::Prediction),
        }
    }

    /// What is wrong with it, if something is.
    pub fn complaint(&self) -> Option<String> {
        let Answer::Given { value, tolerance, how, .. } = &self.answer else { return None };
        let error = self.error()?;
        // What is not a number is no success.
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
