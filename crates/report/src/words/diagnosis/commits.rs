//! Processors, commits, writers and what else sessions wait for.

use plimsoll_choose::diagnosis::{Part, Verdict};

use super::{Told, event, of_all, seconds, share, spent};
use crate::number;

pub(super) fn told(verdict: &Verdict) -> Option<Told> {
    let (text, remedy) = match verdict {
        Verdict::ProcessorsFull { busy, processors } => {
            let of = processors.map_or(String::new(), |processors| format!(" {}", number::whole(processors)));
            (
                format!(
                    "The{of} processors are busy {} of the time: sessions queue for them, and waits for storage look longer than they are.",
                    share(*busy)
                ),
                "Give the host more processors, or less work, before you judge its storage.",
            )
        }
        Verdict::ProcessorQueue { share: part, busy } => {
            let busy = busy.map_or(String::new(), |busy| format!(" (they are busy {} of the time)", share(busy)));
            (
                format!("{} is in no counter: sessions that queue for a processor{busy}, as a rule.", of_all(*part)),
                "Look at the host's run queue, and at other work on it.",
            )
        }
        Verdict::Unsaid { share } => (
            format!("{} is in no counter, though the processors are not full.", of_all(*share)),
            "Processors may be short in peaks, or sessions be in calls of the system that are not counted, such as \
             asynchronous I/O that blocks when it is asked for: look at the host within the window.",
        ),
        Verdict::CommitsElsewhere { sync_s, write_s, share, a_second } => {
            let rate = a_second.map_or(String::new(), |rate| format!(", at {} commits a second", number::three(rate)));
            (
                format!(
                    "Commits take {}, but a write of the log only {}{rate}: {} waits for something else.",
                    seconds(*sync_s),
                    seconds(*write_s),
                    of_all(*share)
                ),
                "Look at the processors (the log writer needs one at once), at a standby that commits wait for, and at \
                 statements that commit too often; faster storage changes none of these.",
            )
        }
        Verdict::CommitsForLog { sync_s, write_s, share } => (
            format!(
                "Commits take {}, and a write of the log {} of it: {} hangs on the latency of log writes.",
                seconds(*sync_s),
                seconds(*write_s),
                of_all(*share)
            ),
            "Put the log on storage that acknowledges small writes sooner, or commit less often.",
        ),
        Verdict::WritersBehind { event: name, share } => (
            format!("Sessions wait for writes behind them (most for \"{}\"): {}.", event(name), of_all(*share)),
            "Enlarge the log files and the log buffer first, give the writers more in flight, then look at write throughput.",
        ),
        Verdict::Elsewhere { part, share, event: name } => {
            let name = name.as_ref().map_or(String::new(), |name| format!(", most for \"{}\"", event(name)));
            (format!("{} goes to {}{name}.", of_all(*share), spent(*part)), elsewhere(*part))
        }
        _ => return None,
    };
    Some(Told { word: "cause", text, remedy: remedy.to_owned() })
}

const fn elsewhere(part: Part) -> &'static str {
    match part {
        Part::Lock => {
            "Look at the transactions that hold them; faster storage shortens these only as far as they wait for it."
        }
        Part::Concurrency => "Look at hot blocks, parsing and latches; storage has no part in it.",
        Part::Cluster => "Look at the interconnect, and at which instance does which work.",
        Part::Network => "Look at round trips, at the network, and at a standby.",
        Part::Managed => "Its plan holds sessions back: change the plan, or give it more processors.",
        _ => "See the events below.",
    }
}
