//! A group: limits of an instance, shared by several volumes.

use plimsoll_catalogue::{Catalogue, Like, PriceTerms, ProductKind};
use plimsoll_front::Server;
use plimsoll_language::say;
use plimsoll_model::ChainSpec;
use plimsoll_volume::{GroupId, LimitedQuantity, VolumeId};

use crate::api;
use crate::metadata::GroupMetadata;
use crate::moment;
use crate::product::refused;
use crate::refusal::Refusal;

#[derive(Debug)]
pub(crate) struct ServedGroup {
    pub id: GroupId,
    /// Volume that stores the metadata.
    pub volume: VolumeId,
    pub metadata: GroupMetadata,
    pub stages: Vec<String>,
    /// The quantity that each of them limits.
    pub quantities: Vec<Option<LimitedQuantity>>,
}

impl ServedGroup {
    /// Restores a group at start. Its stored model is used, even if the catalogue no longer has the machine.
    pub fn restore(
        server: &mut Server,
        volume: VolumeId,
        metadata: GroupMetadata,
        products: &Catalogue,
    ) -> Result<Self, String> {
        let model = match shared(&metadata.like, products) {
            Ok((_, model)) => model,
            Err(refusal) => plimsoll_model::parse(&metadata.model).map_err(|_| refusal.message)?,
        };
        let id = server.volumes().0.group(&model, metadata.seed);
        Ok(Self { id, volume, metadata, stages: model.names(), quantities: LimitedQuantity::of_stages(&model) })
    }

    pub fn display(&self) -> api::Group {
        api::Group { name: self.metadata.name.clone(), like: self.metadata.like.clone() }
    }
}

/// Shared stages of a machine, and its notation.
pub(crate) fn shared(text: &str, products: &Catalogue) -> Result<(String, ChainSpec), Refusal> {
    match text.parse::<Like>().map_err(|error| Refusal::bad(error.to_string()))? {
        Like::Stages(model) => Ok((model.to_string(), model)),
        Like::Config(config) => {
            let terms = PriceTerms { as_of: moment::utc_date(), currency: None, region: None };
            let offer = products.offer(&config, &terms).map_err(|refusal| refused(&refusal))?;
            if offer.product().kind() != ProductKind::Machine {
                let example = "oci/VM.Standard.E4.Flex:16ocpu";
                return Err(Refusal::bad(say!(
                    "{config} is not a machine: write a machine, such as {example}, or stages"
                )));
            }
            let model = offer.limits().map_err(|why| Refusal::bad(why.to_string()))?;
            Ok((offer.short().to_string(), model))
        }
    }
}
