//! Scripts for Oracle, which the user runs.

/// Reads the AWR history, which requires the Diagnostics Pack.
pub const HISTORY: &str = include_str!("oracle/history.sql");
/// Reads V$ views only.
pub const SAMPLES: &str = include_str!("oracle/samples.sql");

#[cfg(test)]
mod tests {
    use super::{HISTORY, SAMPLES};

    /// Statements with effects outside of the session.
    const CHANGES: [&str; 14] = [
        "insert ",
        "update ",
        "delete ",
        "merge ",
        "create ",
        "drop ",
        "truncate ",
        "grant ",
        "revoke ",
        "alter system",
        "alter database",
        "commit",
        "dbms_workload_repository",
        "execute immediate",
    ];

    fn statements(script: &str) -> String {
        let lines = script.lines().filter(|line| !line.trim_start().starts_with("--"));
        lines
            .map(|line| line.to_lowercase() + "\n")
            .collect::<String>()
            .replace("user commits", "")
            .replace("'commit", "")
    }

    #[test]
    fn scripts_only_read() {
        for script in [HISTORY, SAMPLES] {
            let statements = statements(script);
            for word in CHANGES {
                assert!(!statements.contains(word), "{word}");
            }
            for view in ["sql_text", "username", "v$session", "dba_users"] {
                assert!(!statements.contains(view), "{view}");
            }
        }
    }

    #[test]
    fn only_one_script_uses_licensed_views() {
        let samples = statements(SAMPLES);
        for licensed in ["dba_hist_", "v$active_session_history", "v$sysmetric_summary"] {
            assert!(!samples.contains(licensed), "{licensed}");
        }
        assert!(HISTORY.contains("Diagnostics Pack") && SAMPLES.contains("Diagnostics Pack"));
    }

    #[test]
    fn every_parsed_row_kind_is_written() {
        for script in [HISTORY, SAMPLES] {
            assert!(script.contains("{\"format\":\"plimsoll.snapshots/1\",\"source\":\"oracle\""));
            for kind in ["metric", "filetype", "time", "stat", "event", "bucket", "host"] {
                let row = script.contains(&format!("\"row\":\"{kind}\"")) || script.contains(&format!("put('{kind}'"));
                assert!(row, "{kind}");
            }
        }
    }
}
