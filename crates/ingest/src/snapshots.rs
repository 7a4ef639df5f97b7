//! Snapshots that plimsoll itself collected, or that its script for Oracle spooled: `plimsoll.snapshots/1`.
//!
//! Each line is an object of JSON: first the head, which says whose counters follow, then one line for each moment, with
//! the server's own names. So a file that ends early loses nothing but its last line, and what is made of the counters
//! can become better after they were collected. Lines that are no objects are a client's remarks, and passed over.

mod linux;
mod oracle;

use plimsoll_units::Span;
use serde_json::{Map, Value};

use crate::builder::Builder;
use crate::figure::{Origin, Scope};
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::mysql::{Server, Variable};
use crate::postgres::{self, Cluster};
use crate::reading::{Database, Fate};
use crate::refusal::Refusal;
use crate::timestamp::{self, Stamp, Taken};

const KIND: Kind = Kind { id: "plimsoll-snapshots", name: "snapshots of plimsoll collect" };

pub(crate) const FORM: Form = Form { kind: KIND, takes: Takes::Text, resembles, open };

/// What the head calls the format, and the version that is read.
const FORMAT: &str = "plimsoll.snapshots/";
const VERSION: &str = "1";

fn open(input: &Input) -> Box<dyn Format> {
    Box::new(Lines::new(Log { input: input.clone(), head: Map::new(), source: None, line: 0, broken: 0, samples: 0 }))
}

fn resembles(head: &[u8]) -> Resemblance {
    let has = |mark: &[u8]| memchr::memmem::find(head, mark).is_some();
    match (has(FORMAT.as_bytes()), has(b"\"format\"")) {
        (true, true) => Resemblance::Is { marks: 50 },
        (true, false) => Resemblance::Near { marks: 2, missing: "head line with its format" },
        _ => Resemblance::None,
    }
}

struct Log {
    input: Input,
    head: Map<String, Value>,
    source: Option<Source>,
    line: u64,
    broken: u32,
    samples: u32,
}

/// Whose counters follow.
enum Source {
    Postgres(Box<Cluster>, u64),
    Mysql(Box<Server>),
    Linux(Scope),
    Oracle(Box<oracle::Script>),
}

impl LineFormat for Log {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        self.line = number;
        let line = line.trim();
        if !line.starts_with('{') {
            return Ok(());
        }
        let Ok(Value::Object(object)) = serde_json::from_str(line) else {
            self.broken += 1;
            let text = "a line that is not JSON to its end: left out; the collector or its machine was stopped there";
            out.caution(Some(Origin::line(number)), text);
            return Ok(());
        };
        if let Some(format) = text(&object, "format") {
            let format = format.to_owned();
            return self.begin(&format, object, out);
        }
        if let Some(note) = text(&object, "note") {
            out.caution(Some(Origin::line(number)), format!("while it was collected: {note}"));
            return Ok(());
        }
        if let Some(source) = &mut self.source {
            source.take(&object, number, out);
            self.samples += 1;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let unusable = |what: &str| Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() };
        let Some(source) = self.source.take() else {
            return Err(unusable("it has no head line: give the file as plimsoll collect wrote it"));
        };
        if self.samples == 0 {
            return Err(unusable("it has a head and no snapshot: collect again, for longer than one interval"));
        }
        let scope = source.end(out)?;
        self.database(scope, out);
        if self.broken > 0 {
            out.part("snapshots", Fate::Broken);
        }
        Ok(())
    }
}

impl Log {
    fn begin(&mut self, format: &str, head: Map<String, Value>, out: &mut Builder) -> Result<(), Refusal> {
        let unusable = |what: String| Refusal::Unusable { kind: KIND, origin: Some(Origin::line(self.line)), what };
        match format.strip_prefix(FORMAT) {
            Some(VERSION) => {}
            _ => {
                return Err(unusable(format!(
                    "its format is {format}, and {FORMAT}{VERSION} is read: use a newer plimsoll"
                )));
            }
        }
        if let Some(version) = text(&head, "version") {
            out.version(version.split_whitespace().next().unwrap_or(version));
        }
        let name = |key| text(&head, key).unwrap_or_default().to_owned();
        let scope = Scope { database: name("server"), host: name("host"), ..Scope::default() };
        let same = self.head.get("source") == head.get("source") && self.head.get("server") == head.get("server");
        // Files that were put one behind the other: the same source goes on.
        if self.source.is_some() && same {
            return Ok(());
        }
        if let Some(before) = self.source.take() {
            before.end(out)?;
        }
        self.source = Some(match text(&head, "source") {
            Some("postgres") => {
                Source::Postgres(Box::new(Cluster::new(&self.input, scope).block(number(&head, "block_bytes"))), 0)
            }
            Some("mysql") => Source::Mysql(Box::new(Server::new(&self.input, scope))),
            Some("linux") => {
                let scope = Scope { database: String::new(), ..scope };
                linux::head(&head, &scope, out);
                Source::Linux(scope)
            }
            Some("oracle") => Source::Oracle(Box::new(oracle::Script::new(scope))),
            other => {
                let other = other.unwrap_or("nothing").to_owned();
                return Err(unusable(format!("its source is {other}, which is not known: use a newer plimsoll")));
            }
        });
        self.head = head;
        Ok(())
    }

    /// What the head says of the server and its host.
    fn database(&self, scope: Scope, out: &mut Builder) {
        let of = |key| number(&self.head, key);
        let Some(window) = out.latest_window() else { return };
        let database = Database {
            scope: out.scope(scope),
            window,
            block_bytes: of("block_bytes"),
            cache_bytes: of("cache_bytes"),
            processors: of("processors"),
            cores: None,
            memory_bytes: of("memory_bytes"),
            origin: Origin::line(1),
        };
        let known = [database.block_bytes, database.cache_bytes, database.processors, database.memory_bytes];
        if known.iter().any(Option::is_some) {
            out.database(database);
        }
    }
}

impl Source {
    fn take(&mut self, object: &Map<String, Value>, line: u64, out: &mut Builder) {
        match self {
            Self::Postgres(cluster, table) => {
                let whole = Value::Object(object.clone());
                postgres::read_value(cluster, &whole, table, line, out);
                cluster.finish(out);
            }
            Self::Mysql(server) => {
                if let Some(at) = at(object) {
                    server.taken(Taken::At(at), out);
                }
                let status = object.get("status").and_then(Value::as_object).into_iter().flatten();
                for (name, value) in status {
                    if let Some(variable) = Variable::of(name) {
                        server.values(variable, [plain(value)].into_iter(), line, out);
                    }
                }
                server.finish(out);
            }
            Self::Linux(scope) => linux::sample(scope, object, line, out),
            Self::Oracle(script) => script.row(object, line, out),
        }
    }

    /// No more comes. Gives whose counters they were.
    fn end(self, out: &mut Builder) -> Result<Scope, Refusal> {
        match self {
            Self::Postgres(mut cluster, _) => cluster.end(out).map(|()| cluster.scope),
            Self::Mysql(mut server) => server.end(out).map(|()| server.scope),
            Self::Linux(scope) => Ok(scope),
            Self::Oracle(script) => script.end(out),
        }
    }
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn number(object: &Map<String, Value>, key: &str) -> Option<f64> {
    plain(object.get(key)?)
}

/// A number, also one in quotes.
fn plain(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

fn at(object: &Map<String, Value>) -> Option<Stamp> {
    timestamp::parse(text(object, "at")?)
}

/// Seconds as a length of time, when they are one.
fn span(seconds: f64) -> Option<Span> {
    (0.0..1e10).contains(&seconds).then(|| Span::from_secs_f64(seconds))
}
