//! A product as described by its file: data with parsed arithmetic.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::cite::Cite;
use crate::date::Date;
use crate::decimal::Decimal;
use crate::deviation::Deviation;
use crate::durability::Durability;
use crate::expression::{Expression, Type, Value};
use crate::imported::ImportedPrices;
use crate::iscsi::IscsiRule;
use crate::managed::ManagedDatabase;
use crate::model_fit::ModelFit;
use crate::money::Currency;
use crate::rac::RacSupport;
use crate::service_level::ServiceLevel;
use crate::sharing::SharingMode;
use crate::translate::translate;
use crate::typical::TypicalRates;

/// Kind of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProductKind {
    /// A cloud volume.
    Volume,
    /// Machines for attached volumes.
    Machine,
    /// A storage array.
    Array,
    /// A drive.
    Drive,
    /// A server with drives inside.
    Server,
    /// A managed database with its storage.
    Managed,
}

impl ProductKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Volume, Self::Machine, Self::Array, Self::Drive, Self::Server, Self::Managed];

    /// Name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Machine => "machine",
            Self::Array => "array",
            Self::Drive => "drive",
            Self::Server => "server",
            Self::Managed => "managed",
        }
    }
}

/// A product, or a family of machines.
#[derive(Debug)]
pub struct Product {
    pub(crate) name: Arc<str>,
    pub(crate) aliases: Vec<String>,
    pub(crate) title: Arc<str>,
    pub(crate) kind: ProductKind,
    pub(crate) about: String,
    pub(crate) ranked: bool,
    /// Unit of capacity: the vendor's name, and its size.
    pub(crate) unit: Unit,
    /// Variables by number.
    pub(crate) variables: Vec<Variable>,
    pub(crate) options: Vec<OptionRule>,
    pub(crate) tiers: Option<Tiers>,
    pub(crate) managed: Option<ManagedDatabase>,
    pub(crate) machines: Option<Machines>,
    pub(crate) figures: Vec<NamedNumber>,
    pub(crate) limits: Vec<Limit>,
    pub(crate) latency: Vec<LatencyRule>,
    pub(crate) model: Option<ModelText>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) prices: Vec<PriceList>,
    /// Components that the vendor bills.
    pub(crate) billed: Vec<BilledPart>,
    pub(crate) billed_snapshot: Option<BilledSnapshot>,
    pub(crate) durability: Option<Durability>,
    pub(crate) service_levels: Vec<ServiceLevelRule>,
    pub(crate) sharing: Vec<SharingRule>,
    pub(crate) rac: Option<RacSupport>,
    pub(crate) iscsi: Option<IscsiRule>,
    pub(crate) deviations: Vec<Deviation>,
    pub(crate) typical: Vec<TypicalRule>,
    pub(crate) published: Vec<PublishedTable>,
    pub(crate) autotune: Vec<Autotune>,
    pub(crate) warnings: Vec<Warning>,
}

/// Unit of capacity of the vendor.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub word: Arc<str>,
    pub bytes: u64,
}

/// A variable of a product's arithmetic, identified by its index.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: Box<str>,
    pub holds: Type,
    pub origin: Origin,
}

/// The number of volumes: 1 without an array. A variable of every file.
pub(crate) const MEMBERS: usize = 0;
/// The product of the volumes: `gcp/pd-ssd`. A variable of every file; not given for a machine alone.
pub(crate) const VOLUME: usize = 1;

/// Origin of a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An option of the product.
    Option,
    /// A cell in the row of the tier or machine.
    Cell,
    /// A named number.
    Figure,
    /// The machine that the volume is attached to.
    Machine,
    /// The configuration: the number of volumes, or the name of their product.
    Configuration,
}

/// Period of validity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validity {
    pub from: Option<Date>,
    pub until: Option<Date>,
}

impl Validity {
    pub(crate) fn holds(self, as_of: Date) -> bool {
        as_of.within(self.from, self.until)
    }

    /// `from 2025-09`, `until 2026`, both, or `always`.
    pub(crate) fn words(self) -> String {
        let from = self.from.map(|from| format!("from {from}"));
        let until = self.until.map(|until| format!("until {until}"));
        let words: Vec<String> = from.into_iter().chain(until).collect();
        if words.is_empty() { "always".to_owned() } else { words.join(" ") }
    }
}

