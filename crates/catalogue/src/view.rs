//! A product for display: its data as written, with expressions as text.

use std::sync::Arc;

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;
use crate::expression::{Expression, Value};
use crate::product::{
    Access, Amount, Kinds, LatencyStatement, Limit, NamedNumber, Often, OptionRule, PriceList, PricePart, Product,
    Rule, Scope, SharingRule, TemplatePiece,
};
use crate::service_level::ServiceLevel;
use crate::sharing::SharingMode;

/// A named number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NamedFigure {
    /// Name.
    pub name: String,
    /// Value, in `unit`.
    pub value: f64,
    /// Unit; may be empty.
    pub unit: String,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// An option.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OptionView {
    /// Name.
    pub name: Arc<str>,
    /// Minimum; empty if unbounded.
    pub low: String,
    /// Maximum; empty if unbounded.
    pub high: String,
    /// Step; empty if none.
    pub step: String,
    /// Default; empty if none.
    pub default: String,
    /// Choices; empty for other options.
    pub choices: Vec<String>,
    /// Threshold: changes from or to this value or above require a detached volume.
    pub detached_from: Option<f64>,
    /// Remark of the product file; may be empty.
    pub note: Arc<str>,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// A ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LimitView {
    /// Name in messages.
    pub name: Arc<str>,
    /// Location.
    pub scope: Scope,
    /// Condition; empty if none.
    pub when: String,
    /// Operations per second; empty if not counted.
    pub iops: String,
    /// Bytes per second; empty if not counted.
    #[serde(rename = "bytes_per_second")]
    pub bytes: String,
    /// Operations in its bucket; empty if none.
    #[serde(rename = "credit_operations")]
    pub credits: String,
    /// Bytes in its bucket; empty if none.
    pub credit_bytes: String,
    /// Operations that it counts.
    pub kinds: Kinds,
    /// Order of addresses to which it applies.
    pub access: Access,
    /// Size of a unit: an operation counts once per unit begun.
    #[serde(rename = "unit_bytes")]
    pub unit: Option<Bytes>,
    /// Whether it is the peak while credits last.
    pub burst: bool,
    /// Whether the model of the product includes it.
    pub in_model: bool,
    /// An operation takes the time of both rates, one after the other.
    pub added: bool,
    /// Ways to raise it, best first.
    #[serde(rename = "raised_by")]
    pub lift: Vec<Arc<str>>,
    /// Validity: `from 2025-09 until 2026`; empty for always.
    pub validity: String,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// A price list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceView {
    /// As in [`Product::price_lists`].
    pub list: String,
    /// Statement about taxes; may be empty.
    pub taxes: Arc<str>,
    /// Its parts.
    pub parts: Vec<PartView>,
    /// The price of stored snapshots; `None` when the list has none.
    #[serde(rename = "snapshots")]
    pub snapshot: Option<SnapshotView>,
    /// Where it was read.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// The price of stored snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SnapshotView {
    /// For each unit: `0.05`.
    pub amount: String,
    /// The vendor's unit.
    pub per: Arc<str>,
    /// Where it was read.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// How many machines can attach a volume at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SharingView {
    /// Machines, at most: `16`.
    pub hosts: String,
    /// Their access.
    pub mode: SharingMode,
    /// Its condition; empty when there is none.
    pub when: String,
    /// Where it was read.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// A component of a price.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PartView {
    /// Name.
    pub name: Arc<str>,
    /// Unit of the vendor.
    pub per: Arc<str>,
    /// `0.08`; `0.065 to 32000, then 0.03185`; `P4 5.28, P6 10.21`; `not known`.
    pub amount: String,
    /// Number of units; empty if the amount is by tier.
    pub quantity: String,
    /// Condition; empty if none.
    pub when: String,
    /// Interval of payment.
    #[serde(rename = "paid")]
    pub often: Often,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// Stages of the model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelView {
    /// In the notation of models, with expressions in braces.
    pub stages: String,
    /// Size of the pieces in which operations pass the limits before the stages, in turn; null for whole operations.
    pub pieces: Option<String>,
    /// Caveats.
    pub doubts: Vec<String>,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

