//! Offers, ceilings and their sources as text.

use std::collections::BTreeSet;

use plimsoll_catalogue::{
    Ask, Bound, Ceiling, Cite, Counts, Date, Durability, Kinds, Layout, Offer, Price, ServiceLevel, ServiceSubject,
    Setting, SnapshotPrice, Status, TypicalRange, TypicalRates, Wrap,
};
use plimsoll_choose::{BillingChoice, Lift};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::clean;
use crate::money;
use crate::number;

/// The load of a quote: `4 KiB random reads`, `1 MiB sequential, 70 % reads`.
pub(crate) fn ask(ask: &Ask) -> String {
    let access = if ask.sequential { label!("sequential") } else { label!("random") };
    match ask.reads {
        share if share >= 1.0 => say!("{} {access} reads", ask.block),
        share if share <= 0.0 => say!("{} {access} writes", ask.block),
        share => say!("{} {access}, {} reads", ask.block, number::percent(share)),
    }
}

/// The configuration in command line syntax.
pub(crate) fn configuration(offer: &Offer) -> String {
    clean(&offer.short().to_string())
}

/// The configuration in words: `4 x Azure Premium SSD v2, 139 GiB, 7,748 IOPS each, striped`.
pub(crate) fn readable_name(offer: &Offer) -> String {
    let short = offer.short();
    let layout = short.wraps.iter().find_map(|wrap| match wrap {
        Wrap::Array { layout, .. } => Some(layout),
        Wrap::PageCache(_) => None,
    });
    let settings = short.volume.settings.iter().map(setting);
    let volume = std::iter::once(product(offer)).chain(settings).collect::<Vec<_>>().join(label!(", "));
    let layout = layout.map_or_else(String::new, |layout| say!(" each, {}", arrangement(*layout)));
    clean(&format!("{volume}{layout}"))
}

/// Caution that the catalogue's documents on a product are later than the date of the terms.
pub(crate) fn later_figures(name: &str, as_of: Date, oldest: Date) -> String {
    say!(
        "The catalogue's oldest document on {name} is of {oldest}: in {as_of} the product may not have existed, and its figures were \
         other ones"
    )
}

/// Caution that a price of a configuration is much older than the date of the terms.
pub(crate) fn old_price(name: &str, cite: &Cite, days: i64) -> String {
    say!(
        "The oldest price of {name} ({}) is {days} days old, and its limits may have changed since: check the vendor's list",
        source_title(cite)
    )
}

/// The product and the number of its volumes: `4 x Azure Premium SSD v2`.
pub(crate) fn product(offer: &Offer) -> String {
    let members = offer.config.wraps.iter().find_map(|wrap| match wrap {
        Wrap::Array { members, .. } => Some(members),
        Wrap::PageCache(_) => None,
    });
    let title = product_text(&offer.title);
    members.map_or_else(|| title.clone(), |members| format!("{members} \u{d7} {title}"))
}

fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Size { number, unit } => format!("{number} {unit}"),
        Setting::Word(word) => word.clone(),
        Setting::Option { name, value } => match (name.as_str(), value.parse::<f64>()) {
            ("iops", Ok(iops)) => format!("{} IOPS", number::exact(iops)),
            ("vpu", Ok(units)) => format!("{} VPU", number::exact(units)),
            _ => format!("{name} {value}"),
        },
    }
}

fn arrangement(layout: Layout) -> &'static str {
    match layout {
        Layout::Stripe | Layout::SplitStripe | Layout::SerialStripe => label!("striped"),
        Layout::Mirror => label!("mirrored"),
        Layout::Raid10 => label!("RAID 10"),
        Layout::Raid5 => label!("RAID 5"),
        Layout::Raid6 => label!("RAID 6"),
    }
}

/// A capacity in the largest unit in which it is whole: `256 GiB`, `480 GB`; decimal only if no binary unit fits.
pub(crate) fn capacity(bytes: Bytes) -> String {
    const DECIMAL: [(u64, &str); 2] = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB")];
    let total = DECIMAL.iter().find(|(unit, _)| bytes.get() > 0 && bytes.get().is_multiple_of(*unit));
    match total.filter(|_| !bytes.get().is_multiple_of(1 << 30)) {
        Some((unit, name)) => format!("{} {name}", number::integer((bytes.get() / unit) as f64)),
        None => bytes.to_string(),
    }
}

