//! The catalogue: all products that are known, by name.

mod beside;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use plimsoll_units::Bytes;

use crate::built_in;
use crate::ceilings::ceilings;
use crate::complaint::{Complaint, Complaints};
use crate::config::{Config, Wrap};
use crate::money::Currency;
use crate::nearest::nearest;
use crate::offer::{Offer, Terms};
use crate::product::{Product, ProductKind};
use crate::read::{self, Loaded};
use crate::refusal::{Refusal, UnknownProduct};
use crate::resolve::{Context, Resolved, Subject, resolve};

/// All products that are known. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    products: Vec<Arc<Product>>,
    /// Every name in small letters: of products, aliases, files and machines.
    names: Arc<HashMap<String, Place>>,
}

/// Where a name leads.
#[derive(Clone, Copy, Debug)]
struct Place {
    product: usize,
    machine: Option<usize>,
}

impl Catalogue {
    /// The products that come with the program.
    ///
    /// # Panics
    /// Never in a program that passed its tests: they read every file.
    pub fn built_in() -> Self {
        let mut catalogue = Self::default();
        for (file, text) in built_in::FILES {
            match read::product(file, text, &|csv| built_in::beside(file, csv)) {
                Ok(loaded) => catalogue.insert(file, loaded.product),
                Err(complaints) => panic!("built-in product file: {}", complaints[0]),
            }
        }
        catalogue
    }

    /// Adds the product of a file. `file` is how complaints name it, and a name of the product besides those that it
    /// gives itself; `csv` gives the text of a file that lies beside it. Nothing is added when there are complaints.
    pub fn add(&mut self, file: &str, text: &str, csv: &dyn Fn(&str) -> Option<String>) -> Result<(), Vec<Complaint>> {
        let loaded = read::product(file, text, csv)?;
        let mut to = Complaints::new(file, text);
        self.check_names(&loaded.product, &mut to, text);
        if to.is_empty() {
            let before = self.clone();
            let Loaded { product, of_machines } = loaded;
            self.insert(file, product);
            self.check_last(&of_machines, &mut to);
            if to.is_empty() {
                return Ok(());
            }
            *self = before;
        }
        Err(to.into_sorted())
    }

    /// Every product and family of machines, in the order in which they were added.
    pub fn products(&self) -> impl Iterator<Item = &Product> {
        self.products.iter().map(AsRef::as_ref)
    }

    /// The product with this name or alias; for the name of a machine, its family. The case of letters says nothing.
    pub fn find(&self, name: &str) -> Result<&Product, UnknownProduct> {
        self.subject(name).map(|subject| subject.product.as_ref())
    }

    /// Currencies of its prices.
    pub fn currencies(&self) -> BTreeSet<Currency> {
        self.products().flat_map(|product| &product.prices).map(|list| list.currency).collect()
    }

    /// Regions that prices are given for; prices that hold everywhere name none.
    pub fn regions(&self) -> BTreeSet<&str> {
        self.products().flat_map(|product| &product.prices).filter_map(|list| list.region.as_deref()).collect()
    }

    /// What a configuration offers under these terms.
    pub fn offer(&self, config: &Config, terms: &Terms) -> Result<Offer, Refusal> {
        let subject = self.subject(&config.volume.product)?;
        let volume = Some(&subject.product.name).filter(|_| subject.product.kind != ProductKind::Machine);
        let members = config.wraps.iter().map(|wrap| f64::from(wrap.members())).product();
        let context = Context { as_of: terms.as_of, machine: None, volume, members };
        let machine = config.machine.as_ref().map(|part| {
            let subject = self.subject(&part.product)?;
            if subject.product.kind != ProductKind::Machine {
                return Err(Refusal::NoMachine { product: part.product.clone() });
            }
            resolve(&subject, part, context)
        });
        let machine = machine.transpose()?;
        if let Some(machine) = &machine
            && subject.product.kind == ProductKind::Volume
            && provider(&subject.product.name) != provider(&machine.name)
        {
            let (product, machine) = (subject.product.name.to_string(), machine.name.to_string());
            return Err(Refusal::OtherProvider { product, machine });
        }
        let volume = resolve(&subject, &config.volume, Context { machine: machine.as_ref(), ..context })?;
        let mut ceilings: Vec<_> = ceilings(&volume, terms.as_of).collect();
        ceilings.extend(machine.iter().flat_map(|machine| crate::ceilings::ceilings(machine, terms.as_of)));
        Ok(Offer {
            config: Config {
                wraps: config.wraps.clone(),
                volume: volume.part(),
                machine: machine.as_ref().map(Resolved::part),
            },
            title: Arc::clone(&volume.product.title),
            capacity: capacity(&volume, &config.wraps),
            ceilings,
            options: volume.chosen(),
            machine_options: machine.as_ref().map_or_else(Vec::new, Resolved::chosen),
            volume,
            machine,
            terms: terms.clone(),
        })
    }