/// A constraint on combinations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RuleView {
    /// Condition.
    pub require: String,
    /// The same in words.
    pub message: Arc<str>,
    /// A configuration that breaks it is offered with a doubt instead of refused.
    pub caution: bool,
    /// Where it was read.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

impl Product {
    /// Options in the order of the file.
    pub fn options(&self) -> Vec<OptionView> {
        self.options.iter().map(OptionRule::view).collect()
    }

    /// Ceilings.
    pub fn limits(&self) -> Vec<LimitView> {
        self.limits.iter().map(Limit::view).collect()
    }

    /// Constraints on combinations.
    pub fn rules(&self) -> Vec<RuleView> {
        let view = |rule: &Rule| RuleView {
            require: rule.require.text().to_owned(),
            message: Arc::clone(&rule.message),
            caution: rule.caution,
            cite: Arc::clone(&rule.cite),
        };
        self.rules.iter().map(view).collect()
    }

    /// Statements of the vendor about latency, at any time.
    pub fn latency(&self) -> Vec<LatencyStatement> {
        self.latency.iter().map(|rule| rule.statement.clone()).collect()
    }

    /// Columns and cells of the tiers; empty cells are unknown.
    pub fn tier_table(&self) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        let tiers = self.tiers.as_ref()?;
        let words = |cell: &Value| if *cell == Value::Absent { String::new() } else { cell.words() };
        let rows = tiers.rows.iter().map(|row| row.cells.iter().map(words).collect());
        Some((tiers.columns.clone(), rows.collect()))
    }

    /// Names of the price lists: `USD in us-east-1 from 2026-09`.
    pub fn price_lists(&self) -> Vec<String> {
        self.prices.iter().map(PriceList::words).collect()
    }

    /// Price lists.
    pub fn price_views(&self) -> Vec<PriceView> {
        let view = |list: &PriceList| PriceView {
            list: list.words(),
            taxes: Arc::clone(&list.taxes),
            parts: list.parts.iter().map(|part| self.part_view(part)).collect(),
            snapshot: list.snapshot.as_ref().map(|rate| SnapshotView {
                amount: rate.amount.to_string(),
                per: Arc::clone(&rate.per),
                cite: Arc::clone(&rate.cite),
            }),
            cite: Arc::clone(&list.cite),
        };
        self.prices.iter().map(view).collect()
    }

    /// Service levels, whatever their condition.
    pub fn service_levels(&self) -> Vec<ServiceLevel> {
        self.service_levels.iter().map(|rule| rule.level.clone()).collect()
    }

    /// How many machines can attach a volume: the first entry whose condition holds.
    pub fn sharing_views(&self) -> Vec<SharingView> {
        let view = |rule: &SharingRule| SharingView {
            hosts: rule.hosts.text().to_owned(),
            mode: rule.mode,
            when: written(rule.when.as_ref()),
            cite: Arc::clone(&rule.cite),
        };
        self.sharing.iter().map(view).collect()
    }

    /// The stages that answer, when they are known.
    pub fn model_view(&self) -> Option<ModelView> {
        let model = self.model.as_ref()?;
        let piece = |piece: &TemplatePiece| match piece {
            TemplatePiece::Text(text) => text.clone(),
            TemplatePiece::Hole(expression) => format!("{{{}}}", expression.text()),
        };
        let stages = model.pieces.iter().map(piece).collect();
        let pieces = model.turn.as_ref().map(|size| size.iter().map(piece).collect());
        Some(ModelView { stages, pieces, doubts: model.caveats(|_| true), cite: Arc::clone(&model.cite) })
    }

    /// Named numbers.
    pub fn figures(&self) -> Vec<NamedFigure> {
        let named = |figure: &NamedNumber| NamedFigure {
            name: self.variables[figure.variable].name.to_string(),
            value: figure.value,
            unit: figure.unit.to_string(),
            cite: Arc::clone(&figure.cite),
        };
        self.figures.iter().map(named).collect()
    }

    /// Sources of options, tier table, figures, ceilings, latencies, rules, price components and the model.
    pub fn cites(&self) -> Vec<Arc<Cite>> {
        let mut cites: Vec<&Arc<Cite>> = self.options.iter().map(|option| &option.cite).collect();
        cites.extend(self.tiers.iter().map(|tiers| &tiers.cite));
        cites.extend(self.figures.iter().map(|figure| &figure.cite));
        cites.extend(self.limits.iter().map(|limit| &limit.cite));
        cites.extend(self.latency.iter().map(|rule| &rule.statement.cite));
        cites.extend(self.model.iter().map(|model| &model.cite));
        cites.extend(self.rules.iter().map(|rule| &rule.cite));
        cites.extend(self.managed.iter().map(|managed| &managed.cite));
        cites.extend(self.durability.iter().map(|durability| &durability.cite));
        cites.extend(self.service_levels.iter().map(|rule| &rule.level.cite));
        cites.extend(self.sharing.iter().map(|rule| &rule.cite));
        cites.extend(self.rac.iter().map(|rac| &rac.cite));
        cites.extend(self.iscsi.iter().map(|rule| &rule.cite));
        cites.extend(self.typical.iter().flat_map(|rule| &rule.rates.drives).map(|drive| &drive.cite));
        cites.extend(self.prices.iter().flat_map(|list| &list.parts).map(|part| &part.cite));
        cites.into_iter().map(Arc::clone).collect()
    }

    fn part_view(&self, part: &PricePart) -> PartView {
        let (amount, quantity) = match &part.amount {
            Amount::Each(amount, quantity) => (amount.to_string(), quantity.text().to_owned()),
            Amount::Graduated(steps, quantity) => {
                let step = |(upto, amount): &(Option<_>, _)| match upto {
                    Some(upto) => format!("{amount} to {upto}"),
                    None => format!("then {amount}"),
                };
                (steps.iter().map(step).collect::<Vec<_>>().join(", "), quantity.text().to_owned())
            }
            Amount::Flat(amount) => (amount.to_string(), "1".to_owned()),
            Amount::PerGib(amount) => (amount.to_string(), "GiB".to_owned()),
            Amount::Unknown => ("not known".to_owned(), String::new()),
            Amount::ByColumn(column, quantity) => {
                (format!("column {}", self.variables[*column].name), quantity.text().to_owned())
            }
            Amount::ByTier(amounts) => {
                let rows = self.tiers.iter().flat_map(|tiers| &tiers.rows);
                let priced = rows.zip(amounts).filter_map(|(row, amount)| Some(format!("{} {}", row.name, (*amount)?)));
                (priced.collect::<Vec<_>>().join(", "), String::new())
            }
        };
        PartView {
            name: Arc::clone(&part.name),
            per: Arc::clone(&part.per),
            amount,
            quantity,
            when: written(part.when.as_ref()),
            often: part.often,
            cite: Arc::clone(&part.cite),
        }
    }
}