/// The meaning of a decimal capacity, as the GB and TB of most vendors count 1,024; `None` for a binary one.
pub(crate) fn decimal_capacity(bytes: Bytes) -> Option<String> {
    const GIGA: u64 = 1_000_000_000;
    let is_decimal = bytes.get() >= GIGA && bytes.get().is_multiple_of(GIGA) && !bytes.get().is_multiple_of(1 << 30);
    let gib = number::three(bytes.get() as f64 / f64::from(1 << 30));
    is_decimal.then(|| {
        say!(
            "a capacity of {} is decimal, {gib} GiB: write GiB or TiB for the GB and TB of vendors that count 1,024, as in oci:1TB",
            capacity(bytes)
        )
    })
}

/// Bytes per second with up to one decimal, and in MiB if that is whole: `131.1 MB/s (125 MiB/s)`.
pub(crate) fn throughput(bytes_per_second: f64) -> String {
    let mebi = bytes_per_second / f64::from(1 << 20);
    let decimal = format!("{} MB/s", megabytes(bytes_per_second));
    let total = mebi >= 1.0 && (mebi - mebi.round()).abs() < 1e-9 && (bytes_per_second / 1e6).fract() != 0.0;
    if total { format!("{decimal} ({} MiB/s)", number::integer(mebi)) } else { decimal }
}

/// MB per second without unit.
pub(crate) fn megabytes(bytes_per_second: f64) -> String {
    let mega = bytes_per_second / 1e6;
    if mega < 10.0 { number::three(mega) } else { number::exact((mega * 10.0).round() / 10.0) }
}

/// Sustained rates of a load: `23,040 IOPS, 94.4 MB/s`.
pub(crate) fn rates(bound: &Bound) -> String {
    say!("{} IOPS, {}", number::rate(bound.iops), throughput(bound.bytes_per_second))
}

/// A ceiling as documented, and its value for this load if it differs:
/// `throughput by size: 480 MB/s, equal to 117,188 IOPS here`.
pub(crate) fn bound(offer: &Offer, bound: &Bound) -> String {
    let ceiling = &offer.ceilings[bound.ceiling];
    let given = match bound.counts {
        Counts::Operations if ceiling.added => {
            let both = ceiling.iops.zip(ceiling.bytes_per_second);
            both.map(|(iops, bytes)| say!("{} IOPS and then {}", number::rate(iops), throughput(bytes)))
        }
        Counts::Operations => ceiling.iops.map(|iops| format!("{} IOPS", number::rate(iops))),
        Counts::Bytes => ceiling.bytes_per_second.map(throughput),
    };
    let same = !ceiling.added
        && bound.counts == Counts::Operations
        && ceiling.iops.is_some_and(|iops| (bound.iops / iops - 1.0).abs() < 1e-6);
    let here = if same { String::new() } else { say!(", equal to {} IOPS here", number::rate(bound.iops)) };
    let members =
        offer.config.wraps.iter().any(|wrap| matches!(wrap, Wrap::Array { .. })) && !ceiling.scope.is_shared();
    let each = if members { label!(" of each member") } else { "" };
    let (name, given) = (product_text(&ceiling.name), given.unwrap_or_default());
    format!("{name}: {given}{}{each}{here}", counted(ceiling, bound))
}

/// The operations that count, and their number if an operation of this load exceeds the unit.
fn counted(ceiling: &Ceiling, bound: &Bound) -> String {
    let kinds = match ceiling.kinds {
        Kinds::All => "",
        Kinds::Read => label!(" of reads"),
        Kinds::Write => label!(" of writes"),
    };
    let block = bound.bytes_per_second / bound.iops;
    let unit = ceiling.unit.filter(|unit| bound.counts == Counts::Operations && block > unit.get() as f64);
    let unit = unit.map(|unit| say!(", counted per {unit}")).unwrap_or_default();
    format!("{kinds}{unit}")
}

