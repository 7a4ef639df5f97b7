//! Reading one file: a report, or an archive of several.

use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Format, FormatInput, Head, Resemblance, Takes};
use crate::forms::{FORMS, create_reader};
use crate::nearest;
use crate::reading::{Doubt, Fate, FormatName, Reading};
use crate::refusal::Refusal;
use crate::text::dates::{DateEvidence, DateOrder, has_dates};
use crate::text::pasted::Repairs;
use crate::unpack::{Archive, Decoder, Ending, Gunzip, Members, PIECE};

/// The result of one input.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Read(Box<Reading>),
    Refused {
        /// The caller's name of the input.
        name: String,
        /// The reason, the place, and the remedy.
        refusal: Refusal,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeSummary {
    /// Everything about storage was read.
    Read,
    /// A part is broken.
    Partly,
    /// The whole input was refused.
    Refused,
}

impl Outcome {
    pub fn verdict(&self) -> OutcomeSummary {
        match self {
            Self::Read(reading) if reading.parts.iter().any(|part| part.fate == Fate::Broken) => OutcomeSummary::Partly,
            Self::Read(_) => OutcomeSummary::Read,
            Self::Refused { .. } => OutcomeSummary::Refused,
        }
    }

    /// The caller's name of the input; for a file of an archive, the archive's name and its own.
    pub fn name(&self) -> &str {
        match self {
            Self::Read(reading) => &reading.name,
            Self::Refused { name, .. } => name,
        }
    }

    /// The recognised format.
    pub fn kind(&self) -> Option<FormatName> {
        match self {
            Self::Read(reading) => Some(reading.kind),
            Self::Refused { refusal: Refusal::Unusable { kind, .. }, .. } => Some(*kind),
            Self::Refused { .. } => None,
        }
    }

    /// The reading, if any.
    pub fn reading(&self) -> Option<&Reading> {
        match self {
            Self::Read(reading) => Some(reading),
            Self::Refused { .. } => None,
        }
    }
}

/// Reads a file from bytes, split anywhere.
pub struct Ingest<'a> {
    packing: Packing,
    files: InputFiles<'a>,
}

enum Packing {
    /// The first bytes, until an archive can be recognised.
    Unknown(Vec<u8>),
    Single,
    Archive(Box<Archive>),
}

impl Ingest<'static> {
    /// Reads an input of any known format. A name converts to an [`FormatInput`].
    pub fn new(input: impl Into<FormatInput>) -> Self {
        Self::among(FORMS, input)
    }
}

impl<'a> Ingest<'a> {
    /// Reads an input of one of `forms`.
    pub fn among(forms: &'a [Form], input: impl Into<FormatInput>) -> Self {
        let files = InputFiles { input: input.into(), forms, current: None, outcomes: Vec::new() };
        Self { packing: Packing::Unknown(Vec::new()), files }
    }

    /// Processes the next bytes. False if the input is already refused.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        match &mut self.packing {
            Packing::Single => self.files.bytes(bytes),
            Packing::Archive(archive) => archive.push(bytes, &mut self.files),
            Packing::Unknown(head) => {
                head.extend_from_slice(bytes);
                if head.len() >= 4 {
                    self.begin();
                }
            }
        }
        !(matches!(self.packing, Packing::Single) && self.files.current.as_ref().is_some_and(Member::is_refused))
    }

    /// Ends the input. Returns an outcome, or an outcome for each file of an archive; never empty.
    pub fn finish(mut self) -> Vec<Outcome> {
        if matches!(self.packing, Packing::Unknown(_)) {
            self.begin();
        }
        match &mut self.packing {
            Packing::Archive(archive) => archive.end(&mut self.files),
            _ => self.files.end(None),
        }
        self.files.outcomes
    }

    fn begin(&mut self) {
        let Packing::Unknown(head) = std::mem::replace(&mut self.packing, Packing::Single) else { return };
        if head.first_chunk::<4>().is_some_and(|magic| Archive::MAGICS.contains(magic)) {
            self.packing = Packing::Archive(Box::default());
        } else {
            self.files.current = Some(Member::new(self.files.forms, self.files.input.clone()));
        }
        self.feed(&head);
    }
}

struct InputFiles<'a> {
    input: FormatInput,
    forms: &'a [Form],
    current: Option<Member<'a>>,
    outcomes: Vec<Outcome>,
}

