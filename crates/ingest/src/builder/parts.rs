//! Windows in which a part of the input has no value: sums over parts are without it there.

use std::collections::{BTreeMap, BTreeSet};

use super::Builder;
use crate::reading::{Class, Doubt, Measure, ReadingScope, Statistic};

impl Builder {
    /// Doubts sums of inputs whose parts have values in different windows, such as those with empty cells.
    pub(crate) fn doubt_missing_parts(&mut self) {
        if self.joined.is_some() {
            return;
        }
        let mut windows: BTreeMap<(ReadingScope, Class, Measure), BTreeMap<u32, BTreeSet<u32>>> = BTreeMap::new();
        for figure in &self.reading.figures {
            let scope = &self.reading.scopes[figure.scope as usize];
            let is_summed = matches!(figure.class, Class::Read | Class::Write | Class::All)
                && matches!(figure.measure, Measure::Iops | Measure::Throughput)
                && figure.statistic == Statistic::Mean
                && !scope.part.is_empty()
                && !self.reading.beneath.contains(&figure.scope);
            if is_summed {
                let host = ReadingScope { part: String::new(), part_id: String::new(), ..scope.clone() };
                let by_part = windows.entry((host, figure.class, figure.measure)).or_default();
                by_part.entry(figure.scope).or_default().insert(figure.window);
            }
        }
        let lacking = windows.into_iter().flat_map(|((_, class, _), by_part)| {
            let all: BTreeSet<u32> = by_part.values().flatten().copied().collect();
            by_part.into_iter().map(move |(scope, own)| (all.len() - own.len(), all.len(), scope, class))
        });
        if let Some((lacking, windows, scope, class)) = lacking.max_by_key(|(lacking, ..)| *lacking)
            && lacking > 0
        {
            let part = self.reading.scopes[scope as usize].part.clone();
            self.caution(None, Doubt::PartsMissing { part, class: class.label(), lacking, windows });
        }
    }
}
