//! Amounts of money as people write them, with thousands separators and signs of currencies.

use thiserror::Error;

use crate::decimal::Decimal;
use crate::money::{Currency, Money};

/// A text that is not an amount of money.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AmountError {
    /// No number, or no currency.
    #[error("{0:?} is not an amount of money: write it as '1450000 JPY', '¥1,450,000' or '0.08 USD'")]
    Malformed(String),
    /// A separator that may be that of decimals or of thousands.
    #[error("{text:?} may be {grouped} or {decimal}: write {grouped} or {decimal}")]
    Ambiguous {
        /// The amount.
        text: String,
        /// Its value with thousands separators.
        grouped: String,
        /// Its value with decimals.
        decimal: String,
    },
}

/// Signs with the currency of a sign without a code, and the codes that it is used with.
const SIGNS: [(&str, &str, &str); 7] = [
    ("US$", "USD", "USD"),
    ("¥", "JPY", "JPY CNY"),
    ("\u{ffe5}", "JPY", "JPY CNY"),
    ("円", "JPY", "JPY"),
    ("$", "USD", "USD AUD CAD HKD MXN NZD SGD TWD"),
    ("€", "EUR", "EUR"),
    ("£", "GBP", "GBP"),
];

/// A non-negative amount of money with its currency, such as `¥1,450,000`.
///
/// # Errors
/// If the text is ambiguous, no amount or without a currency.
pub fn parse_money(text: &str) -> Result<Money, AmountError> {
    let malformed = || AmountError::Malformed(text.to_owned());
    let (amount, currency) = parse_amount(text)?;
    let millionths = amount.millionths().filter(|millionths| *millionths >= 0).ok_or_else(malformed)?;
    Ok(Money { millionths, currency: currency.ok_or_else(malformed)? })
}

/// A non-negative amount, and its currency, if it has one.
///
/// # Errors
/// If the text is ambiguous or no amount.
pub fn parse_sum(text: &str) -> Result<(f64, Option<Currency>), AmountError> {
    parse_amount(text).map(|(amount, currency)| (amount.as_f64(), currency))
}

/// An amount and its currency, if it has one: `9500.50`, `¥1,450,000`, `1 450 000 JPY`, `$0.08`, `1.450.000,50 €`.
pub(crate) fn parse_amount(text: &str) -> Result<(Decimal, Option<Currency>), AmountError> {
    let malformed = || AmountError::Malformed(text.to_owned());
    let strip = |from: &str, mark: &str| {
        from.strip_prefix(mark).or_else(|| from.strip_suffix(mark)).map(|rest| rest.trim().to_owned())
    };
    let text_trimmed = text.trim();
    let signed = SIGNS.iter().find_map(|sign| Some((strip(text_trimmed, sign.0)?, sign)));
    let (number, sign) = signed.map_or((text_trimmed.to_owned(), None), |(rest, sign)| (rest, Some(sign)));
    let code: String = number.chars().filter(char::is_ascii_alphabetic).collect();
    let (number, currency) = match (code.as_str(), sign) {
        ("", sign) => (number, sign.map(|sign| sign.1)),
        (code, sign) => {
            let fits = sign.is_none_or(|sign| sign.2.split(' ').any(|own| own.eq_ignore_ascii_case(code)));
            (strip(&number, code).filter(|_| fits).ok_or_else(malformed)?, Some(code))
        }
    };
    let currency: Option<Currency> = currency.map(|code| code.parse().map_err(|_| malformed())).transpose()?;
    let (by_point, by_comma) = (read(&number, '.', ','), read(&number, ',', '.'));
    let amount = match (by_point, by_comma) {
        (Some(point), Some(comma)) if point != comma => {
            let is_point = number.contains('.');
            // Without a sign, points are those of decimals everywhere, as are no commas of amounts without minor units.
            if (is_point && sign.is_some()) || (!is_point && currency.is_none_or(|own| own.decimals() > 0)) {
                let [grouped, decimal] = if is_point { [comma, point] } else { [point, comma] };
                let [grouped, decimal] = [grouped, decimal].map(|value| value.to_string());
                return Err(AmountError::Ambiguous { text: text.to_owned(), grouped, decimal });
            }
            point
        }
        (by_point, by_comma) => by_point.or(by_comma).ok_or_else(malformed)?,
    };
    Ok((amount, currency))
}

/// A number with this sign of decimals, and with groups of three digits separated by the other or by spaces.
fn read(number: &str, point: char, comma: char) -> Option<Decimal> {
    let (integer, fraction) =
        number.split_once(point).map_or((number, None), |(integer, fraction)| (integer, Some(fraction)));
    let separator = integer.chars().find(|letter| !letter.is_ascii_digit());
    let digits = match separator {
        None => integer.to_owned(),
        Some(separator) => {
            let are_groups = integer.split(separator).enumerate().all(|(index, group)| match index {
                0 => (1..=3).contains(&group.len()) && !group.starts_with('0'),
                _ => group.len() == 3,
            });
            let is_separator = separator == comma || " _'\u{2019}\u{a0}\u{202f}".contains(separator);
            (are_groups && is_separator).then(|| integer.replace(separator, ""))?
        }
    };
    fraction.map_or_else(|| digits.parse().ok(), |fraction| format!("{digits}.{fraction}").parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, amount: &str, currency: Option<&str>) {
        let found = parse_amount(text).map(|(amount, currency)| (amount.to_string(), currency));
        assert_eq!(found, Ok((amount.to_owned(), currency.and_then(|code| code.parse().ok()))), "{text}");
    }

    #[test]
    fn separators_and_signs_are_read() {
        let yen = ["¥1,450,000", "\u{ffe5}1,450,000", "1,450,000円", "1450000 JPY", "JPY 1,450,000", "1 450 000jpy"];
        for text in yen {
            check(text, "1450000", Some("JPY"));
        }
        check("¥1,450", "1450", Some("JPY"));
        check("¥1,450.5 CNY", "1450.5", Some("CNY"));
        check("$0.08", "0.08", Some("USD"));
        check("US$1,450.00", "1450", Some("USD"));
        check("$0.08 CAD", "0.08", Some("CAD"));
        check("1.450.000,50 €", "1450000.5", Some("EUR"));
        check("1'450'000 CHF", "1450000", Some("CHF"));
        check("0,125 EUR", "0.125", Some("EUR"));
        check("1.375 USD", "1.375", Some("USD"));
        check("9500.50", "9500.5", None);
    }

    #[test]
    fn ambiguous_separators_are_refused_with_both_values() {
        for text in ["1,450", "$1,450", "1,450 EUR", "1.450 €"] {
            let refusal = parse_amount(text).expect_err(text).to_string();
            assert!(refusal.ends_with("write 1450 or 1.45"), "{refusal}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "¥", "JPY", "1,45,000", "1,450,00", "12 XYZ", "$5 JPY", "1e6", "145万円", "5 USD EUR", "1.", "1..5"]
        {
            assert!(matches!(parse_amount(text), Err(AmountError::Malformed(_))), "{text}");
        }
        assert!(parse_money("5").is_err() && parse_money("-5 USD").is_err());
        assert_eq!(parse_money("0.75 EUR").map(|money| money.to_string()).as_deref(), Ok("0.75 EUR"));
    }
}