impl InputFiles<'_> {
    fn name(&self, inner: &str) -> String {
        if inner.is_empty() { self.input.name.clone() } else { format!("{}/{inner}", self.input.name) }
    }
}

impl Members for InputFiles<'_> {
    fn begin(&mut self, name: &str) {
        let input = FormatInput { name: self.name(name), ..self.input.clone() };
        self.current = Some(Member::new(self.forms, input));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if let Some(member) = &mut self.current {
            member.push(bytes);
        }
    }

    fn end(&mut self, broken: Option<Doubt>) {
        if let Some(member) = self.current.take() {
            self.outcomes.push(member.finish(broken));
        }
    }

    fn refuse(&mut self, name: &str, refusal: Refusal) {
        self.current = None;
        let name = self.name(name);
        self.outcomes.push(Outcome::Refused { name, refusal });
    }
}

/// An input, or a file of an archive, from its first byte to its outcome.
struct Member<'a> {
    input: FormatInput,
    forms: &'a [Form],
    gunzip: Gunzip,
    decoder: Decoder,
    /// Repairs of copied text.
    repairs: Repairs,
    state: IngestState,
    /// Decompressed bytes, kept to reuse their memory.
    unpacked: Vec<u8>,
    text: Vec<u8>,
}

enum IngestState {
    /// Not enough bytes to recognise the format.
    Head(Vec<u8>),
    /// Two readings, one for each order of day and month, until their order is proven.
    Reading(Takes, Vec<DatedReading>),
    Refused(Refusal),
}

/// A reading with an order of day and month.
struct DatedReading {
    format: Box<dyn Format>,
    builder: Box<Builder>,
}

impl DatedReading {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.format.feed(bytes, &mut self.builder).and_then(|()| self.builder.check())
    }

    /// Ends readings, and returns the one with the likelier order.
    fn finish_likelier(
        candidates: Vec<Self>,
        rest: &[u8],
        (broken, interval): (Option<&Doubt>, Option<Span>),
        repairs: Option<&Repairs>,
    ) -> Result<Reading, Refusal> {
        let end = |Self { mut format, mut builder }: Self| {
            if let Some(doubt) = broken {
                builder.caution(None, doubt.clone());
                builder.part("file", Fate::Broken);
            }
            let ended = format.feed(rest, &mut builder).and_then(|()| format.end(&mut builder));
            (ended, builder)
        };
        let mut ended: Vec<_> = candidates.into_iter().map(end).collect();
        let (index, is_certain) = match ended.as_slice() {
            [(_, first), (_, second)] => DateEvidence::likelier([first.dates(), second.dates()]),
            [(_, only)] => (0, only.dates().proven().is_some()),
            _ => return Err(Refusal::Empty),
        };
        let (ended, mut builder) = ended.swap_remove(index);
        ended?;
        if let Some(doubt) = builder.dates().doubt(is_certain) {
            builder.caution(None, doubt);
        }
        if let Some(interval) = interval {
            builder.check_interval(interval);
        }
        for [marks, treatment] in repairs.iter().flat_map(|repairs| repairs.list()) {
            builder.caution(None, Doubt::TextRepaired { marks, treatment });
        }
        builder.finish()
    }
}

