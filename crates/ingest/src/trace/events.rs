//! What the block layer of Linux saw of each operation: queued, issued to the device, completed. Which of the three counts
//! is decided once: the issue, for it is what the device is asked, or the best that the trace has.

use std::collections::HashMap;

use plimsoll_record::Action;

use super::dialect::{Mark, SECTOR, Said, Sink};
use super::volumes::Volume;

/// A step of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Queued,
    Issued,
    /// It was issued, and will be again.
    Returned,
    Completed,
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) at_ns: u64,
    pub(super) stage: Stage,
    pub(super) action: Action,
    pub(super) sector: u64,
    pub(super) bytes: u64,
    pub(super) volume: Volume,
}

/// Puts events together into operations.
#[derive(Default)]
pub(super) struct Events {
    /// What counts as asking, once it is decided.
    level: Option<Stage>,
    /// Events from before that.
    early: Vec<Event>,
    /// Operations that were not answered yet, by volume and sector.
    open: HashMap<(Volume, u64), Mark>,
    /// Answers whose question has not come: files of several processors, one after the other.
    answers: HashMap<(Volume, u64), u64>,
    lost: bool,
}

/// Events that decide which stage counts.
const EARLY: usize = 4096;
/// Operations in flight, and answers without a question, that are remembered.
const MOST: usize = 1 << 17;
/// No answer comes later.
const LONGEST_NS: u64 = 600_000_000_000;

impl Events {
    pub(super) fn take(&mut self, event: Event, sink: &mut dyn Sink) {
        if let Some(level) = self.level {
            return self.join(level, &event, sink);
        }
        self.early.push(event);
        if self.early.len() >= EARLY {
            self.decide(sink);
        }
    }

    pub(super) fn end(&mut self, sink: &mut dyn Sink) {
        if self.level.is_none() {
            self.decide(sink);
        }
    }

    /// What is missing, and what was decided.
    pub(super) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        match self.level {
            Some(Stage::Queued) => doubts.push(
                "it has no record of what was issued to the device (D): what was queued (Q) is counted, before \
                 operations are merged",
            ),
            Some(Stage::Completed) => doubts.push(
                "it has records of completions (C) alone: operations count when they ended, and how long they took \
                 is not known",
            ),
            _ => {}
        }
        if self.lost {
            doubts.push("more operations are without an answer than can be remembered: some latencies are missing");
        }
        doubts.into_iter().map(str::to_owned).collect()
    }

    fn decide(&mut self, sink: &mut dyn Sink) {
        let has = |stage: Stage| self.early.iter().any(|event| event.stage == stage);
        let known = [Stage::Issued, Stage::Queued].into_iter().find(|stage| has(*stage));
        let level = known.unwrap_or(Stage::Completed);
        self.level = Some(level);
        for event in std::mem::take(&mut self.early) {
            self.join(level, &event, sink);
        }
    }

    fn join(&mut self, level: Stage, event: &Event, sink: &mut dyn Sink) {
        let key = (event.volume, event.sector);
        if event.stage == level {
            let mark = ask(event, sink);
            if level != Stage::Completed {
                self.begin(key, mark, sink);
            }
            return;
        }
        match event.stage {
            Stage::Completed => match self.open.remove(&key) {
                Some(mark) if event.at_ns >= mark.at_ns => sink.answered(mark, event.at_ns - mark.at_ns),
                _ if self.answers.len() < MOST => {
                    self.answers.insert(key, event.at_ns);
                }
                _ => {}
            },
            // It is issued again later, and counts again: the device was asked twice.
            Stage::Returned => {
                self.open.remove(&key);
            }
            Stage::Queued | Stage::Issued => {}
        }
    }

    fn begin(&mut self, key: (Volume, u64), mark: Mark, sink: &mut dyn Sink) {
        let answered = self.answers.get(&key).copied();
        if let Some(end) = answered.filter(|end| (mark.at_ns..mark.at_ns.saturating_add(LONGEST_NS)).contains(end)) {
            self.answers.remove(&key);
            return sink.answered(mark, end - mark.at_ns);
        }
        if self.open.len() >= MOST {
            // Answers that were never recorded: what is older than any answer goes.
            self.open.retain(|_, open| open.at_ns.saturating_add(LONGEST_NS) > mark.at_ns);
        }
        if self.open.len() >= MOST {
            self.lost = true;
            self.open.clear();
        }
        self.open.insert(key, mark);
    }
}

fn ask(event: &Event, sink: &mut dyn Sink) -> Mark {
    let (place, length) = match event.action {
        Action::Flush => (0, 0),
        _ => (event.sector.saturating_mul(SECTOR), event.bytes),
    };
    sink.asked(&Said {
        number: event.number,
        at_ns: Some(event.at_ns),
        action: Some(event.action),
        place,
        length: Some(length),
        volume: event.volume,
        took_ns: None,
    })
}

/// What letters such as `FWFS` say: a flush before, the operation, then its marks.
pub(super) fn action(letters: &[u8], bytes: u64) -> Option<Action> {
    let (flush_first, letters) = match letters.strip_prefix(b"F") {
        Some(rest) => (true, rest),
        None => (false, letters),
    };
    match letters.split_first() {
        Some((b'R', _)) => Some(Action::Read),
        Some((b'W', _)) if bytes == 0 => flush_first.then_some(Action::Flush),
        Some((b'W', marks)) if marks.contains(&b'F') => Some(Action::DurableWrite),
        Some((b'W', _)) => Some(Action::Write),
        Some((b'D', _)) => Some(Action::Trim),
        Some((b'F', _)) => Some(Action::Flush),
        _ => flush_first.then_some(Action::Flush),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::Action;

    use super::action;

    #[test]
    fn letters_say_what_is_done() {
        let table: [(&str, u64, Option<Action>); 12] = [
            ("R", 4096, Some(Action::Read)),
            ("RA", 4096, Some(Action::Read)),
            ("WS", 4096, Some(Action::Write)),
            ("WBS", 4096, Some(Action::Write)),
            ("WFS", 4096, Some(Action::DurableWrite)),
            ("FWFS", 4096, Some(Action::DurableWrite)),
            ("FWS", 0, Some(Action::Flush)),
            ("FF", 0, Some(Action::Flush)),
            ("FN", 0, Some(Action::Flush)),
            ("DS", 4096, Some(Action::Trim)),
            ("N", 0, None),
            ("", 0, None),
        ];
        for (letters, bytes, expected) in table {
            assert_eq!(action(letters.as_bytes(), bytes), expected, "{letters}");
        }
    }
}
