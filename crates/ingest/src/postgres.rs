//! PostgreSQL's cumulative statistics, as its views show them: `pg_stat_io`, `pg_stat_database`, `pg_stat_bgwriter`,
//! `pg_stat_checkpointer`, `pg_stat_wal` and `pg_stat_statements`.
//!
//! Knows nothing of who asked for them. Columns are known by name, so that a query of somebody's own with fewer of them
//! is read as well. All views of one moment become one snapshot; texts of statements are never kept.

mod document;
mod sample;
mod text;
mod views;

pub(crate) use document::FORM as JSON;
pub(crate) use document::value as read_value;
pub(crate) use sample::Cluster;
pub(crate) use text::FORM as TEXT;

use crate::kind::Kind;

pub(crate) const KIND: Kind = Kind { id: "postgresql", name: "statistics of PostgreSQL" };
