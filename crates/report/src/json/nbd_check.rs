//! Conformance of an NBD server.

use super::each;
use crate::pages::{CheckedFeature, FeatureVerdict};

view! {
    /// Features of the protocol that were checked on an NBD server.
    struct NbdCheck from checked: (&str, &[CheckedFeature]) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.nbd-check/1"))]
        format: &'static str = "plimsoll.nbd-check/1",
        /// The export.
        uri: String = checked.0.to_owned(),
        /// The features.
        features: Vec<Feature> = each(checked.1),
    }

    /// A checked feature.
    struct Feature from feature: &CheckedFeature {
        /// Part of the protocol.
        area: &'static str = feature.area,
        /// Name of the feature.
        name: &'static str = feature.name,
        /// Result of the check.
        verdict: FeatureVerdict = feature.verdict,
        /// The request; null if none was sent.
        request: Option<String> = Some(feature.request.clone()).filter(|request| !request.is_empty()),
        /// The response, or the reason why the feature was not tried.
        response: String = feature.response.clone(),
    }
}
