//! The article "OCI block volumes: performance levels".

use plimsoll_suite::recipes::articles::published::article as published;

use crate::articles::command::{Printed, Reading, run};
use crate::articles::figure::{Article, Figure, Published::Exactly};

/// The four patterns: VPU, GB, MB/s according to the console, and seconds of dd.
fn patterns() -> [(u32, u32, f64, f64); 4] {
    let table = published("oci-levels").table("patterns");
    let [vpus, sizes, promised, seconds] =
        ["performance", "size", "throughput promised by the console", "dd of 5 GiB"].map(|row| table.figures::<4>(row));
    std::array::from_fn(|pattern| (vpus[pattern] as u32, sizes[pattern] as u32, promised[pattern], seconds[pattern]))
}

/// Bytes of `dd bs=1G count=5`.
const COPIED: f64 = 5.0 * (1 << 30) as f64;
/// Bytes in the page cache when dd ends: 5 GiB less 12 MB/s, with KB of 1,024 bytes, x 348.028 s of the first pattern. The
/// same constant is used for all four.
const PAGE_CACHE: &str = "1.092GB";
/// The constant alone, divided by the rate of the volume, is 1.0 % off in the fourth pattern.
const TOLERANCE: f64 = 0.015;
/// Bytes of the vendor's KB over those of the console's, which rounds: volumes move 1,024.
const KILO: f64 = 1.024;
const TERMS: &str = "--as-of 2024-11 --currency JPY";

/// `oci:50GB@0vpu`.
fn format_volume(vpu: u32, size: u32) -> String {
    format!("oci:{size}GB@{vpu}vpu")
}

/// The name of a volume in tables.
fn name(vpu: u32, size: u32) -> String {
    match vpu {
        10 => format!("oci/block-volume:{size}GB"),
        _ => format!("oci/block-volume:{size}GB,vpu={vpu}"),
    }
}

/// A quote of volumes of these VPUs and sizes.
fn quote(volumes: &[(u32, u32)], flags: &str) -> Printed {
    let volumes: Vec<String> = volumes.iter().map(|(vpu, size)| format_volume(*vpu, *size)).collect();
    run(format!("plimsoll quote {} {flags}{TERMS} --csv -", volumes.join(" ")))
}

/// Random reads of 4 KiB per second.
fn iops(quote: &Printed, vpu: u32, size: u32) -> Reading {
    quote.cell(&[("configuration", &name(vpu, size))], "IOPS")
}

/// MB/s of sequential reads of 1 MB.
fn mbps(quote: &Printed, vpu: u32, size: u32) -> Reading {
    quote.cell(&[("configuration", &name(vpu, size))], "MB/s")
}

/// `dd` of the article on a volume behind the page cache.
fn dd(vpu: u32, size: u32) -> Printed {
    run(format!(
        "plimsoll suite articles --article oci-levels 'page-cache({PAGE_CACHE}) of {}' --details",
        format_volume(vpu, size)
    ))
}

pub fn article() -> Article {
    let mut figures = levels();
    figures.extend(price());
    let promised = quote(&patterns().map(|(vpu, size, ..)| (vpu, size)), "--sequential --block-size 1MB ");
    figures.extend(patterns().iter().enumerate().flat_map(|(index, pattern)| written(index, pattern, &promised)));
    Article {
        title: "OCI block volumes: performance levels",
        about: "A consultancy, November 2024, in Japanese: the levels of OCI block volumes, their price, and `dd` of 5 GiB \
                on four volumes.",
        figures,
        missed: missed(),
    }
}

/// Name, VPU, GB at the IOPS limit, IOPS, IOPS per GB, GB at the throughput limit, MB/s.
type Level = (String, u32, u32, f64, f64, u32, f64);

fn published_levels() -> [Level; 4] {
    let table = published("oci-levels").table("levels");
    let figures = |label| table.figures::<4>(label);
    let [vpus, sizes, highest] = ["performance", "size at the highest IOPS", "highest IOPS"].map(figures);
    let [each, wide, fast] = ["IOPS of each GB", "size at the highest throughput", "highest throughput"].map(figures);
    std::array::from_fn(|level| {
        let place = table.columns[level].join(", ");
        (place, vpus[level] as u32, sizes[level] as u32, highest[level], each[level], wide[level] as u32, fast[level])
    })
}