/// Definition of an option.
#[derive(Clone, Debug)]
pub(crate) struct OptionRule {
    pub name: Arc<str>,
    pub variable: usize,
    pub range: Range,
    pub default: Option<Expression>,
    /// Unit of a number that may be written as a size: its name, and its size.
    pub unit: Option<Unit>,
    /// Changes from or to this value or above require a detached volume.
    pub detached_from: Option<f64>,
    pub note: Arc<str>,
    pub cite: Arc<Cite>,
}

/// Value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// A number; a size in the vendor's capacity unit.
    Number(f64),
    /// A choice.
    Text(Arc<str>),
}

/// Domain of an option.
#[derive(Clone, Debug)]
pub(crate) enum Range {
    /// A number.
    Number(Bounds),
    /// A size in the vendor's unit.
    Size(Bounds, Vec<Value>),
    /// One of these values.
    Choice(Vec<Value>),
}

/// Minimum, maximum and step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    pub low: Option<Expression>,
    pub high: Option<Expression>,
    pub step: Option<Expression>,
}

/// Tiers, selected by size or name.
#[derive(Clone, Debug)]
pub(crate) struct Tiers {
    /// Variable of the first column; the others follow.
    pub first: usize,
    pub columns: Vec<String>,
    pub rows: Vec<TableRow>,
    pub cite: Arc<Cite>,
    /// Capacity of each row, if there is such a column.
    pub sizes: Option<Vec<f64>>,
    pub default: Option<usize>,
}

/// Machines of a family.
#[derive(Clone, Debug)]
pub(crate) struct Machines {
    /// Variable of the first column; the others follow.
    pub first: usize,
    pub rows: Vec<TableRow>,
    pub vcpus: Option<Expression>,
    /// Those that run all the time; fewer on burstable machines.
    pub sustained_vcpus: Option<Expression>,
    pub memory_gib: Option<Expression>,
    /// Of the network that carries the volumes.
    pub network_gbps: Option<Expression>,
    pub volumes: Option<Expression>,
    /// 1 for Arm processors.
    pub arm: Option<Expression>,
    /// True if a cache of the machine answers all reads.
    pub cached_reads: Option<Expression>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) struct TableRow {
    pub name: Arc<str>,
    pub cells: Vec<Value>,
}

/// A named number.
#[derive(Clone, Debug)]
pub(crate) struct NamedNumber {
    pub variable: usize,
    pub value: f64,
    pub unit: Box<str>,
    pub validity: Validity,
    pub cite: Arc<Cite>,
}

/// Location of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The volume, by its size and settings.
    Volume,
    /// The performance level or tier.
    Level,
    /// The attachment of a volume to a machine.
    Attachment,
    /// The machine.
    Machine,
    /// The guest's driver or queue.
    Guest,
    /// The network.
    Network,
    /// The media.
    Media,
    /// A controller of an array.
    Controller,
    /// The account.
    Account,
}

/// Operations counted by a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kinds {
    /// Reads and writes.
    All,
    /// Reads only.
    Read,
    /// Writes only.
    Write,
}

/// Order of addresses to which a limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Any.
    Any,
    /// Sequential only.
    Sequential,
    /// Random only.
    Random,
}

impl Scope {
    /// Name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Level => "level",
            Self::Attachment => "attachment",
            Self::Machine => "machine",
            Self::Guest => "guest",
            Self::Network => "network",
            Self::Media => "media",
            Self::Controller => "controller",
            Self::Account => "account",
        }
    }

    /// True for limits shared by the members of an array.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Machine | Self::Guest | Self::Network | Self::Controller | Self::Account)
    }
}

impl Kinds {
    /// Name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Access {
    /// Name in product files: `any`, `sequential`, `random`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }
}

/// Statement of the vendor about latency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyStatement {
    /// Text of the vendor.
    pub text: Arc<str>,
    /// True if the vendor states that the latency is worse than that of the model, by an unknown amount.
    pub is_worse: bool,
    /// Its source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// A statement about latency, and the offers to which it applies.
