//! Lines of Telegraf's `diskio` in the line protocol of `InfluxDB`, as its file output writes them.

/// The beginning of its lines.
pub(super) const DISKIO: &str = "diskio,";

/// The samples of a line in the text format of exporters; empty for other lines.
///
/// `diskio,host=db1,name=sda reads=5i,writes=6i 1700000000000000000`
pub(super) fn to_exposition(line: &str) -> Vec<String> {
    let mut words = line.strip_prefix(DISKIO).unwrap_or_default().splitn(3, ' ');
    let (Some(tags), Some(fields)) = (words.next(), words.next()) else { return Vec::new() };
    let labels: Vec<String> =
        tags.split(',').filter_map(|tag| tag.split_once('=')).map(|(key, text)| format!("{key}=\"{text}\"")).collect();
    // Nanoseconds, microseconds or milliseconds; those of exporters are milliseconds.
    let at = words.next().and_then(|word| word.trim().parse::<u64>().ok());
    let at = at.map(|at| (0..2).fold(at, |at, _| if at >= 100_000_000_000_000 { at / 1_000 } else { at }));
    let at = at.map_or_else(String::new, |at| format!(" {at}"));
    let samples = fields.split(',').filter_map(|field| field.split_once('=')).map(|(key, value)| {
        let value = value.trim_end_matches(['i', 'u']);
        format!("diskio_{key}{{{}}} {value}{at}", labels.join(","))
    });
    samples.collect()
}
