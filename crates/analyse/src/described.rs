//! Reasons in JSON: their data, with the sentence in `text`.

use std::fmt::Display;

use schemars::{JsonSchema, Schema};
use serde::{Serialize, Serializer};

/// A reason with its sentence.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Described<T> {
    #[serde(flatten)]
    reason: T,
    /// The sentence.
    text: String,
}

impl<'r, T: Display> Described<&'r T> {
    fn new(reason: &'r T) -> Self {
        Self { reason, text: reason.to_string() }
    }
}

/// Serialises a reason with its sentence.
pub(crate) fn serialize<T: Display + Serialize, S: Serializer>(reason: &T, serializer: S) -> Result<S::Ok, S::Error> {
    Described::new(reason).serialize(serializer)
}

/// Serialises reasons with their sentences.
pub(crate) fn serialize_all<T, S>(reasons: &[T], serializer: S) -> Result<S::Ok, S::Error>
where
    T: Display + Serialize,
    S: Serializer,
{
    serializer.collect_seq(reasons.iter().map(Described::new))
}

/// Describes the figures of each kind: their names, with the unit at the end, and the sentence state them.
pub(crate) fn describe_figures(schema: &mut Schema) {
    schemars::transform::transform_subschemas(&mut describe_figures, schema);
    let Some(properties) = schema.get_mut("properties").and_then(|keys| keys.as_object_mut()) else { return };
    for property in properties.values_mut().filter_map(|property| property.as_object_mut()) {
        property.entry("description").or_insert_with(|| "A figure of this kind.".into());
    }
}