#[derive(Clone, Debug)]
pub(crate) struct LatencyRule {
    pub statement: LatencyStatement,
    /// All offers if `None`.
    pub when: Option<Expression>,
    pub validity: Validity,
}

/// A ceiling.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub name: Arc<str>,
    pub scope: Scope,
    pub when: Option<Expression>,
    pub iops: Option<Expression>,
    pub bytes: Option<Expression>,
    pub added: bool,
    pub kinds: Kinds,
    pub access: Access,
    pub unit: Option<Bytes>,
    pub credits: Option<Expression>,
    pub credit_bytes: Option<Expression>,
    pub burst: bool,
    pub in_model: bool,
    pub lift: Vec<Arc<str>>,
    pub validity: Validity,
    pub cite: Arc<Cite>,
}

/// A constraint on combinations.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub require: Expression,
    pub message: Arc<str>,
    /// A configuration that breaks the rule is offered with a doubt instead of refused.
    pub caution: bool,
    pub validity: Validity,
    pub cite: Arc<Cite>,
}

/// A service level, and the configurations that have it.
#[derive(Clone, Debug)]
pub(crate) struct ServiceLevelRule {
    pub level: ServiceLevel,
    pub when: Option<Expression>,
}

/// Rates of published drives, and the configurations that stand for them.
#[derive(Clone, Debug)]
pub(crate) struct TypicalRule {
    pub rates: TypicalRates,
    pub when: Option<Expression>,
}

/// How many machines may attach a volume at the same time.
#[derive(Clone, Debug)]
pub(crate) struct SharingRule {
    pub hosts: Expression,
    pub mode: SharingMode,
    pub when: Option<Expression>,
    pub cite: Arc<Cite>,
}

/// Stages with holes.
#[derive(Clone, Debug)]
pub(crate) struct ModelText {
    pub pieces: Vec<TemplatePiece>,
    /// Size of the pieces in which operations pass the limits, one after another; `None` for whole operations.
    pub turn: Option<Vec<TemplatePiece>>,
    /// Range and error, if the model was fitted to measurements.
    pub fit: Option<ModelFit>,
    pub doubts: Vec<String>,
    pub cite: Arc<Cite>,
    /// Byte offset of the stages in the file.
    pub at: usize,
}

impl ModelText {
    /// Caveats, with the doubts that apply, by their English text; range and error of a fit first.
    pub fn caveats(&self, applies: impl Fn(&str) -> bool) -> Vec<String> {
        self.fit
            .iter()
            .map(ModelFit::words)
            .chain(self.doubts.iter().filter(|doubt| applies(doubt)).map(|doubt| translate(doubt).to_owned()))
            .collect()
    }
}

/// Literal text or an expression.
#[derive(Clone, Debug)]
pub(crate) enum TemplatePiece {
    Text(String),
    Hole(Expression),
}

/// A list of prices.
#[derive(Clone, Debug)]
pub(crate) struct PriceList {
    pub currency: Currency,
    /// `None` for worldwide prices.
    pub region: Option<Arc<str>>,
    pub validity: Validity,
    pub taxes: Arc<str>,
    pub parts: Vec<PricePart>,
    pub snapshot: Option<SnapshotRate>,
    pub cite: Arc<Cite>,
    /// Imported rates, before which the parts of the file give way.
    pub imported: Option<Arc<ImportedPrices>>,
}

/// The price of stored snapshots.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotRate {
    pub amount: Decimal,
    pub per: Arc<str>,
    pub cite: Arc<Cite>,
}

impl PriceList {
    /// Name in messages: `USD in us-east-1 from 2025-09`.
    pub(crate) fn words(&self) -> String {
        let words = [
            ("in", self.region.as_deref().map(str::to_owned)),
            ("from", self.validity.from.map(|date| date.to_string())),
            ("until", self.validity.until.map(|date| date.to_string())),
        ];
        let given = words.into_iter().filter_map(|(word, value)| Some(format!(" {word} {}", value?)));
        std::iter::once(self.currency.to_string()).chain(given).collect()
    }
}

/// Interval of payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Often {
    /// Every month.
    Monthly,
    /// Once, at the beginning.
    Once,
}

