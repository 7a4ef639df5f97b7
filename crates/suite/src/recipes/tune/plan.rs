//! Candidates of the search: values of settings that act on storage, as far as the server has them.

use plimsoll_analyse::{Configuration, TuneCandidate, TunePlan};
use plimsoll_database::{Row, System, Value};
use plimsoll_record::{UntriedReason, UntriedSetting};
use plimsoll_units::Span;

/// Maximum number of configurations of a grid.
const MAX_GRID: usize = 64;
/// Smallest relevant relative gain.
const MIN_GAIN: f64 = 0.02;

/// Operations that a setting acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActsOn {
    Reads,
    Writes,
}

/// A setting with its candidate values.
struct Tunable {
    name: &'static str,
    values: &'static [&'static str],
    acts_on: ActsOn,
    /// Setting and value without which it has no effect.
    requires: Option<(&'static str, &'static str)>,
}

const fn tunable(name: &'static str, acts_on: ActsOn, values: &'static [&'static str]) -> Tunable {
    Tunable { name, values, acts_on, requires: None }
}

/// Settings of `PostgreSQL` 12 to 18; values as the server displays them. Prefetching limits come before methods,
/// because they need no restart.
const POSTGRES: [Tunable; 7] = [
    tunable("effective_io_concurrency", ActsOn::Reads, &["1", "16", "64", "256"]),
    tunable("io_method", ActsOn::Reads, &["worker", "io_uring", "sync"]),
    Tunable { requires: Some(("io_method", "worker")), ..tunable("io_workers", ActsOn::Reads, &["1", "8", "16"]) },
    tunable("io_combine_limit", ActsOn::Reads, &["8kB", "128kB"]),
    // Limits io_combine_limit, and has no effect alone.
    tunable("io_max_combine_limit", ActsOn::Reads, &[]),
    tunable("commit_delay", ActsOn::Writes, &["0", "100", "1000"]),
    // Has no effect without commit_delay.
    tunable("commit_siblings", ActsOn::Writes, &[]),
];

/// Settings of `MySQL` and `MariaDB`. `O_DIRECT_NO_FSYNC` is left out: it is not durable on every filesystem.
const MYSQL: [Tunable; 5] = [
    tunable("innodb_io_capacity", ActsOn::Writes, &["200", "1000", "5000", "20000"]),
    tunable("innodb_io_capacity_max", ActsOn::Writes, &["2000", "40000"]),
    tunable("innodb_flush_neighbors", ActsOn::Writes, &["0", "1"]),
    tunable("innodb_flush_method", ActsOn::Writes, &["fsync", "O_DIRECT"]),
    tunable("innodb_read_io_threads", ActsOn::Reads, &["4", "16", "32"]),
];

/// Values of settings that interact.
const POSTGRES_JOINT: [&[(&str, &str)]; 9] = [
    &[("io_max_combine_limit", "256kB"), ("io_combine_limit", "256kB")],
    &[("io_max_combine_limit", "1MB"), ("io_combine_limit", "1MB")],
    &[("io_method", "worker"), ("effective_io_concurrency", "64")],
    &[("io_method", "io_uring"), ("effective_io_concurrency", "64")],
    &[("io_method", "io_uring"), ("effective_io_concurrency", "256")],
    &[("io_workers", "16"), ("effective_io_concurrency", "64")],
    &[("io_workers", "16"), ("effective_io_concurrency", "256")],
    &[("commit_delay", "100"), ("commit_siblings", "2")],
    &[("commit_delay", "1000"), ("commit_siblings", "2")],
];
const MYSQL_JOINT: [&[(&str, &str)]; 2] = [
    &[("innodb_io_capacity", "1000"), ("innodb_io_capacity_max", "2000")],
    &[("innodb_io_capacity", "20000"), ("innodb_io_capacity_max", "40000")],
];

fn tunables(system: System) -> &'static [Tunable] {
    if system == System::Mysql { &MYSQL } else { &POSTGRES }
}

/// Names of all settings of a system that may be tried.
pub(super) fn list_names(system: System) -> impl Iterator<Item = &'static str> {
    tunables(system).iter().map(|tunable| tunable.name)
}

/// Query of the present settings: name, value, context, and the values of an enumeration.
pub(super) fn query(system: System) -> String {
    let names: Vec<String> = list_names(system).map(|name| format!("'{name}'")).collect();
    let names = names.join(", ");
    match system {
        System::Mysql => format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})"),
        _ => format!(
            "SELECT name, current_setting(name), context, array_to_string(enumvals, ',') FROM pg_settings \
             WHERE name IN ({names})"
        ),
    }
}

#[derive(Debug)]
struct ServerSetting {
    name: String,
    value: String,
    /// Whether a change needs a restart.
    needs_restart: bool,
    /// Allowed values of an enumeration; empty for others.
    allowed: Vec<String>,
}

