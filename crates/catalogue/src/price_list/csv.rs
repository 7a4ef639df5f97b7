//! The CSV form of AWS's offer files: a preamble of names and values, a line of columns, and a line for each price.

use std::collections::HashMap;
use std::io::BufRead;

use plimsoll_language::{label, say};

use super::aws::{Attributes, OfferFile, TermAttributes, TermPrice};
use super::{Collector, PriceListError, PriceListForm};

/// Columns of which a list has all.
const REQUIRED: [&str; 6] = ["sku", "termtype", "unit", "priceperunit", "currency", "usagetype"];
/// Columns of other tables that are named in messages.
const COLUMNS_MAX: usize = 8;
/// Maximum length of a line.
const LINE_MAX: usize = 1 << 20;

/// Positions of the columns, by name in lower case without spaces.
struct OfferColumns(HashMap<String, usize>);

impl OfferColumns {
    fn of(cells: &[String]) -> Self {
        let plain = |cell: &String| cell.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        Self(cells.iter().map(plain).enumerate().map(|(place, name)| (name, place)).collect())
    }

    fn are_complete(&self) -> bool {
        REQUIRED.iter().all(|name| self.0.contains_key(*name))
    }

    fn get<'l>(&self, line: &'l [String], name: &str) -> &'l str {
        self.0.get(name).and_then(|place| line.get(*place)).map_or("", String::as_str)
    }
}

/// Reads the lines.
pub(super) fn read(mut from: impl BufRead, collector: &mut Collector<'_>) -> Result<(), PriceListError> {
    let (mut offer, mut columns, mut candidate_header): (OfferFile, Option<OfferColumns>, Vec<String>) =
        Default::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = std::io::Read::take(&mut from, LINE_MAX as u64).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if length == LINE_MAX && line.last() != Some(&b'\n') {
            return Err(PriceListError::NotAList("it has a line of more than 1 MiB".to_owned()));
        }
        let cells = split_cells(&String::from_utf8_lossy(&line));
        let Some(columns) = &columns else {
            match cells.as_slice() {
                [name, value, ..] if name == "Publication Date" => collector.publish(value),
                [name, value, ..] if name == "OfferCode" && value != "AmazonEC2" => {
                    let text = say!("it looks like the AWS offer {value}: the offer AmazonEC2 is read");
                    return Err(PriceListError::NotAList(text));
                }
                _ => {
                    let found = OfferColumns::of(&cells);
                    if found.are_complete() {
                        collector.found.form = Some(PriceListForm::AwsCsv);
                        columns = Some(found);
                    } else if cells.len() > candidate_header.len() {
                        candidate_header = cells;
                    }
                }
            }
            continue;
        };
        collect_price(columns, &cells, &mut offer, collector)?;
    }
    if columns.is_none() {
        candidate_header.truncate(COLUMNS_MAX);
        return Err(PriceListError::NotAList(match candidate_header.len() {
            0 | 1 => label!("it looks like text without columns").to_owned(),
            _ => say!("it looks like a table with {}", candidate_header.join(", ")),
        }));
    }
    offer.finish(collector)
}

fn collect_price(
    columns: &OfferColumns,
    line: &[String],
    offer: &mut OfferFile,
    collector: &mut Collector<'_>,
) -> Result<(), PriceListError> {
    let get = |name: &str| columns.get(line, name).to_owned();
    let sku = get("sku");
    if !offer.has(&sku) {
        let attributes = Attributes {
            usagetype: get("usagetype"),
            location_type: get("locationtype"),
            region_code: get("regioncode"),
            instance_type: get("instancetype"),
            operating_system: get("operatingsystem"),
            tenancy: get("tenancy"),
            pre_installed_software: get("preinstalledsw"),
            license_model: get("licensemodel"),
            capacity_status: get("capacitystatus"),
            operation: get("operation"),
            market_option: get("marketoption"),
        };
        offer.product(&sku, &attributes, collector);
    }
    let (unit, begin, currency, amount) = (get("unit"), get("startingrange"), get("currency"), get("priceperunit"));
    let begin = if begin.is_empty() { "0" } else { &begin };
    let price = TermPrice { sku: &sku, unit: &unit, begin, currency: &currency, amount: &amount };
    match get("termtype").as_str() {
        "OnDemand" => offer.on_demand(PriceListForm::AwsCsv, &price, collector)?,
        "Reserved" => {
            let term = TermAttributes {
                lease: get("leasecontractlength"),
                class: get("offeringclass"),
                purchase: get("purchaseoption"),
            };
            offer.reserved(&term, &price, collector);
        }
        _ => {}
    }
    Ok(())
}

/// Cells of a line; quotation marks enclose commas and are doubled inside (RFC 4180).
fn split_cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    let mut letters = line.trim_end_matches(['\r', '\n']).chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().expect("there is always a last cell");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    cells
}
