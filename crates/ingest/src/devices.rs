//! The devices of a host in the order of a report, of which those of a single layer are counted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::builder::Builder;
use crate::layers::{Layer, Layers};
use crate::reading::{Doubt, Fate, ReadingScope};

/// Counts the devices of each host and database in a single layer, for inputs that name the device of each row: devices of
/// other layers are excluded from totals. A scope without a device is the host's total, which replaces its devices.
pub(crate) fn count_single_layer(out: &mut Builder) {
    let mut by_host: BTreeMap<ReadingScope, Vec<(u32, String)>> = BTreeMap::new();
    for (number, scope) in (0..).zip(out.scopes()).filter(|(_, scope)| !scope.part.is_empty()) {
        let host = ReadingScope { part: String::new(), ..scope.clone() };
        by_host.entry(host).or_default().push((number, scope.part.clone()));
    }
    let (mut below, mut above) = (BTreeSet::new(), BTreeSet::new());
    for devices in by_host.into_values() {
        let layers = Layers::of(devices.iter().map(|(_, name)| name.as_str()));
        let counted: Vec<_> =
            devices.iter().filter_map(|(number, name)| Some((*number, layers.layer(name)?))).collect();
        if !counted.is_empty() && counted.len() < devices.len() {
            let (of_base, others): (Vec<_>, Vec<_>) =
                devices.iter().partition(|(_, name)| layers.layer(name).is_some());
            below.extend(of_base.into_iter().map(|(number, _)| *number));
            above.extend(others.into_iter().map(|(number, _)| *number));
        }
        if counted.iter().all(|(_, layer)| *layer == Layer::Stacked) {
            doubt_mapped(counted, out);
        } else {
            out.arrays(counted);
        }
    }
    if !above.is_empty() {
        out.exclude_layers(&above, &below);
    }
}

/// Finds layers among mapped devices without disks by their bytes, or warns of them.
fn doubt_mapped(counted: Vec<(u32, Layer)>, out: &mut Builder) {
    let names: Vec<String> =
        counted.iter().take(3).map(|(number, _)| out.scopes()[*number as usize].part.trim().to_owned()).collect();
    if counted.len() > 1 && !out.layers(counted) {
        out.caution(None, Doubt::PossibleLayers { devices: names.join(", ") });
    }
}

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
        if !has_disks {
            doubt_mapped(counted().collect(), out);
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
