//! Queries of `plimsoll collect mysql`, and the shape of its output.

use serde_json::{Map, Value, json};

/// Query for the head of a file: a line for [`parse_head`].
pub const HEAD: &str =
    "SELECT CONCAT_WS('|', @@version, @@hostname, @@port, @@innodb_page_size, @@innodb_buffer_pool_size);";

/// Queries of a snapshot, whose lines are for [`parse_sample`]: the time, and then the I/O variables of InnoDB and the
/// uptime.
pub const SAMPLE: [&str; 2] = [
    "SELECT CONCAT('at|', DATE_FORMAT(UTC_TIMESTAMP(3), '%Y-%m-%dT%H:%i:%s.%fZ'));",
    "SHOW GLOBAL STATUS WHERE Variable_name REGEXP \
     '^(Uptime|Innodb_page_size|Innodb_(data|log|os_log|dblwr)_.*|Innodb_pages_.*|Innodb_buffer_pool_reads?.*)$';",
];

/// Head of a file; `None` if the line is not an answer to [`HEAD`].
pub fn parse_head(line: &str) -> Option<Map<String, Value>> {
    let [version, host, port, page, cache] = line.split('|').collect::<Vec<_>>()[..] else { return None };
    let number = |text: &str| json!(text.parse::<u64>().ok());
    let fields = [
        ("server", json!(format!("{host}:{port}"))),
        ("version", json!(version)),
        ("block_bytes", number(page)),
        ("cache_bytes", number(cache)),
    ];
    Some(fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Snapshot from the lines of [`SAMPLE`]. `now` is the default of its time.
pub fn parse_sample<'a>(lines: impl IntoIterator<Item = &'a str>, now: impl FnOnce() -> Value) -> Map<String, Value> {
    let mut status = Map::new();
    let mut at = None;
    for line in lines {
        if let Some(time) = line.strip_prefix("at|") {
            at = Some(json!(time));
        } else if let Some((name, value)) = line.split_once('\t')
            && let Ok(value) = value.trim().parse::<u64>()
        {
            status.insert(name.to_owned(), json!(value));
        }
    }
    let at = at.unwrap_or_else(now);
    [("at".to_owned(), at), ("status".to_owned(), Value::Object(status))].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_converted_to_json() {
        let head = parse_head("10.11.6-MariaDB|db1|3306|16384|134217728").unwrap();
        assert_eq!((&head["server"], &head["block_bytes"]), (&json!("db1:3306"), &json!(16384)));
        assert!(parse_head("10.11.6-MariaDB").is_none());
        let lines = ["at|2026-01-02T03:04:05.000000Z", "Uptime\t12", "Innodb_buffer_pool_load_status\tdone"];
        let sample = parse_sample(lines, || json!("never"));
        assert_eq!(Value::Object(sample), json!({"at": "2026-01-02T03:04:05.000000Z", "status": {"Uptime": 12}}));
        assert_eq!(parse_sample([], || json!("now"))["at"], json!("now"));
    }
}
