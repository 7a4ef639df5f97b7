//! A catalogue of three products and a machine, with figures that can be calculated by hand.

use plimsoll_catalogue::{Ask, Catalogue, PriceTerms};
use plimsoll_units::Bytes;

const SOURCES: &str = r#"
[default]
source = "page"
date = "2026-01"
status = "verified"
[sources.page]
title = "Volumes of the test"
url = "https://example.org/volumes"
date = "2026-01"
[sources.guess]
title = "own choice"
date = "2026-02"
"#;

const FAST: &str = r#"
product = "test/fast"
aliases = ["fast"]
title = "Fast volume"
kind = "volume"
about = "A volume with provisioned IOPS"
capacity_unit = "GB"
capacity_bytes = 1073741824
[options.size]
kind = "size"
min = 20
max = 1000
step = 10
[options.iops]
kind = "number"
min = 1000
max = "min(20000, 50 * size)"
step = 100
default = 1000
note = "at most 50 for each GB"
[options.attachment]
kind = "choice"
choices = ["plain", "encrypted"]
default = "plain"
[[limit]]
name = "IOPS as provisioned"
scope = "volume"
iops = "iops"
unit = "256KiB"
lift = ["iops"]
note = "reads and writes count alike"
[[limit]]
name = "throughput of the level"
scope = "level"
bytes = "125 * 1048576"
[[latency]]
text = "below a millisecond"
[model]
stages = "station(64, {read_us}us) \"media\""
source = "guess"
date = "2026-02"
status = "inferred"
doubts = ["its latency is half of what the page allows"]
[[figure]]
name = "read_us"
value = 500
unit = "us"
source = "guess"
status = "inferred"
[[price]]
currency = "USD"
taxes = "without taxes"
[[price.part]]
name = "storage"
per = "GB-month"
amount = "0.08"
quantity = "size"
[[price.part]]
name = "IOPS above 1,000"
per = "IOPS-month"
amount = "0.005"
quantity = "iops - 1000"
[[warning]]
text = "the table and the prose of the page differ"
"#;

const CREDITS: &str = r#"
product = "test/credits"
title = "Volume with credits"
kind = "volume"
about = "A volume with burst credits"
capacity_unit = "GiB"
capacity_bytes = 1073741824
[options.size]
kind = "size"
min = 1
max = 4000
step = 1
[[limit]]
name = "baseline"
scope = "volume"
iops = "3 * size"
credits = "5400000"
lift = ["size"]
[[limit]]
name = "burst"
scope = "volume"
iops = "3000"
burst = true
source = "guess"
status = "unverified"
[model]
stages = "station(64, 1ms) \"media\""
status = "inferred"
source = "guess"
"#;

const DRIVE: &str = r#"
product = "other/drive"
title = "Drive of 480 GB"
kind = "drive"
about = "A drive whose answers are not known"
capacity_unit = "GB"
capacity_bytes = 480000000000
[[limit]]
name = "random reads of the data sheet"
scope = "media"
iops = "75000"
kinds = "read"
random = true
source = "guess"
status = "unverified"
"#;

/// The three products.
pub fn build_catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (file, text) in [("fast.toml", FAST), ("credits.toml", CREDITS), ("drive.toml", DRIVE)] {
        let total = with_sources(text);
        catalogue.add(file, &total, &|_| None).unwrap_or_else(|complaints| panic!("{}", complaints[0]));
    }
    catalogue
}

/// Inserts the sources before the first table.
fn with_sources(text: &str) -> String {
    let at = text.find("\n[").expect("a table");
    let used = if text.contains("\"guess\"") { SOURCES.to_owned() } else { SOURCES.replace("[sources.guess]", "") };
    format!("{}\n{used}{}", &text[..at], &text[at..])
}

pub fn terms() -> PriceTerms {
    PriceTerms { as_of: "2026-06-01".parse().unwrap(), currency: Some("USD".parse().unwrap()), region: None }
}

/// Random reads of 16 KiB.
pub fn ask() -> Ask {
    Ask { block: Bytes::kib(16), reads: 1.0, sequential: false }
}
