//! Transaction scripts of the user in the form of pgbench: `\set` lines and statements with `:name`.

use std::collections::HashMap;
use std::sync::Arc;

use plimsoll_database::{Failure, Session};

use crate::sql::{TransactionRunner, Transactions};

/// A variable of a script: a random integer between two bounds, inclusive; equal bounds make a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScriptVariable {
    name: String,
    low: i64,
    high: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TransactionScript {
    variables: Vec<ScriptVariable>,
    statements: Vec<String>,
}

impl TransactionScript {
    /// Parses a script. Statements end with `;`.
    ///
    /// # Errors
    /// The number of the line and the remedy, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut variables, mut sql) = (Vec::new(), String::new());
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(command) = line.strip_prefix('\\') {
                let variable = parse_command(command)
                    .ok_or_else(|| format!("line {}: write \\set NAME random(1, 1000) or \\set NAME 5", index + 1))?;
                variables.push(variable);
            } else if !line.starts_with("--") {
                sql.push_str(line);
                sql.push('\n');
            }
        }
        let statements: Vec<String> =
            sql.split(';').map(str::trim).filter(|statement| !statement.is_empty()).map(str::to_owned).collect();
        if statements.is_empty() {
            return Err("the script has no statement".into());
        }
        Ok(Self { variables, statements })
    }

    /// The statements of a transaction.
    fn fill(&self, random: u64) -> Vec<String> {
        let mut random = fastrand::Rng::with_seed(random);
        let values: HashMap<&str, i64> =
            self.variables.iter().map(|one| (one.name.as_str(), random.i64(one.low..=one.high))).collect();
        self.statements.iter().map(|statement| substitute(statement, &values)).collect()
    }
}

/// Parses `set NAME random(LOW, HIGH)` or `set NAME NUMBER`.
fn parse_command(command: &str) -> Option<ScriptVariable> {
    let (name, value) = command.strip_prefix("set ")?.trim().split_once(char::is_whitespace)?;
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let bounds = value.trim().strip_prefix("random(").and_then(|rest| rest.strip_suffix(')'));
    let (low, high) = match bounds {
        Some(bounds) => bounds.split_once(',').and_then(|(low, high)| number(low).zip(number(high)))?,
        None => number(value).map(|value| (value, value))?,
    };
    (low <= high).then(|| ScriptVariable { name: name.into(), low, high })
}

/// Replaces each `:name` of a variable. Casts (`::int`) and unknown names remain.
fn substitute(statement: &str, values: &HashMap<&str, i64>) -> String {
    let mut filled = String::new();
    let mut rest = statement;
    while let Some(at) = rest.find(':') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        filled.push_str(before);
        let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(after.len());
        if let Some(value) = values.get(&after[..end]) {
            filled.push_str(&value.to_string());
        } else {
            filled.push(':');
            filled.push_str(&after[..end]);
        }
        // A second colon of a cast is the end of the text before the next one.
        rest = &after[end..];
        if end == 0 && rest.starts_with(':') {
            filled.push(':');
            rest = &rest[1..];
        }
    }
    filled.push_str(rest);
    filled
}

pub(super) struct ScriptLoad {
    pub script: Arc<TransactionScript>,
    /// Whether sessions are read-only.
    pub read_only: bool,
}

struct ScriptRunner(Arc<TransactionScript>);

impl Transactions for ScriptLoad {
    fn pick(&self, _random: u64) -> u8 {
        0
    }

    fn open(&self, session: &mut dyn Session, _number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        if self.read_only {
            session.read_only()?;
        }
        Ok(Box::new(ScriptRunner(Arc::clone(&self.script))))
    }
}

impl TransactionRunner for ScriptRunner {
    fn run(&mut self, session: &mut dyn Session, _kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        for statement in self.0.fill(random) {
            if let Err(failure) = session.run(&statement) {
                // Not every system rolls back automatically; without a transaction this has no effect.
                let _ = session.rollback();
                return Err(failure);
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_casts_remain() {
        let script = TransactionScript::parse(
            "\\set aid random(7, 7)\n\\set one 1\n-- a comment; with a semicolon\nBEGIN;\nSELECT :aid::int, :one,\n :other;\nEND;",
        );
        let statements = script.expect("a script").fill(1);
        assert_eq!(statements, ["BEGIN", "SELECT 7::int, 1,\n:other", "END"]);
    }

    #[test]
    fn random_values_stay_within_bounds_and_follow_the_seed() {
        let script = TransactionScript::parse("\\set a random(1, 3)\nSELECT :a").expect("a script");
        for seed in 0..50 {
            let filled = script.fill(seed);
            assert!(["SELECT 1", "SELECT 2", "SELECT 3"].contains(&filled[0].as_str()), "{filled:?}");
            assert_eq!(filled, script.fill(seed));
        }
    }

    #[test]
    fn unknown_commands_are_refused_with_their_line() {
        for wrong in ["SELECT 1;\n\\sleep 1 ms", "SELECT 1;\n\\set a random(5, 1)", "SELECT 1;\n\\set a :scale"] {
            let why = TransactionScript::parse(wrong).expect_err("must be refused");
            assert!(why.starts_with("line 2: write \\set"), "{why}");
        }
        assert!(TransactionScript::parse("-- only a comment\n").is_err());
    }
}
