//! A product as iSCSI initiators see it.

use std::sync::Arc;

use crate::cite::Cite;
use crate::expression::Expression;
use crate::offer::Offer;

/// How initiators see a product, as its file states it.
#[derive(Clone, Debug)]
pub(crate) struct IscsiRule {
    pub vendor: String,
    pub model: String,
    pub revision: String,
    pub prefix: Option<String>,
    pub paths: Option<Expression>,
    pub queue_depth: Option<Expression>,
    pub controllers: Option<Expression>,
    pub cite: Arc<Cite>,
}

/// How initiators see a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct IscsiFacts {
    /// Vendor identification of INQUIRY data, at most 8 characters.
    pub vendor: String,
    /// Product identification of INQUIRY data, at most 16 characters.
    pub model: String,
    /// Product revision level of INQUIRY data, at most 4 characters.
    pub revision: String,
    /// The beginning of the names of its targets; a colon and an identifier follow.
    pub prefix: Option<String>,
    /// Portals that lead to a volume.
    pub paths: Option<u32>,
    /// Commands of one path in flight.
    pub queue_depth: Option<u32>,
    /// Controllers that share the paths.
    pub controllers: u32,
    /// Source of the facts.
    pub cite: Arc<Cite>,
}

impl Offer {
    /// How initiators see each volume of this configuration. `None` when the catalogue does not state it.
    pub fn iscsi(&self) -> Option<IscsiFacts> {
        let rule = self.product().iscsi.as_ref()?;
        let count = |of: &Option<Expression>| {
            let number = of.as_ref()?.number(&self.volume.values)?;
            (number >= 1.0).then_some(number as u32)
        };
        Some(IscsiFacts {
            vendor: rule.vendor.clone(),
            model: rule.model.clone(),
            revision: rule.revision.clone(),
            prefix: rule.prefix.clone(),
            paths: count(&rule.paths),
            queue_depth: count(&rule.queue_depth),
            controllers: count(&rule.controllers).unwrap_or(1),
            cite: Arc::clone(&rule.cite),
        })
    }
}