fn read(system: System, row: &Row) -> Option<ServerSetting> {
    let text = |column: usize| row.get(column).and_then(Value::text).map(str::to_owned);
    let name = text(0)?.to_lowercase();
    let needs_restart = match system {
        System::Mysql => ["innodb_flush_method", "innodb_read_io_threads"].contains(&name.as_str()),
        _ => text(2).as_deref() == Some("postmaster"),
    };
    let allowed = text(3).map(|values| values.split(',').map(str::to_owned).collect()).unwrap_or_default();
    Some(ServerSetting { name, value: text(1)?, needs_restart, allowed })
}

#[derive(Clone, Debug)]
pub(super) struct TuneConditions {
    pub system: System,
    /// Whether the server may be restarted.
    pub restarts: bool,
    /// Whether the load writes.
    pub writes: bool,
    /// Names of the settings to try; empty for all.
    pub only: Vec<String>,
    pub budget: Span,
    /// Whether a full grid follows the search.
    pub grid: bool,
}

/// The search, and the settings outside of it.
#[derive(Debug)]
pub(super) struct Prospects {
    pub plan: TunePlan,
    /// Settings whose change needs a restart.
    pub restarting: Vec<String>,
    pub untried: Vec<UntriedSetting>,
}

impl Prospects {
    /// The search on a server with these settings, the rows of [`query`].
    pub fn new(conditions: &TuneConditions, rows: &[Row]) -> Self {
        let settings: Vec<ServerSetting> = rows.iter().filter_map(|row| read(conditions.system, row)).collect();
        let setting = |name: &str| settings.iter().find(|setting| setting.name == name);
        let (mut present, mut single, mut untried) = (Configuration::new(), Vec::new(), Vec::new());
        for tunable in tunables(conditions.system) {
            if !conditions.only.is_empty() && !conditions.only.iter().any(|name| name == tunable.name) {
                continue;
            }
            let name = tunable.name.to_owned();
            let found = match conditions.obstacle(tunable, setting(tunable.name)) {
                Ok(found) => found,
                Err(reason) => {
                    untried.push(UntriedSetting { name, value: None, reason });
                    continue;
                }
            };
            present.push((name.clone(), found.value.clone()));
            for value in tunable.values.iter().filter(|value| **value != found.value) {
                if found.allows(value) {
                    let requires = tunable.requires.map(|(name, value)| (name.to_owned(), value.to_owned()));
                    single.push(TuneCandidate { changes: vec![(name.clone(), (*value).to_owned())], requires });
                } else {
                    let value = Some((*value).to_owned());
                    untried.push(UntriedSetting { name: name.clone(), value, reason: UntriedReason::NotInServer });
                }
            }
        }
        let is_available = |change: &(&str, &str)| {
            present.iter().any(|(name, _)| name == change.0)
                && setting(change.0).is_some_and(|setting| setting.allows(change.1))
        };
        let joint: &[&[(&str, &str)]] = if conditions.system == System::Mysql { &MYSQL_JOINT } else { &POSTGRES_JOINT };
        let joint = joint.iter().filter(|changes| changes.iter().all(is_available)).map(|changes| TuneCandidate {
            changes: changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            requires: changes
                .iter()
                .any(|(name, _)| *name == "io_workers")
                .then(|| ("io_method".into(), "worker".into())),
        });
        let joint: Vec<TuneCandidate> = joint.collect();
        let grid = if conditions.grid { build_grid(&present, single.iter().chain(&joint)) } else { Vec::new() };
        let configurations = grid.len();
        let is_too_large = configurations > MAX_GRID;
        untried.extend(is_too_large.then(|| UntriedSetting {
            name: "--grid".into(),
            value: None,
            reason: UntriedReason::TooMany { configurations: configurations as u64, max: MAX_GRID as u64 },
        }));
        let grid = if is_too_large { Vec::new() } else { grid };
        let restarting = settings.into_iter().filter(|setting| setting.needs_restart).map(|setting| setting.name);
        let plan = TunePlan { present, single, joint, grid, budget: conditions.budget, min_gain: MIN_GAIN };
        Self { plan, restarting: restarting.collect(), untried }
    }
}

/// All combinations of the values of the candidates, without those in which a changed setting has no effect.
fn build_grid<'a>(present: &Configuration, candidates: impl Iterator<Item = &'a TuneCandidate>) -> Vec<Configuration> {
    let candidates: Vec<&TuneCandidate> = candidates.collect();
    let mut grid = vec![Configuration::new()];
    for (name, value) in present {
        let mut values = vec![value];
        for (_, value) in candidates.iter().flat_map(|one| &one.changes).filter(|(changed, _)| changed == name) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let extend = |part: &Configuration| {
            let with = |value: &&String| part.iter().cloned().chain([(name.clone(), (*value).clone())]).collect();
            values.iter().map(with).collect::<Vec<Configuration>>()
        };
        grid = grid.iter().flat_map(extend).collect();
    }
    let single = |candidate: &&&TuneCandidate| candidate.changes.len() == 1;
    let is_effective = |configuration: &Configuration| {
        candidates.iter().filter(single).all(|candidate| {
            let is_set = configuration.contains(&candidate.changes[0]);
            !is_set || candidate.requires.as_ref().is_none_or(|required| configuration.contains(required))
        })
    };
    grid.retain(is_effective);
    grid
}

