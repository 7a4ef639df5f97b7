//! Tables of the timetable: columns and generated rows.

use std::fmt::Write as _;

/// Rule for the number in a column, by the row number from 0.
#[derive(Clone, Copy, Debug)]
enum NumberRule {
    Row,
    /// The row number modulo this.
    Cycle(u64),
    /// The row number divided by this.
    Block(u64),
    /// Scattered below this.
    Mixed(u64),
    /// From the first, in steps of the third, restarting after the second.
    Steps(u64, u64, u64),
}

#[derive(Debug)]
pub(super) struct AtisColumn {
    pub(super) name: &'static str,
    /// Whether the value is text: prefix and number.
    pub(super) is_text: bool,
    prefix: &'static str,
    of: NumberRule,
}

#[derive(Debug)]
pub(super) struct AtisTable {
    pub(super) name: &'static str,
    pub(super) rows: u64,
    /// Columns of its primary key, as SQL lists them.
    pub(super) key: &'static str,
    pub(super) columns: &'static [AtisColumn],
}

impl AtisColumn {
    pub(super) const fn number(&self, row: u64) -> u64 {
        match self.of {
            Row => row,
            Cycle(max) => row % max,
            Block(rows) => row / rows,
            Mixed(max) => (row.wrapping_mul(2_654_435_761) >> 7) % max,
            Steps(first, max, step) => first + row % max * step,
        }
    }

    /// The value of a row in SQL.
    pub(super) fn value(&self, row: u64) -> String {
        let mut text = String::new();
        let number = self.number(row);
        let _ = if self.is_text { write!(text, "'{}{number}'", self.prefix) } else { write!(text, "{number}") };
        text
    }
}

const fn int(name: &'static str, of: NumberRule) -> AtisColumn {
    AtisColumn { name, is_text: false, prefix: "", of }
}

const fn text_column(name: &'static str, prefix: &'static str, of: NumberRule) -> AtisColumn {
    AtisColumn { name, is_text: true, prefix, of }
}

const fn table(name: &'static str, rows: u64, key: &'static str, columns: &'static [AtisColumn]) -> AtisTable {
    AtisTable { name, rows, key, columns }
}

use NumberRule::{Block, Cycle, Mixed, Row, Steps};

