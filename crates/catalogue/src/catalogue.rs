//! The catalogue: all known products, by name.

mod beside;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use plimsoll_units::Bytes;

use crate::built_in;
use crate::ceilings::ceilings;
use crate::commitment::Commitment;
use crate::complaint::{Complaint, Complaints};
use crate::config::{Config, Wrap};
use crate::date::Date;
use crate::imported::ImportedPrices;
use crate::money::Currency;
use crate::nearest::nearest;
use crate::offer::{Offer, PriceTerms};
use crate::own_price::OwnPrice;
use crate::price_list::Meters;
use crate::product::{Kinds, PriceList, Product, ProductKind};
use crate::product_text::ProductText;
use crate::read::{self, Loaded};
use crate::refusal::{ConfigRefusal, UnknownProduct};
use crate::resolve::{Context, Resolved, ResolvedSubject, resolve};

/// All products that are known. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    products: Vec<Arc<Product>>,
    /// All names in lower case: of products, aliases, files and machines.
    names: Arc<HashMap<String, NameTarget>>,
    /// The user's own prices by the full name of the product or machine.
    own_prices: Arc<BTreeMap<Arc<str>, Arc<[PriceList]>>>,
    /// Lists of imported prices by the name of the product or family of machines.
    imported: Arc<BTreeMap<Arc<str>, Arc<[PriceList]>>>,
    /// Commitment of all prices that have it.
    commitment: Commitment,
}

/// Target of a name.
#[derive(Clone, Copy, Debug)]
struct NameTarget {
    product: usize,
    machine: Option<usize>,
}

impl Catalogue {
    /// The built-in products.
    ///
    /// # Panics
    /// On an invalid built-in file, which tests exclude.
    pub fn built_in() -> Self {
        let mut catalogue = Self::default();
        for (file, text) in built_in::FILES {
            let beside = |name: &str| built_in::beside(file, name);
            match read::parse_product(&ProductText::read(file, text, &beside), &beside) {
                Ok(loaded) => catalogue.insert(file, loaded.product),
                Err(complaints) => panic!("built-in product file: {}", complaints[0]),
            }
        }
        catalogue
    }

