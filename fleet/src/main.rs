//! The program `plimsoll-fleet`.

use std::process::ExitCode;

fn main() -> ExitCode {
    plimsoll_fleet::main()
}
