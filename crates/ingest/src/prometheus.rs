//! What Prometheus and its exporters know of disks: expositions as text, and answers of its API as JSON.

mod answer;
mod metric;
mod owner;
mod rates;
mod text;

pub(crate) use answer::FORM as ANSWER;
pub(crate) use text::FORM as TEXT;
