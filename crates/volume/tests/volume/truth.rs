//! Permitted contents of volumes according to the guarantees of block devices, independent of the store's
//! implementation.

/// A time in steps of the test, so that the order is unambiguous.
pub type Step = u64;

/// A value written to a sector.
#[derive(Clone, Copy, Debug)]
struct Given {
    value: u64,
    submitted: Step,
    /// Time of its acknowledgement.
    answered: Option<Step>,
    durable: bool,
}

/// Permitted values of a sector.
#[derive(Clone, Debug)]
pub struct Sector(Vec<Given>);

impl Sector {
    /// A sector that durably contains one of these values.
    fn holding(values: &[u64], submitted: Step, answered: Step) -> Self {
        let given = |value: &u64| Given { value: *value, submitted, answered: Some(answered), durable: true };
        Self(values.iter().map(given).collect())
    }

    /// Values permitted for a read submitted at `submitted` that completes now.
    pub fn readable(&self, submitted: Step) -> Vec<u64> {
        self.left(|later| later.answered.is_some_and(|at| at < submitted))
    }

    /// Values permitted after a crash.
    pub fn survivors(&self) -> Vec<u64> {
        self.left(|later| later.durable)
    }

    /// Values that are not certainly overwritten by those selected by `counts`.
    fn left(&self, counts: impl Fn(&Given) -> bool) -> Vec<u64> {
        let last = self.0.iter().filter(|given| counts(given)).map(|given| given.submitted).max();
        let over = |given: &Given| given.answered.is_some_and(|at| last.is_some_and(|last| last > at));
        self.0.iter().filter(|given| !over(given)).map(|given| given.value).collect()
    }

    fn forget(&mut self) {
        let last = self.0.iter().filter(|given| given.durable).map(|given| given.submitted).max();
        self.0.retain(|given| given.answered.is_none_or(|at| last.is_none_or(|last| last <= at)));
    }
}

/// Permitted contents of a volume.
#[derive(Clone, Debug)]
pub struct Truth {
    pub sectors: Vec<Sector>,
    pub read_only: bool,
}

impl Truth {
    pub fn blank(sectors: usize) -> Self {
        Self { sectors: vec![Sector::holding(&[0], 0, 0); sectors], read_only: false }
    }

    /// Permitted contents of a fork submitted at `submitted` that completes now.
    pub fn forked(&self, submitted: Step, now: Step, read_only: bool) -> Self {
        let sector = |sector: &Sector| Sector::holding(&sector.readable(submitted), now, now);
        Self { sectors: self.sectors.iter().map(sector).collect(), read_only }
    }

    /// Contents after a crash, as read.
    pub fn adopt(values: &[u64], now: Step, read_only: bool) -> Self {
        Self { sectors: values.iter().map(|value| Sector::holding(&[*value], now, now)).collect(), read_only }
    }

    pub fn grow(&mut self, sectors: usize) {
        self.sectors.resize(sectors.max(self.sectors.len()), Sector::holding(&[0], 0, 0));
    }

    pub fn give(&mut self, first: usize, values: &[u64], submitted: Step) {
        for (sector, value) in self.sectors[first..].iter_mut().zip(values) {
            sector.0.push(Given { value: *value, submitted, answered: None, durable: false });
        }
    }

    /// Acknowledges the writes submitted at `submitted`.
    pub fn answered(&mut self, submitted: Step, now: Step, fua: bool) {
        for given in
            self.sectors.iter_mut().flat_map(|sector| &mut sector.0).filter(|given| given.submitted == submitted)
        {
            given.answered = Some(now);
            given.durable |= fua;
        }
    }

    /// Acknowledges a flush submitted at `submitted`. Overwritten values are kept while a read or fork in flight may
    /// observe them.
    pub fn flushed(&mut self, submitted: Step, remember: bool) {
        for sector in &mut self.sectors {
            for given in &mut sector.0 {
                given.durable |= given.answered.is_some_and(|at| at < submitted);
            }
            if !remember {
                sector.forget();
            }
        }
    }

    /// Replaces all contents durably by those of another volume.
    pub fn restored(&mut self, from: &Self, submitted: Step, now: Step) {
        for (index, sector) in self.sectors.iter_mut().enumerate() {
            let values = from.sectors.get(index).map_or(vec![0], |source| source.readable(submitted));
            sector.0.extend(Sector::holding(&values, submitted, now).0);
        }
    }

    /// Checks that reads return permitted values, and that a snapshot always reads the same.
    pub fn read(&mut self, first: usize, values: &[u64], submitted: Step, now: Step) -> Result<(), String> {
        for (index, (sector, value)) in self.sectors[first..].iter_mut().zip(values).enumerate() {
            let allowed = sector.readable(submitted);
            if !allowed.contains(value) {
                return Err(format!("sector {} reads {value}, allowed {allowed:?}", first + index));
            }
            if self.read_only {
                *sector = Sector::holding(&[*value], now, now);
            }
        }
        Ok(())
    }

    /// Checks that contents after a crash are permitted.
    pub fn survived(&self, values: &[u64]) -> Result<(), String> {
        for (index, value) in values.iter().enumerate() {
            let allowed = self.sectors.get(index).map_or(vec![0], Sector::survivors);
            if !allowed.contains(value) {
                return Err(format!("sector {index} holds {value} after the crash, allowed {allowed:?}"));
            }
        }
        Ok(())
    }
}