fn levels() -> Vec<Figure> {
    let vpus = |config: &str, texts: &[&str]| run(format!("plimsoll catalogue show {config} --details")).after(texts);
    let vpu =
        |what: &str, published, reading| Figure::new("levels", what, Exactly(published), "VPU").quoted(reading, 0.0);
    let mut figures = vec![
        vpu("highest VPU", 120.0, vpus("oci", &["vpu:", "to"])),
        vpu("lowest VPU of a boot volume", 10.0, vpus("oci/boot-volume", &["vpu:"])),
    ];
    let limits = published_levels();
    let at_random: Vec<_> = limits.iter().flat_map(|(_, vpu, size, ..)| [(*vpu, 100), (*vpu, *size)]).collect();
    let in_order: Vec<_> =
        limits.iter().flat_map(|(_, vpu, _, _, _, wide, _)| [(*vpu, *wide), (*vpu, 32_768)]).collect();
    let (at_random, in_order) = (quote(&at_random, ""), quote(&in_order, "--sequential --block-size 1MB "));
    for (place, vpu, size, max, each, wide, fast) in limits {
        let throughput = Figure::new(&*place, format!("throughput from {wide} GB on"), Exactly(fast), "MB/s");
        let reached = mbps(&in_order, vpu, wide);
        figures.push(if vpu == 0 {
            throughput.missing(format!(
                "240 KB/s for each GB are {:.0} MB/s at {wide} GB: 480 MB/s need 2,000 GB. The vendor's page had the same slip",
                reached.value
            ))
        } else {
            throughput.quoted(reached, 0.001)
        });
        let highest = Figure::new(&*place, "highest throughput", Exactly(fast), "MB/s");
        figures.push(highest.quoted(mbps(&in_order, vpu, 32_768), 0.001));
        let per = Figure::new(&*place, "IOPS of 100 GB", Exactly(each * 100.0), "IOPS");
        figures.push(per.quoted(iops(&at_random, vpu, 100), 0.001));
        let highest = Figure::new(&*place, format!("highest IOPS, at {size} GB"), Exactly(max), "IOPS");
        figures.push(highest.quoted(iops(&at_random, vpu, size), 0.001));
    }
    figures
}

fn price() -> Vec<Figure> {
    let list = run(format!("plimsoll catalogue show oci {TERMS} --details"));
    let prices = |label| published("oci-levels").table("price").figures::<1>(label)[0];
    let figure =
        |what: &str, published, reading| Figure::new("price", what, Exactly(published), "JPY").quoted(reading, 1e-9);
    vec![
        figure(
            "storage, for each GB in a month",
            prices("storage, for each GB"),
            list.after(&["JPY from 2024-11", "storage:"]),
        )
        .fitted(),
        figure(
            "performance, for each VPU and GB in a month",
            prices("performance, for each VPU and GB"),
            list.after(&["JPY from 2024-11", "performance (VPU):"]),
        )
        .fitted(),
        figure(
            "100 GB at VPU 10, a month",
            prices("100 GB at VPU 10"),
            quote(&[(10, 100)], "").cell(&[("configuration", &name(10, 100))], "price a month"),
        ),
    ]
}

fn written(index: usize, &(vpu, size, promised, seconds): &(u32, u32, f64, f64), quote: &Printed) -> Vec<Figure> {
    let place = format!("pattern {}: VPU {vpu}, {size} GB", index + 1);
    let rates: [f64; 4] = published("oci-levels").table("dd").figures("dd, buffered");
    let copy = dd(vpu, size);
    let time =
        Figure::new(&*place, "dd of 5 GiB", Exactly(seconds), "s").simulated(copy.after(&["copied,"]), TOLERANCE);
    let rate = Figure::new(&*place, "throughput of dd", Exactly(rates[index]), "MB/s");
    let rate = rate.simulated(copy.line("dd, buffered"), TOLERANCE);
    // The size of the page cache was set from the first pattern.
    let [time, rate] = if index == 0 { [time.fitted(), rate.fitted()] } else { [time, rate] };
    let promise = Figure::new(place, "throughput promised by the console", Exactly(promised), "MB/s");
    // A KB of 1,024 bytes, where the console counts 1,000.
    vec![promise.quoted(mbps(quote, vpu, size), KILO - 1.0 + 0.001), time, rate]
}

fn missed() -> Vec<String> {
    let ([residue, scale], how) = predictions();
    vec![
        format!(
            "All four runs were \"faster than theory\" by 28 to 30 %: by 25 to 27 % if a KB is 1,024 bytes, as later measurements of \
             such volumes show. dd did not wait for the volume: a page cache with \
             {PAGE_CACHE} of dirty data at its end explains all four times within 1.5 %. Use `conv=fdatasync` to measure the volume."
        ),
        format!(
            "Volumes that exceed their limits by a common factor would fit the four runs as well. A longer run distinguishes the \
             explanations: 20 GiB at VPU 10 and 100 GB should end at {residue:.1} MB/s when a constant stays in \
             memory ({how}), at {scale:.1} MB/s when the volume is faster."
        ),
        "5 GiB of zeroes written sequentially by a single process do not measure IOPS or latency, in which the levels also differ."
            .into(),
    ]
}

/// MB/s of a file of 20 GiB on the last volume, if the cached remainder of the first pattern is a constant, and if it
/// is a factor; and the command of the first.
fn predictions() -> ([f64; 2], String) {
    let (_, _, slow, seconds) = patterns()[0];
    let (vpu, size, fast, ..) = patterns()[3];
    let volume = format_volume(vpu, size);
    let command = format!(
        "plimsoll suite dd --count 20 --kinds buffered --no-probe 'page-cache({PAGE_CACHE}) of {volume}' --details"
    );
    let copied = run(command).after(&["copied,", " s,"]);
    ([copied.value, fast * COPIED / seconds / (slow * 1e6)], copied.how)
}

#[test]
fn longer_file_distinguishes_caching_from_a_faster_volume() {
    let ([residue, scale], _) = predictions();
    assert!((residue - 51.8).abs() < 0.2, "{residue}");
    assert!((scale - 61.7).abs() < 0.1, "{scale}");
}

#[test]
fn size_of_the_page_cache_follows_from_the_first_pattern() {
    let (.., promised, seconds) = patterns()[0];
    let left = COPIED - promised * KILO * 1e6 * seconds;
    assert!((left / 1.092e9 - 1.0).abs() < 0.001, "{left}");
}
