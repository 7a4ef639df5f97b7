//! Kinds of Oracle's error numbers.

use plimsoll_database::FailureKind;

/// Kind of `ORA-` with this number.
pub(super) const fn kind(code: usize) -> FailureKind {
    match code {
        // Deadlock, serialization failure, snapshot too old, lock timeout, busy resource.
        60 | 8177 | 8176 | 30006 | 54 | 4021 | 1555 => FailureKind::Conflict,
        1013 => FailureKind::Cancelled,
        // Credentials, privileges, locked and expired accounts, no permission to log on.
        1017 | 1031 | 1005 | 1045 | 28000 | 28001 | 28002 | 28040 => FailureKind::Refused,
        // Listener and names; startup or shutdown in progress.
        12154 | 12505 | 12514 | 12516 | 12518 | 12519 | 12520 | 12521 | 12528 | 12535 | 12541 | 12543 | 12545
        | 12170 | 1033 | 1034 | 1089 | 1090 => FailureKind::Unreachable,
        // Tables, views, sequences, indexes, procedures, users, tablespaces.
        942 | 2289 | 1418 | 4043 | 4080 | 1918 | 959 | 6576 => FailureKind::Missing,
        955 | 1408 | 1430 | 2264 | 2275 | 1920 | 1543 => FailureKind::Exists,
        // Tables, indexes, temporary segments, undo, quotas, archived logs.
        1536
        | 1628
        | 1630
        | 1631
        | 1632
        | 1650..=1655
        | 1658
        | 1659
        | 1683
        | 1688
        | 1691
        | 1692
        | 30036
        | 257
        | 19502
        | 27044
        | 19809 => FailureKind::NoSpace,
        28 | 1012 | 1092 | 3113 | 3114 | 3135 | 2396 | 2399 | 12537 | 12547 | 12570 | 12571 | 600 | 7445 => {
            FailureKind::Lost
        }
        _ => FailureKind::Statement,
    }
}

/// Number in a text such as `ORA-00942: table or view does not exist`.
pub(super) fn code(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("ORA-")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_are_parsed_and_classified() {
        let check = |text: &str, expected: FailureKind| assert_eq!(kind(code(text).expect(text)), expected, "{text}");
        check("ORA-00060: deadlock detected while waiting for resource", FailureKind::Conflict);
        check("ORA-08177: can't serialize access for this transaction", FailureKind::Conflict);
        check("ORA-01017: invalid username/password; logon denied", FailureKind::Refused);
        check("no listener. (Similar to ORA-12541) (CONNECTION_ID=x)", FailureKind::Unreachable);
        check("ORA-12514", FailureKind::Unreachable);
        check("ORA-12154: TNS", FailureKind::Unreachable);
        check("ORA-00942: table or view does not exist", FailureKind::Missing);
        check("ORA-00955: name is already used by an existing object", FailureKind::Exists);
        check("ORA-01653: unable to extend table", FailureKind::NoSpace);
        check("ORA-01654: unable to extend index", FailureKind::NoSpace);
        check("ORA-01013: user requested cancel of current operation", FailureKind::Cancelled);
        for lost in ["ORA-03113", "ORA-03114", "ORA-03135"] {
            check(lost, FailureKind::Lost);
        }
        check("ORA-00001: unique constraint violated", FailureKind::Statement);
        assert_eq!(code("ORA-"), None);
        assert_eq!(code("stream operation failed"), None);
    }
}
