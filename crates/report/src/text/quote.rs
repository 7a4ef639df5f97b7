//! One configuration for a person: what it carries, costs, what binds it and what lifting that costs.
//!
//! Every figure stands beside the status of its source. Knows nothing about other configurations.

use plimsoll_catalogue::{Charge, Doubt, Often, Price, Status};
use plimsoll_choose::Quote;

use super::TextStyle;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use crate::words::{clean, offer as words};
use crate::{money, number};

/// Lists of other prices are cut after so many.
const PRICES: usize = 5;

/// The block of one configuration.
pub(super) fn block(quote: &Quote, style: &TextStyle) -> Vec<Line> {
    let offer = &quote.offer;
    let mut block = Block { lines: Vec::new(), width: style.width };
    block.head(&clean(&offer.short().to_string()), Tone::Strong);
    let holds = (offer.capacity.get() > 0).then(|| format!(", holds {}", words::capacity(offer.capacity)));
    block.head(&format!("{}{}", clean(&offer.title), holds.unwrap_or_default()), Tone::Plain);
    carries(quote, &mut block);
    price(quote, &mut block);
    limits(quote, &mut block);
    latency(quote, &mut block);
    for need in offer.needs() {
        block.tell("needs", Tone::Yellow, &clean(&need));
    }
    doubts(&offer.doubts(), &mut block);
    block.lines
}

/// The statuses of all figures of a block, for the legend.
pub(super) fn statuses(quote: &Quote) -> Vec<Status> {
    let bounds = quote
        .standing
        .bounds
        .iter()
        .take(1)
        .chain(quote.standing.next())
        .chain(quote.standing.peak.iter().map(|peak| &peak.bound));
    let limits = bounds.map(|bound| quote.offer.ceilings[bound.ceiling].cite.status);
    let price = quote.price.as_ref().ok().map(|price| price.cite.status);
    limits.chain(price).chain(quote.offer.latency().iter().map(|latency| latency.cite.status)).collect()
}

/// Lines under words that hang before them.
struct Block {
    lines: Vec<Line>,
    width: usize,
}

impl Block {
    fn head(&mut self, text: &str, tone: Tone) {
        self.lines.extend(wrap(text, self.width).into_iter().map(|line| Line::of(line, tone)));
    }

    fn say(&mut self, word: &str, text: &str) {
        self.tell(word, Tone::Quiet, text);
    }

    fn tell(&mut self, word: &str, tone: Tone, text: &str) {
        self.lines.extend(hanging(word, tone, wrap(text, self.width - INDENT)));
    }

    fn quiet(&mut self, text: &str) {
        let lines = wrap(text, self.width - INDENT).into_iter();
        self.lines.extend(lines.map(|line| Line::of(format!("{:INDENT$}{line}", ""), Tone::Quiet)));
    }
}

fn carries(quote: &Quote, block: &mut Block) {
    let Some(binding) = quote.standing.binding() else {
        block.say("carries", "not known: the catalogue has no ceiling for this load");
        return;
    };
    let ceilings = &quote.offer.ceilings;
    let status = ceilings[binding.ceiling].cite.status.name();
    let asked = words::ask(&quote.ask);
    block.say("carries", &format!("{} of {asked}, sustained ({status})", words::rates(binding)));
    if let Some(peak) = quote.standing.peak.filter(|peak| peak.bound.iops > binding.iops && peak.seconds >= 1.0) {
        let (lasts, credits) = (words::lasting(peak.seconds), clean(&ceilings[peak.credits_of].name));
        let status = ceilings[peak.bound.ceiling].cite.status.name();
        block.say(
            "burst",
            &format!("{} for {lasts} from full credits of {credits} ({status})", words::rates(&peak.bound)),
        );
    }
}

