//! Quotes.

use plimsoll_choose::{Lift, Quote};
use serde_json::{Value, json};

use super::{number, offer};

pub(super) fn quotes(quotes: &[Quote]) -> Value {
    json!({ "format": "plimsoll.quote/1", "quotes": quotes.iter().map(quote).collect::<Vec<_>>() })
}

fn quote(quote: &Quote) -> Value {
    let latency = quote.offer.latency();
    let latency = latency.iter().map(|one| json!({ "text": &*one.text, "source": offer::source(&one.cite) }));
    let own = json!({
        "ask": offer::ask(&quote.ask),
        "price": quote.price.as_ref().ok().map(offer::price),
        "no_price": quote.price.as_ref().err().map(ToString::to_string),
        "lifts": quote.lifts.iter().map(lift).collect::<Vec<_>>(),
        "latency": latency.collect::<Vec<_>>(),
    });
    offer::merged([offer::offer(&quote.offer), offer::standing(&quote.offer, &quote.standing), own])
}

fn lift(lift: &Lift) -> Value {
    json!({
        "option": lift.option,
        "from": lift.change.0,
        "to": lift.change.1,
        "configuration": lift.config.to_string(),
        "iops": number(lift.iops),
        "then_binds": lift.binds,
        "costs_monthly": lift.costs.map(offer::money),
    })
}
