//! Storage products and prices as data: limits, costs and timing models of configurations; and the storage requirements
//! of products that run on them.
//!
//! Product files become a [`Catalogue`]; a [`Config`] and [`PriceTerms`] become an [`Offer`] or a [`ConfigRefusal`]. Products are
//! data, not code. Pure: no clock, file or thread.
//!
//! # Example
//!
//! An hour of a product's model under a load, in virtual time. A model never waits: the caller passes the time, here that
//! of the model's next event.
//!
//! ```
#![deny(missing_docs)]
#![doc = include_str!("../examples/gp2_credits.rs")]
//! ```

mod amount;
mod ask;
mod billing;
mod built_in;
mod catalogue;
mod ceilings;
mod chain;
mod cite;
mod commitment;
mod complaint;
mod config;
mod coverage;
mod credits;
mod date;
mod decimal;
mod deviation;
mod doubt;
mod durability;
mod expression;
mod imported;
mod iscsi;
mod like;
mod machine;
mod managed;
mod model_fit;
mod money;
mod nearest;
mod number;
mod offer;
mod own_price;
mod price;
mod price_list;
mod product;
mod product_text;
mod rac;
mod read;
mod refusal;
mod requirement;
mod resolve;
mod service_level;
mod sharing;
mod standing;
mod step;
mod translate;
mod typical;
mod view;

pub use amount::{AmountError, parse_money, parse_sum};
pub use ask::Ask;
pub use catalogue::{Catalogue, built_in_files, check_built_in, check_product};
pub use chain::NoModel;
pub use cite::{Cite, Status};
pub use commitment::{Commitment, CommitmentError};
pub use complaint::Complaint;
pub use config::{Config, ConfigError, Part, Setting, Wrap};
pub use coverage::{PriceChange, PriceCoverage};
pub use credits::CreditModels;
pub use date::{Date, DateError};
pub use deviation::{COMPARED_BLOCKS, Deviation, SaturatingLoad};
pub use doubt::translate_doubt;
pub use durability::Durability;
pub use imported::{ImportedPrices, ImportedPricesError};
pub use iscsi::IscsiFacts;
pub use like::{Like, NoLike};
pub use machine::MachineShape;
pub use managed::{DatabaseEngine, ManagedDatabase};
pub use model_fit::ModelFit;
pub use money::{Currency, CurrencyError, Money};
pub use nearest::{nearest, one_of};
pub use offer::{Ceiling, Doubt, Offer, PriceTerms, is_about_size_sharing};
pub use own_price::{OwnPrice, OwnPriceError};
pub use plimsoll_model::Layout;
pub use price::{Charge, ChargeTerm, MAX_PRICE_AGE_DAYS, NoPrice, Price, SnapshotPrice};
pub use price_list::{Meters, PriceListError, PriceListFile, PriceListForm, PriceListImport, read_price_list};
pub use product::{
    Access, Autotune, Kinds, LatencyStatement, Often, OptionValue, Product, ProductKind, Scope, Warning,
};
pub use rac::{RacStatus, RacSupport};
pub use read::parse_requirement;
pub use refusal::{ConfigRefusal, UnknownProduct};
pub use requirement::{
    JudgedCondition, ObservedFigure, RequiredFigure, RequiredOps, RequiredUnit, Requirement, RequirementCondition,
    RequirementVerdict, RunValidity, TimeStatistic, TimedOps, Undecided, UnknownRequirement, built_in_requirements,
    judge_all, needs_another_run,
};
pub use resolve::{Chosen, ChosenBy};
pub use service_level::{ServiceLevel, ServiceSubject};
pub use sharing::{Sharing, SharingMode};
pub use standing::{Bound, Bucket, Counts, Peak, Standing};
pub use step::DetachedOnly;
pub use translate::translate;
pub use typical::{PublishedDrive, TypicalRange, TypicalRates};
pub use view::{
    LimitView, ModelView, NamedFigure, OptionView, PartView, PriceView, RuleView, SharingView, SnapshotView,
};
