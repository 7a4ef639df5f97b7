//! Prints the latency floor of this host: `floor [--rt]`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use plimsoll_front::Floor;
use plimsoll_units::Span;

fn main() {
    if std::env::args().any(|argument| argument == "--rt") {
        plimsoll_device::realtime().unwrap();
    }
    println!("{:#?}", Floor::measure(Span::from_millis(500)).unwrap());
}
