//! What happened second by second, with the moments at which something was changed: a picture of its own, such as of a
//! volume whose level follows its load.

use maud::{PreEscaped, html};

use crate::chart::{self, Size, px};

/// A story over time, in panels below each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// What it shows, in one line.
    pub title: String,
    /// Where the figures come from, and what is doubtful about them, in one line.
    pub source: String,
    /// At least one, from top to bottom.
    pub panels: Vec<Panel>,
    /// Changes, in the order of time.
    pub marks: Vec<Mark>,
    /// Moments in seconds that are named below, such as hours of a day; empty for seconds from the beginning.
    pub ticks: Vec<(f64, String)>,
}

/// One panel: values of one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What its values are, with the unit: `completed, IOPS`.
    pub name: String,
    /// How its values are written.
    pub scale: PanelScale,
    /// At most three, by their tone from light to dark.
    pub tracks: Vec<Track>,
    /// Values that nothing can pass, each with its name; may be empty.
    pub limits: Vec<(f64, String)>,
}

/// How values are spread over a panel and written beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelScale {
    /// Counts by second, from zero.
    Rate,
    /// Times in nanoseconds, by factors where they span more than a decade.
    Time,
}

/// One line in a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// What it is called at its end; empty for the only one.
    pub name: String,
    /// Seconds, and the value there. A value that is not finite is left out, and the line is broken there.
    pub points: Vec<(f64, f64)>,
}

/// A moment at which something was changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Seconds.
    pub at: f64,
    /// What: two or three words.
    pub label: String,
}

/// The timeline as a file that follows the reader's light or dark scheme.
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