/// A service level: `available 99.9 % of the time (unverified)`, `90 % of the provisioned performance 99 % of the time
/// (verified)`.
pub(crate) fn service_level(level: &ServiceLevel) -> String {
    let percent = |share: f64| format!("{} %", number::exact((share * 1e6).round() / 1e4));
    let (time, status) = (percent(level.share), status_name(level.cite.status));
    match level.of {
        ServiceSubject::Availability => say!("available {time} of the time ({status})"),
        ServiceSubject::Performance => {
            let amount = percent(level.amount.unwrap_or(1.0));
            say!("{amount} of the provisioned performance {time} of the time ({status})")
        }
    }
}

/// Price of snapshots: `0.05 USD per GiB-month stored, 51.20 USD a month for all of it (secondary)`.
pub(crate) fn snapshots(price: &SnapshotPrice) -> String {
    let each = say!("{} {} per {} stored", price.each.exact(), price.each.currency, product_text(&price.per));
    let full = price.full_monthly.map_or_else(String::new, |full| say!(", {full} a month for the full capacity"));
    say!("{} ({})", each + &full, status_name(price.cite.status))
}

/// A source without control characters: `Amazon EBS volume types (2025-09, verified)`, with its remark.
pub(crate) fn cite(cite: &Cite) -> String {
    let note = if cite.note.is_empty() { String::new() } else { format!(": {}", product_text(&cite.note)) };
    format!("{}{note}", source(cite))
}

/// A source as its title, date and reliability.
pub(crate) fn source(cite: &Cite) -> String {
    say!("{} ({}, {})", source_title(cite), source_date(cite), status_name(cite.status))
}

/// The title of a source, which is a name unless it is no document.
pub(crate) fn source_title(cite: &Cite) -> String {
    let title = match &*cite.title {
        "recalled, not read" => label!("recalled, not read"),
        "recalled, not read anywhere" => label!("recalled, not read anywhere"),
        "own arithmetic or choice, formula in the note" => label!("own arithmetic or choice, formula in the note"),
        "own choice or arithmetic, as the note says" => label!("own choice or arithmetic, as the note says"),
        document => document,
    };
    clean(title)
}

pub(crate) fn source_date(cite: &Cite) -> String {
    clean(if cite.date == "undated" { label!("undated") } else { &cite.date })
}

/// A note for a comparison of prices of several regions; `None` for one region.
pub(crate) fn note_regions<'a>(prices: impl Iterator<Item = &'a Price>) -> Option<String> {
    let regions: BTreeSet<&str> = prices.filter_map(|price| price.region.as_deref()).collect();
    let named = || regions.iter().copied().collect::<Vec<_>>().join(label!(", "));
    (regions.len() > 1)
        .then(|| say!("prices of several regions: {}; --region A,B chooses for each vendor", clean(&named())))
}

/// Range of published drives at the lowest and the highest depth:
/// `of 4 published drives, 4 KiB random reads: 57.6 to 72.1 IOPS at depth 1 (median 64.2)`.
pub(crate) fn typical(rates: &TypicalRates) -> String {
    let range = |range: &TypicalRange, unit: &str| {
        let [lowest, median, highest] = [range.lowest, range.median, range.highest].map(number::rate);
        say!("{lowest} to {highest}{unit} at depth {} (median {median} of {})", range.depth, range.drives)
    };
    let first = rates.ranges.first().map(|first| range(first, " IOPS"));
    let last = rates.ranges.get(1..).and_then(<[_]>::last).map(|last| range(last, ""));
    let displayed: Vec<String> = first.into_iter().chain(last).collect();
    say!("of {} published drives, {}: {}", rates.drives.len(), ask(&rates.ask), displayed.join(label!(", ")))
}

/// Definition of a status, for a legend.
pub(crate) fn define_status(status: Status) -> &'static str {
    match status {
        Status::Verified => label!("from the vendor's own document"),
        Status::Own => label!("stated by you"),
        Status::Published => label!("published by a third party that measured or bought it"),
        Status::Secondary => label!("from a third party that cites the vendor"),
        Status::Inferred => label!("derived from other figures"),
        Status::Unverified => label!("without a source"),
    }
}

