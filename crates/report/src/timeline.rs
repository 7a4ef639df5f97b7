//! Values over time, with the times of changes, such as of a volume whose level follows its load.

/// Values over time, in panels below each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Title, on one line.
    pub title: String,
    /// Source of the figures and their limitations, on one line.
    pub source: String,
    /// At least one panel, from top to bottom.
    pub panels: Vec<Panel>,
    /// Changes, in chronological order.
    pub marks: Vec<Mark>,
    /// Labelled times in seconds, such as hours of a day; empty for seconds since the beginning.
    pub ticks: Vec<(f64, String)>,
}

/// A panel: values of the same unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Name of the values with the unit: `completed, IOPS`.
    pub name: String,
    /// Scale and format of the values.
    pub scale: PanelScale,
    /// At most three, from light to dark.
    pub tracks: Vec<Track>,
    /// Upper limits with their names; may be empty.
    pub limits: Vec<(f64, String)>,
}

/// Scale and format of a panel's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelScale {
    /// Rates, linear from zero.
    Rate,
    /// Times in nanoseconds, logarithmic if they span more than a decade.
    Time,
}

/// A line in a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Label at the end of the line; empty if it is the only line.
    pub name: String,
    /// Seconds and value. The line is broken at values that are not finite.
    pub points: Vec<(f64, f64)>,
}

/// Time of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Seconds.
    pub at: f64,
    /// Description in two or three words.
    pub label: String,
}
