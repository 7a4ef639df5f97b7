//! Compiles stages to a network: visits of each centre, with their durations. Mirrors the steps of `program.rs`.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use plimsoll_units::{Iops, Kind};

use super::network::{Centre, CentreFlow, CentreForm, CentreWork, Memory, Network, Node, Pause, Residence, Threshold};
use super::parts::{PartPhase, phases, touched};
use super::service::{clock_hits, disk_time, served};
use crate::curve;
use crate::spec::{ChainSpec, Demand, DiskSpec, Duplex, Flushing, Rate, StageSpec};

/// Writes are written back in pieces of at most this size (see `write_back.rs`).
const PIECE: f64 = 1_048_576.0;

/// The position in the network for which a stage is compiled.
#[derive(Clone, Copy, Debug)]
struct NetworkPosition {
    /// Visits per operation of the whole load.
    weight: f64,
    /// Copies that share the visits, and how.
    copies: f64,
    in_turn: bool,
    stays: (f64, f64),
    /// In write-back, after the answer.
    behind: bool,
}

impl NetworkPosition {
    fn share(self, share: f64) -> Self {
        Self { weight: self.weight * share, ..self }
    }
}

pub(super) struct Compiler<'a> {
    network: Network<'a>,
    /// The load contains flushes.
    flushes: bool,
}

/// Number of stages of a chain, including nested ones.
pub(super) fn count(chain: &ChainSpec) -> usize {
    chain.stages().iter().map(|named| 1 + named.stage.insides().into_iter().map(count).sum::<usize>()).sum()
}

