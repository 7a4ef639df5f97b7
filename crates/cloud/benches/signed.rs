//! API calls per second of the control plane of OCI on a single core, client included: signed GETs of a volume over a
//! connection that is kept alive, and pages of 100 volumes.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../tests/cloud/fixture.rs"]
mod fixture;

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fixture::{API, Ask, COMPARTMENT, Plane, Signer, date, read_reply};
use rustix::thread::{CpuSet, sched_setaffinity};

const VOLUMES: u32 = 200;
const DURATION: Duration = Duration::from_secs(5);

fn main() {
    let mut core = CpuSet::new();
    core.set(0);
    // Threads inherit this: client and service share the core.
    sched_setaffinity(None, &core).expect("the first core is available");
    let plane = Plane::start();
    let signer = plane.signer();
    let mut id = String::new();
    for number in 0..VOLUMES {
        let body = serde_json::json!({
            "compartmentId": COMPARTMENT, "sizeInGBs": 50, "displayName": format!("v{number}"),
        });
        plane.post(&signer, "/volumes", &body).body["id"].as_str().expect("it is created").clone_into(&mut id);
    }
    let get = rate(&plane, &signer, &format!("{API}/volumes/{id}"));
    let list = rate(&plane, &signer, &format!("{API}/volumes?compartmentId={COMPARTMENT}&limit=100"));
    println!("signed GET of one of {VOLUMES} volumes: {get:.0} calls/s on one core, client included");
    println!("signed GET of a page of 100 volumes: {list:.0} calls/s on one core, client included");
}

/// Calls per second over a connection; it is opened again when the server ends it.
fn rate(plane: &Plane, signer: &Signer, target: &str) -> f64 {
    let ask = Ask { method: "GET", target, body: "", headers: &[] };
    let request = signer.signed(&ask, plane.port, &date(0));
    let connect = || BufReader::new(TcpStream::connect(("127.0.0.1", plane.port)).expect("it listens"));
    let (mut stream, begun, mut calls) = (connect(), Instant::now(), 0_u32);
    while begun.elapsed() < DURATION {
        stream.get_mut().write_all(&request).expect("it reads");
        let reply = read_reply(&mut stream);
        assert_eq!(reply.status, 200, "{reply:?}");
        calls += 1;
        if reply.header("connection") == Some("close") {
            stream = connect();
        }
    }
    f64::from(calls) / begun.elapsed().as_secs_f64()
}
