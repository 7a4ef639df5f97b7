//! The tables of Bonnie++ 2.00 and its comma-separated line.
//!
//! Knows figures only. Two slips of 2.00 are not followed, for the sake of who reads the figures: it prints the number of
//! files in place of their rate in the table, and puts the number of directories into the column of another figure.

use plimsoll_units::{Bytes, Span};

use super::{BonnieOptions, SmallFiles};

/// What is printed where there is no figure.
const NO_RATE: &str = "+++++";
const NO_CPU: &str = "+++";

/// A figure of a phase.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// KiB, seeks or files per second; none where it took too little time.
    pub rate: Option<f64>,
    /// Per cent; none where there is no figure.
    pub cpu: Option<f64>,
    /// The longest operation.
    pub longest: Option<Span>,
    /// The phase was made.
    pub was_run: bool,
}

/// All figures of one round.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub options: &'a BonnieOptions,
    pub size: Bytes,
    pub blocks: [Cell; 6],
    pub files: [Cell; 6],
}

impl Row<'_> {
    /// The two tables, each only if something of it was made.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.blocks.iter().any(|cell| cell.was_run) {
            text += "Version  2.00       ------Sequential Output------ --Sequential Input- --Random-\n";
            text += "                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n";
            text += &heads("Name:Size etc");
            let size = self.size_text();
            let room = 18_usize.saturating_sub(size.len());
            let name: String = self.options.machine().chars().take(room).collect();
            let of = |index: usize, rate: f64| if index < 5 { kib_text(rate) } else { seeks_text(rate) };
            text += &format!("{name:<room$} {size}{}\n", columns(&self.blocks, of));
            text += &latencies(&self.blocks);
        }
        if self.files.iter().any(|cell| cell.was_run) {
            text += "Version  2.00       ------Sequential Create------ --------Random Create--------\n";
            let name: String = self.options.machine().chars().take(19).collect();
            text += &format!("{name:<19} -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n");
            let has_sizes = self.options.small_files.largest > 0;
            text += &heads(if has_sizes { "files:max:min" } else { "              files" });
            text += &format!("{:>19}{}\n", self.files_text(), columns(&self.files, |_, rate| format!("{rate:.0}")));
            text += &latencies(&self.files);
        }
        text
    }

    /// The line of format 1.98.
    pub fn csv(&self) -> String {
        let BonnieOptions { seed, chunk, seeks, seekers, .. } = self.options;
        let name: String =
            self.options.machine().chars().map(|letter| if letter == ',' { ' ' } else { letter }).collect();
        let mut line = format!("1.98,2.00,{name},1,{seed}");
        if self.blocks.iter().any(|cell| cell.was_run) {
            let chunk = if *chunk == 8192 { String::new() } else { size_text(u64::from(*chunk)) };
            line += &format!(",{},{chunk},{seeks},{seekers}", megabytes(self.size));
        } else {
            line += ",,,,";
        }
        line += &cells(&self.blocks, |index, rate| if index < 5 { format!("{rate:.0}") } else { seeks_text(rate) });
        let SmallFiles { units, largest, least, directories } = self.options.small_files;
        if self.files.iter().any(|cell| cell.was_run) {
            let some = |value: u64, none: u64| if value == none { String::new() } else { value.to_string() };
            line += &format!(",{units},{},{},{},", some(largest, 0), some(least, 0), some(directories, 1));
        } else {
            line += ",,,,,";
        }
        line += &cells(&self.files, |_, rate| format!("{rate:.0}"));
        for cell in self.blocks.iter().chain(&self.files) {
            line += ",";
            line += &cell.longest.map_or(String::new(), latency_text);
        }
        line + "\n"
    }

    fn size_text(&self) -> String {
        let size = megabytes(self.size);
        match self.options.chunk {
            8192 => size,
            chunk => format!("{size}:{}", size_text(chunk.into())),
        }
    }

    fn files_text(&self) -> String {
        let SmallFiles { units, largest, least, directories } = self.options.small_files;
        let sizes = if largest > 0 { format!("{units}:{largest}:{least}") } else { units.to_string() };
        if directories > 1 { format!("{sizes}/{directories}") } else { sizes }
    }
}

