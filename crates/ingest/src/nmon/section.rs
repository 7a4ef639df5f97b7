//! The sections of disks, and what each says.

/// What a section says of each disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// KiB read in a second.
    Read,
    /// KiB written in a second.
    Written,
    /// Operations in a second.
    Transfers,
    Reads,
    Writes,
    /// KiB of an operation.
    Size,
    /// Percent of the time.
    Busy,
    /// Milliseconds of an operation.
    Service,
    ReadService,
    WriteService,
    /// Milliseconds in the queue before.
    Wait,
}

/// How many quantities there are.
pub(super) const QUANTITIES: usize = 11;

/// What a section says, and whether its columns are groups of disks. Sections go on under a number when there are more
/// disks than one line takes.
pub(super) fn section(name: &str) -> Option<(Quantity, bool)> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    Some(match stem {
        "DISKREAD" => (Quantity::Read, false),
        "DISKWRITE" => (Quantity::Written, false),
        "DISKXFER" => (Quantity::Transfers, false),
        "DISKRIO" | "DISKRXFER" | "DISKREADS" => (Quantity::Reads, false),
        "DISKWIO" | "DISKWRITES" => (Quantity::Writes, false),
        "DISKBSIZE" => (Quantity::Size, false),
        "DISKBUSY" => (Quantity::Busy, false),
        "DISKSERV" => (Quantity::Service, false),
        "DISKREADSERV" => (Quantity::ReadService, false),
        "DISKWRITESERV" => (Quantity::WriteService, false),
        "DISKWAIT" => (Quantity::Wait, false),
        "DGREADS" => (Quantity::Reads, true),
        "DGWRITES" => (Quantity::Writes, true),
        "DGREADSERV" => (Quantity::ReadService, true),
        "DGWRITESERV" => (Quantity::WriteService, true),
        _ => return None,
    })
}
