//! The way through a document of sysstat to its samples, without keeping the whole of it. Knows no sample.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Found;

/// Hands over every host and sample of a document, as far as it is JSON.
pub(super) fn samples(document: &[u8], take: &mut dyn FnMut(Found<'_>)) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(document);
    let mut path = Path { document, counted: 0, line: 1, take };
    Step { path: &mut path, place: Place::Document }.deserialize(&mut reader)?;
    reader.end()
}

struct Path<'a> {
    document: &'a [u8],
    /// Bytes whose lines were counted.
    counted: usize,
    line: u64,
    take: &'a mut dyn FnMut(Found<'_>),
}

impl Path<'_> {
    /// The line in which a piece of the document begins.
    fn line_of(&mut self, piece: &str) -> u64 {
        let start = (piece.as_ptr() as usize).saturating_sub(self.document.as_ptr() as usize);
        if let Some(between) = self.document.get(self.counted..start) {
            self.line += memchr::memchr_iter(b'\n', between).count() as u64;
            self.counted = start;
        }
        self.line
    }
}

/// How far it has come on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    Sysstat,
    Hosts,
    Host,
    Statistics,
}

struct Step<'a, 'b> {
    path: &'a mut Path<'b>,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Step<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Step<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of sysstat")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.place == Place::Host {
            (self.path.take)(Found::Host(""));
        }
        while let Some(key) = map.next_key::<String>()? {
            let place = match (self.place, key.as_str()) {
                (Place::Document, "sysstat") => Place::Sysstat,
                (Place::Sysstat, "hosts") => Place::Hosts,
                (Place::Host, "statistics") => Place::Statistics,
                (Place::Host, "nodename" | "release") => {
                    let value: Value = map.next_value()?;
                    let text = value.as_str().unwrap_or_default();
                    (self.path.take)(if key == "release" { Found::Release(text) } else { Found::Host(text) });
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(Step { path: self.path, place })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.place == Place::Statistics {
            while let Some(piece) = list.next_element::<&RawValue>()? {
                let line = self.path.line_of(piece.get());
                let value: Value = serde_json::from_str(piece.get()).map_err(A::Error::custom)?;
                (self.path.take)(Found::Sample(&value, line));
            }
            return Ok(());
        }
        let place = if self.place == Place::Hosts { Place::Host } else { self.place };
        while list.next_element_seed(Step { path: self.path, place })?.is_some() {}
        Ok(())
    }
}