/// A text of a product's file, such as the name of a limit, in the language of the reader.
pub(crate) fn product_text(text: &str) -> String {
    clean(plimsoll_catalogue::translate(text))
}

pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Verified => label!("verified"),
        Status::Own => label!("own"),
        Status::Published => label!("published"),
        Status::Secondary => label!("secondary"),
        Status::Inferred => label!("inferred"),
        Status::Unverified => label!("unverified"),
    }
}

/// Provenance of figures from documents, with definitions of the statuses used.
pub(crate) fn provenance(mut used: Vec<Status>) -> String {
    used.sort_unstable();
    used.dedup();
    let meanings: Vec<String> =
        used.iter().map(|used| format!("{}: {}", status_name(*used), define_status(*used))).collect();
    let meanings = if meanings.is_empty() { String::new() } else { say!("; {}", meanings.join(label!("; "))) };
    say!("from documents, not measured{meanings}; 1 MB is 1,000,000 bytes, 1 MiB 1,048,576")
}

/// A way to lift a limit: `iops 3,000 -> 6,000: 6,000 IOPS, for 15.00 USD a month more; then volume throughput binds`.
pub(crate) fn lift(lift: &Lift) -> String {
    let cost = match lift.costs {
        None => label!("at an unknown price").into(),
        Some(cost) if cost.millionths == 0 => label!("at the same price").into(),
        Some(cost) if cost.millionths < 0 => say!("for {} a month less", money::without_sign(cost)),
        Some(cost) => say!("for {cost} a month more"),
    };
    let (from, to) = (&lift.change.0, &lift.change.1);
    let change = format!("{} {} -> {}", clean(&lift.option), clean(from), clean(to));
    say!("{change}: {} IOPS, {cost}; next limit: {}", number::rate(lift.iops), product_text(&lift.binds))
}

/// A monthly price with its region and what it lacks: `57.50 USD a month in us-east-1, without the price of instance of
/// aws/rds-postgres`.
pub(crate) fn monthly_price(price: &Price) -> String {
    format!("{}{}{}", say!("{} a month", price.monthly), price_place(price), missing_prices(price).unwrap_or_default())
}

/// The region of a price: ` in us-east-1`; empty for worldwide prices and those of the user.
pub(crate) fn price_place(price: &Price) -> String {
    match (&price.region, price.cite.status) {
        (Some(region), status) if status != Status::Own => say!(" in {}", clean(region)),
        _ => String::new(),
    }
}

/// `, without the price of instance of aws/rds-postgres`; none for a complete price.
pub(crate) fn missing_prices(price: &Price) -> Option<String> {
    let missing = || format!("{}{}", label!(", "), say!("without the price of {}", price.without.join(label!(", "))));
    (!price.is_complete()).then(missing)
}

/// A way of billing: `1,835.48 USD a month, of which 240.00 USD for requests (13.1 %)`.
pub(crate) fn billing(choice: &BillingChoice) -> String {
    let monthly = choice.price.monthly;
    let requests = choice.requests().map_or_else(
        || label!("none for requests").to_owned(),
        |part| {
            let share = part.money.millionths as f64 / monthly.millionths.max(1) as f64;
            say!("of which {} for requests ({} %)", part.money, number::three(100.0 * share))
        },
    );
    let without = &choice.price.without;
    let without =
        if without.is_empty() { String::new() } else { say!("; without the price of {}", without.join(label!(", "))) };
    say!("{monthly} a month, {requests}{without}")
}

/// The cheaper way of billing: `stay on standard, 1,835.48 USD a month against 2,150.12 USD with io-optimized`; none if a
/// price is incomplete.
pub(crate) fn cheaper_billing(billing: &[BillingChoice]) -> Option<String> {
    if billing.iter().any(|choice| !choice.price.is_complete()) {
        return None;
    }
    let by_price = |choice: &&BillingChoice| choice.price.monthly.millionths;
    // Of equal prices the chosen one stays.
    let cheapest = billing.iter().min_by_key(|choice| (by_price(choice), !choice.is_chosen))?;
    let other = billing.iter().filter(|choice| choice.value != cheapest.value).min_by_key(by_price)?;
    let (value, monthly) = (clean(&cheapest.value), cheapest.price.monthly);
    let (other, dearer) = (clean(&other.value), other.price.monthly);
    Some(if cheapest.is_chosen {
        say!("stay on {value}, {monthly} a month against {dearer} with {other}")
    } else {
        say!("change to {value}, {monthly} a month against {dearer} with {other}")
    })
}

