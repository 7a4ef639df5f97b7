//! From what a server says of a session, and what the system call of its thread says, to what the session is doing.
//!
//! Knows nothing about where these are asked for.

use super::threads::Thread;
use plimsoll_record::Spent;

/// What is known of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    activity: Spent,
    /// It may wait for a row that another transaction has locked: nothing says so of a single session.
    may_be_locked: bool,
}

impl Seen {
    /// Of a session with this command and state, a running call for a file as the server noted it, and its thread's call.
    pub(super) fn new(command: &str, state: &str, call: &str, thread: Option<Thread>) -> Self {
        let idle = command == "Sleep";
        let state = state.to_lowercase();
        let commits = state.contains("commit");
        let known = match (thread, call) {
            (Some(Thread::Runs), _) => Some(Spent::Processor),
            (Some(Thread::Reads), _) | (None, "read") => Some(Spent::Reading),
            (Some(Thread::Flushes), _) | (None, "sync") => Some(Spent::Committing),
            (Some(Thread::Writes), _) | (None, "write") if commits => Some(Spent::Committing),
            (Some(Thread::Writes), _) | (None, "write") => Some(Spent::Writing),
            (Some(Thread::Listens), _) => Some(Spent::Client),
            _ if idle => Some(Spent::Client),
            _ if state.starts_with("waiting for") && state.contains("lock") => Some(Spent::Locked),
            _ if commits => Some(Spent::Committing),
            // MariaDB is through with the statement, and answers when the log is flushed.
            (Some(Thread::Waits), _) if ["", "waiting on cond", "updating status"].contains(&state.as_str()) => {
                Some(Spent::Committing)
            }
            _ if state == "user sleep" => Some(Spent::Other),
            _ => None,
        };
        let waits = if thread.is_some() { Spent::Internal } else { Spent::Processor };
        Self { activity: known.unwrap_or(waits), may_be_locked: known.is_none() }
    }

    pub(super) const fn may_be_locked(self) -> bool {
        self.may_be_locked
    }
}

/// What all are doing, when so many transactions wait for locks of rows.
pub(super) fn settle(seen: &mut [Seen], waiting: usize) -> Vec<Spent> {
    for seen in seen.iter_mut().filter(|seen| seen.may_be_locked).take(waiting) {
        seen.activity = Spent::Locked;
    }
    seen.iter().map(|seen| seen.activity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_says_more_than_the_server() {
        let check = |command, state, call, thread, activity| {
            let seen = Seen::new(command, state, call, thread);
            assert_eq!(seen.activity, activity, "{command} {state} {call} {thread:?}");
        };
        check("Sleep", "", "", None, Spent::Client);
        check("Sleep", "", "", Some(Thread::Listens), Spent::Client);
        check("Sleep", "", "", Some(Thread::Reads), Spent::Reading);
        check("Query", "Sending data", "", Some(Thread::Listens), Spent::Client);
        check("Execute", "Commit", "", Some(Thread::Waits), Spent::Committing);
        check("Execute", "Commit", "", Some(Thread::Writes), Spent::Committing);
        check("Execute", "", "", Some(Thread::Waits), Spent::Committing);
        check("Execute", "Updating status", "", Some(Thread::Waits), Spent::Committing);
        check("Execute", "", "", None, Spent::Processor);
        check("Execute", "Updating", "", Some(Thread::Flushes), Spent::Committing);
        check("Query", "waiting for handler commit", "", None, Spent::Committing);
        check("Query", "Waiting for table metadata lock", "", None, Spent::Locked);
        check("Query", "User sleep", "", Some(Thread::Waits), Spent::Other);
        check("Query", "Sending data", "read", None, Spent::Reading);
        check("Query", "Sending data", "", None, Spent::Processor);
        check("Query", "Sending data", "", Some(Thread::Waits), Spent::Internal);
    }

    #[test]
    fn as_many_as_wait_are_locked() {
        let busy = Seen::new("Query", "Sending data", "", Some(Thread::Runs));
        let waits = Seen::new("Query", "Updating", "", Some(Thread::Waits));
        let mut seen = [waits, busy, waits];
        assert_eq!(settle(&mut seen, 1), [Spent::Locked, Spent::Processor, Spent::Internal]);
        assert_eq!(settle(&mut seen, 9), [Spent::Locked, Spent::Processor, Spent::Locked]);
    }
}
