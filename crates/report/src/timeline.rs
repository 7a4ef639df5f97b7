//! Timeline as a standalone SVG, with the times of changes, such as of a volume whose level follows its load.

use maud::{PreEscaped, html};

use crate::chart::{self, Size, px};

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

/// Renders the timeline as a file that follows the reader's light or dark colour scheme.
pub fn timeline(story: &Timeline) -> String {
    let size = Size::WIDE;
    let drawing = chart::panels(story, size);
    let top = 64.0;
    let below = top + drawing.height + 10.0;
    let height = px(below + 18.0);
    let changes: Vec<String> = story.marks.iter().map(|mark| format!("{} s: {}", px(mark.at), mark.label)).collect();
    let page = html! {
        svg class="chart standalone" xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t d"
            width=(size.width) height=(height) viewBox=(format!("0 0 {} {height}", size.width)) {
            title id="t" { (story.title) }
            desc id="d" { (chart::typeset(&format!("{} {}", story.source, changes.join(", ")))) }
            style { (PreEscaped(include_str!("style/chart.css"))) (PreEscaped(crate::svg::OWN_STYLE)) }
            rect class="sheet" width="100%" height="100%" {}
            text class="headline" x="16" y="34" { (chart::cut(&chart::typeset(&story.title), 880.0)) }
            g transform=(format!("translate(12 {top})")) { (drawing.body) }
            text class="source" x="16" y=(px(below)) { (chart::cut(&chart::typeset(&story.source), 880.0)) }
        }
    };
    page.into_string()
}
