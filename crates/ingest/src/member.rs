//! One input, or one file of an archive, from its first byte to its outcome.

use crate::builder::Builder;
use crate::decode::Decoder;
use crate::format::{Form, Format, Input, Resemblance, Takes};
use crate::ingest::Outcome;
use crate::kind::Kind;
use crate::reading::Fate;
use crate::refusal::Refusal;
use crate::unpack::{Ending, Gunzip, PIECE};

pub(crate) struct Member<'a> {
    input: Input,
    forms: &'a [Form],
    gunzip: Gunzip,
    decoder: Decoder,
    state: State,
    /// Bytes on their way: kept between calls for their memory alone.
    unpacked: Vec<u8>,
    text: Vec<u8>,
}

enum State {
    /// Too little has come to tell what it is.
    Head(Vec<u8>),
    Reading(Takes, Box<dyn Format>, Box<Builder>),
    Refused(Refusal),
}

impl<'a> Member<'a> {
    pub(crate) fn new(forms: &'a [Form], input: Input) -> Self {
        Self {
            input,
            forms,
            gunzip: Gunzip::default(),
            decoder: Decoder::default(),
            state: State::Head(Vec::new()),
            unpacked: Vec::new(),
            text: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // Small pieces, so that what they unpack to is small as well.
        for piece in bytes.chunks(PIECE) {
            if self.is_refused() {
                return;
            }
            let mut unpacked = std::mem::take(&mut self.unpacked);
            match self.gunzip.push(piece, &mut unpacked) {
                Ok(()) => self.take(&unpacked),
                Err(refusal) => self.state = State::Refused(refusal),
            }
            unpacked.clear();
            self.unpacked = unpacked;
        }
    }

    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.state, State::Refused(_))
    }

    /// Ends it; `broken` says why it has less than it should have.
    pub(crate) fn finish(mut self, broken: Option<&str>) -> Outcome {
        let mut unpacked = Vec::new();
        let ending = self.gunzip.end(&mut unpacked);
        self.take(&unpacked);
        if matches!(self.state, State::Head(_)) {
            self.recognise();
        }
        let cut = (ending == Ending::Cut).then_some("the compressed file ends early or is damaged: copy it again");
        let broken = broken.or(cut);
        self.text.clear();
        self.decoder.end(&mut self.text);
        let result = match self.state {
            State::Head(_) => Err(Refusal::Empty),
            State::Refused(refusal) => Err(refusal),
            State::Reading(takes, mut format, mut builder) => {
                if let Some(text) = broken {
                    builder.caution(None, text);
                    builder.part("file", Fate::Broken);
                }
                let rest = if takes == Takes::Text { self.text.as_slice() } else { &[] };
                let ended = format.feed(rest, &mut builder).and_then(|()| format.end(&mut builder));
                ended.and_then(|()| builder.finish())
            }
        };
        match result {
            Ok(reading) => Outcome::Read(Box::new(reading)),
            Err(refusal) => Outcome::Refused { name: self.input.name, refusal },
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if let State::Head(head) = &mut self.state {
            head.extend_from_slice(bytes);
            if head.len() >= Form::HEAD {
                self.recognise();
            }
            return;
        }
        self.feed(bytes);
    }

    fn feed(&mut self, bytes: &[u8]) {
        let State::Reading(takes, format, builder) = &mut self.state else { return };
        let fed = if *takes == Takes::Bytes {
            format.feed(bytes, builder)
        } else {
            self.text.clear();
            self.decoder.push(bytes, &mut self.text);
            format.feed(&self.text, builder)
        };
        if let Err(refusal) = fed.and_then(|()| builder.check()) {
            self.state = State::Refused(refusal);
        }
    }

    fn recognise(&mut self) {
        let State::Head(head) = std::mem::replace(&mut self.state, State::Refused(Refusal::Empty)) else { return };
        let raw = &head[..head.len().min(Form::HEAD)];
        let (mut decoder, mut text) = (Decoder::default(), Vec::new());
        decoder.push(raw, &mut text);
        if raw.len() < Form::HEAD {
            decoder.end(&mut text);
        }
        self.state = match recognised(self.forms, raw, &text) {
            Ok(form) => {
                let builder = Box::new(Builder::new(&self.input, form.kind));
                State::Reading(form.takes, (form.open)(&self.input), builder)
            }
            Err(refusal) => State::Refused(refusal),
        };
        self.feed(&head);
    }
}

/// The form that an input is of: the one with the most marks, and the first among equals.
fn recognised<'a>(forms: &'a [Form], raw: &[u8], text: &[u8]) -> Result<&'a Form, Refusal> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Refusal::Empty);
    }
    let mut best: Option<(u8, &Form)> = None;
    let mut nearest: Option<(u8, (Kind, &'static str))> = None;
    for form in forms {
        match (form.resembles)(if form.takes == Takes::Bytes { raw } else { text }) {
            Resemblance::Is { marks } if best.is_none_or(|(most, _)| marks > most) => best = Some((marks, form)),
            Resemblance::Near { marks, missing } if nearest.is_none_or(|(most, _)| marks > most) => {
                nearest = Some((marks, (form.kind, missing)));
            }
            _ => {}
        }
    }
    let nearest = nearest.map(|(_, near)| near);
    best.map(|(_, form)| form).ok_or(Refusal::Unknown { nearest })
}
