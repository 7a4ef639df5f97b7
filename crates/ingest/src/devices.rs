//! The devices of a host in the order of a report, of which those of a single layer are counted.

use std::collections::HashMap;
use std::sync::Arc;

use crate::builder::Builder;
use crate::layers::{Layer, Layers};
use crate::reading::{Doubt, Fate, ReadingScope};

/// The devices of a host in order of appearance, with their scopes.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    layers: Layers,
    places: HashMap<Arc<str>, usize>,
    all: Vec<LayerDevice>,
    /// Expected index of the next device: samples list devices in a fixed order.
    next: usize,
    /// Number of devices at the last selection; 0 requests a new one.
    chosen: usize,
}

#[derive(Debug)]
struct LayerDevice {
    name: Arc<str>,
    scope: Option<u32>,
    /// Its layer, if selected.
    layer: Option<Layer>,
    /// A real device; false for a group of disks.
    is_own: bool,
}

impl Devices {
    /// The number of devices.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The index of a known device.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The index of a device; none beyond [`Layers::MAX`]. Groups that are not devices are never selected.
    pub(crate) fn place(&mut self, name: &str, is_group: bool) -> Option<usize> {
        let is_next = self.all.get(self.next).is_some_and(|device| &*device.name == name);
        let place = if is_next { self.next } else { self.find(name).unwrap_or(self.all.len()) };
        if place >= Layers::MAX {
            self.layers.refused = true;
            return None;
        }
        if place == self.all.len() {
            let name: Arc<str> = Arc::from(name);
            self.places.insert(Arc::clone(&name), place);
            self.all.push(LayerDevice { name, scope: None, layer: None, is_own: false });
        }
        if !is_group && !self.all[place].is_own {
            self.all[place].is_own = true;
            self.layers.learn(name);
            self.chosen = 0;
        }
        self.next = place + 1;
        Some(place)
    }

    /// Starts a sample: the first device is expected next.
    pub(crate) fn rewind(&mut self) {
        self.next = 0;
    }

    /// Selects devices. True if there are new ones.
    pub(crate) fn choose(&mut self) -> bool {
        let is_due = self.chosen < self.all.len();
        if is_due {
            self.layers.choose();
            for device in &mut self.all {
                device.layer = self.layers.layer(&device.name);
            }
            self.chosen = self.all.len();
        }
        is_due
    }

    /// Name, scope and layer of a selected device.
    pub(crate) fn taken(&mut self, place: usize, host: &str, out: &mut Builder) -> Option<(Arc<str>, u32, Layer)> {
        let device = &mut self.all[place];
        let layer = device.layer?;
        let part =
            || ReadingScope { host: host.to_owned(), part: device.name.trim().to_owned(), ..ReadingScope::default() };
        let scope = *device.scope.get_or_insert_with(|| out.scope(part()));
        Some((Arc::clone(&device.name), scope, layer))
    }

    /// Devices with their layers if selected.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, Option<Layer>)> {
        self.all.iter().map(|device| (&device.name, device.layer))
    }

    /// Resolves layers: arrays and their disks, and mapped devices without disks. Reports exceeded limits.
    pub(crate) fn finish(&self, out: &mut Builder) {
        let counted = || self.all.iter().filter_map(|device| Some((device.scope?, device.layer?)));
        out.arrays(counted());
        let has_disks = counted().any(|(_, layer)| layer >= Layer::Array);
        if counted().count() > 1 && !has_disks && !out.layers(counted()) {
            let first = self.all.iter().filter(|device| device.layer.is_some()).take(3);
            let devices = first.map(|device| device.name.trim()).collect::<Vec<_>>().join(", ");
            out.caution(None, Doubt::PossibleLayers { devices });
        }
        if self.layers.is_full() {
            out.caution(None, Doubt::TooManyDevices { limit: Layers::MAX });
        }
    }

    /// Lists the devices, selected ones with their number of samples. Returns the number of selected devices.
    pub(crate) fn list(&self, samples: u32, out: &mut Builder) -> usize {
        self.finish(out);
        for (name, layer) in self.iter() {
            out.part(&**name, if layer.is_some() { Fate::Read(samples) } else { Fate::Ignored });
        }
        self.iter().filter(|(_, layer)| layer.is_some()).count()
    }
}
