//! Wall-clock time, for metadata and terms of offers.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use plimsoll_catalogue::Date;

/// Nanoseconds since 1970 in UTC; 0 before.
pub(crate) fn now_ns() -> u64 {
    u64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(0)
}

/// Present time, RFC 3339 in UTC.
pub(crate) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Present date in UTC.
pub(crate) fn utc_date() -> Date {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    Date::day(today.year().unsigned_abs(), today.month().unsigned_abs(), today.day().unsigned_abs())
}
