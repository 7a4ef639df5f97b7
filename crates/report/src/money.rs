//! Money in columns.

use plimsoll_catalogue::Money;

use crate::latency::pads;

/// The amount without its sign.
pub(crate) fn without_sign(money: Money) -> String {
    Money { millionths: money.millionths.saturating_abs(), ..money }.to_string()
}

/// Amounts with their currencies, aligned by their decimal points; `–` for a text without an amount.
pub(crate) fn aligned(sums: impl Iterator<Item = String>) -> Vec<String> {
    let parts: Vec<(String, String)> = sums.map(|sum| split(&sum)).collect();
    let amounts: Vec<String> = parts.iter().map(|(amount, _)| amount.clone()).collect();
    let blanks: Vec<usize> = pads(&amounts).iter().map(|pad| pad.digits + usize::from(pad.point)).collect();
    let width = amounts.iter().zip(&blanks).map(|(amount, blanks)| amount.len() + blanks).max().unwrap_or(0);
    let cell = |((amount, currency), blanks): (&(String, String), &usize)| {
        let before = width.saturating_sub(*blanks);
        if currency.is_empty() { format!("{:>before$}", "–") } else { format!("{amount:>before$} {currency}") }
    };
    parts.iter().zip(&blanks).map(cell).collect()
}

/// `money` divided by `count`, rounded to three significant digits.
pub(crate) fn share(money: Money, count: f64) -> Option<Money> {
    let each = money.millionths as f64 / count;
    let digits = 10f64.powi((each.abs().max(1.0).log10().floor() as i32 - 2).max(0));
    (each.is_finite() && count > 0.0).then(|| Money { millionths: ((each / digits).round() * digits) as i128, ..money })
}

fn split(sum: &str) -> (String, String) {
    let (amount, currency) = sum.rsplit_once(' ').unwrap_or_default();
    (amount.to_owned(), currency.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(millionths: i128, code: &str) -> Money {
        Money { millionths, currency: code.parse().unwrap() }
    }

    #[test]
    fn sign_is_removed() {
        assert_eq!(without_sign(money(-1_000_000, "EUR")), "1.00 EUR");
    }

    #[test]
    fn points_stand_below_each_other() {
        let sums = ["52.30 USD", "", "1,001 JPY", "7 JPY"].map(str::to_owned);
        assert_eq!(aligned(sums.into_iter()), ["   52.30 USD", "       –", "1,001 JPY", "    7 JPY"]);
    }

    #[test]
    fn shares_have_three_digits() {
        assert_eq!(share(money(52_345_678, "USD"), 12.0).unwrap().to_string(), "4.36 USD");
        assert_eq!(share(money(1, "USD"), 0.0), None);
    }
}
