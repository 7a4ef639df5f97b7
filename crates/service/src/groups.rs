//! Operations on groups.

use plimsoll_catalogue::{Catalogue, Like, PriceTerms};
use plimsoll_language::say;
use plimsoll_volume::{Edit, LimitedQuantity};

use crate::api;
use crate::group::{ServedGroup, shared};
use crate::metadata::GroupMetadata;
use crate::moment;
use crate::names;
use crate::product::{Product, refused};
use crate::refusal::Refusal;
use crate::service::{Service, ServiceState};
use crate::volume::Volume;

/// Size of the volume that stores the group's metadata.
const SIZE: u64 = 1;

impl Service {
    /// All groups, by name.
    pub fn groups(&self) -> Result<Vec<api::Group>, Refusal> {
        Ok(self.state().groups.values().map(ServedGroup::display).collect())
    }

    /// Creates a group whose limits its volumes share.
    pub fn create_group(&self, group: &api::Group) -> Result<api::Group, Refusal> {
        let mut state = self.state();
        names::check(&group.name)?;
        if state.groups.contains_key(&group.name) {
            return Err(Refusal::conflict(say!("there is a group {} already: choose another name", group.name)));
        }
        let (like, model) = shared(&group.like, self.products())?;
        let metadata = GroupMetadata::new(&group.name, &like, &model.to_string());
        let edit = Edit::Create { size: SIZE, text: metadata.text() };
        let volume = self.inner.handle.edit(edit).map_err(|error| Refusal::of_edit(&group.name, &error))?;
        let (seed, stages, quantities) = (metadata.seed, model.names(), LimitedQuantity::of_stages(&model));
        let id = self.inner.handle.call(move |server| server.volumes().0.group(&model, seed))?;
        let created = ServedGroup { id, volume, metadata, stages, quantities };
        let response = created.display();
        tracing::info!(group = group.name, like = group.like, "group created");
        state.groups.insert(group.name.clone(), created);
        Ok(response)
    }

    pub fn delete_group(&self, name: &str) -> Result<(), Refusal> {
        let mut state = self.state();
        let ServedGroup { id, volume, .. } = *state.group(name)?;
        let members = state.volumes.values().filter(|volume| volume.metadata.group.as_deref() == Some(name));
        let members: Vec<&str> = members.map(Volume::name).collect();
        if !members.is_empty() {
            let members = members.join(", ");
            return Err(Refusal::conflict(say!("the group {name} has volumes: delete {members} first")));
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
        let terms = PriceTerms { as_of: moment::utc_date(), currency: None, region: None };
        let mut config = offer.with(&[]);
        // A machine that is missing in the catalogue has no rules.
        if config.machine.is_some() || products.offer(&machine, &terms).is_err() {
            return Ok(());
        }
        config.machine = Some(machine.volume);
        let why = |why| {
            let refusal = refused(&why);
            Refusal { message: say!("in the group {}: {}", group.metadata.name, refusal.message), ..refusal }
        };
        products.offer(&config, &terms).map(drop).map_err(why)
    }
}