impl OptionRule {
    fn view(&self) -> OptionView {
        let bounds = self.bounds();
        OptionView {
            name: Arc::clone(&self.name),
            low: written(bounds.and_then(|bounds| bounds.low.as_ref())),
            high: written(bounds.and_then(|bounds| bounds.high.as_ref())),
            step: written(bounds.and_then(|bounds| bounds.step.as_ref())),
            default: written(self.default.as_ref()),
            choices: self.choices().iter().map(Value::words).collect(),
            detached_from: self.detached_from,
            note: Arc::clone(&self.note),
            cite: Arc::clone(&self.cite),
        }
    }
}

impl Limit {
    fn view(&self) -> LimitView {
        let always = self.validity.from.is_none() && self.validity.until.is_none();
        LimitView {
            name: Arc::clone(&self.name),
            scope: self.scope,
            when: written(self.when.as_ref()),
            iops: written(self.iops.as_ref()),
            bytes: written(self.bytes.as_ref()),
            credits: written(self.credits.as_ref()),
            credit_bytes: written(self.credit_bytes.as_ref()),
            kinds: self.kinds,
            access: self.access,
            unit: self.unit,
            burst: self.burst,
            added: self.added,
            in_model: self.in_model,
            lift: self.lift.clone(),
            validity: if always { String::new() } else { self.validity.words() },
            cite: Arc::clone(&self.cite),
        }
    }
}

/// Source text of an expression; empty if absent.
fn written(expression: Option<&Expression>) -> String {
    expression.map_or_else(String::new, |expression| expression.text().to_owned())
}