fn price(quote: &Quote, block: &mut Block) {
    let price = match &quote.price {
        Ok(price) => price,
        Err(why) => {
            block.say("price", &clean(&why.to_string()));
            for price in quote.offer.prices().iter().take(PRICES) {
                block.quiet(&total(price));
            }
            return;
        }
    };
    let status = price.cite.status.name();
    match price.parts.as_slice() {
        [only] => block.say("price", &format!("{}: {} ({status})", total(price), bought(only))),
        parts => {
            block.say("price", &format!("{} ({status})", total(price)));
            parts_of(parts, block);
        }
    }
    if !price.without.is_empty() {
        block.quiet(&format!("without the price of {}", clean(&price.without.join(", "))));
    }
    let taxes = if price.taxes.is_empty() { String::new() } else { format!("; {}", clean(&price.taxes)) };
    block.quiet(&format!("{}{taxes}", words::cite(&price.cite)));
}

/// A price in words: `52.30 USD a month and 10.00 USD once, in us-east-1`.
fn total(price: &Price) -> String {
    let once = price.once.map(|once| format!(" and {once} once")).unwrap_or_default();
    let region = price.region.as_ref().map(|region| format!(", in {}", clean(region))).unwrap_or_default();
    format!("{} a month{once}{region}", price.monthly)
}

/// `storage, 500 GiB-month`; what has one price by the month is counted: `2 x disk`.
fn bought(part: &Charge) -> String {
    let name = clean(&part.name);
    match (&*part.per, part.quantity) {
        ("month", quantity) if (quantity - 1.0).abs() < 1e-9 => name,
        ("month", quantity) => format!("{} x {name}", number::exact(quantity)),
        (per, quantity) => format!("{name}, {} {}", number::exact(quantity), clean(per)),
    }
}

fn parts_of(parts: &[Charge], block: &mut Block) {
    let sums = money::column(&parts.iter().map(|part| Some(part.money)).collect::<Vec<_>>());
    for (part, sum) in parts.iter().zip(sums) {
        let once = if part.often == Often::Once { ", once" } else { "" };
        let text =
            wrap(&format!("{}{once}", bought(part)), (block.width - INDENT).saturating_sub(sum.chars().count() + 2));
        for (index, line) in text.into_iter().enumerate() {
            let sum = if index == 0 { sum.clone() } else { " ".repeat(sum.chars().count()) };
            block.lines.push(Line::plain(format!("{:INDENT$}{sum}  {line}", "")));
        }
    }
}

fn limits(quote: &Quote, block: &mut Block) {
    let Some(binding) = quote.standing.binding() else { return };
    let offer = &quote.offer;
    let ceiling = &offer.ceilings[binding.ceiling];
    block.tell("binds", Tone::Strong, &words::bound(offer, binding));
    block.quiet(&words::cite(&ceiling.cite));
    if let Some(next) = quote.standing.next() {
        let status = offer.ceilings[next.ceiling].cite.status.name();
        block.say("next", &format!("{} ({status})", words::bound(offer, next)));
    }
    for lift in &quote.lifts {
        block.say("lift", &words::lift(lift));
    }
    if quote.lifts.is_empty() {
        let machine = ceiling.lift.iter().any(|name| &**name == "machine");
        let options = ceiling.lift.iter().filter(|name| &***name != "machine");
        let names: Vec<String> = options.map(|name| clean(name)).collect();
        let none = match names.as_slice() {
            _ if machine => "another machine may raise it; which one is not worked out".to_owned(),
            [] => "nothing that can be chosen raises it".to_owned(),
            names => format!("no other choice of {} raises it", names.join(" or ")),
        };
        block.say("lift", &none);
    }
}

fn latency(quote: &Quote, block: &mut Block) {
    for latency in quote.offer.latency() {
        block.say("latency", &format!("\"{}\" - {}", clean(&latency.text), words::cite(&latency.cite)));
    }
}

fn doubts(doubts: &[Doubt], block: &mut Block) {
    for doubt in doubts {
        block.tell("doubt", Tone::Yellow, &clean(&doubt.text));
    }
}