    /// Adds a product file. `file` is its name in complaints, and an additional name of the product; `csv` reads a file
    /// in the same folder: a table, or the shared text of several products. Adds nothing if there are complaints.
    pub fn add(&mut self, file: &str, text: &str, csv: &dyn Fn(&str) -> Option<String>) -> Result<(), Vec<Complaint>> {
        let source = ProductText::read(file, text, csv);
        let loaded = read::parse_product(&source, csv)?;
        let mut to = Complaints::new(&source);
        self.check_names(&loaded.product, &mut to, &source.text);
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

    /// Replaces the prices of a product or machine by the user's own, in the currency of the terms by default.
    ///
    /// # Errors
    /// There is no product or machine with that name.
    pub fn set_price(&mut self, own: &OwnPrice, currency: Currency, as_of: Date) -> Result<(), UnknownProduct> {
        let name = self.subject(&own.product)?.name();
        Arc::make_mut(&mut self.own_prices).insert(name, Arc::from([own.list(currency, as_of)]));
        Ok(())
    }

    /// Adds imported prices: for each product of the vendor a list that goes before those of its file with the same region
    /// and currency. Components without an imported rate keep the price of the file.
    pub fn add_imported(&mut self, prices: ImportedPrices) {
        let prices = Arc::new(prices);
        let own = self.products.iter().filter(|product| provider(&product.name) == prices.vendor());
        let own: Vec<(Arc<str>, PriceList)> =
            own.filter_map(|product| Some((Arc::clone(&product.name), product.imported_list(&prices)?))).collect();
        let lists = Arc::make_mut(&mut self.imported);
        for (name, list) in own {
            let existing = lists.entry(name).or_insert_with(|| Arc::from([]));
            *existing = existing.iter().cloned().chain([list]).collect();
        }
    }

    /// Prices with this commitment where one is known, on demand otherwise.
    pub const fn set_commitment(&mut self, commitment: Commitment) {
        self.commitment = commitment;
    }

    /// Commitment of prices.
    pub const fn commitment(&self) -> Commitment {
        self.commitment
    }

    /// Meters of all products, to read price lists of their vendors.
    pub fn meters(&self) -> Meters {
        let mut meters = Meters::default();
        for product in self.products() {
            meters.by_vendor.entry(provider(&product.name).to_owned()).or_default().extend(product.meters());
        }
        meters
    }

    pub(crate) fn imported_lists(&self, product: &Product) -> impl Iterator<Item = &PriceList> {
        self.imported.get(&product.name).into_iter().flat_map(|lists| lists.iter())
    }

    /// All products and families of machines, in order of addition.
    pub fn products(&self) -> impl Iterator<Item = &Product> {
        self.products.iter().map(AsRef::as_ref)
    }

    /// The product with this name or alias; for a machine, its family. Case-insensitive.
    pub fn find(&self, name: &str) -> Result<&Product, UnknownProduct> {
        self.subject(name).map(|subject| subject.product.as_ref())
    }

    /// The machine with this name, or its family; of an unknown name, machines with similar ones.
    pub fn find_machine(&self, name: &str) -> Result<&Product, UnknownProduct> {
        let machines = || self.products().flat_map(Product::machines).collect::<Vec<_>>();
        let of = |unknown: UnknownProduct| UnknownProduct {
            nearest: nearest(name, machines().iter().map(String::as_str)),
            is_machine: true,
            ..unknown
        };
        self.find(name).map_err(of)
    }

    /// Currencies of all prices.
    pub fn currencies(&self) -> BTreeSet<Currency> {
        let own = self.own_prices.values().chain(self.imported.values()).flat_map(|lists| lists.iter());
        self.products().flat_map(|product| &product.prices).chain(own).map(|list| list.currency).collect()
    }

    /// Regions with prices; worldwide prices have none.
    pub fn regions(&self) -> BTreeSet<&str> {
        let imported = self.imported.values().flat_map(|lists| lists.iter());
        let lists = self.products().flat_map(|product| &product.prices).chain(imported);
        lists.filter_map(|list| list.region.as_deref()).collect()
    }

    /// What a configuration offers under these terms.
    pub fn offer(&self, config: &Config, terms: &PriceTerms) -> Result<Offer, ConfigRefusal> {
        let subject = self.subject(&config.volume.product)?;
        check_managed(subject.product, config)?;
        let volume = Some(&subject.product.name).filter(|_| subject.product.kind != ProductKind::Machine);
        let members = config.wraps.iter().map(|wrap| f64::from(wrap.members())).product();
        let context = Context { as_of: terms.as_of, machine: None, volume, members };
        let machine = config.machine.as_ref().map(|part| {
            let subject = self.subject(&part.product);
            let subject = subject.map_err(|unknown| UnknownProduct { is_machine: true, ..unknown })?;
            if subject.product.kind != ProductKind::Machine {
                return Err(ConfigRefusal::NoMachine { product: part.product.clone() });
            }
            resolve(&subject, part, context)
        });
        let mut machine = machine.transpose()?;
        if let Some(machine) = &machine
            && subject.product.kind == ProductKind::Volume
            && !machine.is_own_machine()
            && provider(&subject.product.name) != provider(&machine.name)
        {
            let (product, machine) = (subject.product.name.to_string(), machine.name.to_string());
            return Err(ConfigRefusal::OtherProvider { product, machine });
        }
        let mut volume = resolve(&subject, &config.volume, Context { machine: machine.as_ref(), ..context })?;
        for part in [&mut volume].into_iter().chain(&mut machine) {
            part.own_price = self.own_prices.get(&part.name).cloned();
            part.imported = self.imported.get(&part.product.name).cloned();
            part.commitment = self.commitment;
        }
        let mut ceilings: Vec<_> = ceilings(&volume, terms.as_of).collect();
        if machine.as_ref().is_some_and(Resolved::answers_reads) {
            // Reads do not reach the volume.
            ceilings.retain(|ceiling| ceiling.kinds != Kinds::Read);
            for ceiling in &mut ceilings {
                ceiling.kinds = Kinds::Write;
            }
        }
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

    /// Defects of a file, as a replacement of the product with its name.
    fn check(&self, file: &str, text: &str, csv: &dyn Fn(&str) -> Option<String>) -> Vec<Complaint> {
        match read::parse_product(&ProductText::read(file, text, csv), csv) {
            Ok(loaded) => self.without(&loaded.product).add(file, text, csv).err().unwrap_or_default(),
            Err(complaints) => complaints,
        }
    }

    fn subject(&self, name: &str) -> Result<ResolvedSubject<'_>, UnknownProduct> {
        let lower = name.to_lowercase();
        let place = self.names.get(&lower).ok_or_else(|| {
            let nearest = nearest(name, self.known_names().iter().map(String::as_str));
            let is_machine =
                |name: &String| self.names.get(&name.to_lowercase()).is_some_and(|near| near.machine.is_some());
            let is_machine = !nearest.is_empty() && nearest.iter().all(is_machine);
            UnknownProduct { name: name.to_owned(), nearest, is_machine }
        })?;
        Ok(ResolvedSubject { product: &self.products[place.product], row: place.machine })
    }

    /// All names that a configuration may use, in order.
    fn known_names(&self) -> Vec<String> {
        let own = self.products().filter(|product| product.kind != ProductKind::Machine);
        let own =
            own.flat_map(|product| std::iter::once(product.name()).chain(product.aliases.iter().map(String::as_str)));
        own.map(str::to_owned).chain(self.products().flat_map(Product::machines)).collect()
    }

    fn insert(&mut self, file: &str, product: Product) {
        let names = Arc::make_mut(&mut self.names);
        let place = NameTarget { product: self.products.len(), machine: None };
        if let Some(machines) = &product.machines {
            let prefix = product.name.to_lowercase();
            let word = shared_word(machines.rows.iter().map(|machine| &*machine.name));
            for (row, machine) in machines.rows.iter().enumerate() {
                let target = NameTarget { machine: Some(row), ..place };
                let name = machine.name.to_lowercase();
                names.entry(format!("{prefix}/{}", &name[word..])).or_insert(target);
                names.insert(format!("{prefix}/{name}"), target);
            }
        } else {
            let own = std::iter::once(&*product.name).chain(product.aliases.iter().map(String::as_str));
            names.extend(own.chain([file]).map(|name| (name.to_lowercase(), place)));
        }
        self.products.push(Arc::new(product));
    }

    /// A copy without the product of this name, and without machines that `product` also has.
    fn without(&self, product: &Product) -> Self {
        let shares = |other: &Product| {
            let same_machine = || {
                let first = product.machines().next().map(|name| name.to_lowercase());
                first.is_some_and(|first| other.machines().any(|name| name.to_lowercase() == first))
            };
            other.name == product.name && (product.machines.is_none() || same_machine())
        };
        let gone: Vec<bool> = self.products().map(shares).collect();
        let mut remaining = self.clone();
        Arc::make_mut(&mut remaining.names).retain(|_, place| !gone[place.product]);
        remaining
    }
}

/// Length of the first word of all names, with its underscore: `Standard_`, which people leave out.
fn shared_word<'n>(mut names: impl Iterator<Item = &'n str>) -> usize {
    let word = names.next().and_then(|name| name.split_once('_')).map_or("", |(word, _)| word);
    let is_shared = !word.is_empty() && names.all(|name| name.split_once('_').is_some_and(|(other, _)| other == word));
    if is_shared { word.len() + 1 } else { 0 }
}

