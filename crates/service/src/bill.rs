//! Cost of a volume: the duration of each configuration times its list price, in exact arithmetic.
//!
//! A month has 730 hours, as in price lists. A provider's minimum billing period (often a minute) is not included. The
//! price is stored when a configuration begins, so a later catalogue does not change past costs.

use plimsoll_catalogue::{Currency, Money, Offer};
use plimsoll_units::Span;
use plimsoll_volume::Slow;
use serde::{Deserialize, Serialize};

use crate::api::{Cost, CostPart};

/// Nanoseconds of a month of 730 hours.
const MONTH_NS: u128 = 730 * 3_600 * 1_000_000_000;
/// Older parts are merged beyond these limits: the stored text of a volume is bounded.
const PARTS_MAX: usize = 64;
const LIKES_BYTES: usize = 16 << 10;
/// Name of merged parts.
const EARLIER: &str = "earlier configurations";

/// All configurations of a volume so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bill {
    present: Present,
    /// Earlier configurations, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    past: Vec<Past>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Present {
    like: String,
    /// Start, in nanoseconds since 1970.
    since_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
}

/// Price of a month and one-time price, in millionths of the currency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Price {
    currency: String,
    monthly: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    once: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Past {
    like: String,
    span_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<CostSum>,
}

/// Cost in millionths of the currency, times the nanoseconds of a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CostSum {
    currency: String,
    exact: u128,
}

impl Bill {
    /// Starts with the first configuration.
    pub fn new(now_ns: u64, like: &str, offer: Option<&Offer>) -> Self {
        Self { present: Present::new(now_ns, like, convert_price(offer)), past: Vec::new() }
    }

    /// Switches to another configuration. One-time prices are not charged again for the same product.
    pub fn change(&mut self, now_ns: u64, slow: Slow, like: &str, offer: Option<&Offer>) {
        let product = |like: &str| like.split(':').next().map(str::to_owned);
        let mut price = convert_price(offer);
        if let Some(price) = price.as_mut().filter(|_| product(like) == product(&self.present.like)) {
            price.once = 0;
        }
        let ended = std::mem::replace(&mut self.present, Present::new(now_ns, like, price)).ended(now_ns, slow);
        add(&mut self.past, ended);
        while self.is_long() {
            // Merges the oldest parts by currency: sums stay exact.
            let oldest = self.past.iter().position(|part| part.like != EARLIER).unwrap_or(0);
            let part = self.past.remove(oldest);
            add(&mut self.past, Past { like: EARLIER.to_owned(), ..part });
        }
    }

    fn is_long(&self) -> bool {
        let likes: usize = self.past.iter().filter(|part| part.like != EARLIER).map(|part| part.like.len()).sum();
        likes > 0 && (self.past.len() > PARTS_MAX || likes > LIKES_BYTES)
    }

    /// Cost until `now_ns` and its currency, as in [`Self::cost`], without the parts.
    pub fn so_far(&self, now_ns: u64, slow: Slow) -> Option<(String, String)> {
        let last = || self.past.iter().rev().find_map(|part| Some(&part.sum.as_ref()?.currency));
        let present = self.present.price.as_ref();
        let currency = present.map(|price| &price.currency).or_else(last)?;
        let sums = self.past.iter().filter_map(|part| part.sum.as_ref()).filter(|sum| sum.currency == *currency);
        let past: u128 = sums.map(|sum| sum.exact).sum();
        let span_ns = u128::from(self.present.span_ns(now_ns, slow));
        let present =
            present.map_or(0, |price| u128::from(price.monthly) * span_ns + u128::from(price.once) * MONTH_NS);
        Some((decimal(rounded(past + present)), currency.clone()))
    }

    /// Cost until `now_ns`, in the currency of the present or else the last price. `None` if there was never a price.
    pub fn cost(&self, now_ns: u64, slow: Slow) -> Option<Cost> {
        let mut parts = self.past.clone();
        add(&mut parts, self.present.clone().ended(now_ns, slow));
        let currency = self.present.price.as_ref().map(|price| &price.currency);
        let last = || parts.iter().rev().find_map(|part| Some(&part.sum.as_ref()?.currency));
        let currency = currency.or_else(last)?.clone();
        let sums = parts.iter().filter_map(|part| part.sum.as_ref()).filter(|sum| sum.currency == currency);
        let so_far: u128 = sums.map(|sum| sum.exact).sum();
        let part = |part: &Past| CostPart {
            like: part.like.clone(),
            span_ns: part.span_ns,
            cost: match &part.sum {
                Some(sum) if sum.currency == currency => decimal(rounded(sum.exact)),
                Some(sum) => format!("{} {}", decimal(rounded(sum.exact)), sum.currency),
                None => "unknown".to_owned(),
            },
        };
        Some(Cost {
            so_far: decimal(rounded(so_far)),
            monthly: self
                .present
                .price
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), |price| decimal(price.monthly.into())),
            parts: parts.iter().map(part).collect(),
            currency,
        })
    }
}

impl Present {
    fn new(since_ns: u64, like: &str, price: Option<Price>) -> Self {
        Self { like: like.to_owned(), since_ns, price }
    }

    /// Model time since its start. Saturates: the clock may have been set back.
    fn span_ns(&self, now_ns: u64, slow: Slow) -> u64 {
        slow.model_span(Span::from_nanos(now_ns.saturating_sub(self.since_ns))).as_nanos()
    }

