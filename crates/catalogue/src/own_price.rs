//! Prices that a user states for products, such as a quotation for an array.

use std::str::FromStr;
use std::sync::Arc;

use plimsoll_language::{label, say};
use thiserror::Error;

use crate::amount::{AmountError, parse_amount};
use crate::cite::{Cite, Status};
use crate::date::Date;
use crate::decimal::Decimal;
use crate::money::Currency;
use crate::product::{Amount, Often, PriceList, PricePart, Validity};

/// A monthly price of a product or machine, which replaces those of its file: `netapp/aff-c800=9500 USD` or
/// `netapp/aff-c800=0.12 USD/GiB`.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnPrice {
    /// Name of the product or machine.
    pub product: String,
    amount: Decimal,
    /// `None` for the currency of the terms.
    currency: Option<Currency>,
    per_gib: bool,
}

/// A text that is not an [`OwnPrice`].
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OwnPriceError {
    /// No product, no amount, or a negative amount.
    #[error(
        "not a price: write PRODUCT=AMOUNT a month, such as 'netapp/aff-c800=9500 USD' or 'netapp/aff-c800=0.12 USD/GiB'"
    )]
    Malformed,
    /// An amount that cannot be read.
    #[error("{0}")]
    Amount(AmountError),
}

impl FromStr for OwnPrice {
    type Err = OwnPriceError;

    fn from_str(text: &str) -> Result<Self, OwnPriceError> {
        let (product, price) = text.rsplit_once('=').ok_or(OwnPriceError::Malformed)?;
        let price = price.trim();
        let (price, per_gib) = match price.rsplit_once('/') {
            Some((price, unit)) if unit.trim().eq_ignore_ascii_case("gib") => (price.trim(), true),
            Some(_) => return Err(OwnPriceError::Malformed),
            None => (price, false),
        };
        let (amount, currency) = parse_amount(price).map_err(OwnPriceError::Amount)?;
        if amount.is_negative() || product.trim().is_empty() {
            return Err(OwnPriceError::Malformed);
        }
        Ok(Self { product: product.trim().to_owned(), amount, currency, per_gib })
    }
}

impl OwnPrice {
    /// The stated currency; `None` for that of the terms.
    pub const fn currency(&self) -> Option<Currency> {
        self.currency
    }

    /// `taken as USD, a total for any capacity`.
    fn describe_assumptions(&self, default_currency: Currency) -> String {
        let currency = self.currency.is_none().then(|| say!("taken as {default_currency}"));
        let total = (!self.per_gib).then(|| label!("a total for any capacity").to_owned());
        currency.into_iter().chain(total).collect::<Vec<_>>().join(", ")
    }

    /// The price as the only list of the product, in the currency of the terms by default.
    pub(crate) fn list(&self, default_currency: Currency, as_of: Date) -> PriceList {
        let cite = Arc::new(Cite {
            title: label!("your own price").to_owned(),
            url: String::new(),
            date: as_of.to_string(),
            status: Status::Own,
            note: self.describe_assumptions(default_currency),
        });
        let (per, amount) = if self.per_gib {
            ("GiB-month", Amount::PerGib(self.amount))
        } else {
            ("month", Amount::Flat(self.amount))
        };
        PriceList {
            currency: self.currency.unwrap_or(default_currency),
            region: None,
            validity: Validity::default(),
            taxes: "".into(),
            parts: vec![PricePart {
                name: "own price".into(),
                per: per.into(),
                when: None,
                amount,
                cite: Arc::clone(&cite),
                hours: None,
                often: Often::Monthly,
            }],
            snapshot: None,
            cite,
            imported: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_prices_are_parsed() {
        for (text, expected) in [
            ("netapp/aff-c800=9500", Some(("netapp/aff-c800", None, false))),
            ("netapp/aff-c800 = 9500.50 usd", Some(("netapp/aff-c800", Some("USD"), false))),
            ("aws/gp3=0.07 EUR/GiB", Some(("aws/gp3", Some("EUR"), true))),
            ("mine.toml=0.07/GiB", Some(("mine.toml", None, true))),
            ("netapp/aff-a800=2000000JPY", Some(("netapp/aff-a800", Some("JPY"), false))),
            ("netapp/aff-a800=0.12usd/GiB", Some(("netapp/aff-a800", Some("USD"), true))),
            ("netapp/aff-a800=¥1,450,000", Some(("netapp/aff-a800", Some("JPY"), false))),
            ("netapp/aff-a800=$0.08/GiB", Some(("netapp/aff-a800", Some("USD"), true))),
            ("netapp/aff-a800=1,450", None),
            ("netapp/aff-a800=12 XYZ", None),
            ("netapp/aff-a800=1e6", None),
            ("aws/gp3", None),
            ("aws/gp3=-1", None),
            ("aws/gp3=7/TB", None),
            ("=7", None),
            ("aws/gp3=much", None),
        ] {
            let parsed = text.parse::<OwnPrice>().ok();
            let parts = parsed
                .as_ref()
                .map(|own| (own.product.as_str(), own.currency.as_ref().map(Currency::code), own.per_gib));
            assert_eq!(parts, expected, "{text}");
        }
    }
}