impl<'a> Compiler<'a> {
    /// The network of a chain whose first stage has the number `first` of `stages` in the whole model, for `flows` with
    /// their shares.
    pub(super) fn compile(
        chain: &'a ChainSpec,
        first: usize,
        stages: usize,
        flows: &[(f64, CentreFlow)],
    ) -> Network<'a> {
        let mut compiler = Self {
            network: Network {
                way: Node::Series(Vec::new()),
                centres: Vec::new(),
                memories: Vec::new(),
                pauses: Vec::new(),
                thresholds: Vec::new(),
                visits: vec![0.0; stages],
                depends_on_rate: false,
            },
            flushes: flows.iter().any(|(share, flow)| *share > 0.0 && flow.kind == Kind::Flush),
        };
        let all: f64 = flows.iter().map(|(weight, _)| weight).sum();
        let mut ways = Vec::new();
        for (weight, flow) in flows.iter().filter(|(weight, _)| *weight > 0.0) {
            let weight = weight / all;
            let place = NetworkPosition { weight, copies: 1.0, in_turn: false, stays: (0.0, 1.0), behind: false };
            ways.push((weight, compiler.chain(chain, first, *flow, place)));
        }
        compiler.network.way = Node::Mix(ways);
        compiler.network
    }

    fn chain(&mut self, chain: &'a ChainSpec, first: usize, flow: CentreFlow, at: NetworkPosition) -> Node {
        let mut stage = first;
        let mut nodes = Vec::new();
        for named in chain.stages() {
            self.network.visits[stage] += at.weight;
            nodes.push(self.stage(&named.stage, stage, flow, at));
            stage += 1 + named.stage.insides().into_iter().map(count).sum::<usize>();
        }
        Node::Series(nodes)
    }

    fn stage(&mut self, spec: &'a StageSpec, stage: usize, flow: CentreFlow, at: NetworkPosition) -> Node {
        match spec {
            StageSpec::Limit { rate, burst, unit } => {
                let cost = match (rate, unit) {
                    (Rate::Bytes(_), _) => flow.length,
                    (Rate::Operations(_), None) => 1.0,
                    (Rate::Operations(_), Some(unit)) => libm::ceil(flow.length / unit.get() as f64).max(1.0),
                };
                self.paced(stage, at, (cost, per_ns(*rate)), *burst as f64)
            }
            StageSpec::Station { servers, demand } => {
                let (mean, variance) = served(demand, flow.kind, flow.length);
                self.servers(stage, *servers, (mean, variance), at)
            }
            StageSpec::Bank { queues, grain, demand } => {
                self.bank(stage, (*queues, grain.get() as f64), demand, flow, at)
            }
            StageSpec::Disk(disk) => self.disk(stage, disk, flow, at),
            StageSpec::Link { latency, bandwidth, duplex, paths } => {
                let latency = Node::Delay { stage, mean: latency.as_nanos() as f64, variance: 0.0 };
                let Some(bandwidth) = bandwidth else { return latency };
                let transfer = (flow.length * 1e9 / bandwidth.get() as f64, 0.0);
                let is_outward = *duplex == Duplex::Full && flow.kind != Kind::Read;
                let paths = u32::from(*paths);
                let centre = if is_outward {
                    self.second_centre(stage, paths, at)
                } else {
                    self.centre(stage, CentreForm::Servers(paths), at, 1.0)
                };
                Node::Series(vec![self.served_at(centre, transfer, at), latency])
            }
            StageSpec::Curve { .. } if flow.kind == Kind::Flush => Node::Series(Vec::new()),
            StageSpec::Curve { points } => self.curve(stage, points, at),
            StageSpec::Stall { every, length } => {
                let (every, length) = (every.as_nanos() as f64, length.as_nanos() as f64);
                match self.network.pauses.iter_mut().find(|pause| pause.stage == stage) {
                    Some(pause) => pause.visits += at.weight,
                    None => self.network.pauses.push(Pause { stage, visits: at.weight, every, length }),
                }
                Node::Series(Vec::new())
            }
            StageSpec::Pressure { rate, delay, .. } => {
                let cost = if matches!(rate, Rate::Bytes(_)) { flow.length } else { 1.0 };
                let pressure = self.threshold(stage, per_ns(*rate) * at.copies, cost * at.weight);
                Node::Pressure { pressure, delay: delay.as_nanos() as f64 }
            }
            StageSpec::Cold { rest, extra, grain, share } => {
                let (extra, rest, grain) = (extra.as_nanos() as f64, rest.as_nanos() as f64, grain.get() as f64);
                if flow.length <= 0.0 {
                    return Node::Series(Vec::new());
                }
                self.network.depends_on_rate = true;
                let grains = touched(flow.length, grain);
                let first = 1.0 - flow.sequential * (1.0 - (flow.length / grain).min(1.0));
                // Neighbours do not get cold together (see `bank.rs`).
                let share = first * (share * grains).min(1.0);
                let often = at.weight * grains / at.copies / (flow.space / grain).max(1.0);
                Node::Cold { stage, extra, share, rest, often }
            }
            StageSpec::Buffer { capacity, drain, flushing } => {
                let rate = drain.get() as f64 / 1e9;
                self.buffer(stage, (capacity.get() as f64, rate), *flushing, flow, at)
            }
            _ => self.nested(spec, stage, flow, at),
        }
    }

    fn nested(&mut self, spec: &'a StageSpec, stage: usize, flow: CentreFlow, at: NetworkPosition) -> Node {
        let inner = stage + 1;
        match spec {
            StageSpec::Window { slots, paths, inside } => {
                let slots = slots.saturating_mul(u32::from(*paths));
                let form = CentreForm::Window { slots, inside, visits: Vec::new(), network: None };
                let centre = self.centre(stage, form, at, 1.0);
                if let CentreForm::Window { visits, .. } = &mut self.network.centres[centre].kind {
                    visits.push((at.weight, flow));
                }
                self.work(centre, at).visits += at.weight;
                Node::Visit { centre, mean: 1.0, variance: 0.0, residence: Residence::AtItsPace }
            }
            StageSpec::Pieces { size, inside } => {
                let pieces = libm::ceil(flow.length / size.get() as f64).max(1.0);
                let piece = CentreFlow { length: flow.length / pieces, ..flow };
                if pieces <= 1.0 {
                    return self.chain(inside, inner, piece, at);
                }
                let mut node = self.chain(inside, inner, piece, at.share(pieces));
                self.wait_for_own_pieces(&mut node, (pieces, at.weight * pieces));
                Node::Repeat { times: pieces, node: Box::new(node) }
            }
            StageSpec::Split { read, write, flush } => match flow.kind {
                Kind::Read => self.chain(read, inner, flow, at),
                Kind::Write | Kind::DurableWrite | Kind::Trim => self.chain(write, inner + count(read), flow, at),
                Kind::Flush => self.chain(flush, inner + count(read) + count(write), flow, at),
            },
            StageSpec::Cache { hits, hit, miss } => {
                let hits = if flow.kind == Kind::Read { *hits } else { 0.0 };
                self.choose(hits, (hit, miss), inner, flow, at)
            }
            StageSpec::Concat { size, first, rest } => {
                let size = size.get() as f64;
                let share = if flow.space > size { size / flow.space } else { 1.0 };
                let spaces = [flow.space.min(size), (flow.space - size).max(0.0)];
                let [first_flow, rest_flow] = spaces.map(|space| CentreFlow { space, ..flow });
                let begun = self.chain(first, inner, first_flow, at.share(share));
                let others = self.chain(rest, inner + count(first), rest_flow, at.share(1.0 - share));
                Node::Mix(vec![(share, begun), (1.0 - share, others)])
            }
            StageSpec::Clock { capacity, grain, hit, miss } => {
                let hits = clock_hits(capacity.get() as f64, grain.get() as f64, &flow);
                self.choose(hits, (hit, miss), inner, flow, at)
            }
            StageSpec::Array { layout, members, interleave, member } => {
                let interleave = interleave.get() as f64;
                let all = f64::from(*members);
                let run = (interleave / flow.length.max(1.0)).max(1.0);
                let phases = phases(*layout, all, interleave, flow);
                Node::Series(phases.into_iter().map(|phase| self.fork(member, inner, phase, (all, run), at)).collect())
            }
            StageSpec::WriteBack { capacity, halves, depth, flushing, reads, inside } => {
                let room = if halves.is_some() { capacity.get() / 2 } else { capacity.get() };
                let memory = self.memory(stage, (room as f64, f64::from(*depth)), inside, at);
                let is_write = matches!(flow.kind, Kind::Write | Kind::DurableWrite);
                let written = self.write_back(memory, inside, *flushing, flow, at);
                if !is_write || *reads <= 0.0 {
                    return written;
                }
                let read = CentreFlow { kind: Kind::Read, ..flow };
                let read = self.chain(inside, inner, read, at.share(*reads));
                let first = Node::Mix(vec![(*reads, read), (1.0 - reads, Node::Series(Vec::new()))]);
                Node::Series(vec![first, written])
            }
            StageSpec::Prefetch { unit, inside, .. } => self.prefetch(unit.get() as f64, inside, inner, flow, at),
            _ => unreachable!("not a nesting stage"),
        }
    }

    /// The centre of a stage, created at the first visit.
    fn centre(&mut self, stage: usize, kind: CentreForm<'a>, at: NetworkPosition, queues: f64) -> usize {
        let alike = |centre: &Centre<'_>| centre.stage == stage && !centre.second;
        if let Some(index) = self.network.centres.iter().position(alike) {
            self.network.centres[index].in_turn &= at.in_turn;
            return index;
        }
        let in_turn = at.in_turn && queues <= 1.0;
        self.new_centre(stage, kind, NetworkPosition { in_turn, ..at }, at.copies * queues)
    }

    fn new_centre(&mut self, stage: usize, kind: CentreForm<'a>, at: NetworkPosition, copies: f64) -> usize {
        let (ahead, behind, pace, scv) = (CentreWork::default(), CentreWork::default(), Vec::new(), 0.0);
        let (in_turn, stays, second) = (at.in_turn, at.stays, false);
        self.network.centres.push(Centre { stage, kind, copies, in_turn, stays, second, ahead, behind, pace, scv });
        self.network.centres.len() - 1
    }

    fn work(&mut self, centre: usize, at: NetworkPosition) -> &mut CentreWork {
        self.network.depends_on_rate |= at.behind;
        let centre = &mut self.network.centres[centre];
        if at.behind { &mut centre.behind } else { &mut centre.ahead }
    }

    fn add(&mut self, centre: usize, (mean, variance): (f64, f64), at: NetworkPosition) {
        let work = self.work(centre, at);
        work.visits += at.weight;
        work.time += at.weight * mean;
        work.square += at.weight * (mean * mean + variance);
    }

    /// A piece waits at the slowest limit for the time that the piece before it has consumed there, beyond the burst.
    fn wait_for_own_pieces(&mut self, node: &mut Node, (pieces, visits): (f64, f64)) {
        let Node::Series(nodes) = node else { return };
        let mut longest: Option<(usize, f64)> = None;
        for (index, node) in nodes.iter().enumerate() {
            let Node::Visit { centre, residence: Residence::Paced, .. } = node else { continue };
            let centre = &mut self.network.centres[*centre];
            let CentreForm::Paced { ahead } = centre.kind else { continue };
            // Taking turns, an arrival finds `load / (1 - load)` operations, twice those of a queue in order (Kleinrock
            // 1967); within the burst, pieces arrive together (half of them, simulated).
            let together = if ahead < 1.0 { 1.0 - 1.0 / pieces } else { (pieces - 1.0) / 2.0 };
            centre.ahead.batches += visits * together;
            let each = centre.ahead.time / centre.ahead.visits.max(1e-9);
            let wait = (pieces - 1.0 - ahead).max(0.0) / pieces * each;
            longest = longest.filter(|(_, max)| *max >= wait).or(Some((index, wait)));
        }
        if let Some((index, wait)) = longest
            && let Node::Visit { mean, .. } = &mut nodes[index]
        {
            *mean = wait;
        }
    }

    fn servers(&mut self, stage: usize, servers: u32, time: (f64, f64), at: NetworkPosition) -> Node {
        let centre = self.centre(stage, CentreForm::Servers(servers), at, 1.0);
        self.served_at(centre, time, at)
    }

    fn served_at(&mut self, centre: usize, time: (f64, f64), at: NetworkPosition) -> Node {
        self.add(centre, time, at);
        Node::Visit { centre, mean: time.0, variance: time.1, residence: Residence::Served }
    }

    fn paced(&mut self, stage: usize, at: NetworkPosition, (cost, rate): (f64, f64), burst: f64) -> Node {
        if cost <= 0.0 {
            return Node::Series(Vec::new());
        }
        let centre = self.centre(stage, CentreForm::Paced { ahead: (burst / cost - 1.0).max(0.0) }, at, 1.0);
        self.add(centre, (cost / rate, 0.0), at);
        Node::Visit { centre, mean: 0.0, variance: 0.0, residence: Residence::Paced }
    }

    /// Flushes have no address: they share a queue, which becomes a separate centre.
    fn bank(
        &mut self,
        stage: usize,
        (queues, grain): (u32, f64),
        demand: &Demand,
        flow: CentreFlow,
        at: NetworkPosition,
    ) -> Node {
        let (all, grains) = (f64::from(queues), touched(flow.length, grain).max(1.0));
        let time = served(demand, flow.kind, flow.length / grains);
        if flow.kind == Kind::Flush {
            let centre = self.second_centre(stage, 1, at);
            self.add(centre, time, at);
            return Node::Visit { centre, mean: time.0, variance: time.1, residence: Residence::Served };
        }
        let centre = self.centre(stage, CentreForm::Servers(1), at, all);
        let visit = |centre| Node::Visit { centre, mean: time.0, variance: time.1, residence: Residence::Served };
        if grains <= 1.0 && self.flushes && queues > 1 {
            let (first, others) = (1.0 / all, 1.0 - 1.0 / all);
            let second = self.second_centre(stage, 1, at);
            self.add(centre, time, at.share(others));
            self.network.centres[centre].copies = at.copies * (all - 1.0);
            self.add(second, time, at.share(first));
            return Node::Mix(vec![(others, visit(centre)), (first, visit(second))]);
        }
        self.add(centre, time, at.share(grains));
        let visit = visit(centre);
        if grains <= 1.0 {
            return visit;
        }
        // Neighbours are spread (see `bank.rs`): they collide only after all queues are used.
        let ways = grains.min(all);
        let batch = grains / ways;
        let after = self.crowd(centre, at.share(grains), (batch, time.0, 1.0));
        Node::Fork { ways, batch, sync: ways / all, after, part: Box::new(visit) }
    }

    fn second_centre(&mut self, stage: usize, servers: u32, at: NetworkPosition) -> usize {
        let second = |centre: &Centre<'_>| centre.stage == stage && centre.second;
        self.network.centres.iter().position(second).unwrap_or_else(|| {
            let index = self.new_centre(stage, CentreForm::Servers(servers), at, at.copies);
            self.network.centres[index].second = true;
            index
        })
    }

    fn disk(&mut self, stage: usize, disk: &DiskSpec, flow: CentreFlow, at: NetworkPosition) -> Node {
        let centre = self.centre(stage, CentreForm::Disk(*disk), at, 1.0);
        let (positioning, transfer, variance) = disk_time(disk, &flow);
        let mean = positioning + transfer;
        let work = self.work(centre, at);
        work.visits += at.weight;
        work.time += at.weight * positioning;
        work.transfer += at.weight * transfer;
        work.square += at.weight * (mean * mean + variance);
        Node::Visit { centre, mean, variance, residence: Residence::AtItsPace }
    }

    fn curve(&mut self, stage: usize, points: &[(u32, Iops)], at: NetworkPosition) -> Node {
        let points: Vec<(u32, f64)> = points.iter().map(|(number, iops)| (*number, iops.as_f64() / 1e9)).collect();
        let last = points.last().map_or(1, |(number, _)| *number as usize);
        let rates: Vec<f64> = (1..=last).map(|number| curve::interpolate(&points, number)).collect();
        let mean = 1.0 / rates[0];
        let centre = self.centre(stage, CentreForm::Curve(rates), at, 1.0);
        self.add(centre, (mean, mean * mean), at);
        Node::Visit { centre, mean, variance: mean * mean, residence: Residence::AtItsPace }
    }

    fn threshold(&mut self, stage: usize, rate: f64, cost: f64) -> usize {
        self.network.depends_on_rate = true;
        if let Some(index) = self.network.thresholds.iter().position(|threshold| threshold.stage == stage) {
            self.network.thresholds[index].cost += cost;
            return index;
        }
        self.network.thresholds.push(Threshold { stage, rate, cost });
        self.network.thresholds.len() - 1
    }

    /// Draining happens in the background; only durable operations wait for it.
    fn buffer(
        &mut self,
        stage: usize,
        (capacity, rate): (f64, f64),
        flushing: Flushing,
        flow: CentreFlow,
        at: NetworkPosition,
    ) -> Node {
        let waits = flushing == Flushing::Honoured;
        if flow.kind == Kind::Read || (flow.kind == Kind::Flush && !waits) {
            return Node::Series(Vec::new());
        }
        let ahead = (capacity / flow.length.max(512.0) - 1.0).max(0.0);
        let centre = self.centre(stage, CentreForm::Paced { ahead }, at, 1.0);
        let mean = flow.length / rate;
        match flow.kind {
            Kind::Flush => Node::Visit { centre, mean: 0.0, variance: 0.0, residence: Residence::Served },
            Kind::DurableWrite if waits => {
                self.add(centre, (mean, 0.0), at);
                Node::Visit { centre, mean, variance: 0.0, residence: Residence::Served }
            }
            _ => {
                self.add(centre, (mean, 0.0), NetworkPosition { behind: true, ..at });
                Node::Visit { centre, mean: 0.0, variance: 0.0, residence: Residence::Paced }
            }
        }
    }

    fn choose(
        &mut self,
        hits: f64,
        (hit, miss): (&'a ChainSpec, &'a ChainSpec),
        inner: usize,
        flow: CentreFlow,
        at: NetworkPosition,
    ) -> Node {
        let mut ways = Vec::new();
        if hits > 0.0 {
            ways.push((hits, self.chain(hit, inner, flow, at.share(hits))));
        }
        if hits < 1.0 {
            ways.push((1.0 - hits, self.chain(miss, inner + count(hit), flow, at.share(1.0 - hits))));
        }
        Node::Mix(ways)
    }

    fn fork(
        &mut self,
        member: &'a ChainSpec,
        inner: usize,
        phase: PartPhase,
        (members, run): (f64, f64),
        at: NetworkPosition,
    ) -> Node {
        let PartPhase { ways, batch, times, in_turn, part } = phase;
        let parts = ways * batch * times;
        let stays = if ways < members && !in_turn { (part.sequential, run) } else { at.stays };
        let copies = at.copies * members;
        let inside = NetworkPosition { weight: at.weight * parts, copies, in_turn, stays, ..at };
        let node = self.chain(member, inner, part, inside);
        let mut slowest = Slowest::default();
        slowest.visit(&node, &self.network.centres);
        let after = self.crowd(slowest.centre, inside, (batch, slowest.time, slowest.servers));
        let sync = ways / members;
        let fork = Node::Fork { ways, batch, sync, after, part: Box::new(node) };
        if times > 1.0 { Node::Repeat { times, node: Box::new(fork) } } else { fork }
    }

    /// Counts a batch of parts with equal service times; returns the delay of the last after the first. On average half
    /// of the batch is served before a part.
    fn crowd(&mut self, centre: usize, at: NetworkPosition, (batch, time, servers): (f64, f64, f64)) -> f64 {
        if batch <= 1.0 || time <= 0.0 {
            return 0.0;
        }
        let after = (libm::ceil(batch / servers - 1e-9) - 1.0) * time;
        let work = self.work(centre, at);
        work.queue_length += at.weight * after / 2.0;
        work.batches += at.weight * (batch - 1.0);
        after
    }

    /// Sequential reads are answered from read-ahead: they load the inner stages, but take no response time.
    fn prefetch(
        &mut self,
        unit: f64,
        inside: &'a ChainSpec,
        inner: usize,
        flow: CentreFlow,
        at: NetworkPosition,
    ) -> Node {
        if flow.kind != Kind::Read || flow.sequential <= 0.0 {
            return self.chain(inside, inner, flow, at);
        }
        let ahead = NetworkPosition { behind: true, ..at.share(flow.sequential * flow.length / unit) };
        self.chain(inside, inner, CentreFlow { length: unit, ..flow }, ahead);
        let others = 1.0 - flow.sequential;
        if others <= 0.0 {
            return Node::Series(Vec::new());
        }
        let random = self.chain(inside, inner, CentreFlow { sequential: 0.0, ..flow }, at.share(others));
        Node::Mix(vec![(others, random), (flow.sequential, Node::Series(Vec::new()))])
    }

    fn memory(
        &mut self,
        stage: usize,
        (capacity, depth): (f64, f64),
        inside: &'a ChainSpec,
        at: NetworkPosition,
    ) -> usize {
        if let Some(index) = self.network.memories.iter().position(|memory| memory.stage == stage) {
            return index;
        }
        let (copies, behind) = (at.copies, Vec::new());
        let (pieces, length, space, bound) = (0.0, 0.0, 0.0, f64::INFINITY);
        self.network.memories.push(Memory {
            stage,
            capacity,
            depth,
            copies,
            pieces,
            length,
            space,
            behind,
            bound,
            inside,
        });
        self.network.memories.len() - 1
    }

    fn write_back(
        &mut self,
        memory: usize,
        inside: &'a ChainSpec,
        flushing: Flushing,
        flow: CentreFlow,
        at: NetworkPosition,
    ) -> Node {
        let inner = self.network.memories[memory].stage + 1;
        let waits = flushing == Flushing::Honoured;
        match flow.kind {
            Kind::Read => self.chain(inside, inner, flow, at),
            Kind::DurableWrite if waits => self.chain(inside, inner, flow, at),
            Kind::Flush if waits => Node::Series(vec![Node::Await { memory }, self.chain(inside, inner, flow, at)]),
            Kind::Flush => Node::Series(Vec::new()),
            Kind::Write | Kind::DurableWrite | Kind::Trim => {
                let pieces = libm::ceil(flow.length / PIECE).max(1.0);
                let piece = CentreFlow { kind: Kind::Write, length: flow.length / pieces, ..flow };
                let behind = NetworkPosition { behind: true, ..at.share(pieces) };
                let node = self.chain(inside, inner, piece, behind);
                let memory = &mut self.network.memories[memory];
                memory.pieces += behind.weight;
                memory.length = piece.length;
                memory.space = piece.space;
                memory.behind.push((behind.weight, node));
                Node::Series(Vec::new())
            }
        }
    }
}