/// A component of a price.
#[derive(Clone, Debug)]
pub(crate) struct PricePart {
    pub name: Arc<str>,
    pub per: Arc<str>,
    pub when: Option<Expression>,
    pub amount: Amount,
    pub cite: Arc<Cite>,
    /// Hours per month, if paid by the hour.
    pub hours: Option<Decimal>,
    pub often: Often,
}

impl PricePart {
    /// True if this configuration has the component. `None` if the configuration does not decide.
    pub(crate) fn applies(&self, values: &[Value]) -> Option<bool> {
        self.when.as_ref().map_or(Some(true), |when| when.truth(values))
    }
}

/// Cost of a component.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// Price per unit.
    Each(Decimal, Expression),
    /// Graduated prices per unit, each up to a quantity; the last is unlimited.
    Graduated(Vec<(Option<Decimal>, Decimal)>, Expression),
    /// So much for the tier, by its row.
    ByTier(Vec<Option<Decimal>>),
    /// The variable of a machine's column that holds the amount for each unit.
    ByColumn(usize, Expression),
    /// Price of the configuration, whatever its size.
    Flat(Decimal),
    /// Price for each GiB of the volume.
    PerGib(Decimal),
    /// It costs something, and the catalogue does not know what.
    Unknown,
}

/// A component of the bill, with its meters in the vendor's price list.
#[derive(Clone, Debug)]
pub(crate) struct BilledPart {
    /// Name, as that of the part in the price lists of the file.
    pub name: Arc<str>,
    /// The part of those lists that contains it, if that has another name.
    pub within: Option<Arc<str>>,
    /// Meters of rising ranges, each up to a quantity; a single one without limit for most components.
    pub meters: Vec<(Option<Decimal>, Meter)>,
    /// Unit without time; empty for a machine or disk itself.
    pub unit: Arc<str>,
    pub quantity: Expression,
    pub when: Option<Expression>,
}

/// Names of a meter, with expressions; the first in the list is used.
pub(crate) type Meter = Vec<Vec<TemplatePiece>>;

/// The meter of stored snapshots.
#[derive(Clone, Debug)]
pub(crate) struct BilledSnapshot {
    pub meter: String,
    pub unit: Arc<str>,
}

impl BilledPart {
    /// Name of the part in the price lists of the file.
    pub(crate) fn listed_name(&self) -> &Arc<str> {
        self.within.as_ref().unwrap_or(&self.name)
    }

    /// True if this configuration has the component. `None` if the configuration does not decide.
    pub(crate) fn applies(&self, values: &[Value]) -> Option<bool> {
        self.when.as_ref().map_or(Some(true), |when| when.truth(values))
    }
}

/// A published table that the limits must reproduce.
#[derive(Clone, Debug)]
pub(crate) struct PublishedTable {
    pub title: String,
    /// Byte offset and cells of each row.
    pub rows: Vec<(usize, Vec<Value>)>,
    pub columns: Vec<String>,
    /// Options common to all rows.
    pub set: Vec<(String, Value)>,
    pub tolerance: f64,
    /// Rows known to disagree, counted from 1.
    pub except: Vec<usize>,
    pub as_of: Date,
}

/// Parameters of an automatic function of the service.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Autotune {
    /// Name, such as `performance` or `detached`.
    pub name: String,
    /// Parameters by name, with units in the names.
    #[serde(serialize_with = "by_name")]
    #[schemars(with = "BTreeMap<String, OptionValue>")]
    pub parameters: Vec<(String, OptionValue)>,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

fn by_name<S: Serializer>(parameters: &[(String, OptionValue)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parameters.iter().map(|(name, value)| (name, value)))
}

/// An inconsistency in documents.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Warning {
    /// Description.
    pub text: String,
    /// Document.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

