//! A running chain: operations on their way through the steps of a program.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use plimsoll_units::{Instant, Kind, Op, Slot, Span};

use crate::agenda::Agenda;
use crate::array::MemberPart;
use crate::curve::CurveEffect;
use crate::disk::{DiskEffect, DiskStart};
use crate::program::{Program, ProgramStep, Remaining, Resource};
use crate::spec::ChainSpec;
use crate::write_back::{Arrival, WritePiece};
use crate::{Change, ChangeError, Model, ModelAnswer, Stage};

/// A model made of stages that operations pass in order.
///
/// Each stage receives operations in the order of their arrival, so an operation that overtakes another in a stage is
/// served before it in the next.
#[derive(Clone, Debug)]
pub struct Chain {
    program: Program,
    passages: Vec<Passage>,
    free: Vec<u32>,
    /// Times at which passages leave their stage.
    departures: Agenda,
    /// Answers that no later operation can change: passages in their last stage. Ordered together with `departures`.
    determined: Agenda,
    /// Number of entries of both so far.
    sequence: u64,
    /// Passages that continue at the current time.
    woken: VecDeque<u32>,
    ready: Vec<ModelAnswer>,
    parts: Vec<MemberPart>,
    /// Read-ahead operations that begin at the current time.
    reads: Vec<Op>,
}

/// An operation, a part of one, or a write-back operation: its position, and the stage that delayed it most.
#[derive(Clone, Copy, Debug)]
struct Passage {
    op: Op,
    role: Role,
    /// Its current step.
    step: u16,
    /// Base of relative resource numbers.
    base: u16,
    /// Progress within an array or a write-back memory.
    progress: u32,
    /// Parts in flight.
    parts: u32,
    /// Start of its wait.
    since: Instant,
    longest: Span,
    bound_by: Stage,
    path: OnPath,
}

/// The path of an operation through stages with several.
#[derive(Clone, Copy, Debug)]
enum OnPath {
    Undecided,
    /// The submitter's choice.
    Given(u8),
    /// The choice of the first window.
    Chosen(u8),
}

