//! Checks an NBD server: `check URI [--write]`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use plimsoll_front::check::{Permission, check};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap().parse().unwrap();
    let permission = Permission { writes: arguments.any(|argument| argument == "--write"), ..Permission::default() };
    for row in check(&address, &permission).unwrap() {
        println!(
            "{:<11} {:<10} {:<48} {} => {}",
            format!("{:?}", row.verdict),
            row.area,
            row.feature,
            row.sent,
            row.got
        );
    }
}
