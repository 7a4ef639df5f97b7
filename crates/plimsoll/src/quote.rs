//! `plimsoll quote`: what configurations give and cost, what binds them, and what lifting that would cost.

use plimsoll_choose::Quote;

use plimsoll_units::Bytes;

use crate::args::QuoteArgs;
use crate::offers::Offers;
use crate::output::Forms;
use crate::trouble::Trouble;
use crate::words::Percent;

/// No storage addresses smaller blocks.
const LEAST_BLOCK: Bytes = Bytes::new(512);

/// Quotes the configurations.
pub fn run(args: &QuoteArgs) -> Result<(), Trouble> {
    let forms = Forms::new(&args.forms)?;
    let mut offers = Offers::new(&args.terms)?;
    let Percent(reads) = args.reads;
    let ask = plimsoll_catalogue::Ask { block: args.block_size, reads, sequential: args.sequential };
    if ask.block < LEAST_BLOCK {
        return Err(Trouble::usage(format!(
            "--block-size: {} is less than any storage addresses: write at least 512B, with a unit, such as 16KiB",
            ask.block
        )));
    }
    let mut quotes: Vec<Quote> = Vec::new();
    for text in &args.configs {
        let config = offers.config(text)?;
        let refused = |refusal: plimsoll_catalogue::Refusal| Trouble::usage(refusal.to_string());
        let offer = offers.catalogue.offer(&config, &offers.terms).map_err(refused)?;
        let terms = offers.terms_for(&offer);
        quotes.push(plimsoll_choose::quote(&offers.catalogue, &config, &terms, &ask).map_err(refused)?);
    }
    forms.write(&plimsoll_report::pages::quotes(&quotes), || plimsoll_report::quotes_json(&quotes))
}
