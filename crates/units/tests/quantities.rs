//! Quantities are parsed exactly and displayed in a suitable unit.

use plimsoll_units::{Bytes, Iops, Malformed, Span, Throughput};

fn check<T: std::str::FromStr<Err = Malformed> + std::fmt::Display>(text: &str, expected: &str) {
    let displayed = match text.parse::<T>() {
        Ok(value) => value.to_string(),
        Err(refused) => refused.to_string().split(':').next().unwrap_or_default().to_owned(),
    };
    assert_eq!(displayed, expected, "read from {text:?}");
}

#[test]
fn decimal_and_binary_sizes_are_distinguished() {
    check::<Bytes>("8KiB", "8 KiB");
    check::<Bytes>("8 kib", "8 KiB");
    check::<Bytes>("8k", "8 KiB");
    check::<Bytes>("8kb", "7.81 KiB");
    assert_eq!("8kb".parse::<Bytes>(), Ok(Bytes::new(8_000)));
    assert_eq!("1.1GB".parse::<Bytes>(), Ok(Bytes::new(1_100_000_000)));
    check::<Bytes>("4096", "4 KiB");
    check::<Bytes>("1.5GiB", "1.5 GiB");
    check::<Bytes>("512", "512 B");
    check::<Bytes>("0", "0 B");
    check::<Bytes>("16B", "16 B");
    check::<Bytes>("16 b", "16 B");
    for bare in ["2", "16", "511", " 64 "] {
        check::<Bytes>(bare, "not a size without a unit");
    }
    check::<Bytes>("16EiB", "not a size");
    for bad in ["", "8 foo", "KiB", ".", "1.2.3k", "-4k", "99999999999999999999", "8k8"] {
        check::<Bytes>(bad, "not a size");
    }
}

#[test]
fn spans_need_a_unit() {
    check::<Span>("250us", "250 us");
    check::<Span>("1.5 ms", "1.5 ms");
    check::<Span>("60s", "60 s");
    check::<Span>("10 min", "600 s");
    check::<Span>("999500ns", "1 ms");
    check::<Span>("12.34us", "12.3 us");
    for bad in ["60", "s", "1 day", "1e3s"] {
        check::<Span>(bad, "not a time");
    }
}

#[test]
fn rates_are_exact_fractions() {
    check::<Iops>("12k", "12,000 IOPS");
    check::<Iops>("12000 IOPS", "12,000 IOPS");
    check::<Iops>("0.5", "0.5 IOPS");
    check::<Iops>("0", "not a rate");
    check::<Iops>("0.0001", "not a rate");
    let fast = Iops::per_second(7_000_000);
    assert_eq!(fast.time_of(7_000_000), Span::from_secs(1));
    assert_eq!(fast.time_of(7_000_000 * 86_400), Span::from_secs(86_400));
    assert_eq!(Iops::from_f64(0.4), Iops { ops: 400, seconds: 1_000 });
    assert_eq!(Throughput::per_second(480_000_000).to_string(), "480 MB/s");
    assert_eq!(Throughput::per_second(2_680_000_000).to_string(), "2,680 MB/s");
}