fn heads(first: &str) -> String {
    format!("{first:<20}{}\n", [" /sec %CP"; 6].join(" "))
}

fn columns(cells: &[Cell; 6], text: impl Fn(usize, f64) -> String) -> String {
    let one = |(index, cell): (usize, &Cell)| {
        if !cell.was_run {
            return " ".repeat(10);
        }
        let rate = cell.rate.map_or(NO_RATE.into(), |rate| text(index, rate));
        format!(" {rate:>5} {:>3}", cell.cpu.map_or(NO_CPU.into(), per_cent))
    };
    cells.iter().enumerate().map(one).collect()
}

fn cells(cells: &[Cell; 6], text: impl Fn(usize, f64) -> String) -> String {
    let one = |(index, cell): (usize, &Cell)| {
        if !cell.was_run {
            return ",,".to_owned();
        }
        let rate = cell.rate.map_or(NO_RATE.into(), |rate| text(index, rate));
        format!(",{rate},{}", cell.cpu.map_or(NO_CPU.into(), per_cent))
    };
    cells.iter().enumerate().map(one).collect()
}

fn latencies(cells: &[Cell; 6]) -> String {
    let one = |cell: &Cell| format!("{:>10}", cell.longest.map_or(String::new(), latency_text));
    format!("{:<17}{}\n", "Latency", cells.iter().map(one).collect::<String>())
}

/// Whole per cent that were reached.
fn per_cent(value: f64) -> String {
    format!("{}", value as u64)
}

/// KiB per second in five characters: `2075k`, `9.8m`, `378m`, `1.4g`.
fn kib_text(kib: f64) -> String {
    let (mib, gib) = (kib / 1024.0, kib / 1_048_576.0);
    match kib.round() {
        whole if whole < 10_000.0 => format!("{whole}k"),
        whole if whole < 102_400.0 => format!("{mib:.1}m"),
        whole if whole < 1_024_000.0 => format!("{mib:.0}m"),
        _ => format!("{gib:.1}g"),
    }
}

/// Seeks per second: tenths below a thousand.
fn seeks_text(rate: f64) -> String {
    if rate < 999.95 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// A latency in at most five digits of a unit.
fn latency_text(span: Span) -> String {
    let micros = span.as_nanos() / 1_000;
    match micros {
        0..100_000 => format!("{micros}us"),
        100_000..100_000_000 => format!("{}ms", micros / 1_000),
        _ => format!("{}s", micros / 1_000_000),
    }
}

fn megabytes(size: Bytes) -> String {
    let mib = size.get() >> 20;
    if mib > 0 && mib.is_multiple_of(1024) { format!("{}G", mib / 1024) } else { format!("{mib}M") }
}

fn size_text(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) { format!("{}k", bytes / 1024) } else { bytes.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T>(text: impl Fn(T) -> String, expected: Vec<(T, &str)>) {
        for (value, expected) in expected {
            assert_eq!(text(value), expected);
        }
    }

    /// As the converter of Bonnie++ 2.00 prints the same rates.
    #[test]
    fn rates_take_the_unit_that_fits() {
        let rates = vec![
            (5.0, "5k"),
            (9_999.0, "9999k"),
            (10_000.0, "9.8m"),
            (99_999.0, "97.7m"),
            (102_399.0, "100.0m"),
            (102_400.0, "100m"),
            (1_023_999.0, "1000m"),
            (1_024_000.0, "1.0g"),
            (10_485_760.0, "10.0g"),
        ];
        check(kib_text, rates);
        check(seeks_text, vec![(533.84, "533.8"), (999.99, "1000"), (15_958.4, "15958")]);
    }

    #[test]
    fn latencies_take_the_unit_that_fits() {
        let spans = vec![
            (Span::from_micros(8_522), "8522us"),
            (Span::from_micros(99_999), "99999us"),
            (Span::from_millis(558), "558ms"),
            (Span::from_millis(99_999), "99999ms"),
            (Span::from_secs(100), "100s"),
        ];
        check(latency_text, spans);
    }

    #[test]
    fn sizes_are_in_gigabytes_where_they_are_whole() {
        let sizes = vec![(Bytes::mib(7423), "7423M"), (Bytes::gib(8), "8G"), (Bytes::mib(256), "256M")];
        check(megabytes, sizes);
    }
}
