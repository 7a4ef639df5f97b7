//! Figures out of what is printed. Plimsoll prints each tool's layout, so one reader serves both sides.

use crate::pairs::Figures;

/// MB/s of each copy.
pub fn dd(text: &str) -> Vec<Option<f64>> {
    let copies = text.lines().filter_map(|line| line.split_once(" copied, "));
    let rate = |(bytes, rest): (&str, &str)| -> Option<f64> {
        let bytes: f64 = bytes.split(' ').next()?.parse().ok()?;
        let seconds: f64 = rest.split(' ').next()?.parse().ok()?;
        Some(bytes / 1e6 / seconds)
    };
    copies.map(rate).collect()
}

/// The line of commas.
pub fn bonnie(text: &str) -> Figures {
    let line = text.lines().find(|line| line.starts_with("1.98,")).unwrap_or_else(|| panic!("no line in {text}"));
    let fields: Vec<&str> = line.split(',').collect();
    let names = ["per-char write", "block write", "rewrite", "per-char read", "block read", "seeks"];
    let figure = |index: usize| fields.get(9 + 2 * index).and_then(|field| field.parse().ok());
    names.iter().enumerate().map(|(index, name)| ((*name).to_owned(), figure(index))).collect()
}

/// Operations per second of each method that has some, numbered by their groups.
pub fn walfsync(text: &str) -> Figures {
    let mut group = 0;
    let mut figures = Figures::new();
    for line in text.lines() {
        if line.ends_with(':') && !line.starts_with(['(', ' ']) {
            group += 1;
        }
        let Some((before, _)) = line.split_once(" ops/sec") else { continue };
        let Some((name, rate)) = before.trim().rsplit_once("  ") else { continue };
        figures.push((format!("{group}: {}", name.trim()), rate.trim().parse().ok()));
    }
    figures
}

/// MB/s of each line of version 8's text.
pub fn crystaldiskmark(printed: &str) -> Figures {
    let mut direction = "";
    let mut figures = Figures::new();
    for line in printed.lines() {
        match line.trim() {
            "[Read]" => direction = "read",
            "[Write]" => direction = "write",
            _ => {}
        }
        let Some((test, rest)) = line.split_once("): ") else { continue };
        let Some((rate, _)) = rest.split_once(" MB/s") else { continue };
        let name = test.split_whitespace().collect::<Vec<_>>().join(" ");
        figures.push((format!("{direction} {name})"), rate.trim().parse().ok()));
    }
    figures
}

/// MB/s of fio's job in one direction.
pub fn fio(text: &str, direction: &str) -> Option<f64> {
    let json = text.find('{').map_or("", |start| &text[start..]);
    let result: serde_json::Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {text}"));
    Some(result["jobs"][0][direction]["bw_bytes"].as_f64()? / 1e6)
}

/// MiB/s of each row of the first table.
pub fn tiotest(text: &str) -> Figures {
    let rows = text.lines().filter(|line| line.starts_with('|') && line.contains("MB/s"));
    let figure = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let rate = cells.get(3).and_then(|cell| cell.split_whitespace().next()).and_then(|rate| rate.parse().ok());
        let name = cells.get(1).map_or("", |cell| cell.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' '));
        let name = name.trim_end_matches("MBs").trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        (name.to_owned(), rate)
    };
    rows.map(figure).collect()
}
