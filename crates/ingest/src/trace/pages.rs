//! Numbers of pages, one in a line, as caches are compared with (Jiang, Zhang 2002). Lines with `*` mark a place. There are
//! no times, no sizes and no kinds: a working set is all that they tell.

use super::dialect::{About, Said, Sink};
use super::fields::whole;
use super::rows::{Line, Row};
use crate::kind::Kind;

pub(super) struct Pages;

/// Bytes of a page, where nobody says: what most systems have.
pub(super) const PAGE: u64 = 4096;

impl Row for Pages {
    const KIND: Kind = Kind { id: "trace-pages", name: "trace of page numbers" };
    const MARKS: u8 = 1;
    const LEAST: u32 = 16;

    fn new() -> Self {
        Self
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let line = line.trim_ascii();
        if line == b"*" {
            return Line::Passed;
        }
        let Some(place) = whole(line) else {
            return Line::Broken("it is no number of a page: left out");
        };
        let volume = sink.volume(b"");
        sink.asked(&Said { number, at_ns: None, action: None, place, length: None, volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> About {
        let doubt = "it has no times, sizes or kinds, so there is a working set and no demand; a page is taken to have \
                     4 KiB: with another size, multiply the sizes of the curve";
        About { doubts: vec![doubt.to_owned()], ..About::default() }
    }
}