fn per_ns(rate: Rate) -> f64 {
    match rate {
        Rate::Operations(iops) => iops.as_f64() / 1e9,
        Rate::Bytes(rate) => rate.get() as f64 / 1e9,
    }
}

/// The visit that limits the rate of a batch.
#[derive(Default)]
struct Slowest {
    centre: usize,
    time: f64,
    servers: f64,
}

impl Slowest {
    fn visit(&mut self, node: &Node, centres: &[Centre<'_>]) {
        match node {
            Node::Visit { centre, mean, .. } => {
                let servers = match centres[*centre].kind {
                    CentreForm::Servers(servers) => f64::from(servers),
                    CentreForm::Disk { .. } | CentreForm::Curve(_) => 1.0,
                    CentreForm::Paced { .. } | CentreForm::Window { .. } => return,
                };
                if *mean * self.servers.max(1.0) > self.time * servers {
                    *self = Self { centre: *centre, time: *mean, servers };
                }
            }
            Node::Series(nodes) => nodes.iter().for_each(|node| self.visit(node, centres)),
            Node::Mix(ways) => ways.iter().for_each(|(_, node)| self.visit(node, centres)),
            Node::Fork { part: node, .. } | Node::Repeat { node, .. } => self.visit(node, centres),
            Node::Delay { .. } | Node::Pressure { .. } | Node::Cold { .. } | Node::Await { .. } => {}
        }
    }
}
