//! Exact amounts of money with a currency, without exchange rates.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use thiserror::Error;

use crate::number::grouped;

/// ISO 4217 currency code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// Text that is not a currency.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not a currency of ISO 4217: write its code, such as USD or JPY")]
pub struct CurrencyError(pub String);

/// Codes of ISO 4217 that are money in use, and those that a state of the eurozone or an island replaced within the last two
/// years: without funds, metals and test codes.
const CODES: &str = "\
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD \
    BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLF CLP CNY COP CRC CUP \
    CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD \
    GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES \
    KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA \
    MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD \
    OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG \
    SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY \
    TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF \
    YER ZAR ZMW ZWG";

/// Currencies without a minor unit in use.
const WHOLE: [&str; 5] = ["JPY", "KRW", "CLP", "VND", "ISK"];

impl Currency {
    /// Three capital letters.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).expect("made of ASCII letters")
    }

    /// Usual number of decimals of prices.
    pub fn decimals(self) -> usize {
        if WHOLE.contains(&self.code()) { 0 } else { 2 }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    /// A code of ISO 4217, in any case.
    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        let letters: Option<[u8; 3]> = text.as_bytes().try_into().ok();
        let code = letters.filter(|letters| letters.iter().all(u8::is_ascii_alphabetic));
        code.map(|code| Self(code.map(|letter| letter.to_ascii_uppercase())))
            .filter(|own| CODES.split_ascii_whitespace().any(|code| code == own.code()))
            .ok_or_else(|| CurrencyError(text.to_owned()))
    }
}

/// An amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "MoneyText")]
pub struct Money {
    /// Millionths of a unit of the currency.
    pub millionths: i128,
    /// The currency.
    pub currency: Currency,
}

/// An amount of money.
#[derive(Serialize, JsonSchema)]
struct MoneyText {
    /// Decimal text, exact to a millionth: `86.791185`.
    amount: String,
    /// ISO 4217 code of the currency.
    currency: String,
}

impl From<Money> for MoneyText {
    fn from(money: Money) -> Self {
        Self { amount: money.exact(), currency: money.currency.code().to_owned() }
    }
}

impl JsonSchema for Money {
    fn schema_name() -> Cow<'static, str> {
        "Money".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        MoneyText::json_schema(generator)
    }
}

impl Money {
    /// Sum; `None` if the currencies differ or the sum overflows.
    pub fn plus(self, other: Self) -> Option<Self> {
        let millionths = self.millionths.checked_add(other.millionths)?;
        (self.currency == other.currency).then_some(Self { millionths, ..self })
    }

    /// Amount to a millionth, with at least the currency's decimals, without grouping and currency: `86.791185`.
    pub fn exact(self) -> String {
        let (integer, remainder) =
            (self.millionths.unsigned_abs() / 1_000_000, self.millionths.unsigned_abs() % 1_000_000);
        let fraction = format!("{remainder:06}");
        let needed = fraction.trim_end_matches('0').len();
        let least = if needed > 0 { 2 } else { self.currency.decimals() };
        let fraction = &fraction[..needed.max(least)];
        let sign = if self.millionths < 0 { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{integer}{point}{fraction}")
    }

    /// Amount in units of the currency, only for charts and ratios.
    pub fn as_f64(self) -> f64 {
        self.millionths as f64 / 1e6
    }
}

/// Grouped thousands, rounded to the currency's decimals: `1,234.50 USD`, `659 JPY`. Amounts below ten minor units keep
/// three significant digits: `0.00425 USD`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.millionths.unsigned_abs();
        let usual = self.currency.decimals();
        let decimals = if exact < 10_u128.pow(7 - usual as u32) {
            let digits = exact.checked_ilog10().map_or(0, |log| log as usize + 1);
            (9 - digits).clamp(usual, 6)
        } else {
            usual
        };
        let unit = 10_u128.pow(6 - decimals as u32);
        let rounded = (exact + unit / 2) / unit * unit;
        let (total, rest) = (rounded / 1_000_000, rounded % 1_000_000);
        let fraction = format!("{rest:06}");
        let fraction = &fraction[..fraction.trim_end_matches('0').len().max(usual)];
        let sign = if self.millionths < 0 { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{sign}{}{point}{fraction} {}", grouped(&total.to_string()), self.currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(millionths: i128, code: &str, displayed: &str) {
        assert_eq!(Money { millionths, currency: code.parse().unwrap() }.to_string(), displayed);
    }

    #[test]
    fn sums_are_shown_in_the_digits_of_their_currency() {
        check(86_791_185, "USD", "86.79 USD");
        check(13_461_600_000, "JPY", "13,462 JPY");
        check(658_750_000, "JPY", "659 JPY");
        check(1_234_500_000, "usd", "1,234.50 USD");
        check(1_234_567_000_001, "USD", "1,234,567.00 USD");
        check(-1_000_000, "EUR", "-1.00 EUR");
        check(0, "USD", "0.00 USD");
        check(0, "JPY", "0 JPY");
        check(999_999_999_999, "JPY", "1,000,000 JPY");
        check(99_999, "USD", "0.10 USD");
        check(4_251, "USD", "0.00425 USD");
        check(2_635_000, "JPY", "2.64 JPY");
        check(1, "USD", "0.000001 USD");
    }

    #[test]
    fn exact_amounts_keep_every_digit() {
        let exact = |millionths, code: &str| Money { millionths, currency: code.parse().unwrap() }.exact();
        assert_eq!(exact(86_791_185, "USD"), "86.791185");
        assert_eq!(exact(1_234_500_000, "USD"), "1234.50");
        assert_eq!(exact(-658_750_000, "JPY"), "-658.75");
        assert_eq!(exact(659_000_000, "JPY"), "659");
    }

    #[test]
    fn currencies_are_three_letters_and_do_not_mix() {
        for text in ["", "US", "USDX", "U$D", "¥"] {
            assert!(text.parse::<Currency>().is_err(), "{text:?}");
        }
        let one = |code: &str| Money { millionths: 1, currency: code.parse().unwrap() };
        assert_eq!(one("USD").plus(one("JPY")), None);
        assert_eq!(one("USD").plus(one("USD")).unwrap().millionths, 2);
    }
}
