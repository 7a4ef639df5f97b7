//! Whose a series is, by its labels; and which of several that count the same operations are taken.

use std::collections::{BTreeMap, BTreeSet};

use super::metric::Family;
use crate::builder::Builder;
use crate::figure::Scope;
use crate::layers::{Layer, Layers};
use crate::reading::Fate;

/// Whose counters they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) family: Family,
    pub(super) host: String,
    /// A container, by namespace, pod and name; empty for a host.
    pub(super) container: String,
    /// True for a control group with others inside of it, whose operations it counts too.
    pub(super) is_group: bool,
    pub(super) device: String,
}

impl Owner {
    /// By the labels of a series.
    pub(super) fn new<'a>(family: Family, label: impl Fn(&str) -> Option<&'a str>) -> Self {
        let first = |names: &[&str]| {
            names.iter().find_map(|name| label(name).filter(|text| !text.is_empty())).unwrap_or_default()
        };
        let device = match family {
            Family::Telegraf => first(&["name", "device"]),
            Family::WindowsPhysical => first(&["disk"]),
            Family::WindowsLogical => first(&["volume"]),
            _ => first(&["device"]),
        };
        let (mut container, mut is_group) = (String::new(), false);
        if family == Family::Container {
            let of_pod = [first(&["namespace"]), first(&["pod", "pod_name"]), first(&["container", "container_name"])];
            let names: Vec<&str> = of_pod.into_iter().filter(|name| !name.is_empty()).collect();
            is_group = of_pod[2].is_empty() && first(&["name", "image"]).is_empty();
            container = if names.is_empty() { first(&["name", "id"]).to_owned() } else { names.join("/") };
        }
        Self {
            family,
            host: first(&["instance", "node", "nodename", "host", "hostname"]).to_owned(),
            container,
            is_group,
            device: device.strip_prefix("/dev/").unwrap_or(device).to_owned(),
        }
    }

    pub(super) fn scope(&self, host: &str) -> Scope {
        let host = if self.host.is_empty() { host } else { &self.host };
        let names = [self.container.as_str(), &self.device];
        let part: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        Scope { host: host.to_owned(), part: part.join(" "), ..Scope::default() }
    }
}

/// Who is taken of all whose series an input has.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    taken: BTreeMap<Owner, Layer>,
}

impl Chosen {
    /// The most owners that are told apart.
    pub(super) const MOST: usize = 100_000;

    /// Chooses one family for each host, containers before the groups around them, and one layer of devices.
    pub(super) fn of<'a>(owners: impl Iterator<Item = &'a Owner>) -> Self {
        let mut by_host: BTreeMap<&str, BTreeSet<&Owner>> = BTreeMap::new();
        for owner in owners {
            by_host.entry(&owner.host).or_default().insert(owner);
        }
        let mut taken = BTreeMap::new();
        for owners in by_host.values() {
            let Some(family) = owners.iter().map(|owner| owner.family).min() else { continue };
            let with_groups = owners.iter().all(|owner| owner.is_group || owner.family != family);
            // A root group has all others in it.
            let root = owners.iter().any(|owner| owner.family == family && owner.container == "/");
            let of_family = owners.iter().filter(|owner| {
                let fits = if with_groups && root { owner.container == "/" } else { owner.is_group == with_groups };
                owner.family == family && (family != Family::Container || fits)
            });
            let of_family: Vec<&&Owner> = of_family.filter(|owner| owner.device != "_Total").collect();
            let mut layers = Layers::default();
            for owner in &of_family {
                layers.learn(&owner.device);
            }
            layers.choose();
            taken.extend(
                of_family.into_iter().filter_map(|owner| Some(((*owner).clone(), layers.layer(&owner.device)?))),
            );
        }
        Self { taken }
    }

    pub(super) fn takes(&self, owner: &Owner) -> bool {
        self.taken.contains_key(owner)
    }

    /// Says which of the owners are arrays over others, for each host; `host` is that of owners without one.
    pub(super) fn arrays(&self, host: &str, out: &mut Builder) {
        let mut by_host: BTreeMap<&str, Vec<(u32, Layer)>> = BTreeMap::new();
        for (owner, layer) in &self.taken {
            by_host.entry(&owner.host).or_default().push((out.scope(owner.scope(host)), *layer));
        }
        for scopes in by_host.into_values() {
            out.arrays(scopes);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Lists who was taken and who was not.
    pub(super) fn list<'a>(&self, owners: impl Iterator<Item = (&'a Owner, u32)>, out: &mut Builder) {
        for (owner, counters) in owners {
            let Scope { host, part, .. } = owner.scope("");
            let fate = if self.takes(owner) { Fate::Read(counters) } else { Fate::Ignored };
            let gap = if host.is_empty() { "" } else { " " };
            out.part(format!("{}* {host}{gap}{part}", owner.family.prefix()), fate);
        }
    }
}
