//! Data that files of earlier versions store as a sentence.

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Stored<T> {
    Text(String),
    Data(T),
}

impl<T: From<String>> Stored<T> {
    fn convert(self) -> T {
        match self {
            Self::Text(text) => text.into(),
            Self::Data(data) => data,
        }
    }
}

/// Reads a list of data or sentences.
pub(crate) fn read_list<'de, D, T>(input: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<String>,
{
    Ok(Vec::deserialize(input)?.into_iter().map(Stored::convert).collect())
}

/// Reads data or a sentence.
pub(crate) fn read_optional<'de, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<String>,
{
    Ok(Option::deserialize(input)?.map(Stored::convert))
}
