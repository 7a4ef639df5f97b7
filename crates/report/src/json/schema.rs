//! JSON Schemas of the results.

use plimsoll_record::{Curve, SuiteRun};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Map, Value, json};

use super::{
    catalogue, changes, comparison, demand, diagnosis, doctor, explanation, history, keys, matches, nbd_check, prices,
    quote, requirement, runs, settings, sizing, trial, watch,
};

/// A function that makes a schema.
type MakeSchema = fn() -> Schema;

/// The schema of each result by its name.
const SCHEMAS: [(&str, MakeSchema); 29] = [
    ("run", || schema_for!(Curve)),
    ("suite", suite),
    ("comparison", closed::<comparison::ComparisonResult>),
    ("runs", closed::<runs::Runs>),
    ("changes", closed::<changes::Changes>),
    ("presets", closed::<settings::Presets>),
    ("config", closed::<settings::Configuration>),
    ("trial", closed::<trial::TrialResult>),
    ("history", closed::<history::History>),
    ("nbd-check", closed::<nbd_check::NbdCheck>),
    ("requirement-check", closed::<requirement::RequirementCheck>),
    ("requirements", closed::<requirement::Requirements>),
    ("doctor", closed::<doctor::Doctor>),
    ("catalogue", closed::<catalogue::Products>),
    ("product", closed::<catalogue::ProductResult>),
    ("product-check", closed::<catalogue::CheckedProducts>),
    ("prices", closed::<prices::PricesResult>),
    ("quote", closed::<quote::QuoteList>),
    ("explanation", closed::<explanation::ExplanationResult>),
    ("fit", closed::<comparison::FitResult>),
    ("match", closed::<matches::MatchResult>),
    ("demand", closed::<demand::DemandResult>),
    ("diagnosis", closed::<diagnosis::Diagnoses>),
    ("sizing", closed::<sizing::SizingResult>),
    ("oci-key", closed::<keys::OciKeyResult>),
    ("oci-config", closed::<keys::OciConfigResult>),
    ("oci-keys", closed::<keys::OciKeyIds>),
    ("ec2-key", closed::<keys::Ec2KeyResult>),
    ("watch", closed::<watch::WatchResult>),
];

/// Names of the results that have a schema.
pub fn schema_names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

/// The JSON Schema of a result, ending in a newline; none for an unknown name.
pub fn find_schema(name: &str) -> Option<Vec<u8>> {
    let (_, schema) = SCHEMAS.iter().find(|(existing, _)| *existing == name)?;
    Some(super::to_json(&schema()))
}

/// The JSON Schema of a result of another crate, without other keys, ending in a newline.
pub fn close_schema(mut schema: Schema) -> Vec<u8> {
    close(schema.ensure_object(), SchemaPath::Full);
    super::to_json(&schema)
}

/// The schema of `T` as it is written, without other keys. The schema of runs stays open, because it describes files of
/// earlier versions, too.
fn closed<T: JsonSchema>() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    close(schema.ensure_object(), SchemaPath::Full);
    schema
}

/// The schema of suites, with the text of each verdict, measured quantity and limit.
fn suite() -> Schema {
    let mut schema = closed::<SuiteRun>();
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten();
    let has_text =
        |name: &str| name.ends_with("Verdict") && name != "Verdict" || matches!(name, "StepQuantity" | "SessionLimit");
    let described = definitions.filter(|(name, _)| has_text(name));
    for kind in described.filter_map(|(_, data)| data["oneOf"].as_array_mut()).flatten() {
        if kind.get("description").is_none() {
            kind["description"] = "The kind states it.".into();
        }
        if kind["properties"].get("text").is_none() {
            kind["properties"]["text"] = json!({ "description": "The same as text.", "type": "string" });
            kind["required"].as_array_mut().into_iter().for_each(|required| required.push("text".into()));
        }
    }
    schema
}

/// Position of a schema.
#[derive(Clone, Copy, PartialEq)]
enum SchemaPath {
    /// It describes a whole value.
    Full,
    /// It describes a part of the keys of an object: an alternative of a flattened field.
    Part,
}

/// Refuses keys that the schema of an object does not have.
fn close(schema: &mut Map<String, Value>, place: SchemaPath) {
    let has_keys = schema.contains_key("properties");
    let has_alternatives = schema.contains_key("oneOf") || schema.contains_key("anyOf");
    if has_keys && place == SchemaPath::Full {
        let key = if has_alternatives { "unevaluatedProperties" } else { "additionalProperties" };
        schema.insert(key.to_owned(), Value::Bool(false));
    }
    for (key, value) in schema {
        let place = match key.as_str() {
            "oneOf" | "anyOf" if has_keys => SchemaPath::Part,
            "const" | "enum" | "default" | "examples" => continue,
            _ => SchemaPath::Full,
        };
        match value {
            Value::Object(below) if matches!(key.as_str(), "properties" | "$defs") => {
                below.values_mut().filter_map(Value::as_object_mut).for_each(|schema| close(schema, SchemaPath::Full));
            }
            Value::Object(below) => close(below, place),
            Value::Array(items) => {
                items.iter_mut().filter_map(Value::as_object_mut).for_each(|schema| close(schema, place));
            }
            _ => {}
        }
    }
}