impl Product {
    /// Name, such as `aws/gp3`; for machines, the part before the slash.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Other names.
    pub fn aliases(&self) -> &[String] {
        &self.aliases
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Kind.
    pub const fn kind(&self) -> ProductKind {
        self.kind
    }

    /// Description in a sentence.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// False for products that rankings omit: boot volumes, discontinued products.
    pub const fn ranked(&self) -> bool {
        self.ranked
    }

    /// Unit of capacity: the vendor's name, and its size in bytes.
    pub fn capacity_unit(&self) -> (&str, Bytes) {
        (&self.unit.word, Bytes::new(self.unit.bytes))
    }

    /// Names of the tiers with their capacity in the vendor's unit, if known.
    pub fn tiers(&self) -> Vec<(&str, Option<f64>)> {
        let rows = self.tiers.iter().flat_map(|tiers| tiers.rows.iter().enumerate().map(move |row| (tiers, row)));
        rows.map(|(tiers, (index, row))| (&*row.name, tiers.sizes.as_ref().map(|sizes| sizes[index]))).collect()
    }

    /// Names of the machines of a family: `oci/VM.Standard.E4.Flex`.
    pub fn machines(&self) -> impl Iterator<Item = String> {
        let rows = self.machines.iter().flat_map(|machines| &machines.rows);
        rows.map(|row| format!("{}/{}", self.name, row.name))
    }

    /// The engines of a managed database, and who does what; `None` for other kinds.
    pub const fn managed(&self) -> Option<&ManagedDatabase> {
        self.managed.as_ref()
    }

    /// The annual failure rate of a volume; `None` when the vendor states none.
    pub const fn durability(&self) -> Option<&Durability> {
        self.durability.as_ref()
    }

    /// True when several machines can write to a volume at the same time, in some configuration.
    /// [`Offer::sharing`](crate::Offer::sharing) has the number of machines of a configuration.
    pub fn shareable(&self) -> bool {
        self.sharing.iter().any(|rule| rule.mode == SharingMode::ReadWrite)
    }

    /// Support of Oracle RAC on own machines with the volume; `None` if the catalogue has no statement.
    pub const fn rac(&self) -> Option<&RacSupport> {
        self.rac.as_ref()
    }

    /// Loads whose quote and simulation differ, each with the reason.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// Rates of the published drives that it stands for, whatever their condition.
    pub fn typical(&self) -> Vec<&TypicalRates> {
        self.typical.iter().map(|rule| &rule.rates).collect()
    }

    /// What the service does by itself.
    pub fn autotune(&self) -> &[Autotune] {
        &self.autotune
    }

    /// Inconsistencies in its documents.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// True if the catalogue has a timing model, not only limits.
    pub const fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// True if it has an option of this name.
    pub fn has_option(&self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// True if its size is an option.
    pub fn has_size(&self) -> bool {
        self.option("size").is_some()
    }

    /// The smallest size for sale that holds `capacity`, in the vendor's unit, rounded up to the step. `None` if the
    /// size is fixed, or `capacity` exceeds the largest size.
    pub fn smallest_size(&self, capacity: Bytes) -> Option<f64> {
        let (_, option) = self.option("size")?;
        let units = capacity.get() as f64 / self.unit.bytes as f64;
        if !option.choices().is_empty() {
            let sizes = option.choices().iter().filter_map(Value::as_number);
            return sizes.filter(|size| *size >= units).min_by(f64::total_cmp);
        }
        // Bounds that depend on other options are checked with an offer.
        let nothing = vec![Value::Absent; self.variables.len()];
        let number = |expression: Option<&Expression>| expression?.number(&nothing);
        let bounds = option.bounds()?;
        let (low, high) = (number(bounds.low.as_ref()), number(bounds.high.as_ref()));
        let step = number(bounds.step.as_ref()).filter(|step| *step > 0.0);
        let rounded = step.map_or(units, |step| (units / step).ceil() * step);
        let size = low.map_or(rounded, |low| rounded.max(low));
        match high {
            Some(high) if size > high => (units <= high).then_some(high),
            _ => Some(size),
        }
    }

    pub(crate) fn option(&self, name: &str) -> Option<(usize, &OptionRule)> {
        self.options.iter().enumerate().find(|(_, option)| &*option.name == name)
    }
}

impl OptionRule {
    pub(crate) fn choices(&self) -> &[Value] {
        match &self.range {
            Range::Choice(choices) | Range::Size(_, choices) => choices,
            Range::Number(_) => &[],
        }
    }

    pub(crate) const fn bounds(&self) -> Option<&Bounds> {
        match &self.range {
            Range::Number(bounds) | Range::Size(bounds, _) => Some(bounds),
            Range::Choice(_) => None,
        }
    }
}