/// Refuses arrays and caches of a managed database, and its attachment to a machine.
fn check_managed(product: &Product, config: &Config) -> Result<(), ConfigRefusal> {
    let usage = match (&config.machine, config.wraps.is_empty()) {
        (Some(_), _) => "attached to a machine",
        (None, false) => "striped, mirrored or cached",
        (None, true) => return Ok(()),
    };
    if product.kind != ProductKind::Managed {
        return Ok(());
    }
    let tiers = product.tiers.iter().flat_map(|tiers| &tiers.rows);
    let class = tiers.map(|row| row.name.to_string()).next();
    Err(ConfigRefusal::Managed { product: product.name.to_string(), usage, class })
}

/// Usable bytes of the whole configuration.
fn capacity(volume: &Resolved, wraps: &[Wrap]) -> Bytes {
    let product = &volume.product;
    if product.kind == ProductKind::Machine {
        return Bytes::ZERO;
    }
    let members: f64 = wraps.iter().map(|wrap| f64::from(wrap.data_members())).product();
    Bytes::new((volume.size_bytes() * members).round() as u64)
}

/// Defects of a product file, checked together with the built-in catalogue; empty if none. A built-in product of the
/// same name is replaced. `file` is its name in complaints; `csv` reads a file in the same folder.
pub fn check_product(file: &str, text: &str, csv: &dyn Fn(&str) -> Option<String>) -> Vec<Complaint> {
    Catalogue::built_in().check(file, text, csv)
}

/// Defects of the built-in catalogue; empty if none.
pub fn check_built_in() -> Vec<Complaint> {
    let catalogue = Catalogue::built_in();
    let check = |(file, text): &(&str, &str)| catalogue.check(file, text, &|csv| built_in::beside(file, csv));
    built_in::FILES.iter().flat_map(check).collect()
}

/// Paths of the built-in product files and their tables, relative to the project.
pub fn built_in_files() -> impl Iterator<Item = &'static str> {
    built_in::FILES.iter().chain(built_in::TABLES).map(|(path, _)| *path)
}

/// The part before the slash.
pub(crate) fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}