impl<'a> Member<'a> {
    fn new(forms: &'a [Form], input: FormatInput) -> Self {
        Self {
            input,
            forms,
            gunzip: Gunzip::default(),
            decoder: Decoder::default(),
            repairs: Repairs::default(),
            state: IngestState::Head(Vec::new()),
            unpacked: Vec::new(),
            text: Vec::new(),
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        // Small pieces limit the size of decompressed ones.
        for piece in bytes.chunks(PIECE) {
            if self.is_refused() {
                return;
            }
            let mut unpacked = std::mem::take(&mut self.unpacked);
            match self.gunzip.push(piece, &mut unpacked) {
                Ok(()) => self.take(&unpacked),
                Err(refusal) => self.state = IngestState::Refused(refusal),
            }
            unpacked.clear();
            self.unpacked = unpacked;
        }
    }

    fn is_refused(&self) -> bool {
        matches!(self.state, IngestState::Refused(_))
    }

    /// Ends the file; `broken` is the reason if it is truncated.
    fn finish(mut self, broken: Option<Doubt>) -> Outcome {
        let mut unpacked = Vec::new();
        let ending = self.gunzip.end(&mut unpacked);
        self.take(&unpacked);
        if matches!(self.state, IngestState::Head(_)) {
            self.recognise();
        }
        let cut = (ending == Ending::Cut).then_some(Doubt::CompressedFileDamaged);
        let broken = broken.or(cut);
        self.text.clear();
        self.decoder.end(&mut self.text);
        self.repairs.apply(&mut self.text);
        let result = match self.state {
            IngestState::Head(_) => Err(Refusal::Empty),
            IngestState::Refused(refusal) => Err(refusal),
            IngestState::Reading(takes, candidates) => {
                let is_text = takes == Takes::Text;
                let rest = if is_text { self.text.as_slice() } else { &[] };
                let repairs = Some(&self.repairs).filter(|_| is_text);
                DatedReading::finish_likelier(candidates, rest, (broken.as_ref(), self.input.interval), repairs)
            }
        };
        match result {
            Ok(reading) => Outcome::Read(Box::new(reading)),
            Err(refusal) => Outcome::Refused { name: self.input.name, refusal },
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if let IngestState::Head(head) = &mut self.state {
            head.extend_from_slice(bytes);
            if head.len() >= Form::HEAD {
                self.recognise();
            }
            return;
        }
        self.feed(bytes);
    }

    fn feed(&mut self, bytes: &[u8]) {
        let IngestState::Reading(takes, candidates) = &mut self.state else { return };
        let bytes = if *takes == Takes::Bytes {
            bytes
        } else {
            self.text.clear();
            self.decoder.push(bytes, &mut self.text);
            self.repairs.apply(&mut self.text);
            &self.text
        };
        for candidate in &mut *candidates {
            if let Err(refusal) = candidate.feed(bytes) {
                self.state = IngestState::Refused(refusal);
                return;
            }
        }
        if let [first, second] = candidates.as_slice()
            && let Some(order) = first.builder.dates().proven()
        {
            let index = usize::from(second.builder.dates().assumed == Some(order));
            candidates.swap(0, index);
            candidates.truncate(1);
        }
    }

    fn recognise(&mut self) {
        let IngestState::Head(head) = std::mem::replace(&mut self.state, IngestState::Refused(Refusal::Empty)) else {
            return;
        };
        let raw = &head[..head.len().min(Form::HEAD)];
        let mut text = Head::decoded(raw);
        self.repairs = Repairs::of(&mut text);
        let head_text = Head::new(raw, &text);
        self.state = match recognised(self.forms, &head_text) {
            Ok(form) => {
                let create = |order: Option<DateOrder>| {
                    let mut builder = Box::new(Builder::new(&self.input.name, self.input.zone.clone(), form.kind));
                    if self.input.keeps_windows {
                        builder.keep_windows();
                    }
                    if let Some(order) = order {
                        builder.assume_dates(order);
                    }
                    DatedReading { format: create_reader(form, &self.input), builder }
                };
                let is_dated = form.takes() == Takes::Text && has_dates(head_text.text());
                let candidates = if is_dated {
                    DateOrder::ALL.into_iter().map(|order| create(Some(order))).collect()
                } else {
                    vec![create(None)]
                };
                IngestState::Reading(form.takes(), candidates)
            }
            Err(refusal) => IngestState::Refused(refusal),
        };
        self.feed(&head);
    }
}

/// The format of an input: the one with the most marks, the first among equals.
pub(crate) fn recognised<'a>(forms: impl IntoIterator<Item = &'a Form>, head: &Head<'_>) -> Result<&'a Form, Refusal> {
    if head.bytes().iter().all(u8::is_ascii_whitespace) {
        return Err(Refusal::Empty);
    }
    let mut best: Option<(u8, &Form)> = None;
    let mut nearest: Option<(u8, (FormatName, &'static str))> = None;
    for form in forms {
        match (form.resembles)(head) {
            Resemblance::Is { marks } if best.is_none_or(|(max, _)| marks > max) => best = Some((marks, form)),
            Resemblance::Near { marks, missing } if nearest.is_none_or(|(max, _)| marks > max) => {
                nearest = Some((marks, (form.kind, missing)));
            }
            _ => {}
        }
    }
    let nearest = || nearest.map_or_else(|| nearest::of(head), |(_, near)| near);
    best.map(|(_, form)| form).ok_or_else(|| Refusal::Unknown { nearest: nearest() })
}
