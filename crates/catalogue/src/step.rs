//! Transitions between offers of a product.

use std::sync::Arc;

use crate::cite::Cite;
use crate::config::read::same_place;
use crate::config::{Config, Part, Setting};
use crate::expression::Value;
use crate::number::{display, format_plain};
use crate::offer::Offer;
use crate::price::Price;
use crate::product::OptionValue;
use crate::resolve::Chosen;

/// A change that the vendor makes only on detached volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct DetachedOnly {
    /// Name of the option.
    pub option: Arc<str>,
    /// Threshold: changes from or to this value or above.
    pub from: f64,
    /// Source.
    pub cite: Arc<Cite>,
}

impl std::fmt::Display for DetachedOnly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { option, from, cite } = self;
        write!(f, "{option} goes from or to {} and more on a detached volume only [{cite}]", display(*from))
    }
}

impl Offer {
    /// Reason why a volume has to be detached to become `to`; `None` if it need not be. Ignores changes of the product.
    pub fn detached_only(&self, to: &Self) -> Option<DetachedOnly> {
        let (before, after) = (&self.volume, &to.volume);
        if before.product.name() != after.product.name() {
            return None;
        }
        let options = before.product.options.iter();
        options.filter_map(|option| Some((option, option.detached_from?))).find_map(|(option, from)| {
            let (a, b) = (&before.values[option.variable], &after.values[option.variable]);
            let above = |value: &Value| matches!(value, Value::Number(value) if *value >= from);
            let cite = Arc::clone(&option.cite);
            (a != b && (above(a) || above(b))).then(|| DetachedOnly { option: Arc::clone(&option.name), from, cite })
        })
    }

    /// The configuration with other settings of the volume: each replaces the setting of the same option, a tier the
    /// tier.
    pub fn with(&self, settings: &[Setting]) -> Config {
        let mut config = self.short();
        let tiers = self.product().tiers();
        let is_tier = |setting: &Setting| match setting {
            Setting::Word(word) => tiers.iter().any(|(tier, _)| tier.eq_ignore_ascii_case(word)),
            Setting::Option { name, .. } => name == "tier",
            Setting::Size { .. } => false,
        };
        if settings.iter().any(is_tier) {
            config.volume.settings.retain(|setting| !is_tier(setting));
        }
        config.volume.settings.retain(|old| !settings.iter().any(|new| same_place(old, new)));
        config.volume.settings.extend_from_slice(settings);
        config
    }

    /// The configuration with the smallest volumes that together hold `bytes`. `None` if the size is fixed, or too
    /// large.
    pub fn holding(&self, bytes: u64) -> Option<Config> {
        let members: u64 = self.config.wraps.iter().map(|wrap| u64::from(wrap.data_members())).product();
        let product = self.product();
        let size = product.smallest_size(plimsoll_units::Bytes::new(bytes.div_ceil(members.max(1))))?;
        Some(self.with(&[product.size_setting(size)]))
    }

    /// The option that is the level of the product: the first numeric option, other than the size, that raises a limit.
    pub fn level_option(&self) -> Option<&Chosen> {
        let limits = self.product().limits();
        let raises = |option: &Chosen| limits.iter().any(|limit| limit.lift.contains(&option.name));
        let is_number =
            |option: &&Chosen| option.choices.is_empty() && matches!(option.value, Some(OptionValue::Number(_)));
        self.options.iter().find(|option| &*option.name != "size" && is_number(option) && raises(option))
    }

    /// Default complete price for comparisons: in US dollars if there is such a list, else the first.
    pub fn usual_price(&self) -> Option<Price> {
        let mut prices = self.prices();
        prices.retain(Price::is_complete);
        let dollars = prices.iter().position(|price| price.monthly.currency.code() == "USD");
        (!prices.is_empty()).then(|| prices.swap_remove(dollars.unwrap_or(0)))
    }
}

impl crate::product::Product {
    /// A size in the vendor's unit, as a setting.
    pub(crate) fn size_setting(&self, size: f64) -> Setting {
        Setting::Size { number: format_plain(size), unit: self.unit.word.to_string() }
    }
}

impl Part {
    /// True if a size is among its settings.
    pub fn has_size(&self) -> bool {
        self.settings.iter().any(|setting| match setting {
            Setting::Size { .. } => true,
            Setting::Option { name, .. } => name == "size",
            Setting::Word(_) => false,
        })
    }
}