/// A duration: `45 s`, `31 min`, `2.5 h`.
pub(crate) fn lasting(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => label!("ever").into(),
        s if s < 120.0 => format!("{} s", number::three(s)),
        s if s < 7_200.0 => format!("{} min", number::three(s / 60.0)),
        s if s < 172_800.0 => format!("{} h", number::three(s / 3_600.0)),
        s => say!("{} days", number::three(s / 86_400.0)),
    }
}

/// `0.1 to 0.2 % of volumes or stripes per year`.
pub(crate) fn failure_rate(durability: &Durability) -> String {
    let (low, high) = (per_cent(durability.failure_rate_low), per_cent(durability.failure_rate_high));
    let range = if low == high { high } else { say!("{low} to {high}") };
    say!("{range} % of volumes or stripes per year")
}

/// A share in per cent with three significant digits: `0.797`, `0.000000001`.
fn per_cent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = (2.0 - value.log10().floor()).clamp(0.0, 15.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_is_described_by_block_access_and_mix() {
        let of = |block, reads, sequential| ask(&Ask { block, reads, sequential });
        assert_eq!(of(Bytes::kib(4), 1.0, false), "4 KiB random reads");
        assert_eq!(of(Bytes::mib(1), 0.0, true), "1 MiB sequential writes");
        assert_eq!(of(Bytes::kib(8), 0.7, false), "8 KiB random, 70 % reads");
    }

    #[test]
    fn binary_and_decimal_units_are_distinct() {
        let cases =
            [(256 << 30, "256 GiB"), (480_000_000_000, "480 GB"), (2_000_000_000_000, "2 TB"), (1 << 40, "1 TiB")];
        for (bytes, expected) in cases {
            assert_eq!(capacity(Bytes::new(bytes)), expected);
        }
        assert_eq!(throughput(131_072_000.0), "131.1 MB/s (125 MiB/s)");
        assert_eq!(throughput(480e6), "480 MB/s");
        assert_eq!(throughput(1_048_576.0 * 1e6), "1,048,576 MB/s");
        assert_eq!(throughput(94_371_840.0), "94.4 MB/s (90 MiB/s)");
        assert_eq!(throughput(4_096.0), "0.004 MB/s");
    }

    #[test]
    fn unit_of_a_duration_follows_its_magnitude() {
        let cases = [(45.0, "45 s"), (1_862.0, "31 min"), (9_000.0, "2.5 h"), (864_000.0, "10 days")];
        for (seconds, expected) in cases {
            assert_eq!(lasting(seconds), expected);
        }
    }

    #[test]
    fn each_used_status_is_defined_once() {
        let text = provenance(vec![Status::Inferred, Status::Verified, Status::Inferred]);
        assert_eq!(text.matches("inferred: ").count(), 1);
        assert!(text.find("verified").unwrap() < text.find("inferred").unwrap());
        assert!(!text.contains("secondary"), "{text}");
    }

    #[test]
    fn lift_includes_its_price() {
        let of = |millionths: Option<i128>| {
            let change = ("3000".into(), "6000".into());
            let config = "aws/gp3".parse().unwrap();
            let costs =
                millionths.map(|m| plimsoll_catalogue::Money { millionths: m, currency: "USD".parse().unwrap() });
            let binds = "volume throughput".into();
            lift(&Lift { option: "iops".into(), change, config, iops: 6_000.0, binds, costs })
        };
        let text = "iops 3000 -> 6000: 6,000 IOPS, for 15.00 USD a month more; next limit: volume throughput";
        assert_eq!(of(Some(15_000_000)), text);
        assert!(of(Some(-1_000_000)).contains("for 1.00 USD a month less"));
        assert!(of(Some(0)).contains("at the same price"));
        assert!(of(None).contains("unknown price"));
    }
}
