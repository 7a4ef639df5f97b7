//! Quotes.

use plimsoll_catalogue::{Ask, LatencyStatement, MachineShape, Money, TypicalRates};
use plimsoll_choose::elapsed::JobTimes;
use plimsoll_choose::{BillingChoice, Lift, Quote};

use super::{each, elapsed, offer, view};

view! {
    /// Quotes of configurations.
    #[schemars(rename = "Quotes")]
    struct QuoteList from (quotes, jobs): (&[Quote], Option<&JobTimes>) {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.quote/1"))]
        format: &'static str = "plimsoll.quote/1",
        /// The quotes, in the order of the configurations.
        quotes: Vec<QuoteView> = each(quotes),
        /// Elapsed times of jobs; null if none were given.
        jobs: Option<elapsed::ElapsedTimes> = view(jobs),
    }

    /// Limits and price of a configuration.
    #[schemars(rename = "Quote")]
    struct QuoteView from quote: &Quote {
        #[serde(flatten)]
        offer: offer::OfferView = (&quote.offer).into(),
        /// Shape of the machine; null without a machine.
        machine: Option<MachineShape> = quote.offer.machine_shape(),
        #[serde(flatten)]
        standing: offer::StandingView = (&quote.offer, &quote.standing).into(),
        /// The load that the limits are computed for.
        ask: Ask = quote.ask,
        /// List price; null if there is none.
        price: Option<offer::PriceView> = view(quote.price.as_ref().ok()),
        /// Reason why there is no price; null if there is a price.
        no_price: Option<String> = quote.price.as_ref().err().map(ToString::to_string),
        /// Prices with each way of billing; empty unless requests can be billed.
        billing: Vec<BillingView> = each(&quote.billing),
        /// Ways to raise the binding limit, cheapest first.
        lifts: Vec<LiftView> = each(&quote.lifts),
        /// Statements of the vendor about latency.
        latency: Vec<LatencyStatement> = quote.offer.latency(),
        /// Rates of the published drives that the configuration stands for.
        typical: Vec<TypicalRates> = quote.offer.typical(),
    }

    /// The price with a way of billing.
    #[schemars(rename = "Billing")]
    struct BillingView from choice: &BillingChoice {
        /// Option that selects it.
        option: String = choice.option.clone(),
        /// Its value.
        value: String = choice.value.clone(),
        /// True for that of the configuration.
        chosen: bool = choice.is_chosen,
        /// Price.
        price: offer::PriceView = (&choice.price).into(),
    }

    /// A way to raise the binding limit.
    #[schemars(rename = "Lift")]
    struct LiftView from lift: &Lift {
        /// Option that changes.
        option: String = lift.option.clone(),
        /// Present value.
        from: String = lift.change.0.clone(),
        /// New value.
        to: String = lift.change.1.clone(),
        /// Configuration after the change.
        configuration: String = lift.config.to_string(),
        /// Operations per second that its limits allow.
        iops: f64 = lift.iops,
        /// Name of the limit that binds after the change.
        then_binds: String = lift.binds.clone(),
        /// Additional cost of a month; null if a price is unknown.
        costs_monthly: Option<Money> = lift.costs,
    }
}
