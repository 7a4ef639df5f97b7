//! Aligned columns that fit the width: columns are dropped by priority, but a column of figures only after names were
//! shortened; then cells of text wrap, and longer words are cut.

use std::borrow::Cow;

use plimsoll_language::label;

use super::TextStyle;
use super::paint::{PaintedLine, Tone, wrap};
use super::width::{columns, longest_piece, pad_end};
use crate::latency::pads;
use crate::words::cut;

/// Alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    /// Left, never wrapped.
    Retained,
    Point,
    /// Left; reasons separated by commas, which letters with a legend replace if the width is too small.
    Reasons,
}

/// A column with a heading of two lines: name and unit.
#[derive(Clone, Debug)]
pub(super) struct TextColumn {
    pub name: Cow<'static, str>,
    pub unit: &'static str,
    pub align: Align,
    /// Drop priority: 0 is always kept; of the others the highest is dropped first.
    pub expendable: u8,
    pub cells: Vec<String>,
}

/// Columns, headings between rows, and a highlighted row.
#[derive(Clone, Debug, Default)]
pub(super) struct TextTable {
    pub columns: Vec<TextColumn>,
    /// Headings, each with the index of the row below.
    pub groups: Vec<(usize, String)>,
    pub strong: Option<usize>,
}

/// A table after layout, and the names of dropped columns.
#[derive(Default)]
pub(super) struct Laid {
    pub lines: Vec<PaintedLine>,
    /// The letters of columns of reasons.
    pub legends: Vec<String>,
    pub left_out: Vec<Cow<'static, str>>,
}

const GAP: usize = 2;
/// Letters for reasons.
const LETTERS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
/// Characters of a word that is cut, at least.
const MIN_WORD: usize = 12;

/// Characters of a name in a table that is too wide for all of its columns: the rest is for figures.
const fn name_width(width: usize) -> usize {
    width * 2 / 5
}

impl TextTable {
    /// True if all columns fit.
    pub fn fits(&self, style: &TextStyle) -> bool {
        let mut copy = self.clone();
        copy.align();
        copy.width(GAP) <= style.width
    }

    /// Lays out the table within the width.
    pub fn lay_out(mut self, style: &TextStyle) -> Laid {
        self.align();
        let is_wide = self.width(GAP) > style.width;
        let reasons = self.columns.iter_mut().filter(|column| is_wide && column.align == Align::Reasons);
        let legends: Vec<String> = reasons.filter_map(TextColumn::replace_by_letters).collect();
        let mut left_out = Vec::new();
        while self.width(GAP) > style.width {
            let last = self.columns.iter().enumerate().filter(|(_, column)| column.expendable > 0);
            let Some((index, last)) = last.max_by_key(|(_, column)| column.expendable) else { break };
            if last.align == Align::Point && self.shortened_width(style.width) <= style.width {
                break;
            }
            left_out.push(self.columns.remove(index).name);
        }
        self.shorten(style.width);
        self.narrow(style.width);
        self.shorten_words(style.width);
        let gap = if self.width(GAP) > style.width { 1 } else { GAP };
        Laid { lines: self.lines(gap, style), legends, left_out }
    }

    fn align(&mut self) {
        for column in self.columns.iter_mut().filter(|column| column.align == Align::Point) {
            let pads = pads(&column.cells);
            for (cell, pad) in column.cells.iter_mut().zip(pads) {
                cell.push_str(&" ".repeat(pad.digits + usize::from(pad.point)));
            }
        }
    }