/// All tables, with the original total number of rows.
pub(super) const TABLES: &[AtisTable] = &[
    table(
        "aircraft",
        135,
        "aircraft_code",
        &[
            text_column("aircraft_code", "C", Row),
            text_column("aircraft_name", "aircraft ", Row),
            int("engines", Steps(2, 3, 1)),
            int("propulsion", Cycle(2)),
            int("capacity", Steps(50, 40, 10)),
        ],
    ),
    table(
        "airline",
        46,
        "airline_code",
        &[text_column("airline_code", "L", Row), text_column("airline_name", "airline ", Row)],
    ),
    table(
        "airport",
        9,
        "airport_code",
        &[
            text_column("airport_code", "P", Row),
            text_column("airport_name", "airport ", Row),
            text_column("state_code", "S", Mixed(63)),
        ],
    ),
    table(
        "airport_service",
        17,
        "city_code, airport_code",
        &[
            text_column("city_code", "T", Cycle(11)),
            text_column("airport_code", "P", Block(2)),
            int("miles", Steps(3, 9, 2)),
            int("minutes", Steps(15, 17, 5)),
        ],
    ),
    table(
        "city",
        11,
        "city_code",
        &[
            text_column("city_code", "T", Row),
            text_column("city_name", "city ", Row),
            text_column("state_code", "S", Cycle(7)),
            text_column("zone_code", "Z", Cycle(4)),
        ],
    ),
    table(
        "class_of_service",
        13,
        "class_code",
        &[text_column("class_code", "K", Row), text_column("class_name", "class ", Row)],
    ),
    table(
        "code_description",
        390,
        "code",
        &[text_column("code", "D", Row), int("kind", Cycle(22)), text_column("description", "what it means ", Row)],
    ),
    table(
        "compound_class",
        1170,
        "fare_class",
        &[
            text_column("fare_class", "F", Row),
            text_column("base_class", "K", Cycle(13)),
            int("season", Cycle(4)),
            int("is_economy", Cycle(2)),
        ],
    ),
    table(
        "connect_leg",
        520,
        "connect_code, leg_number",
        &[int("connect_code", Block(2)), int("leg_number", Cycle(2)), int("flight_code", Mixed(579))],
    ),
    table("day_name", 7, "day_code", &[int("day_code", Row), text_column("day_name", "day ", Row)]),
    table("month_name", 12, "month_code", &[int("month_code", Row), text_column("month_name", "month ", Row)]),
    table("date_day", 366, "day_of_year", &[int("day_of_year", Row), int("day_code", Cycle(7))]),
    table("dual_carrier", 114, "dual_code", &[int("dual_code", Row), text_column("main_airline", "L", Cycle(46))]),
    table(
        "fare",
        534,
        "fare_code",
        &[
            int("fare_code", Row),
            text_column("from_airport", "P", Cycle(9)),
            text_column("to_airport", "P", Mixed(9)),
            text_column("class_code", "K", Cycle(13)),
            text_column("restriction_code", "R", Mixed(64)),
            int("price", Steps(80, 97, 11)),
        ],
    ),
    table(
        "flight",
        579,
        "flight_code",
        &[
            int("flight_code", Row),
            text_column("airline_code", "L", Cycle(46)),
            text_column("aircraft_code", "C", Mixed(135)),
            text_column("from_airport", "P", Cycle(9)),
            text_column("to_airport", "P", Mixed(9)),
            text_column("flight_days", "Y", Cycle(57)),
            int("stops", Cycle(3)),
            int("departs", Steps(0, 289, 5)),
        ],
    ),
    table(
        "flight_class",
        1737,
        "flight_code, class_code",
        &[int("flight_code", Block(3)), text_column("class_code", "K", Cycle(12))],
    ),
    table(
        "flight_day",
        399,
        "flight_days, day_code",
        &[text_column("flight_days", "Y", Block(7)), int("day_code", Cycle(7))],
    ),
    table("flight_fare", 2895, "flight_code, fare_code", &[int("flight_code", Block(5)), int("fare_code", Cycle(534))]),
    table(
        "food_service",
        100,
        "meal_code, meal_number",
        &[
            text_column("meal_code", "M", Block(4)),
            int("meal_number", Cycle(4)),
            text_column("meal", "meal ", Cycle(5)),
        ],
    ),
    table(
        "ground_service",
        44,
        "city_code, airport_code, transport_code",
        &[
            text_column("city_code", "T", Cycle(11)),
            text_column("airport_code", "P", Cycle(9)),
            text_column("transport_code", "G", Block(11)),
            int("price", Steps(4, 44, 1)),
        ],
    ),
    table(
        "restrict_carrier",
        92,
        "restriction_code, airline_code",
        &[text_column("restriction_code", "R", Block(2)), text_column("airline_code", "L", Cycle(46))],
    ),
    table(
        "restrict_class",
        130,
        "restriction_code, class_code",
        &[text_column("restriction_code", "R", Block(13)), text_column("class_code", "K", Cycle(13))],
    ),
    table(
        "restriction",
        64,
        "restriction_code",
        &[text_column("restriction_code", "R", Row), int("advance_days", Cycle(22)), int("is_stopover", Cycle(2))],
    ),
    table("state", 63, "state_code", &[text_column("state_code", "S", Row), text_column("state_name", "state ", Row)]),
    table(
        "stop",
        286,
        "flight_code, stop_number",
        &[int("flight_code", Block(2)), int("stop_number", Cycle(2)), text_column("airport_code", "P", Cycle(9))],
    ),
    table(
        "time_interval",
        26,
        "interval_code",
        &[int("interval_code", Row), int("begins", Steps(0, 26, 50)), int("ends", Steps(49, 26, 50))],
    ),
    table("time_zone", 4, "zone_code", &[text_column("zone_code", "Z", Row), int("from_utc", Row)]),
    table(
        "transport",
        5,
        "transport_code",
        &[text_column("transport_code", "G", Row), text_column("means", "means ", Row)],
    ),
];