impl OnPath {
    #[inline]
    const fn number(self) -> Option<u8> {
        match self {
            Self::Undecided => None,
            Self::Given(path) | Self::Chosen(path) => Some(path),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Role {
    /// A submitted operation.
    Submitted(Slot),
    /// An operation whose answer is determined: only its effects on others remain.
    Known,
    /// A part of another passage.
    Part(u32),
    /// A piece of another passage, which passes its pieces one after another.
    Piece(u32),
    /// A piece of a write in write-back, with the number of flushes before it.
    Behind(u32),
    /// The read that a write needs before it is accepted.
    Before(u32),
    /// The time after which this half of a memory drains.
    Timer(u32),
    /// A read-ahead operation, with the step at which it ends.
    Ahead(u16),
}

impl Chain {
    /// An idle chain. `seed` determines its service times; each stage has its own random stream.
    pub fn new(spec: &ChainSpec, seed: u64) -> Self {
        Self {
            program: Program::new(spec, seed),
            passages: Vec::new(),
            free: Vec::new(),
            departures: Agenda::default(),
            determined: Agenda::default(),
            sequence: 0,
            woken: VecDeque::new(),
            ready: Vec::new(),
            parts: Vec::new(),
            reads: Vec::new(),
        }
    }

    /// Accepts an operation at `now` as [`Model::submit`] does, on a path of the stages with several. A path beyond
    /// their number counts from the first again.
    #[inline]
    pub fn submit_on(&mut self, now: Instant, slot: Slot, op: &Op, path: Option<u8>) {
        // Earlier events first: otherwise the order of simultaneous events would depend on the time of the last drain.
        self.advance(now);
        let number = self.begin(*op, Role::Submitted(slot), 0, 0);
        if let Some(path) = path {
            self.passages[number as usize].path = OnPath::Given(path);
        }
        // Events at the same time precede an arrival from the first link, as they precede one without a link: draining
        // ahead has processed them already, including those that were scheduled after the submission.
        self.sequence += self.program.rank;
        self.run(now, number);
        self.sequence -= self.program.rank;
    }

    /// Burst credits of a limit: the operations or bytes that it admits at `now` without a delay. `None` for other stages; of
    /// the members of an array, those of the first.
    pub fn burst_left(&self, now: Instant, stage: Stage) -> Option<u64> {
        let mut owned = self.program.owners.iter().zip(&self.program.resources).filter(|(owner, _)| **owner == stage);
        owned.find_map(|(_, resource)| match resource {
            Resource::Limit(limit) => Some(limit.burst_left(now)),
            _ => None,
        })
    }

    #[inline]
    fn begin(&mut self, op: Op, role: Role, step: u16, base: u16) -> u32 {
        let (since, longest, bound_by, path) = (Instant::ZERO, Span::ZERO, Stage(0), OnPath::Undecided);
        let passage = Passage { op, role, step, base, progress: 0, parts: 0, since, longest, bound_by, path };
        if let Some(number) = self.free.pop() {
            self.passages[number as usize] = passage;
            number
        } else {
            self.passages.push(passage);
            self.passages.len() as u32 - 1
        }
    }

    /// Appends all answers up to `now`, and those up to `lead` later that no operation after `now` can change. Each
    /// answer is drained once.
    ///
    /// Determined answers are those of operations in their last stage. If the first stage is a link, all events within
    /// its latency are determined too, because later arrivals are still in the link and come behind events of the
    /// same time.
    #[inline]
    pub fn drain_ahead(&mut self, now: Instant, lead: Span, answers: &mut Vec<ModelAnswer>) {
        self.advance(now + lead.min(self.program.entry));
        answers.append(&mut self.ready);
        while let Some((at, number)) = self.determined.take(now + lead) {
            answers.extend(self.answer(at, number));
            self.free.push(number);
        }
    }

    /// The answer of a passage, unless answered before.
    #[inline]
    fn answer(&self, at: Instant, number: u32) -> Option<ModelAnswer> {
        let Passage { role: Role::Submitted(slot), bound_by, path, .. } = self.passages[number as usize] else {
            return None;
        };
        let bound_by = match path {
            OnPath::Given(path) => self.program.path_of(bound_by, path),
            OnPath::Undecided | OnPath::Chosen(_) => bound_by,
        };
        Some(ModelAnswer { slot, at, bound_by })
    }

    /// Time of the next event for [`drain_ahead`](Self::drain_ahead) with this lead.
    #[inline]
    pub fn wake_ahead(&self, lead: Span) -> Option<Instant> {
        if let Some(answer) = self.ready.first() {
            return Some(answer.at);
        }
        let determined = self.determined.next().map(|at| at - lead);
        let departures = self.departures.next().map(|at| at - lead.min(self.program.entry));
        departures.into_iter().chain(determined).min()
    }

    /// Processes all events up to `now`.
    #[inline]
    fn advance(&mut self, now: Instant) {
        loop {
            if self.determined.first() < self.departures.first() {
                let Some((at, number)) = self.determined.take(now) else { return };
                self.end(at, number);
                continue;
            }
            let Some((at, number)) = self.departures.take(now) else { return };
            let passage = &self.passages[number as usize];
            if let ProgramStep::Served(resource) = self.program.steps[usize::from(passage.step)]
                && !self.leave(at, number, usize::from(passage.base + resource))
            {
                continue;
            }
            self.run(at, number);
        }
    }

    /// Continues a passage at `now`, and the passages that it wakes.
    #[inline]
    fn run(&mut self, now: Instant, number: u32) {
        self.go_on(now, number);
        while let Some(next) = self.woken.pop_front() {
            self.go_on(now, next);
        }
    }

    /// Executes steps until the passage waits or ends.
    #[inline]
    fn go_on(&mut self, now: Instant, mut number: u32) {
        loop {
            let passage = &mut self.passages[number as usize];
            let (step, base) = (self.program.steps[usize::from(passage.step)], passage.base);
            match step {
                ProgramStep::Pass(resource) => {
                    let resource = &mut self.program.resources[usize::from(base + resource)];
                    let at = pass(resource, now, &passage.op, passage.path);
                    add_residence(passage, at.since(now), self.program.stages[usize::from(passage.step)]);
                    passage.step += 1;
                    let step = usize::from(passage.step);
                    if at > now {
                        return self.depart(at, number, step);
                    }
                }
                ProgramStep::End => return self.end(now, number),
                ProgramStep::Split { write, flush } => {
                    passage.step = match passage.op.kind {
                        Kind::Read => passage.step + 1,
                        Kind::Write | Kind::DurableWrite | Kind::Trim => write,
                        Kind::Flush => flush,
                    };
                }
                ProgramStep::Locate { boundary, rest } => locate(passage, self.program.boundary(base + boundary), rest),
                ProgramStep::Relocate { boundary } => {
                    passage.op.offset += self.program.boundary(base + boundary);
                    passage.step += 1;
                }
                ProgramStep::Choose { cache, miss } => {
                    let hit = self.program.hits(base + cache, &passage.op);
                    passage.step = if hit { passage.step + 1 } else { miss };
                }
                ProgramStep::Jump(to) => passage.step = to,
                ProgramStep::Seek(disk) => return self.enter_disk(now, number, usize::from(base + disk)),
                ProgramStep::Served(_) => unreachable!("left through a disk or a curve"),
                ProgramStep::Serve(curve) => {
                    if !self.enter_curve(now, number, usize::from(base + curve)) {
                        return;
                    }
                }
                ProgramStep::Enter(window) => {
                    if !self.enter_window(now, number, usize::from(base + window)) {
                        return;
                    }
                }
                ProgramStep::Leave(window) => self.leave_window(now, number, usize::from(base + window)),
                ProgramStep::Cut { size } if passage.op.length > size => number = self.next_piece(number, size),
                ProgramStep::Cut { .. } => passage.step += 1,
                ProgramStep::Rejoin { cut } => number = self.rejoin(number, cut),
                ProgramStep::Fork { array, first, stride, after } => {
                    if self.fork(number, usize::from(base + array), (base + first, stride), after) {
                        return;
                    }
                }
                ProgramStep::Join => match self.join(number) {
                    Some(parent) => number = parent,
                    None => return,
                },
                ProgramStep::Accept { .. }
                | ProgramStep::Through { .. }
                | ProgramStep::Follow { .. }
                | ProgramStep::Fetched(_) => {
                    if !self.at_memory(now, number, step, base) {
                        return;
                    }
                }
            }
        }
    }

    /// Executes a step of a write-back memory or of read-ahead; false if the passage waits or ends there.
    fn at_memory(&mut self, now: Instant, number: u32, step: ProgramStep, base: u16) -> bool {
        let resource = |number: u16| usize::from(base + number);
        match step {
            ProgramStep::Accept { memory, after } => self.accept(now, number, resource(memory), after),
            ProgramStep::Through { memory, body } => self.through(now, number, resource(memory), body),
            ProgramStep::Follow { prefetch, after } => self.follow(now, number, resource(prefetch), after),
            ProgramStep::Fetched(prefetch) => self.fetched(now, number, resource(prefetch)),
            _ => unreachable!("not a step of a memory"),
        }
    }

    /// Answers an operation, unless answered before, and frees its passage.
    #[inline]
    fn end(&mut self, now: Instant, number: u32) {
        self.ready.extend(self.answer(now, number));
        self.free.push(number);
    }

    /// Schedules a passage to leave its stage at `at` and continue with `step`.
    #[inline]
    fn depart(&mut self, at: Instant, number: u32, step: usize) {
        self.sequence += 1;
        let role = self.passages[number as usize].role;
        match (role, self.program.remaining[step]) {
            (Role::Submitted(_), Remaining::None) => return self.determined.enter(at, self.sequence, number),
            (Role::Submitted(_), Remaining::Effects) => self.foretell(at, number),
            _ => {}
        }
        self.departures.enter(at, self.sequence, number);
    }

    /// Separates the determined answer of a passage from its remaining effects.
    fn foretell(&mut self, at: Instant, number: u32) {
        let Passage { op, role, longest, bound_by, path, .. } = self.passages[number as usize];
        self.passages[number as usize].role = Role::Known;
        let answer = self.begin(op, role, 0, 0);
        let passage = &mut self.passages[answer as usize];
        (passage.longest, passage.bound_by, passage.path) = (longest, bound_by, path);
        self.determined.enter(at, self.sequence, answer);
        self.sequence += 1;
    }

    /// Schedules a passage to leave a disk at `at`.
    fn depart_disk(&mut self, at: Instant, number: u32) {
        self.sequence += 1;
        let passage = &mut self.passages[number as usize];
        let step = usize::from(passage.step);
        if matches!(passage.role, Role::Submitted(_)) && self.program.remaining[step + 1] != Remaining::Stages {
            add_residence(passage, at.since(passage.since), self.program.stages[step]);
            self.foretell(at, number);
        }
        self.departures.enter(at, self.sequence, number);
    }

    /// Ends the wait of a passage and attributes it to its current stage.
    fn waited(&mut self, now: Instant, number: u32) -> &mut Passage {
        let step = self.passages[number as usize].step;
        self.waited_at(now, number, step)
    }

    /// Ends a wait at an earlier step.
    fn waited_at(&mut self, now: Instant, number: u32, step: u16) -> &mut Passage {
        let passage = &mut self.passages[number as usize];
        add_residence(passage, now.since(passage.since), self.program.stages[usize::from(step)]);
        passage
    }

    fn enter_disk(&mut self, now: Instant, number: u32, disk: usize) {
        let passage = &mut self.passages[number as usize];
        passage.since = now;
        passage.step += 1;
        let Resource::Disk(disk) = &mut self.program.resources[disk] else { unreachable!("a seek is on a disk") };
        if let Some(at) = disk.enter(now, number, &passage.op) {
            self.depart_disk(at, number);
        }
    }

    /// Processes an event of a disk or a curve; false if no passage was served.
    fn leave(&mut self, now: Instant, number: u32, resource: usize) -> bool {
        match &mut self.program.resources[resource] {
            Resource::Disk(disk) => match disk.event(now) {
                DiskEffect::Chosen(at) => {
                    self.depart_disk(at, number);
                    return false;
                }
                DiskEffect::Served(Some((next, DiskStart::Known(at)))) => self.depart_disk(at, next),
                DiskEffect::Served(Some((next, DiskStart::Chosen(at)))) => self.depart_later(at, next),
                DiskEffect::Served(None) => {}
            },
            Resource::Curve(curve) => match curve.serve(now) {
                CurveEffect::Again(at) => {
                    self.depart_later(at, number);
                    return false;
                }
                CurveEffect::Through(Some((next, at))) => self.depart_later(at, next),
                CurveEffect::Through(None) => {}
            },
            _ => unreachable!("only disks and curves serve"),
        }
        self.waited(now, number).step += 1;
        true
    }

    /// True if the passage continues: flushes bypass curves.
    fn enter_curve(&mut self, now: Instant, number: u32, curve: usize) -> bool {
        let passage = &mut self.passages[number as usize];
        if passage.op.kind == Kind::Flush {
            passage.step += 2;
            return true;
        }
        passage.since = now;
        passage.step += 1;
        let Resource::Curve(curve) = &mut self.program.resources[curve] else { unreachable!("a curve serves") };
        if let Some(at) = curve.enter(now, number) {
            self.depart_later(at, number);
        }
        false
    }

    fn depart_later(&mut self, at: Instant, number: u32) {
        self.sequence += 1;
        self.departures.enter(at, self.sequence, number);
    }

    fn window(&mut self, window: usize) -> &mut crate::window::AdmissionWindow {
        match &mut self.program.resources[window] {
            Resource::Window(window) => window,
            _ => unreachable!("only windows are entered"),
        }
    }

    fn enter_window(&mut self, now: Instant, number: u32, window: usize) -> bool {
        let given = self.passages[number as usize].path;
        let window = self.window(window);
        let path = given.number().unwrap_or_else(|| window.choose());
        let entered = window.enter(number, path);
        let passage = &mut self.passages[number as usize];
        if let OnPath::Undecided = given {
            passage.path = OnPath::Chosen(path);
        }
        passage.since = now;
        passage.step += u16::from(entered);
        entered
    }

    fn leave_window(&mut self, now: Instant, number: u32, window: usize) {
        let path = self.passages[number as usize].path.number().unwrap_or(0);
        if let Some(next) = self.window(window).leave(path) {
            self.waited(now, next).step += 1;
            self.woken.push_back(next);
        }
        self.passages[number as usize].step += 1;
    }

    /// Starts the next parts of an operation; false, and the operation continues, if none are left.
    fn fork(&mut self, number: u32, array: usize, (first, stride): (u16, u16), after: u16) -> bool {
        let mut parts = core::mem::take(&mut self.parts);
        let passage = &mut self.passages[number as usize];
        let Resource::Array(array) = &mut self.program.resources[array] else { unreachable!("a fork is on an array") };
        array.parts(&passage.op, &mut passage.progress, &mut parts);
        passage.parts = parts.len() as u32;
        let body = passage.step + 1;
        if parts.is_empty() {
            passage.progress = 0;
            passage.step = after;
        }
        for (member, op) in &parts {
            let part = self.begin(*op, Role::Part(number), body, first + *member as u16 * stride);
            self.woken.push_back(part);
        }
        let forked = !parts.is_empty();
        self.parts = parts;
        forked
    }

    /// Ends a part; returns its parent after the last part.
    fn join(&mut self, number: u32) -> Option<u32> {
        let part = self.passages[number as usize];
        self.free.push(number);
        let Role::Part(parent) = part.role else { unreachable!("only parts join") };
        let passage = &mut self.passages[parent as usize];
        add_residence(passage, part.longest, part.bound_by);
        passage.parts -= 1;
        (passage.parts == 0).then_some(parent)
    }

    /// Begins the next piece of an operation.
    fn next_piece(&mut self, number: u32, size: u32) -> u32 {
        let passage = &self.passages[number as usize];
        let (step, base, done) = (passage.step, passage.base, passage.progress);
        let length = (passage.op.length - done).min(size);
        let op = Op { offset: passage.op.offset + u64::from(done), length, ..passage.op };
        let path = passage.path;
        let piece = self.begin(op, Role::Piece(number), step + 1, base);
        self.passages[piece as usize].path = path;
        piece
    }

    /// Ends a piece: returns its operation, which waits at `cut` for the next piece or continues after the last one.
    /// Operations that were not cut there continue.
    fn rejoin(&mut self, number: u32, cut: u16) -> u32 {
        let piece = self.passages[number as usize];
        match piece.role {
            Role::Piece(parent) if self.passages[parent as usize].step == cut => {
                self.free.push(number);
                let passage = &mut self.passages[parent as usize];
                // The waits of all pieces at a stage add up.
                let sum = if passage.bound_by == piece.bound_by { passage.longest } else { Span::ZERO };
                add_residence(passage, piece.longest + sum, piece.bound_by);
                passage.progress += piece.op.length;
                if passage.progress == passage.op.length {
                    passage.progress = 0;
                    passage.step = piece.step + 1;
                }
                parent
            }
            _ => {
                self.passages[number as usize].step += 1;
                number
            }
        }
    }

    fn memory(&mut self, memory: usize) -> &mut crate::write_back::WriteBack {
        match &mut self.program.resources[memory] {
            Resource::WriteBack(memory) => memory,
            _ => unreachable!("only a write-back memory accepts"),
        }
    }

    /// False if the passage has to wait.
    fn accept(&mut self, now: Instant, number: u32, memory: usize, after: u16) -> bool {
        let passage = &mut self.passages[number as usize];
        passage.since = now;
        let (op, step, base) = (passage.op, passage.step, passage.base);
        if self.memory(memory).reads_first(&op) {
            let read = self.begin(Op { kind: Kind::Read, ..op }, Role::Before(number), step + 1, base);
            self.woken.push_back(read);
            return false;
        }
        self.take_in(now, number, memory, after)
    }

    /// False if the passage has to wait.
    fn take_in(&mut self, now: Instant, number: u32, memory: usize, after: u16) -> bool {
        let passage = self.passages[number as usize];
        let mut progress = passage.progress;
        let arrival = self.memory(memory).enter(number, &passage.op, &mut progress);
        let accepted = &mut self.passages[number as usize];
        accepted.progress = progress;
        let goes_on = match arrival {
            Arrival::Through => {
                accepted.step += 1;
                true
            }
            Arrival::Answered => {
                accepted.progress = 0;
                accepted.step = after;
                true
            }
            Arrival::Waits => false,
        };
        self.start_pieces(now, memory, (passage.step + 1, after - 1), passage.base);
        goes_on
    }

    /// Starts write-back, from the first step of the memory's body, and the timer of a half, at its end.
    fn start_pieces(&mut self, now: Instant, memory: usize, (body, end): (u16, u16), base: u16) {
        if let Some((time, half)) = self.memory(memory).timer() {
            let idle = Op { offset: 0, length: 0, kind: Kind::Write, stream: 0 };
            let timer = self.begin(idle, Role::Timer(half), end, base);
            self.depart_later(now + time, timer);
        }
        while let Some(WritePiece { op, epoch }) = self.memory(memory).start() {
            let piece = self.begin(op, Role::Behind(epoch), body, base);
            self.woken.push_back(piece);
        }
    }

    /// False if the passage was a write-back operation: it ends here and frees its room.
    fn through(&mut self, now: Instant, number: u32, memory: usize, body: u16) -> bool {
        let passage = self.passages[number as usize];
        let after = passage.step + 1;
        let epoch = match passage.role {
            Role::Behind(epoch) => epoch,
            Role::Timer(half) => {
                self.free.push(number);
                self.memory(memory).expire(half);
                self.start_pieces(now, memory, (body, passage.step), passage.base);
                return false;
            }
            Role::Before(write) if self.passages[write as usize].step + 1 == body => {
                self.free.push(number);
                if self.take_in(now, write, memory, after) {
                    self.waited_at(now, write, body - 1);
                    self.woken.push_back(write);
                }
                return false;
            }
            _ => {
                self.passages[number as usize].step = after;
                return true;
            }
        };
        self.free.push(number);
        let mut flush = self.memory(memory).through(&WritePiece { op: passage.op, epoch });
        while let Some(satisfied) = flush {
            self.waited(now, satisfied).step = body;
            self.woken.push_back(satisfied);
            flush = self.memory(memory).satisfied_flush();
        }
        while let Some(first) = self.memory(memory).first_waiting() {
            let Passage { op, mut progress, .. } = self.passages[first as usize];
            let all = self.memory(memory).accept_first(&op, &mut progress);
            self.passages[first as usize].progress = progress;
            if !all {
                break;
            }
            let accepted = self.waited(now, first);
            accepted.progress = 0;
            accepted.step = after;
            self.woken.push_back(first);
        }
        self.start_pieces(now, memory, (body, passage.step), passage.base);
        false
    }

    fn prefetch(&mut self, prefetch: usize) -> &mut crate::prefetch::Prefetch {
        match &mut self.program.resources[prefetch] {
            Resource::Prefetch(prefetch) => prefetch,
            _ => unreachable!("only read-ahead follows streams"),
        }
    }

    /// False if the passage has to wait for read-ahead.
    fn follow(&mut self, now: Instant, number: u32, prefetch: usize, after: u16) -> bool {
        let mut reads = core::mem::take(&mut self.reads);
        let passage = &mut self.passages[number as usize];
        passage.since = now;
        let (op, body, base) = (passage.op, passage.step + 1, passage.base);
        let arrival = self.prefetch(prefetch).enter(number, &op, &mut reads);
        for read in reads.drain(..) {
            let read = self.begin(read, Role::Ahead(after - 1), body, base);
            self.woken.push_back(read);
        }
        self.reads = reads;
        match arrival {
            Arrival::Through => self.passages[number as usize].step = body,
            Arrival::Answered => self.passages[number as usize].step = after,
            Arrival::Waits => {}
        }
        !matches!(arrival, Arrival::Waits)
    }

    /// False if the passage was a read-ahead operation, which ends here.
    fn fetched(&mut self, now: Instant, number: u32, prefetch: usize) -> bool {
        let Passage { op, role, step, .. } = self.passages[number as usize];
        if !matches!(role, Role::Ahead(end) if end == step) {
            self.passages[number as usize].step = step + 1;
            return true;
        }
        self.free.push(number);
        let mut woken = core::mem::take(&mut self.woken);
        let before = woken.len();
        self.prefetch(prefetch).fetched(&op, &mut woken);
        for read in woken.range(before..) {
            self.waited(now, *read).step = step + 1;
        }
        self.woken = woken;
        false
    }
}

/// Time at which an operation that enters now leaves. Called in order of time.
#[inline]
fn pass(resource: &mut Resource, now: Instant, op: &Op, path: OnPath) -> Instant {
    match resource {
        Resource::Station(station) => station.enter(now, op),
        Resource::Bank(bank) => bank.enter(now, op),
        Resource::Limit(limit) => limit.enter(now, op),
        Resource::Link(link) => link.enter(now, op, path.number()),
        Resource::Buffer(buffer) => buffer.enter(now, op),
        Resource::Stall(stall) => stall.enter(now),
        Resource::Pressure(pressure) => pressure.enter(now, op),
        Resource::Cold(cold) => cold.enter(now, op),
        _ => unreachable!("not a pass-through stage"),
    }
}

/// Sends an operation to the first device, or to the rest with its address there.
fn locate(passage: &mut Passage, size: u64, rest: u16) {
    (passage.step, passage.op.offset) = match passage.op.offset.checked_sub(size) {
        None => (passage.step + 1, passage.op.offset),
        Some(offset) => (rest, offset),
    };
}

#[inline]
fn add_residence(passage: &mut Passage, span: Span, by: Stage) {
    if span >= passage.longest {
        passage.longest = span;
        passage.bound_by = by;
    }
}

impl Model for Chain {
    #[inline]
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op) {
        self.submit_on(now, slot, op, None);
    }

    #[inline]
    fn wake_at(&self) -> Option<Instant> {
        self.wake_ahead(Span::ZERO)
    }

    #[inline]
    fn drain(&mut self, now: Instant, answers: &mut Vec<ModelAnswer>) {
        self.drain_ahead(now, Span::ZERO, answers);
    }

    fn change(&mut self, now: Instant, change: &Change) -> Result<(), ChangeError> {
        self.advance(now);
        let Change::Rate { stage, rate } = *change;
        if !self.program.stages.contains(&stage) {
            return Err(ChangeError::NoSuchStage(stage));
        }
        let mut changed = false;
        for (owner, resource) in self.program.owners.iter().zip(&mut self.program.resources) {
            if let (true, Resource::Limit(limit)) = (*owner == stage, resource) {
                changed |= limit.change(rate);
            }
        }
        if changed { Ok(()) } else { Err(ChangeError::NoSuchRate(stage)) }
    }
}
