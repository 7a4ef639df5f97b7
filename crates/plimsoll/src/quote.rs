//! `plimsoll quote`: what configurations give and cost, what binds them, and what lifting that would cost.

use plimsoll_choose::Quote;

use crate::args::QuoteArgs;
use crate::offers::Offers;
use crate::output::{Outputs, put};
use crate::trouble::Trouble;
use crate::words::Percent;

/// Quotes the configurations.
pub fn run(args: &QuoteArgs) -> Result<(), Trouble> {
    let outputs = Outputs::plain(args.shown.no_color);
    let mut offers = Offers::new(&args.terms)?;
    let Percent(reads) = args.reads;
    let ask = plimsoll_catalogue::Ask { block: args.block_size, reads, sequential: args.sequential };
    if ask.block.get() == 0 {
        return Err(Trouble::usage("operations of no bytes ask for nothing: give --block-size at least 512"));
    }
    let mut quotes: Vec<Quote> = Vec::new();
    for text in &args.configs {
        let config = offers.config(text)?;
        let refused = |refusal: plimsoll_catalogue::Refusal| Trouble::usage(refusal.to_string());
        let offer = offers.catalogue.offer(&config, &offers.terms).map_err(refused)?;
        let terms = offers.terms_for(&offer);
        quotes.push(plimsoll_choose::quote(&offers.catalogue, &config, &terms, &ask).map_err(refused)?);
    }
    if let Some(path) = &args.shown.json {
        return put(path, &plimsoll_report::quotes_json(&quotes));
    }
    outputs.print(&plimsoll_report::quotes(&quotes, outputs.style()))
}
