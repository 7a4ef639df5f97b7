//! What a served volume did since it is served: counts that only rise.

use plimsoll_units::Kind;

use crate::volumes::Bound;

/// Operations, bytes and errors by kind ([`Kind::index`]), and what held them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests answered without an error; a trim is a write.
    pub ops: [u64; 4],
    /// Bytes that they moved.
    pub bytes: [u64; 4],
    /// Requests answered with an error.
    pub errors: [u64; 4],
    /// Requests by the stage of the volume's own model that held them longest.
    pub bound_by_volume: Vec<u64>,
    /// Requests by the stage of the group's model that held them longest.
    pub bound_by_group: Vec<u64>,
    /// Requests that an injected fault met.
    pub bound_by_fault: u64,
}

impl Totals {
    pub(crate) fn count(&mut self, kind: Kind, bytes: u64, is_error: bool, bound_by: Bound) {
        let index = kind.index();
        if is_error {
            self.errors[index] += 1;
        } else {
            self.ops[index] += 1;
            self.bytes[index] += bytes;
        }
        let (list, stage) = match bound_by {
            Bound::Volume(stage) => (&mut self.bound_by_volume, stage),
            Bound::Group(stage) => (&mut self.bound_by_group, stage),
            Bound::Fault => {
                self.bound_by_fault += 1;
                return;
            }
        };
        let stage = usize::from(stage.0);
        if stage >= list.len() {
            list.resize(stage + 1, 0);
        }
        list[stage] += 1;
    }
}
