//! Load curve in characters: fitted medians as braille lines, markers for loads, rules for the objective and the load line.

use plimsoll_language::say;

use super::paint::{PaintedLine, Tone, wrap};
use super::width::columns;
use super::{Charset, TextStyle};
use crate::number;
use crate::page::Plot;
use crate::scale::AxisScale;
use crate::words::cut;

/// Rows of a plot that has a page of its own.
pub(super) const ROWS: usize = 12;
/// Columns of the labels left of the axis.
const LABELS: usize = 8;

/// A grid of characters; each is 2 by 4 braille dots unless overwritten.
struct Canvas {
    columns: usize,
    rows: usize,
    dots: Vec<u8>,
    over: Vec<Option<char>>,
    x: AxisScale,
    y: AxisScale,
}

/// Latency against throughput in `rows` rows and those of the axis; empty for fewer than two loads.
pub(super) fn plot(plot: &Plot, rows: usize, style: &TextStyle) -> Vec<PaintedLine> {
    if plot.points.iter().filter(|point| !point.is_overloaded).count() < 2 {
        return Vec::new();
    }
    let columns = (style.width - LABELS - 2).min(70);
    let mut canvas = Canvas::new(plot, columns, rows);
    if style.unicode == Charset::Unicode {
        plot.fits.iter().for_each(|fit| canvas.trace(fit));
    }
    canvas.rules(plot);
    canvas.marks(plot, 0, ['▪', '▫']);
    canvas.marks(plot, 1, ['●', '○']);
    let mut lines = Vec::new();
    lines.extend((!plot.title.is_empty()).then(|| PaintedLine::of(cut(&plot.title, style.width), Tone::Strong)));
    lines.extend(canvas.load_label(plot));
    lines.extend(canvas.lines());
    lines.extend(canvas.axis());
    lines.extend(wrap(&plot.legend, style.width).into_iter().map(|line| PaintedLine::of(line, Tone::Quiet)));
    lines
}

impl Canvas {
    fn new(plot: &Plot, columns: usize, rows: usize) -> Self {
        let max = plot.points.iter().map(|point| point.iops).chain(plot.line_iops).fold(0.0, f64::max);
        let sustained = || plot.points.iter().filter(|point| !point.is_overloaded);
        let times = || sustained().flat_map(|point| point.percentiles_ns).flatten().chain(plot.limit_ns);
        let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let (x, y) = (AxisScale::from_zero(max), AxisScale::for_latency(low, high));
        Self { columns, rows, dots: vec![0; columns * rows], over: vec![None; columns * rows], x, y }
    }

    fn column(&self, iops: f64) -> usize {
        (self.x.place(iops) * (self.columns * 2 - 1) as f64).round() as usize / 2
    }

    fn row(&self, ns: f64) -> usize {
        ((1.0 - self.y.place(ns)) * (self.rows * 4 - 1) as f64).round() as usize / 4
    }

    fn write(&mut self, column: usize, row: usize, sign: char) {
        self.over[row * self.columns + column] = Some(sign);
    }

    /// Draws a fitted line, up to its first vertex above the plot.
    fn trace(&mut self, fit: &[(f64, f64)]) {
        let inside = fit.partition_point(|(_, ns)| *ns <= self.y.ends().1);
        let place = |(iops, ns): &(f64, f64)| {
            let (across, down) = (self.x.place(*iops), 1.0 - self.y.place(*ns));
            (across * (self.columns * 2 - 1) as f64, down * (self.rows * 4 - 1) as f64)
        };
        let points: Vec<(f64, f64)> = fit.iter().take(inside + 1).map(place).collect();
        for pair in points.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().max(1.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                self.dot(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
            }
        }
    }

    /// Sets a dot of a cell: left column, then right column, from the top (Unicode braille patterns).
    fn dot(&mut self, x: f64, y: f64) {
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (x, y) = ((x.round() as usize).min(self.columns * 2 - 1), (y.round() as usize).min(self.rows * 4 - 1));
        self.dots[y / 4 * self.columns + x / 2] |= BITS[x % 2][y % 4];
    }

    fn rules(&mut self, plot: &Plot) {
        let Some(limit) = plot.limit_ns else { return };
        let row = self.row(limit);
        let at = plot.line_iops.map(|iops| self.column(iops));
        for column in 0..self.columns {
            if self.dots[row * self.columns + column] == 0 {
                self.write(column, row, '┄');
            }
        }
        for row in (0..self.rows).filter(|_| at.is_some()) {
            let column = at.unwrap_or(0);
            if self.dots[row * self.columns + column] == 0 {
                self.write(column, row, '│');
            }
        }
        if let Some(column) = at {
            self.write(column, row, '⊖');
        }
    }

    fn marks(&mut self, plot: &Plot, percentile: usize, [open, closed]: [char; 2]) {
        for point in &plot.points {
            if let Some(ns) = point.percentiles_ns[percentile] {
                let (column, row) = (self.column(point.iops), self.row(ns));
                let sign = match point.is_overloaded {
                    true if percentile == 0 => continue,
                    true => '×',
                    false if point.is_open => open,
                    false => closed,
                };
                if self.over[row * self.columns + column] != Some('⊖') {
                    self.write(column, row, sign);
                }
            }
        }
    }

    fn load_label(&self, plot: &Plot) -> Option<PaintedLine> {
        let iops = plot.line_iops?;
        let label = cut(&say!("load line {}", number::short(iops)), self.columns);
        let wide = columns(&label);
        let start = self.column(iops).saturating_sub(wide / 2).min(self.columns.saturating_sub(wide));
        Some(PaintedLine::plain(format!("{}{label}", " ".repeat(LABELS + 1 + start))))
    }

    fn lines(&self) -> Vec<PaintedLine> {
        let mut labels: Vec<String> = vec![String::new(); self.rows];
        for tick in self.y.ticks(self.rows / 2).iter().filter(|tick| tick.labelled) {
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
            PaintedLine::plain(format!("{label:>LABELS$}{edge}{cells}"))
        };
        labels.iter().enumerate().map(line).collect()
    }

    fn axis(&self) -> [PaintedLine; 2] {
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
        [
            PaintedLine::plain(format!("{}└{rule}", " ".repeat(LABELS))),
            PaintedLine::plain(cut(&labels, LABELS + 2 + self.columns)),
        ]
    }
}
