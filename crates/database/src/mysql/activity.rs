//! From what a server says of a session, and what the system call of its thread says, to what the session is doing.
//!
//! Knows nothing about where these are asked for.

use super::threads::Thread;
use crate::target::Activity;

/// What is known of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    activity: Activity,
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
            (Some(Thread::Runs), _) => Some(Activity::Processor),
            (Some(Thread::Reads), _) | (None, "read") => Some(Activity::Read),
            (Some(Thread::Flushes), _) | (None, "sync") => Some(Activity::Commit),
            (Some(Thread::Writes), _) | (None, "write") if commits => Some(Activity::Commit),
            (Some(Thread::Writes), _) | (None, "write") => Some(Activity::Write),
            (Some(Thread::Listens), _) => Some(Activity::Client),
            _ if idle => Some(Activity::Client),
            _ if state.starts_with("waiting for") && state.contains("lock") => Some(Activity::Lock),
            _ if commits => Some(Activity::Commit),
            // MariaDB is through with the statement, and answers when the log is flushed.
            (Some(Thread::Waits), _) if ["", "waiting on cond", "updating status"].contains(&state.as_str()) => {
                Some(Activity::Commit)
            }
            _ if state == "user sleep" => Some(Activity::Other),
            _ => None,
        };
        let waits = if thread.is_some() { Activity::Internal } else { Activity::Processor };
        Self { activity: known.unwrap_or(waits), may_be_locked: known.is_none() }
    }

    pub(super) const fn may_be_locked(self) -> bool {
        self.may_be_locked
    }
}

/// What all are doing, when so many transactions wait for locks of rows.
pub(super) fn settle(seen: &mut [Seen], waiting: usize) -> Vec<Activity> {
    for seen in seen.iter_mut().filter(|seen| seen.may_be_locked).take(waiting) {
        seen.activity = Activity::Lock;
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
        check("Sleep", "", "", None, Activity::Client);
        check("Sleep", "", "", Some(Thread::Listens), Activity::Client);
        check("Sleep", "", "", Some(Thread::Reads), Activity::Read);
        check("Query", "Sending data", "", Some(Thread::Listens), Activity::Client);
        check("Execute", "Commit", "", Some(Thread::Waits), Activity::Commit);
        check("Execute", "Commit", "", Some(Thread::Writes), Activity::Commit);
        check("Execute", "", "", Some(Thread::Waits), Activity::Commit);
        check("Execute", "Updating status", "", Some(Thread::Waits), Activity::Commit);
        check("Execute", "", "", None, Activity::Processor);
        check("Execute", "Updating", "", Some(Thread::Flushes), Activity::Commit);
        check("Query", "waiting for handler commit", "", None, Activity::Commit);
        check("Query", "Waiting for table metadata lock", "", None, Activity::Lock);
        check("Query", "User sleep", "", Some(Thread::Waits), Activity::Other);
        check("Query", "Sending data", "read", None, Activity::Read);
        check("Query", "Sending data", "", None, Activity::Processor);
        check("Query", "Sending data", "", Some(Thread::Waits), Activity::Internal);
    }

    #[test]
    fn as_many_as_wait_are_locked() {
        let busy = Seen::new("Query", "Sending data", "", Some(Thread::Runs));
        let waits = Seen::new("Query", "Updating", "", Some(Thread::Waits));
        let mut seen = [waits, busy, waits];
        assert_eq!(settle(&mut seen, 1), [Activity::Lock, Activity::Processor, Activity::Internal]);
        assert_eq!(settle(&mut seen, 9), [Activity::Lock, Activity::Processor, Activity::Lock]);
    }
}
