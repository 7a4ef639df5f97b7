//! The curve in characters: lines in braille dots, runs as markers, the objective and the load line as rules.

use plimsoll_record::{Curve, Estimate, Figures, Run};

use super::paint::{Line, Tone, cut, wrap};
use super::{Charset, TextStyle};
use crate::scale::Scale;
use crate::words::Counted;
use crate::{number, pick};

const ROWS: usize = 12;
/// Columns of the labels left of the axis.
const LABELS: usize = 8;

/// A grid of characters; each is 2 by 4 braille dots until something is written over it.
struct Canvas {
    columns: usize,
    dots: Vec<u8>,
    over: Vec<Option<char>>,
    x: Scale,
    y: Scale,
}

/// Latency against throughput; nothing when fewer than two runs completed anything.
pub(super) fn plot(curve: &Curve, counted: Counted, style: &TextStyle) -> Vec<Line> {
    if pick::sustained(curve).count() < 2 {
        return Vec::new();
    }
    let columns = (style.width - LABELS - 2).min(70);
    let mut canvas = Canvas::new(curve, columns);
    if style.unicode == Charset::Unicode {
        canvas.trace(curve, |figures| figures.p50_ns);
        canvas.trace(curve, |figures| figures.p99_ns);
    }
    canvas.rules(curve);
    canvas.marks(curve, |figures| figures.p50_ns, ['▪', '▫']);
    canvas.marks(curve, |figures| figures.p99_ns, ['●', '○']);
    let title = format!("Response time against {} completed", counted.unit());
    let mut lines = vec![Line::of(cut(&title, style.width), Tone::Strong)];
    lines.extend(canvas.load_label(curve));
    lines.extend(canvas.rows());
    lines.extend(canvas.axis());
    lines.extend(wrap(&legend(curve, counted), style.width).into_iter().map(|line| Line::of(line, Tone::Quiet)));
    lines
}

fn legend(curve: &Curve, counted: Counted) -> String {
    let mut parts = Vec::new();
    let has = |open: bool| pick::sustained(curve).any(|run| pick::is_open(run) == open);
    if has(true) {
        parts.push("●\u{a0}p99 ▪\u{a0}p50 of open loads".to_owned());
    }
    if has(false) {
        parts.push(match counted {
            Counted::Operations => "○\u{a0}p99 ▫\u{a0}p50 of closed loads".to_owned(),
            Counted::Transactions => "○\u{a0}p99 ▫\u{a0}p50 of sessions that wait for their answers".to_owned(),
        });
    }
    if let Some(line) = &curve.load_line {
        parts.push(format!("┄ {}", line.objective()));
        if pick::line_iops(line).is_some() {
            parts.push("⊖ load line".into());
        }
    }
    if pick::seen(curve).any(pick::is_overloaded) {
        parts.push("overloaded runs are not drawn".into());
    }
    parts.join("; ").replace('\u{a0}', " ")
}

impl Canvas {
    fn new(curve: &Curve, columns: usize) -> Self {
        let (mut most, mut low, mut high) = (0.0f64, f64::INFINITY, 0.0f64);
        let limit = curve.load_line.map(|line| line.objective().limit.as_nanos() as f64);
        for run in pick::sustained(curve) {
            most = most.max(run.figures.iops.value);
            for ns in [run.figures.p50_ns, run.figures.p99_ns].iter().filter_map(number::seen) {
                (low, high) = (low.min(ns), high.max(ns));
            }
        }
        let line = curve.load_line.as_ref().and_then(pick::line_iops).map_or(0.0, |iops| iops.value);
        let (low, high) = limit.map_or((low, high), |limit| (low.min(limit), high.max(limit)));
        let (x, y) = (Scale::from_zero(most.max(line)), Scale::for_latency(low, high));
        Self { columns, dots: vec![0; columns * ROWS], over: vec![None; columns * ROWS], x, y }
    }

    fn column(&self, iops: f64) -> usize {
        (self.x.place(iops) * (self.columns * 2 - 1) as f64).round() as usize / 2
    }

    fn row(&self, ns: f64) -> usize {
        ((1.0 - self.y.place(ns)) * (ROWS * 4 - 1) as f64).round() as usize / 4
    }

    fn write(&mut self, column: usize, row: usize, sign: char) {
        self.over[row * self.columns + column] = Some(sign);
    }

