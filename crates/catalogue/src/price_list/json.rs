//! JSON lists: the top level, streamed.

use std::fmt;
use std::io::BufRead;

use plimsoll_language::{label, say};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::aws::{OfferProducts, OfferTerms};
use super::entries;
use super::{Collector, PriceListError, PriceListForm};

/// Keys of the top level that are named in messages.
const KEYS_MAX: usize = 8;

/// Reads one JSON value or several in a row, such as pages.
pub(super) fn read(from: impl BufRead, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
    let mut reader = serde_json::Deserializer::from_reader(from);
    let mut state = State { collector, failed: None, offer: super::aws::OfferFile::default(), keys: Vec::new() };
    loop {
        if let Err(error) = Top(&mut state).deserialize(&mut reader) {
            return Err(state.failed.take().unwrap_or(PriceListError::Json(error)));
        }
        if reader.end().is_ok() {
            break;
        }
    }
    let State { offer, keys, .. } = state;
    if offer.is_used() {
        offer.finish(collector)?;
    }
    if collector.found.form.is_none() {
        let named = keys.join(", ");
        let text = if keys.iter().any(|key| key == "offers" || key == "regions") {
            say!("it looks like AWS's index of offers ({named}): download the file that its currentVersionUrl names")
        } else {
            say!("it looks like JSON with {}", if named.is_empty() { label!("no keys").to_owned() } else { named })
        };
        return Err(PriceListError::NotAList(text));
    }
    Ok(())
}

/// Results and the reason of an early end, which serde's errors cannot carry.
pub(super) struct State<'s, 'c> {
    pub collector: &'s mut Collector<'c>,
    pub failed: Option<PriceListError>,
    pub offer: super::aws::OfferFile,
    keys: Vec<String>,
}

impl State<'_, '_> {
    /// Ends the reading with this reason.
    pub fn fail<E: Error>(&mut self, reason: PriceListError) -> E {
        self.failed = Some(reason);
        E::custom("stopped")
    }
}

/// The top level: an object, or a list of entries or pages.
struct Top<'a, 's, 'c>(&'a mut State<'s, 'c>);

impl<'de> DeserializeSeed<'de> for Top<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, from: A) -> Result<(), A::Error> {
        Entries(self.0).visit_seq(from)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let state = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "Items" | "items" | "skus" => map.next_value_seed(Entries(state))?,
                "products" => map.next_value_seed(OfferProducts(state))?,
                "terms" => map.next_value_seed(OfferTerms(state))?,
                "publicationDate" | "lastUpdated" => {
                    if let Some(text) = map.next_value::<Value>()?.as_str() {
                        state.collector.publish(text);
                    }
                }
                "offerCode" => {
                    let code = map.next_value::<Value>()?;
                    if code.as_str() != Some("AmazonEC2") {
                        let text = say!("it looks like the AWS offer {code}: the offer AmazonEC2 is read");
                        return Err(state.fail(PriceListError::NotAList(text)));
                    }
                    state.collector.found.form = Some(PriceListForm::AwsJson);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            if state.keys.len() < KEYS_MAX && !state.keys.contains(&key) {
                state.keys.push(key);
            }
        }
        Ok(())
    }
}

/// Entries of Azure, OCI and GCP, and lists of their pages.
struct Entries<'a, 's, 'c>(&'a mut State<'s, 'c>);

impl<'de> DeserializeSeed<'de> for Entries<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of prices")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            if let Err(reason) = entries::add(value, self.0.collector) {
                return Err(self.0.fail(reason));
            }
        }
        Ok(())
    }
}