impl TuneConditions {
    /// The setting of the server, or the reason why it is not tried.
    fn obstacle<'a>(
        &self,
        tunable: &Tunable,
        setting: Option<&'a ServerSetting>,
    ) -> Result<&'a ServerSetting, UntriedReason> {
        match setting {
            None => Err(UntriedReason::NotInServer),
            Some(setting) if setting.needs_restart && !self.restarts => Err(UntriedReason::NeedsRestart),
            Some(_) if tunable.acts_on == ActsOn::Writes && !self.writes => Err(UntriedReason::LoadOnlyReads),
            Some(setting) => Ok(setting),
        }
    }
}

impl ServerSetting {
    fn allows(&self, value: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed == value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(restarts: bool, writes: bool) -> TuneConditions {
        let (system, budget) = (System::Postgres, Span::from_secs(60));
        TuneConditions { system, restarts, writes, only: Vec::new(), budget, grid: false }
    }

    /// Settings of version 18 built without `io_uring`.
    fn rows() -> Vec<Row> {
        let row = |name: &str, value: &str, context: &str, allowed: Value| -> Row {
            let text = |text: &str| Value::Text(text.into());
            vec![text(name), text(value), text(context), allowed]
        };
        vec![
            row("effective_io_concurrency", "16", "user", Value::Null),
            row("io_method", "worker", "postmaster", Value::Text("sync,worker".into())),
            row("io_workers", "3", "sighup", Value::Null),
            row("io_combine_limit", "128kB", "user", Value::Null),
            row("io_max_combine_limit", "128kB", "postmaster", Value::Null),
            row("commit_delay", "0", "superuser", Value::Null),
            row("commit_siblings", "5", "user", Value::Null),
        ]
    }

    fn reasons(prospects: &Prospects) -> Vec<(&str, Option<&str>, &UntriedReason)> {
        let untried = prospects.untried.iter();
        untried.map(|setting| (setting.name.as_str(), setting.value.as_deref(), &setting.reason)).collect()
    }

    #[test]
    fn values_outside_of_the_build_and_settings_without_effect_are_listed() {
        let prospects = Prospects::new(&conditions(true, false), &rows());
        assert_eq!(
            reasons(&prospects),
            [
                ("io_method", Some("io_uring"), &UntriedReason::NotInServer),
                ("commit_delay", None, &UntriedReason::LoadOnlyReads),
                ("commit_siblings", None, &UntriedReason::LoadOnlyReads),
            ]
        );
        let plan = &prospects.plan;
        let singles: Vec<&str> = plan.single.iter().map(|candidate| candidate.changes[0].1.as_str()).collect();
        assert_eq!(singles, ["1", "64", "256", "sync", "1", "8", "16", "8kB"]);
        assert!(plan.joint.iter().all(|candidate| candidate.changes.iter().all(|(_, value)| value != "io_uring")));
        assert_eq!(prospects.restarting, ["io_method", "io_max_combine_limit"]);
    }

    #[test]
    fn grid_has_all_effective_combinations_or_is_refused() {
        let grid_of = |only: &[&str]| {
            let only = only.iter().map(|name| (*name).to_owned()).collect();
            Prospects::new(&TuneConditions { only, grid: true, ..conditions(true, false) }, &rows())
        };
        // Four depths, with four numbers of workers, and with the synchronous method and the present number.
        let prospects = grid_of(&["effective_io_concurrency", "io_method", "io_workers"]);
        assert_eq!(prospects.plan.grid.len(), 4 * (4 + 1));
        assert!(prospects.plan.grid.contains(&prospects.plan.present));
        let prospects = grid_of(&[]);
        assert!(prospects.plan.grid.is_empty());
        let too_many = UntriedReason::TooMany { configurations: 240, max: 64 };
        assert!(reasons(&prospects).contains(&("--grid", None, &too_many)), "{:?}", prospects.untried);
    }

    #[test]
    fn server_in_use_is_never_restarted() {
        let prospects = Prospects::new(&conditions(false, true), &rows());
        let left_out: Vec<&str> = prospects.untried.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(left_out, ["io_method", "io_max_combine_limit"]);
        let candidates = prospects.plan.single.iter().chain(&prospects.plan.joint);
        let mut changes = candidates.flat_map(|candidate| &candidate.changes);
        assert!(changes.all(|(name, _)| !prospects.restarting.contains(name)));
    }

    #[test]
    fn missing_settings_of_older_versions_are_listed() {
        let old: Vec<Row> =
            rows().into_iter().filter(|row| !row[0].text().unwrap_or_default().starts_with("io_")).collect();
        let prospects = Prospects::new(&conditions(true, true), &old);
        assert_eq!(prospects.untried.len(), 4);
        assert!(prospects.untried.iter().all(|setting| setting.reason == UntriedReason::NotInServer));
    }
}
