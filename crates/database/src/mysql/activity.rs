//! Activity of a session from its process list entry and the system call of its thread.

use super::threads::Thread;
use plimsoll_record::Spent;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionActivity {
    activity: Spent,
    /// Whether it may wait for a row lock: the server reports only the number of waiting sessions.
    may_be_locked: bool,
}

impl SessionActivity {
    /// From the command and state of the session, its current file call as noted by the server, and the call of its
    /// thread.
    pub(super) fn new(command: &str, state: &str, call: &str, thread: Option<Thread>) -> Self {
        let idle = command == "Sleep";
        let state = state.to_lowercase();
        let commits = state.contains("commit");
        let recognized = match (thread, call) {
            (Some(Thread::Runs), _) => Some(Spent::Processor),
            (Some(Thread::Reads), _) | (None, "read") => Some(Spent::Reading),
            (Some(Thread::Flushes), _) | (None, "sync") => Some(Spent::Committing),
            (Some(Thread::Writes), _) | (None, "write") if commits => Some(Spent::Committing),
            (Some(Thread::Writes), _) | (None, "write") => Some(Spent::Writing),
            (Some(Thread::Listens), _) => Some(Spent::Client),
            _ if idle => Some(Spent::Client),
            _ if state.starts_with("waiting for") && state.contains("lock") => Some(Spent::Locked),
            _ if commits => Some(Spent::Committing),
            // MariaDB has finished the statement and replies when the log is flushed.
            (Some(Thread::Waits), _) if ["", "waiting on cond", "updating status"].contains(&state.as_str()) => {
                Some(Spent::Committing)
            }
            _ if state == "user sleep" => Some(Spent::Other),
            _ => None,
        };
        let waits = if thread.is_some() { Spent::Internal } else { Spent::Processor };
        Self { activity: recognized.unwrap_or(waits), may_be_locked: recognized.is_none() }
    }

    pub(super) const fn may_be_locked(self) -> bool {
        self.may_be_locked
    }
}

/// Activities of all sessions, of which `waiting` wait for row locks.
pub(super) fn activities(observed: &mut [SessionActivity], waiting: usize) -> Vec<Spent> {
    for observed in observed.iter_mut().filter(|observed| observed.may_be_locked).take(waiting) {
        observed.activity = Spent::Locked;
    }
    observed.iter().map(|observed| observed.activity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_state_refines_server_state() {
        let check = |command, state, call, thread, activity| {
            let observed = SessionActivity::new(command, state, call, thread);
            assert_eq!(observed.activity, activity, "{command} {state} {call} {thread:?}");
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
    fn locked_sessions_are_limited_to_lock_waits() {
        let busy = SessionActivity::new("Query", "Sending data", "", Some(Thread::Runs));
        let waits = SessionActivity::new("Query", "Updating", "", Some(Thread::Waits));
        let mut observed = [waits, busy, waits];
        assert_eq!(activities(&mut observed, 1), [Spent::Locked, Spent::Processor, Spent::Internal]);
        assert_eq!(activities(&mut observed, 9), [Spent::Locked, Spent::Processor, Spent::Locked]);
    }
}