    /// What is wrong with a file, were it to stand for the product of its name.
    fn check(&self, file: &str, text: &str, csv: &dyn Fn(&str) -> Option<String>) -> Vec<Complaint> {
        match read::product(file, text, csv) {
            Ok(loaded) => self.without(&loaded.product).add(file, text, csv).err().unwrap_or_default(),
            Err(complaints) => complaints,
        }
    }

    fn subject(&self, name: &str) -> Result<Subject<'_>, UnknownProduct> {
        let lower = name.to_lowercase();
        let place = self.names.get(&lower).ok_or_else(|| UnknownProduct {
            name: name.to_owned(),
            nearest: nearest(name, self.known_names().iter().map(String::as_str)),
        })?;
        Ok(Subject { product: &self.products[place.product], row: place.machine })
    }

    /// Every name that a configuration may use, in order.
    fn known_names(&self) -> Vec<String> {
        let own = self.products().filter(|product| product.kind != ProductKind::Machine);
        let own =
            own.flat_map(|product| std::iter::once(product.name()).chain(product.aliases.iter().map(String::as_str)));
        own.map(str::to_owned).chain(self.products().flat_map(Product::machines)).collect()
    }

    fn insert(&mut self, file: &str, product: Product) {
        let names = Arc::make_mut(&mut self.names);
        let place = Place { product: self.products.len(), machine: None };
        if let Some(machines) = &product.machines {
            let prefix = product.name.to_lowercase();
            names.extend(machines.rows.iter().enumerate().map(|(row, machine)| {
                let name = format!("{prefix}/{}", machine.name.to_lowercase());
                (name, Place { machine: Some(row), ..place })
            }));
        } else {
            let own = std::iter::once(&*product.name).chain(product.aliases.iter().map(String::as_str));
            names.extend(own.chain([file]).map(|name| (name.to_lowercase(), place)));
        }
        self.products.push(Arc::new(product));
    }

    /// Without the product of this name, and without machines that `product` has too.
    fn without(&self, product: &Product) -> Self {
        let shares = |other: &Product| {
            let same_machine = || {
                let first = product.machines().next().map(|name| name.to_lowercase());
                first.is_some_and(|first| other.machines().any(|name| name.to_lowercase() == first))
            };
            other.name == product.name && (product.machines.is_none() || same_machine())
        };
        let gone: Vec<bool> = self.products().map(shares).collect();
        let mut kept = self.clone();
        Arc::make_mut(&mut kept.names).retain(|_, place| !gone[place.product]);
        kept
    }
}

/// Bytes that can be kept on the whole.
fn capacity(volume: &Resolved, wraps: &[Wrap]) -> Bytes {
    let product = &volume.product;
    if product.kind == ProductKind::Machine {
        return Bytes::ZERO;
    }
    let units = if product.option("size").is_some() { volume.size().unwrap_or(0.0) } else { 1.0 };
    let members: f64 = wraps.iter().map(|wrap| f64::from(wrap.data_members())).product();
    Bytes::new((units * product.unit.bytes as f64 * members).round() as u64)
}

/// What is wrong with the text of a product file, beside the built-in catalogue; empty when nothing. A built-in product
/// of the same name is left aside. `file` is how complaints name it; `csv` gives the text of a file that lies beside it.
pub fn check(file: &str, text: &str, csv: &dyn Fn(&str) -> Option<String>) -> Vec<Complaint> {
    Catalogue::built_in().check(file, text, csv)
}

/// What is wrong with the built-in catalogue; empty when nothing.
pub fn check_built_in() -> Vec<Complaint> {
    let catalogue = Catalogue::built_in();
    let check = |(file, text): &(&str, &str)| catalogue.check(file, text, &|csv| built_in::beside(file, csv));
    built_in::FILES.iter().flat_map(check).collect()
}

/// The paths of the built-in product files and of the tables beside them, below the top of the project.
pub fn built_in_files() -> impl Iterator<Item = &'static str> {
    built_in::FILES.iter().chain(built_in::TABLES).map(|(path, _)| *path)
}

/// The word before the slash.
fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}
