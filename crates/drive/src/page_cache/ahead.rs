//! Read-ahead windows that double while a stream reads sequentially.
//!
//! After Linux's on-demand read-ahead (mm/readahead.c, Wu 2007): a window is read at once, and the next one when the
//! reader reaches a mark in it.

use std::ops::Range;

/// A reader's read-ahead state in a file. Pages are numbered from the start of the space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadAheadWindow {
    /// Its first page.
    start: u64,
    /// Pages; 0 before the first read-ahead.
    size: u64,
    /// The page whose read triggers the next window.
    mark: u64,
    /// The page after the last requested page.
    next: Option<u64>,
}

impl ReadAheadWindow {
    const fn end(&self) -> u64 {
        self.start + self.size
    }

    /// The range to read when the pages of `requested` from `first` on are missing. `max` is the largest window, 0 to
    /// disable read-ahead. `begin` is the first page of the file.
    pub(super) fn miss(&mut self, first: u64, requested: &Range<u64>, begin: u64, max: u64) -> Range<u64> {
        let required = requested.end - first;
        // Linux reads a whole request at once, even if it exceeds the window.
        let longest = max.max(required);
        let goes_on = self.next.is_some_and(|next| first == next || first + 1 == next);
        if max == 0 {
            return first..requested.end;
        }
        if self.size > 0 && first == self.end() {
            *self = Self { start: first, size: following(self.size, longest).max(required), ..*self };
            self.mark = self.start;
        } else if first == begin || goes_on || required > max {
            let size = opening(required, longest);
            let mark = if size > required { first + required } else { first };
            *self = Self { start: first, size, mark, ..*self };
        } else {
            // A small random read: no read-ahead.
            return first..requested.end;
        }
        if self.mark == self.start {
            // The reader reaches the mark at once: place the mark half way, or extend this window.
            let more = following(self.size, longest);
            if self.size + more <= longest {
                self.mark = self.end();
                self.size += more;
            } else {
                self.size = self.size.max(longest);
                self.mark = self.start + self.size - self.size / 2;
            }
        }
        self.start..self.end()
    }

    /// The window after this one, if the requested pages include its mark.
    pub(super) fn pass(&mut self, requested: &Range<u64>, max: u64) -> Option<Range<u64>> {
        if max == 0 || self.size == 0 || !requested.contains(&self.mark) {
            return None;
        }
        let start = self.end();
        *self = Self { start, size: following(self.size, max), mark: start, ..*self };
        Some(start..self.end())
    }

    /// Records that these pages were requested.
    pub(super) const fn record_request(&mut self, requested: &Range<u64>) {
        self.next = Some(requested.end);
    }
}

/// The first window of a reader that requests `required` pages.
const fn opening(required: u64, max: u64) -> u64 {
    let size = required.next_power_of_two();
    if size <= max / 32 {
        size * 4
    } else if size <= max / 4 {
        size * 2
    } else {
        max
    }
}

/// The window after one of `size` pages.
const fn following(size: u64, max: u64) -> u64 {
    if size < max / 16 {
        size * 4
    } else if size <= max / 2 {
        size * 2
    } else {
        max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reads caused by sequential requests of `size` pages, with only read-ahead pages in memory.
    fn in_order(size: u64, max: u64, reads: u64) -> Vec<Range<u64>> {
        let (mut window, mut read, mut there) = (ReadAheadWindow::default(), Vec::new(), 0);
        for number in 0..reads {
            let requested = number * size..(number + 1) * size;
            if requested.end > there {
                let run = window.miss(requested.start.max(there), &requested, 0, max);
                there = run.end;
                read.push(run);
            }
            if let Some(run) = window.pass(&requested, max) {
                there = run.end;
                read.push(run);
            }
            window.record_request(&requested);
        }
        read
    }

    #[test]
    fn windows_double_up_to_the_longest() {
        // 4, 8, 16 and 32 pages, as blktrace shows of a reader of 4 KiB with read_ahead_kb 128.
        assert_eq!(in_order(1, 32, 30), [0..4, 4..12, 12..28, 28..60, 60..92]);
        assert_eq!(in_order(1, 0, 3), [0..1, 1..2, 2..3], "without read-ahead each request reads its own pages");
        assert_eq!(
            in_order(32, 32, 2),
            [0..32, 32..64, 64..96],
            "requests as long as the window: one window ahead of the reader"
        );
    }

    #[test]
    fn a_random_read_has_no_read_ahead() {
        let mut window = ReadAheadWindow::default();
        assert_eq!(window.miss(1000, &(1000..1001), 0, 32), 1000..1001);
        window.record_request(&(1000..1001));
        assert_eq!(window.miss(1001, &(1001..1002), 0, 32), 1001..1005, "the following page begins a window");
        assert_eq!(window.miss(5000, &(5000..5064), 0, 32), 5000..5064, "a long read is one operation");
    }
}
