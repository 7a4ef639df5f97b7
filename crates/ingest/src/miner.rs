//! AWR-Miner: a database's own history, one row for each snapshot and instance, between marks.
//!
//! It has what a report lacks: beside each mean of a snapshot the highest minute inside of it. Columns come and go with
//! its versions, so they are known by name under their ruler.

mod block;
mod figures;
mod history;

use memchr::memmem;

use self::block::Block;
use self::history::History;
use crate::awr::Ruler;
use crate::builder::Builder;
use crate::figure::Origin;
use crate::format::{Form, Resemblance, Takes};
use crate::kind::Kind;
use crate::lines::{LineFormat, Lines};
use crate::reading::Fate;
use crate::refusal::Refusal;

const KIND: Kind = Kind { id: "awr-miner", name: "AWR-Miner" };

/// AWR-Miner.
pub(crate) const FORM: Form =
    Form { kind: KIND, takes: Takes::Text, resembles, open: |_| Box::new(Lines::new(Miner::default())) };

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    match (has("~~BEGIN-"), has("AWR_MINER_VER") || has("~~BEGIN-OS-INFORMATION~~") || has("~~BEGIN-MAIN-METRICS~~")) {
        (true, true) => Resemblance::Is { marks: 4 },
        (false, true) => Resemblance::Near { marks: 2, missing: "mark `~~BEGIN-OS-INFORMATION~~`" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Miner {
    history: History,
    block: Option<Block>,
}

impl LineFormat for Miner {
    fn kind(&self) -> Kind {
        KIND
    }

    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(name) = marked(text, "~~BEGIN-") {
            self.leave(Ending::Cut, out);
            self.block = Some(Block::new(name));
        } else if marked(text, "~~END-").is_some() {
            self.leave(Ending::Marked, out);
        } else if let Some(block) = self.block.as_mut().filter(|_| !text.is_empty()) {
            if let Some(ruler) = Ruler::of(line) {
                block.rule(ruler);
            } else if let Some(row) = block.row(line, number) {
                self.history.take(&row, out)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.leave(Ending::Cut, out);
        if self.history.snapshots.is_empty() {
            let what = "its block MAIN-METRICS has no row that can be used: run it over a span with snapshots";
            return Err(Refusal::Unusable { kind: KIND, origin: None, what: what.to_owned() });
        }
        figures::make(&self.history, out);
        Ok(())
    }
}

/// How a block ends.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Marked,
    Cut,
}

impl Miner {
    fn leave(&mut self, ending: Ending, out: &mut Builder) {
        let Some(block) = self.block.take() else { return };
        let fate = match (ending, block.is_used(), block.rows) {
            (Ending::Cut, _, _) => Fate::Broken,
            (_, false, _) => Fate::Ignored,
            (_, true, 0) => Fate::Empty,
            (_, true, rows) => Fate::Read(rows),
        };
        if ending == Ending::Cut {
            let origin = Origin::line(block.line);
            out.caution(Some(origin), format!("{}: it ends before its end mark: copy the file again", block.name));
        }
        out.part(block.name, fate);
    }
}

/// The name in a mark: `~~BEGIN-MAIN-METRICS~~`.
fn marked<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.strip_suffix("~~")
}
