//! Values over time, in bounded memory: seconds, or longer where a test was. Knows nothing of fio.

/// What is added up of a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// Rows.
    pub(super) rows: f64,
    /// The sum of their values.
    pub(super) sum: f64,
    /// The first of them.
    pub(super) line: u64,
}

impl Cell {
    fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.sum += other.sum;
        if self.line == 0 {
            self.line = other.line;
        }
    }
}

/// Values by moment.
#[derive(Clone, Debug)]
pub(super) struct Series {
    cells: Vec<Cell>,
    width_ms: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { cells: Vec::new(), width_ms: 1_000 }
    }
}

impl Series {
    /// Moments that are kept, at most.
    pub(super) const MOST: u64 = 10_000;

    pub(super) fn add(&mut self, since_ms: u64, value: f64, line: u64) {
        while since_ms / self.width_ms >= Self::MOST {
            self.width_ms = self.width_ms.saturating_mul(2);
            let longer = self.cells.chunks(2).map(|cells| {
                let mut whole = Cell::default();
                for cell in cells {
                    whole.merge(cell);
                }
                whole
            });
            self.cells = longer.collect();
        }
        let index = (since_ms / self.width_ms) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, Cell::default());
        }
        self.cells[index].merge(&Cell { rows: 1.0, sum: value, line });
    }

    /// The moments with rows: seconds from the beginning, and what was added.
    pub(super) fn moments(&self) -> impl Iterator<Item = (f64, Cell)> {
        let width_s = self.width_s();
        let all = self.cells.iter().enumerate().map(move |(index, cell)| (index as f64 * width_s, *cell));
        all.filter(|(_, cell)| cell.rows > 0.0)
    }

    /// Seconds of a moment.
    pub(super) fn width_s(&self) -> f64 {
        self.width_ms as f64 / 1e3
    }

    /// All of it.
    pub(super) fn whole(&self) -> Cell {
        let mut whole = Cell::default();
        for cell in &self.cells {
            whole.merge(cell);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::Series;

    #[test]
    fn long_series_lose_nothing() {
        let mut series = Series::default();
        for second in 0..25_000 {
            series.add(second * 1_000, 2.0, second + 1);
        }
        let moments: Vec<_> = series.moments().collect();
        assert_eq!((moments.len(), series.width_s() as u64), (6_250, 4));
        assert_eq!((moments[1].0 as u64, moments[1].1.sum as u64, moments[1].1.line), (4, 8, 5));
        assert_eq!((series.whole().rows as u64, series.whole().sum as u64), (25_000, 50_000));
    }
}