    /// A line through the runs of the kind that there are more of, open ones when as many.
    fn trace(&mut self, curve: &Curve, of: fn(&Figures) -> Estimate) {
        let count = |open: bool| pick::sustained(curve).filter(|run| pick::is_open(run) == open).count();
        let open = count(true) >= 2;
        let runs = pick::sustained(curve).filter(|run| pick::is_open(run) == open);
        let place = |run: &Run| {
            let ns = number::seen(&of(&run.figures))?;
            let (across, down) = (self.x.place(run.figures.iops.value), 1.0 - self.y.place(ns));
            Some((across * (self.columns * 2 - 1) as f64, down * (ROWS * 4 - 1) as f64))
        };
        let points: Vec<(f64, f64)> = runs.filter_map(place).collect();
        for pair in points.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().max(1.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                self.dot(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
            }
        }
    }

    /// Dots of a cell, left column then right, from the top: Unicode's block of braille patterns.
    fn dot(&mut self, x: f64, y: f64) {
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (x, y) = ((x.round() as usize).min(self.columns * 2 - 1), (y.round() as usize).min(ROWS * 4 - 1));
        self.dots[y / 4 * self.columns + x / 2] |= BITS[x % 2][y % 4];
    }

    fn rules(&mut self, curve: &Curve) {
        let Some(line) = &curve.load_line else { return };
        let limit = line.objective().limit.as_nanos() as f64;
        let row = self.row(limit);
        let at = pick::line_iops(line).map(|iops| self.column(iops.value));
        for column in 0..self.columns {
            if self.dots[row * self.columns + column] == 0 {
                self.write(column, row, '┄');
            }
        }
        for row in (0..ROWS).filter(|_| at.is_some()) {
            let column = at.unwrap_or(0);
            if self.dots[row * self.columns + column] == 0 {
                self.write(column, row, '│');
            }
        }
        if let Some(column) = at {
            self.write(column, row, '⊖');
        }
    }

    fn marks(&mut self, curve: &Curve, of: fn(&Figures) -> Estimate, [open, closed]: [char; 2]) {
        for run in pick::sustained(curve) {
            if let Some(ns) = number::seen(&of(&run.figures)) {
                let (column, row) = (self.column(run.figures.iops.value), self.row(ns));
                if self.over[row * self.columns + column] != Some('⊖') {
                    self.write(column, row, if pick::is_open(run) { open } else { closed });
                }
            }
        }
    }

    fn load_label(&self, curve: &Curve) -> Option<Line> {
        let iops = curve.load_line.as_ref().and_then(pick::line_iops)?.value;
        let label = cut(&format!("load line {}", number::short(iops)), self.columns);
        let wide = label.chars().count();
        let start = self.column(iops).saturating_sub(wide / 2).min(self.columns.saturating_sub(wide));
        Some(Line::plain(format!("{}{label}", " ".repeat(LABELS + 1 + start))))
    }

    fn rows(&self) -> Vec<Line> {
        let mut labels: Vec<String> = vec![String::new(); ROWS];
        for tick in self.y.ticks(ROWS / 2).iter().filter(|tick| tick.labelled) {
            let label = if tick.value == 0.0 { "0".into() } else { number::time(tick.value) };
            labels[self.row(tick.value)] = cut(&label, LABELS);
        }
        let line = |(row, label): (usize, &String)| {
            let sign = |column: usize| {
                let at = row * self.columns + column;
                let braille = char::from_u32(0x2800 + u32::from(self.dots[at])).filter(|_| self.dots[at] > 0);
                self.over[at].or(braille).unwrap_or(' ')
            };
            let cells: String = (0..self.columns).map(sign).collect();
            let edge = if label.is_empty() { '│' } else { '┤' };
            Line::plain(format!("{label:>LABELS$}{edge}{cells}"))
        };
        labels.iter().enumerate().map(line).collect()
    }

    fn axis(&self) -> [Line; 2] {
        let mut rule: Vec<char> = vec!['─'; self.columns];
        let mut labels: Vec<char> = vec![' '; LABELS + 1 + self.columns];
        let mut free = LABELS;
        for tick in self.x.ticks((self.columns / 9).max(2)) {
            let column = self.column(tick.value);
            rule[column] = '┴';
            let label: Vec<char> = number::short(tick.value).chars().collect();
            let start = (LABELS + 1 + column).saturating_sub(label.len() / 2);
            if start >= free && start + label.len() <= labels.len() {
                free = start + label.len() + 1;
                labels[start..start + label.len()].copy_from_slice(&label);
            }
        }
        let rule: String = rule.into_iter().collect();
        let labels: String = labels.into_iter().collect();
        [Line::plain(format!("{}└{rule}", " ".repeat(LABELS))), Line::plain(cut(&labels, LABELS + 2 + self.columns))]
    }
}
