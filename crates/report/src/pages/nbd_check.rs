//! Conformance of an NBD server.

use plimsoll_language::{label, say};

use schemars::JsonSchema;
use serde::Serialize;

use crate::page::{Block, Column, ColumnKind, Headline, Item, Page, PageSection, Table};

/// Result of the check of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeatureVerdict {
    /// Conforms to the specification.
    Pass,
    /// Violates the specification.
    Fail,
    /// Not offered, and refused correctly.
    Unsupported,
    /// Not tested, for the stated reason.
    #[serde(rename = "not tried")]
    NotTried,
}

impl FeatureVerdict {
    /// All, in the order of the summary.
    const ALL: [Self; 4] = [Self::Pass, Self::Fail, Self::Unsupported, Self::NotTried];

    fn word(self) -> &'static str {
        match self {
            Self::Pass => label!("pass"),
            Self::Fail => label!("FAIL"),
            Self::Unsupported => label!("unsupported"),
            Self::NotTried => label!("not tried"),
        }
    }
}

/// A feature of the protocol that was checked on a server.
#[derive(Clone, Debug)]
pub struct CheckedFeature {
    /// Part of the protocol.
    pub area: &'static str,
    /// Name of the feature.
    pub name: &'static str,
    /// Result.
    pub verdict: FeatureVerdict,
    /// The request; empty if none was sent.
    pub request: String,
    /// The response, or the reason why the feature was not tried.
    pub response: String,
    /// Text shows request and response.
    pub is_detailed: bool,
}

/// The counts of the verdicts, and the features of each part of the protocol.
pub fn nbd_check(uri: &str, features: &[CheckedFeature]) -> Page {
    let number = |verdict| features.iter().filter(|feature| feature.verdict == verdict).count();
    let count = |verdict: FeatureVerdict| format!("{} {}", number(verdict), verdict.word().to_lowercase());
    let headline = Headline::of(FeatureVerdict::ALL.map(count).join(label!(", ")));
    let section = |features: &[CheckedFeature]| {
        PageSection::new(features[0].area, vec![Block::Items(features.iter().map(item).collect())])
    };
    let mut sections: Vec<PageSection> = features.chunk_by(|a, b| a.area == b.area).map(section).collect();
    sections.push(PageSection::bare("", vec![Block::Data(table(features))]));
    Page { title: say!("Check of {uri}"), headline: Some(headline), sections, ..Page::default() }
}

fn item(feature: &CheckedFeature) -> Item {
    let CheckedFeature { name, verdict, request, response, is_detailed, .. } = feature;
    let remarks = match (is_detailed, request.is_empty()) {
        (false, _) => Vec::new(),
        (true, true) => vec![response.clone()],
        (true, false) => vec![say!("sent {request}"), say!("got {response}")],
    };
    Item { text: format!("{}: {name}", verdict.word()), remarks }
}

fn table(features: &[CheckedFeature]) -> Table {
    Table::rows(label!("Checked features"), features)
        .column(Column::text(label!("part of the protocol"), 0), |feature| feature.area)
        .column(Column::new(label!("feature"), "", ColumnKind::Name, 0), |feature| feature.name)
        .column(Column::text(label!("verdict"), 0), |feature| feature.verdict.word())
        .column(Column::text(label!("request"), 0), |feature| feature.request.as_str())
        .column(Column::text(label!("response"), 0), |feature| feature.response.as_str())
        .table()
}