    fn ended(self, now_ns: u64, slow: Slow) -> Past {
        let span_ns = self.span_ns(now_ns, slow);
        let sum = self.price.map(|price| CostSum {
            exact: u128::from(price.monthly) * u128::from(span_ns) + u128::from(price.once) * MONTH_NS,
            currency: price.currency,
        });
        Past { like: self.like, span_ns, sum }
    }
}

/// Adds to the part with the same configuration and currency, if there is such a part.
fn add(parts: &mut Vec<Past>, part: Past) {
    let currency = |part: &Past| part.sum.as_ref().map(|sum| sum.currency.clone());
    let same = parts.iter_mut().find(|other| other.like == part.like && currency(other) == currency(&part));
    match same {
        Some(other) => {
            other.span_ns = other.span_ns.saturating_add(part.span_ns);
            if let (Some(sum), Some(more)) = (&mut other.sum, part.sum) {
                sum.exact = sum.exact.saturating_add(more.exact);
            }
        }
        None => parts.push(part),
    }
}

fn convert_price(offer: Option<&Offer>) -> Option<Price> {
    let price = offer?.usual_price()?;
    let millionths = |money: Money| u64::try_from(money.millionths).ok();
    let once = price.once.map_or(Some(0), millionths)?;
    let currency: Currency = price.monthly.currency;
    Some(Price { currency: currency.code().to_owned(), monthly: millionths(price.monthly)?, once })
}

/// Rounds half up, to millionths.
const fn rounded(exact: u128) -> u128 {
    (exact + MONTH_NS / 2) / MONTH_NS
}

/// Formats millionths as a decimal number.
fn decimal(millionths: u128) -> String {
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::{Catalogue, Config, PriceTerms};

    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    fn offer(config: &str) -> Offer {
        let terms = PriceTerms { as_of: "2026-11-21".parse().unwrap(), currency: None, region: None };
        Catalogue::built_in().offer(&config.parse::<Config>().unwrap(), &terms).unwrap()
    }

    #[test]
    fn cost_matches_price_list() {
        // 100 GB at VPU 10: 100 x (0.0255 + 10 x 0.0017) = 4.25 a month; at VPU 20: 5.95; VPU 0: 2.55.
        let begin = 1_790_000_000_000_000_000;
        let mut bill = Bill::new(begin, "oci:100GB", Some(&offer("oci:100GB@10vpu")));
        bill.change(begin + 73 * HOUR_NS, Slow::NOT, "oci:100GB,vpu=20", Some(&offer("oci:100GB@20vpu")));
        bill.change(begin + 83 * HOUR_NS, Slow::NOT, "oci:100GB", Some(&offer("oci:100GB@10vpu")));
        let cost = bill.cost(begin + 156 * HOUR_NS, Slow::NOT).unwrap();
        // 146 hours of 730 at 4.25 are 0.85; 10 at 5.95 are 0.0815068493...
        assert_eq!(
            (cost.currency.as_str(), cost.so_far.as_str(), cost.monthly.as_str()),
            ("USD", "0.931507", "4.250000")
        );
        let parts: Vec<(&str, u64, &str)> =
            cost.parts.iter().map(|part| (part.like.as_str(), part.span_ns / HOUR_NS, part.cost.as_str())).collect();
        let sum = Some((cost.so_far.clone(), cost.currency.clone()));
        assert_eq!(bill.so_far(begin + 156 * HOUR_NS, Slow::NOT), sum);
        assert_eq!(parts, [("oci:100GB", 146, "0.850000"), ("oci:100GB,vpu=20", 10, "0.081507")]);
        let slowed = bill.cost(begin + 83 * HOUR_NS + 100 * 73 * HOUR_NS, Slow::by(100)).unwrap();
        assert_eq!(slowed, cost, "the present part in model time");
        assert_eq!(bill.cost(0, Slow::NOT).unwrap().so_far, "0.506507", "a clock that is set back takes nothing away");
    }

    #[test]
    fn unknown_price_is_reported_and_merged_sums_stay_exact() {
        let mut bill = Bill::new(0, "link(1ms)", None);
        assert_eq!(bill.cost(HOUR_NS, Slow::NOT), None);
        let paid = offer("oci:100GB@10vpu");
        let mut now = HOUR_NS;
        for number in 0..1_000_u64 {
            bill.change(now, Slow::NOT, &format!("paid {}", number % 200), Some(&paid));
            now += HOUR_NS;
        }
        bill.change(now, Slow::NOT, "link(1ms)", None);
        assert!(bill.past.len() <= PARTS_MAX + 2);
        let cost = bill.cost(now + HOUR_NS, Slow::NOT).unwrap();
        // 1,000 hours of 730 at 4.25.
        assert_eq!((cost.so_far.as_str(), cost.monthly.as_str()), ("5.821918", "unknown"));
        assert_eq!(cost.parts.iter().map(|part| part.span_ns).sum::<u64>(), now + HOUR_NS);
        let again: Bill = serde_json::from_str(&serde_json::to_string(&bill).unwrap()).unwrap();
        assert_eq!(again, bill);
    }

    #[test]
    fn currencies_are_counted_separately() {
        let mut bill = Bill::new(0, "sakura", Some(&offer("sakura/sas-hdd")));
        bill.change(HOUR_NS, Slow::NOT, "oci:100GB", Some(&offer("oci:100GB@10vpu")));
        let cost = bill.cost(2 * HOUR_NS, Slow::NOT).unwrap();
        assert_eq!(cost.so_far, "0.005822");
        assert!(cost.parts[0].cost.ends_with(" JPY") || cost.parts[0].cost == "unknown", "{cost:?}");
    }
}
