//! A product as iSCSI initiators see it.

use std::sync::Arc;

use crate::cite::Cite;
use crate::expression::Expression;

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
