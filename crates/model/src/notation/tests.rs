//! Round trips of valid models, and messages for invalid ones.

use super::*;

fn check(text: &str, expected: &str) {
    let displayed = parse(text).map_or_else(|e| e.to_string(), |spec| spec.to_string());
    assert!(displayed.starts_with(expected), "{text:?} gave {displayed:?}");
}

#[test]
fn displayed_models_can_be_parsed_again() {
    for text in [
        "limit(3000)",
        "limit(3000 per 256KiB)",
        "limit(2.5, burst 60)",
        "limit(480MB/s, burst 1MiB)",
        "station(8, 80us)",
        "station(8, 80us, write 120us, flush 2ms, 500MB/s, lognormal 0.3)",
        "station(1, 1500ns, exponential) then link(25us, 1200MB/s)",
        "station(4, 1ms, lognormal 0.3) then stall(100s, 10s) then link(10us)",
        "bank(192 of 64KiB, 90us, write 15us)",
        "disk(1TB, 7200rpm, seek 800us to 8500us, 150MB/s to 75MB/s, queue 32 gain 0.2)",
        "pressure(760000, burst 1000, delay 2ms) then link(1us)",
        "cold(rest 1209600s, extra 5ms, grain 1MiB, share 30%) then link(1us)",
        "buffer(8GB, drain 6000MB/s, flush immediate) then link(1us)",
        "window(32: station(64, 1ms) \"media\") \"queue of the host\"",
        "split(read: link(1us); write: link(2us) then limit(300); flush: link(1ms))",
        "concat(2TB, first: link(8ms); rest: limit(500) then link(90us)) then limit(600)",
        "cache(30%, hit: link(20us); miss: bank(8 of 16KiB, 90us)) then link(20us)",
        "clock(512MB of 4KiB, hit: link(2us); miss: link(90us))",
        "stripe(2, 64KiB: mirror(2: limit(500) then link(10ms)))",
        "writeback(1TiB, depth 4096, flush honoured: link(5ms))",
        "writeback(16GB, depth 4096, flush immediate, reads 0.5%: link(5ms)) then link(1us)",
        "link(25us, 1200MB/s, full duplex)",
        "window(32 on 5 paths: link(1us, 690MB/s on 5 paths) then station(64, 1ms)) then link(1us, 1MB/s, full duplex on 2 paths)",
        "disk(1TB, 7200rpm, seek 800us to 8500us, 150MB/s to 75MB/s, queue 1 gain 0, idle 2ms)",
        "disk(1TB, 7200rpm, seek 800us to 8500us, 150MB/s to 75MB/s, queue 32 gain 0.29 from 4.4)",
        "curve(1: 6614, 2: 13516, 8: 30829.5)",
        "prefetch(8MiB of 256KiB, streams 4: bank(8 of 256KiB, 2ms)) then link(1us)",
    ] {
        check(text, text);
    }
}

#[test]
fn defaults_are_displayed_explicitly() {
    check("limit(480MB/s)", "limit(480MB/s, burst 1MiB)");
    check("bank(8, 90us)", "bank(8 of 16KiB, 90us)");
    check("writeback(1MB: link(5ms))", "writeback(1MB, depth 128, flush honoured: link(5ms))");
    check("split(read: link(1us); write: link(2us); flush: link(1us))", "split(read: link(1us); write: ");
    check("buffer(8GB, drain 6GB/s) then link(1us)", "buffer(8GB, drain 6000MB/s, flush immediate)");
}

#[test]
fn names_follow_the_numbering_of_stages() {
    let spec =
        parse("window(4: cache(50%, hit: ; miss: link(1ms) \"drive\") \"RAM\") then limit(300) \"cap\"").unwrap();
    assert_eq!(spec.names(), ["window(4)", "RAM", "drive", "cap"]);
    let spec = parse("link(1us) \"host\" then window(4 on 2 paths: link(1ms, 1MB/s on 3 paths)) \"queue\"").unwrap();
    let paths = ["queue, path 1", "queue, path 2", "link(1ms, 1MB/s on 3 paths), path 1"];
    assert_eq!(spec.names()[3..6], paths, "paths follow all stages");
}

#[test]
fn errors_contain_the_valid_syntax() {
    check("drum(3)", "\"drum(3)\" is not a stage: use limit, station");
    check("station(8)", "\"station(8)\" cannot be read: write station(SERVERS, MEAN");
    check("station(0, 80us)", "\"station(0, 80us)\" cannot be a model: station(0, 80us): 1 to 65,536 servers");
    check("stall(1s, 2s)", "\"stall(1s, 2s)\" cannot be a model: stall(1s, 2s): a stall is shorter");
    check("link(0us)", "\"link(0us)\" cannot be a model: some operation would take no time");
    check("stall(2ms, 1ms)", "\"stall(2ms, 1ms)\" cannot be a model: some operation would take no time");
    check("limit(3000", "\"limit(3000\" lacks a closing parenthesis: write )");
    check("limit(3000))", "\"limit(3000))\" has too many closing parentheses");
    check("limit(0)", "\"limit(0)\" cannot be read");
    check("limit(3MB/s per 4KiB)", "\"limit(3MB/s per 4KiB)\" cannot be read");
    check("window(4)", "\"window(4)\" cannot be a model: some operation would take no time");
    check("window(4 on two paths: link(1us))", "\"window(4 on two paths: link(1us))\" cannot be read");
    check(
        "link(1us, 1MB/s on 0 paths)",
        "\"link(1us, 1MB/s on 0 paths)\" cannot be a model: link(1us, 1MB/s on 0 paths)",
    );
    check(
        "link(1us, 1MB/s on 200 paths)",
        "\"link(1us, 1MB/s on 200 paths)\" cannot be a model: a model has at most 128",
    );
    check("window(4: drum(3))", "\"drum(3)\" is not a stage");
    check("stripe(1, 64KiB: link(1us))", "\"stripe(1, 64KiB: link(1us))\" cannot be a model: stripe(1): 2 to 1,024");
    check("split(read: link(1us))", "\"split(read: link(1us))\" cannot be a model: some operation would take");
    check("curve(2: 100)", "\"curve(2: 100)\" cannot be a model: curve(1 points): numbers in flight rise from 1");
    check("curve(1: 100, 1: 200)", "\"curve(1: 100, 1: 200)\" cannot be a model");
    check(
        "prefetch(1MiB of 2MiB: link(1us)) then link(1us)",
        "\"prefetch(1MiB of 2MiB: link(1us)) then link(1us)\" cannot be a model",
    );
    check(
        "prefetch(1MiB of 64KiB: link(1us))",
        "\"prefetch(1MiB of 64KiB: link(1us))\" cannot be a model: some operation would take",
    );
    check("link(1us: link(2us))", "\"link(1us: link(2us))\" cannot be read");
    check(&"window(1: ".repeat(40), "\"window(1: ");
}