    /// Width with all names as short as [`name_width`].
    fn shortened_width(&self, width: usize) -> usize {
        let longest = name_width(width);
        let of_column = |column: &TextColumn| match column.align {
            Align::Left => column.width().min(longest),
            Align::Retained | Align::Point | Align::Reasons => column.width(),
        };
        self.columns.iter().map(|column| of_column(column) + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Cuts the words that are longer than [`name_width`], if the table does not fit.
    fn shorten(&mut self, width: usize) {
        let is_wide = self.width(GAP) > width;
        for column in self.columns.iter_mut().filter(|column| is_wide && column.align == Align::Left) {
            column.cut_words(name_width(width));
        }
    }

    /// Cuts the longest words further until the table fits.
    fn shorten_words(&mut self, width: usize) {
        while let Some(excess) = self.width(GAP).checked_sub(width + 1) {
            let words = self.columns.iter_mut().filter(|column| column.align == Align::Left);
            let Some(widest) = words.max_by_key(|column| column.longest_word()) else { return };
            let longest = widest.longest_word();
            let limit = longest.saturating_sub(excess + 1).max(MIN_WORD);
            widest.cut_words(limit);
            if limit >= longest || widest.longest_word() == longest {
                return;
            }
        }
    }

    /// Wraps cells of text until the table fits; words are not split.
    fn narrow(&mut self, width: usize) {
        while let Some(excess) = self.width(GAP).checked_sub(width + 1) {
            let words = self.columns.iter_mut().filter(|column| column.align == Align::Left);
            let Some(widest) = words.max_by_key(|column| column.width() - column.longest_word()) else { return };
            let narrow = widest.width().saturating_sub(excess + 1).max(widest.longest_word());
            if narrow == widest.width() {
                return;
            }
            for cell in &mut widest.cells {
                *cell = wrap(cell, narrow).join("\n");
            }
        }
    }

    fn width(&self, gap: usize) -> usize {
        self.columns.iter().map(|column| column.width() + gap).sum::<usize>().saturating_sub(gap)
    }

    fn lines(&self, gap: usize, style: &TextStyle) -> Vec<PaintedLine> {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let line = |cell: &dyn Fn(&TextColumn) -> String| {
            let cells: Vec<_> = self.columns.iter().map(|column| column.set(&cell(column))).collect();
            cut(&cells.join(&" ".repeat(gap)), style.width)
        };
        let mut out = vec![PaintedLine::of(line(&|column| column.name.to_string()), Tone::Quiet)];
        if self.columns.iter().any(|column| !column.unit.is_empty()) {
            out.push(PaintedLine::of(line(&|column| column.unit.into()), Tone::Quiet));
        }
        for row in 0..rows {
            for (_, heading) in self.groups.iter().filter(|(before, _)| *before == row) {
                out.extend(wrap(heading, style.width).into_iter().map(|line| PaintedLine::of(line, Tone::Quiet)));
            }
            let tone = if self.strong == Some(row) { Tone::Strong } else { Tone::Plain };
            let part = |column: &TextColumn, index| column.cells[row].lines().nth(index).unwrap_or_default().to_owned();
            let height = self.columns.iter().map(|column| column.cells[row].lines().count()).max().unwrap_or(0).max(1);
            out.extend((0..height).map(|index| PaintedLine::of(line(&|column| part(column, index)), tone)));
        }
        out
    }
}

impl TextColumn {
    /// Width of the widest cell or heading.
    pub fn width(&self) -> usize {
        let lines = self.cells.iter().flat_map(|cell| cell.lines());
        lines.chain([&*self.name, self.unit]).map(columns).max().unwrap_or(0)
    }

    /// Replaces the reasons in the cells by letters, and returns their legend: `doubts: a unverified price, b latency`. `None`
    /// without reasons, or with more of them than letters.
    fn replace_by_letters(&mut self) -> Option<String> {
        let separator = label!(", ");
        let mut reasons: Vec<String> = Vec::new();
        for reason in self.cells.iter().flat_map(|cell| cell.split(separator)).filter(|reason| !reason.is_empty()) {
            if !reasons.iter().any(|existing| existing == reason) {
                reasons.push(reason.to_owned());
            }
        }
        if reasons.is_empty() || reasons.len() > LETTERS.len() {
            return None;
        }
        let letter = |reason: &str| reasons.iter().position(|existing| existing == reason).map(|at| LETTERS[at]);
        for cell in &mut self.cells {
            let letters: Vec<&str> = cell.split(separator).filter_map(letter).collect();
            *cell = letters.join(" ");
        }
        self.align = Align::Left;
        let entries = LETTERS.iter().zip(&reasons).map(|(letter, reason)| format!("{letter} {reason}"));
        let entries: Vec<String> = entries.collect();
        Some(format!("{}: {}", self.name, entries.join(separator)))
    }

    fn longest_word(&self) -> usize {
        let headings = [&*self.name, self.unit].into_iter().map(columns);
        self.cells.iter().map(|cell| longest_piece(cell)).chain(headings).max().unwrap_or(0)
    }

    /// Cuts words longer than `limit` in their middle: the ends of names, such as those of partitions, differ.
    fn cut_words(&mut self, limit: usize) {
        let cut = |word: &str| {
            let letters: Vec<char> = word.chars().collect();
            if longest_piece(word) <= limit {
                return word.to_owned();
            }
            let (head, tail) = (limit / 2, limit - limit / 2 - 1);
            letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect()
        };
        for cell in self.cells.iter_mut().filter(|cell| longest_piece(cell) > limit) {
            let lines = cell.lines().map(|line| line.split(' ').map(cut).collect::<Vec<_>>().join(" "));
            *cell = lines.collect::<Vec<_>>().join("\n");
        }
    }

    fn set(&self, cell: &str) -> String {
        let width = self.width();
        match self.align {
            Align::Left | Align::Retained | Align::Reasons => pad_end(cell, width),
            Align::Point => format!("{}{cell}", " ".repeat(width.saturating_sub(columns(cell)))),
        }
    }
}
