//! Groups: limits of an instance, shared by several volumes.

use plimsoll_catalogue::{Catalogue, Like, PriceTerms, ProductKind};
use plimsoll_front::Server;
use plimsoll_model::ChainSpec;
use plimsoll_volume::{Edit, GroupId, VolumeId};

use crate::api;
use crate::metadata::GroupMetadata;
use crate::moment;
use crate::names;
use crate::product::{Product, refused};
use crate::refusal::Refusal;
use crate::service::{Service, ServiceState};
use crate::volume::Volume;

/// Size of the volume that stores the group's metadata.
const SIZE: u64 = 1;

/// A served group.
#[derive(Debug)]
pub(crate) struct ServedGroup {
    pub id: GroupId,
    /// Volume that stores the metadata.
    pub volume: VolumeId,
    pub metadata: GroupMetadata,
    /// Names of the stages.
    pub stages: Vec<String>,
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
        Ok(Self { id, volume, metadata, stages: model.names() })
    }

    fn shown(&self) -> api::Group {
        api::Group { name: self.metadata.name.clone(), like: self.metadata.like.clone() }
    }
}

impl Service {
    /// All groups, by name.
    pub fn groups(&self) -> Result<Vec<api::Group>, Refusal> {
        Ok(self.state().groups.values().map(ServedGroup::shown).collect())
    }

    /// Creates a group whose limits its volumes share.
    pub fn create_group(&self, group: &api::Group) -> Result<api::Group, Refusal> {
        let mut state = self.state();
        names::check(&group.name)?;
        if state.groups.contains_key(&group.name) {
            return Err(Refusal::conflict(format!("there is a group {} already: choose another name", group.name)));
        }
        let (like, model) = shared(&group.like, self.products())?;
        let metadata = GroupMetadata::new(&group.name, &like, &model.to_string());
        let edit = Edit::Create { size: SIZE, text: metadata.text() };
        let volume = self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(&group.name, &error))?;
        let (seed, stages) = (metadata.seed, model.names());
        let id = self.inner.handle.call(move |server| server.volumes().0.group(&model, seed))?;
        let made = ServedGroup { id, volume, metadata, stages };
        let shown = made.shown();
        tracing::info!(group = group.name, like = group.like, "group created");
        state.groups.insert(group.name.clone(), made);
        Ok(shown)
    }

    /// Deletes an empty group.
    pub fn delete_group(&self, name: &str) -> Result<(), Refusal> {
        let mut state = self.state();
        let ServedGroup { id, volume, .. } = *state.group(name)?;
        let members = state.volumes.values().filter(|volume| volume.metadata.group.as_deref() == Some(name));
        let members: Vec<&str> = members.map(Volume::name).collect();
        if !members.is_empty() {
            let members = members.join(", ");
            return Err(Refusal::conflict(format!("the group {name} has volumes: delete {members} first")));
        }
        let edit = Edit::Delete { volume };
        self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(name, &error))?;
        state.groups.remove(name);
        tracing::info!(group = name, "group deleted");
        // Dissolving cannot fail: the group is empty.
        self.inner.handle.call(move |server| server.volumes().0.dissolve(id))?;
        Ok(())
    }
}

impl ServiceState {
    /// Refuses a product that its rules exclude on the machine of a group, with the rules of a configuration `PRODUCT
    /// on MACHINE`.
    pub(crate) fn fits(&self, product: &Product, group: Option<&str>, products: &Catalogue) -> Result<(), Refusal> {
        let Some(group) = group.map(|group| self.group(group)).transpose()? else { return Ok(()) };
        let (Some(offer), Ok(Like::Config(machine))) = (&product.offer, group.metadata.like.parse::<Like>()) else {
            return Ok(());
        };
        let terms = PriceTerms { as_of: moment::today(), currency: None, region: None };
        let mut config = offer.with(&[]);
        // A machine that is missing in the catalogue has no rules.
        if config.machine.is_some() || products.offer(&machine, &terms).is_err() {
            return Ok(());
        }
        config.machine = Some(machine.volume);
        let why = |why| {
            let refusal = refused(&why);
            Refusal { message: format!("in the group {}: {}", group.metadata.name, refusal.message), ..refusal }
        };
        products.offer(&config, &terms).map(drop).map_err(why)
    }
}

/// Shared stages of a machine, and its notation.
fn shared(text: &str, products: &Catalogue) -> Result<(String, ChainSpec), Refusal> {
    match text.parse::<Like>().map_err(|error| Refusal::bad(error.to_string()))? {
        Like::Stages(model) => Ok((model.to_string(), model)),
        Like::Config(config) => {
            let terms = PriceTerms { as_of: moment::today(), currency: None, region: None };
            let offer = products.offer(&config, &terms).map_err(|refusal| refused(&refusal))?;
            if offer.product().kind() != ProductKind::Machine {
                let example = "oci/VM.Standard.E4.Flex:16ocpu";
                return Err(Refusal::bad(format!(
                    "{config} is not a machine: write a machine, such as {example}, or stages"
                )));
            }
            let model = offer.limits().map_err(|why| Refusal::bad(why.to_string()))?;
            Ok((offer.short().to_string(), model))
        }
    }
}
