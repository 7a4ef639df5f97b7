//! `plimsoll watch` on files, on this host and on a page of an exporter.

mod postgres;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::folder::{Folder, words};

/// Snapshots of a device every ten seconds: `iops` by the number of the interval.
fn snapshots(count: u64, iops: impl Fn(u64) -> u64) -> String {
    let mut text = String::from(
        "{\"format\":\"plimsoll.snapshots/1\",\"source\":\"linux\",\"host\":\"db1\",\"interval_s\":10.0,\
         \"devices\":{\"sda\":{\"size_bytes\":536870912000}}}\n",
    );
    let mut reads = 0;
    for n in 0..=count {
        let (hour, minute, second) = (n / 360, n / 6 % 60, n % 6 * 10);
        text += &format!(
            "{{\"at\":\"2026-03-02T{hour:02}:{minute:02}:{second:02}.000Z\",\"devices\":{{\"sda\":{{\"reads\":{reads},\
             \"sectors_read\":{},\"ms_reading\":{reads},\"writes\":0,\"sectors_written\":0,\"ms_writing\":0}}}}}}\n",
            reads * 16
        );
        reads += 10 * iops(n);
    }
    text
}

#[test]
fn recorded_load_is_replayed() {
    let folder = Folder::new("watch");
    // 5.4 million credits at 2,000 reads above the rate of 1,000: 1 h 30 min.
    folder.write("load.jsonl", snapshots(8 * 360, |n| if n < 1_080 { 300 } else { 2_000 }));
    let text = words(&folder.text(&["watch", "load.jsonl", "--on", "aws/gp2:333GiB"]));
    assert!(text.contains("Above 999 IOPS of the volume in 5 h of 8 h, up to 2,000 IOPS."), "{text}");
    assert!(text.contains("Credits used up, refilled at 999 IOPS"), "{text}");
    let parsed = folder.json(&["watch", "load.jsonl", "--on", "aws/gp2:333GiB"]);
    let alerts: Vec<(&str, f64)> = parsed["alerts"].as_array().unwrap().iter().map(alert).collect();
    let at = |kind: &str| alerts.iter().find(|(own, _)| *own == kind).map(|(_, hours)| *hours);
    // The load rises at three o'clock.
    let (ends, used_up) = (at("credits-end").expect("an alert"), at("credits-used-up").expect("an alert"));
    assert!((4.5 - 0.1..4.5 + 0.1).contains(&used_up), "{used_up}");
    assert!((3.4..4.0).contains(&ends), "{ends}");
    let page = folder.text(&["watch", "load.jsonl", "--on", "aws/gp2:333GiB", "--report", "-"]);
    assert!(page.contains("<svg") && page.contains("burst credits end soon"), "the page has a chart and alerts");
}

/// Kind of an alert, and the hours of the day since which it fires.
fn alert(alert: &Value) -> (&str, f64) {
    let hours = alert["since_ns"].as_f64().unwrap() / 3.6e12 % 24.0;
    (alert["kind"].as_str().unwrap(), hours)
}

#[test]
fn limits_are_unknown_without_a_configuration() {
    let folder = Folder::new("watch-only");
    folder.write("load.jsonl", snapshots(60, |_| 500));
    let text = words(&folder.text(&["watch", "load.jsonl"]));
    assert!(text.contains("Load only: the limits are unknown without --on.") && text.contains("500 reads/s"), "{text}");
    folder.refuses_usage(&["watch", "gopher://x"], "gopher: not a target of watch: use postgres://");
    folder.refuses_usage(&["watch", "missing.txt"], "missing.txt: no such file; other targets are host");
    assert!(folder.text(&["watch", "--rules"]).contains("plimsoll_watch_alert{alert=\"credits-end\"}"));
}

#[test]
fn alert_rules_are_valid() {
    let folder = Folder::new("watch-rules");
    folder.write("rules.yaml", folder.text(&["watch", "--rules"]));
    match Command::new("promtool").args(["check", "rules", &folder.file("rules.yaml")]).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => eprintln!("skipped: promtool is not installed (the package prometheus): {error}"),
    }
}

/// An exporter whose device reads 600 times between two pages.
fn exporter() -> (String, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = move || {
        for (n, client) in listener.incoming().take(3).enumerate() {
            let mut client = client.unwrap();
            let mut request = [0; 4_096];
            assert!(client.read(&mut request).unwrap() > 0);
            let (reads, bytes) = (n * 600, n * 600 * 8_192);
            let page = format!(
                "node_disk_reads_completed_total{{device=\"sda\"}} {reads}\n\
                 node_disk_read_bytes_total{{device=\"sda\"}} {bytes}\n"
            );
            write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}", page.len())
                .unwrap();
        }
    };
    (address, std::thread::spawn(serve))
}

/// Address of the metrics, from the first message of a watch.
fn read_address(messages: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    messages.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("plimsoll: metrics at http://");
    address.unwrap_or_else(|| panic!("{line}")).trim_end_matches("/metrics").to_owned()
}

/// Metrics of a watch.
fn scrape(address: &str) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    write!(client, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn exporter_is_watched_and_metrics_are_served() {
    let folder = Folder::new("watch-exporter");
    let (address, server) = exporter();
    let page = format!("http://{address}/metrics");
    let mut command =
        folder.command(&["watch", &page, "--on", "aws/gp3:500GiB", "--every", "1s", "--history", "history"]);
    command.args(["--listen", "127.0.0.1:0", "--device", "sda"]);
    let mut watch = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut messages = BufReader::new(watch.stderr.take().unwrap());
    let metrics = read_address(&mut messages);
    // The third page is the last: then the source is gone.
    server.join().unwrap();
    let begin = std::time::Instant::now();
    while !scrape(&metrics).contains("plimsoll_watch_up 0") {
        assert!(begin.elapsed().as_secs() < 60, "{}", scrape(&metrics));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&watch), rustix::process::Signal::INT).unwrap();
    let output = watch.wait_with_output().unwrap();
    let text = words(&String::from_utf8(output.stdout).unwrap());
    assert!(text.contains("No counters at present") && text.contains("reads/s"), "{text}");
    let history = folder.names("history");
    assert!(history.iter().any(|name| name.contains(".watch")), "{history:?}");
}
