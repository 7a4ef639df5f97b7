//! `SHOW GLOBAL STATUS` in every shape in which clients print it, once or many times.
//!
//! A line is taken apart at blanks, bars, colons and quotes alike: the first word is a variable, and the others are its
//! values, one for each sample. A variable that comes again begins the next sample.

mod server;

pub(crate) use server::Server;

use crate::builder::Builder;
use crate::figure::Scope;
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::refusal::Refusal;
use crate::timestamp;

pub(super) const KIND: Kind = Kind { id: "mysql-status", name: "SHOW GLOBAL STATUS of MySQL or MariaDB" };

pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open };

/// Samples side by side in one line: more are none.
const MOST_VALUES: usize = 10_000;

fn open(input: &Input) -> Box<dyn Format> {
    Box::new(Lines::new(Status { server: Server::new(input, Scope::default()), name: None }))
}

fn resembles(head: &[u8]) -> Resemblance {
    let head = String::from_utf8_lossy(head);
    let (mut storage, mut other) = (0_u8, 0_u8);
    let mut vertical = None;
    for line in head.lines() {
        let mut words = words(line);
        let first = words.next().unwrap_or_default();
        let name = if first.eq_ignore_ascii_case("variable_name") {
            vertical = words.next();
            vertical
        } else if first.eq_ignore_ascii_case("value") {
            words.next().filter(|value| is_number(value)).and_then(|_| vertical.take())
        } else {
            words.next().filter(|value| is_number(value)).map(|_| first)
        };
        let Some(name) = name else { continue };
        if Variable::of(name).is_some() {
            storage = storage.saturating_add(1);
        } else if ["com_", "handler_", "innodb_"].iter().any(|start| starts(name, start)) {
            other = other.saturating_add(1);
        }
    }
    let summary = head.contains("Per day") && head.contains("Per second");
    match (storage, other) {
        _ if summary && storage > 0 => Resemblance::Near {
            marks: 3,
            missing: "exact counters: it is a summary of rounded ones; give SHOW GLOBAL STATUS itself",
        },
        // A name with a number behind may stand in any text; two of them, or one among many others, are a table.
        (2.., _) | (1, 1..) => Resemblance::Is { marks: 8 },
        (1, 0) | (0, 3..) => Resemblance::Near { marks: 1, missing: "counters of InnoDB such as Innodb_data_reads" },
        _ => Resemblance::None,
    }
}

/// A variable that speaks of storage or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    Uptime,
    DataReads,
    DataRead,
    DataWrites,
    DataWritten,
    DataFsyncs,
    LogWrites,
    LogWritten,
    LogFsyncs,
    LogPending,
    PageSize,
}

impl Variable {
    pub(crate) const ALL: [(Self, &'static str); 11] = [
        (Self::Uptime, "Uptime"),
        (Self::DataReads, "Innodb_data_reads"),
        (Self::DataRead, "Innodb_data_read"),
        (Self::DataWrites, "Innodb_data_writes"),
        (Self::DataWritten, "Innodb_data_written"),
        (Self::DataFsyncs, "Innodb_data_fsyncs"),
        (Self::LogWrites, "Innodb_log_writes"),
        (Self::LogWritten, "Innodb_os_log_written"),
        (Self::LogFsyncs, "Innodb_os_log_fsyncs"),
        (Self::LogPending, "Innodb_os_log_pending_writes"),
        (Self::PageSize, "Innodb_page_size"),
    ];

    pub(crate) fn of(name: &str) -> Option<Self> {
        if !starts(name, "innodb_") && name.len() != 6 {
            return None;
        }
        Self::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(variable, _)| *variable)
    }
}

/// The words of a line, whatever stands between them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let between = |byte: char| {
        byte.is_ascii_whitespace() || matches!(byte, '|' | '"' | ':' | ',' | '=' | ';' | '{' | '}' | '[' | ']')
    };
    line.split(between).filter(|word| !word.is_empty())
}

fn starts(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

struct Status {
    server: Server,
    /// The variable whose value stands in the next line.
    name: Option<Variable>,
}

impl LineFormat for Status {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let mut words = words(line);
        let Some(first) = words.next() else { return Ok(()) };
        if let Some(variable) = Variable::of(first) {
            self.server.values(variable, words.take(MOST_VALUES).map(|word| word.parse().ok()), number, out);
        } else if starts(first, "variable_name") {
            self.name = words.next().and_then(Variable::of);
            // In one line: the name, the word `Value`, and the value.
            if let (Some(variable), Some(_), Some(value)) = (self.name, words.next(), words.next()) {
                self.server.values(variable, [value.parse().ok()].into_iter(), number, out);
                self.name = None;
            }
        } else if first.eq_ignore_ascii_case("value") {
            if let Some(variable) = self.name.take() {
                self.server.values(variable, words.next().map(|word| word.parse().ok()).into_iter(), number, out);
            }
        } else if let Some(taken) = timestamp::of_line(line) {
            self.server.taken(taken, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.server.end(out)
    }
}
