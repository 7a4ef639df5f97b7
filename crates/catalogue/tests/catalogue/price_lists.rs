//! Price lists of clouds: small documents with the fields and spellings of the vendors' own, as in their references and in
//! public copies. Amounts are examples.

use std::io::BufReader;

use plimsoll_catalogue::{
    Catalogue, Commitment, ImportedPrices, Price, PriceListFile, PriceListForm, PriceListImport, PriceTerms,
    read_price_list,
};

const AWS_JSON: &str = include_str!("lists/aws.json");
const AWS_CSV: &str = include_str!("lists/aws.csv");
const AZURE: &str = include_str!("lists/azure.json");
const OCI: &str = include_str!("lists/oci.json");
const GCP: &str = include_str!("lists/gcp.json");

fn read(text: &str) -> Result<PriceListImport, String> {
    let day = "2026-11-20".parse().expect("a test's own text");
    let file = PriceListFile {
        name: "list".to_owned(),
        date: day,
        imported: "2026-11-26".parse().expect("a test's own text"),
    };
    // A small buffer: the lists are streams.
    let from = BufReader::with_capacity(7, text.as_bytes());
    read_price_list(from, &Catalogue::built_in().meters(), &file).map_err(|error| error.to_string())
}

fn build_catalogue(text: &str, commitment: Commitment) -> Catalogue {
    let mut catalogue = Catalogue::built_in();
    for prices in read(text).expect("a test's own text").prices {
        // As stored.
        let stored = ImportedPrices::from_json(&prices.to_json()).expect("a test's own text");
        assert_eq!(stored, prices);
        catalogue.add_imported(stored);
    }
    catalogue.set_commitment(commitment);
    catalogue
}

fn find_price(catalogue: &Catalogue, config: &str, region: &str, currency: &str) -> Result<Price, String> {
    let region = Some(region.to_owned()).filter(|region| !region.is_empty());
    let terms = PriceTerms {
        as_of: "2026-11-26".parse().expect("a test's own text"),
        currency: Some(currency.parse().expect("a test's own text")),
        region,
    };
    let offer = catalogue.offer(&config.parse().expect("a test's own text"), &terms).expect("a test's own text");
    offer.price().map_err(|none| none.to_string())
}

/// Prices as `86.40 USD`, with the parts that are missing.
fn check(catalogue: &Catalogue, config: &str, region: &str, currency: &str, expected: &str) {
    let displayed = find_price(catalogue, config, region, currency).map_or_else(
        |none| none,
        |price| {
            let without = price.without.iter().map(|part| format!(" without {part}")).collect::<Vec<_>>().concat();
            format!("{}{without}", price.monthly.exact())
        },
    );
    assert_eq!(displayed, expected, "{config} in {region} {currency}");
}

fn check_aws(text: &str, form: PriceListForm) {
    assert_eq!(read(text).expect("a test's own text").form, Some(form));
    let catalogue = build_catalogue(text, Commitment::None);
    // 100 GiB at 0.09, 1,000 IOPS at 0.0055, 75 MiB/s at 45.056/1,024.
    check(&catalogue, "aws/gp3:100GiB,iops=4000,throughput=200", "eu-west-2", "USD", "17.80");
    // 32,000 at 0.072, 32,000 at 0.0504 and 6,000 at 0.03528.
    check(&catalogue, "aws/io2:100GiB,iops=70000", "eu-west-2", "USD", "4142.28");
    check(&catalogue, "aws/standard:100GiB,monthly_operations=1000000", "eu-west-2", "USD", "5.85");
    check(&catalogue, "aws/standard:100GiB", "eu-west-2", "USD", "5.80 without operations of aws/standard");
    // 0.1176 an hour on Linux; not the prices of Windows, of dedicated hardware and of unused reservations.
    check(&catalogue, "aws/m7i.large", "eu-west-2", "USD", "85.848");
    check(&catalogue, "aws/gp3:100GiB on aws/m7i.large", "eu-west-2", "USD", "94.848");
    // A machine that the list has not, and no price of the file in this region either.
    check(&catalogue, "aws/gp3:100GiB on aws/r7i.large", "eu-west-2", "USD", "9.00 without aws/r7i.large");
    // Other regions keep the prices of the file.
    check(&catalogue, "aws/gp3:100GiB on aws/r7i.large", "us-east-1", "USD", "104.579");
    let source = find_price(&catalogue, "aws/gp3:100GiB", "eu-west-2", "USD").expect("a test's own text").cite;
    assert_eq!((source.date.as_str(), source.title.ends_with(", list")), ("2026-11-10", true));
}

#[test]
fn aws_offers_are_read_as_json_and_csv() {
    check_aws(AWS_JSON, PriceListForm::AwsJson);
    check_aws(AWS_CSV, PriceListForm::AwsCsv);
    let skipped = read(AWS_JSON).unwrap().skipped;
    assert_eq!(skipped.get("not in a region (Local Zone, Wavelength or Outpost)"), Some(&1));
    assert_eq!(
        skipped.get("an instance with other software, tenancy or capacity than Linux on shared hardware"),
        Some(&3)
    );
    assert_eq!(skipped.get("neither a volume nor an instance on demand"), Some(&2));
}

#[test]
fn reservations_are_prices_of_a_commitment() {
    for text in [AWS_JSON, AWS_CSV] {
        let year = build_catalogue(text, Commitment::OneYear);
        // 0.0779 an hour without payment in advance; a convertible one is no candidate.
        check(&year, "aws/m7i.large", "eu-west-2", "USD", "56.867");
        // Only with payment in advance: 1,111 for three years are 30.861111111 a month.
        let years = build_catalogue(text, Commitment::ThreeYears);
        check(&years, "aws/m7i.large", "eu-west-2", "USD", "30.861111");
        // EBS has no commitments: a volume is priced as always.
        let both = find_price(&years, "aws/gp3:100GiB on aws/m7i.large", "eu-west-2", "USD").unwrap();
        assert_eq!((both.monthly.exact(), both.uncommitted.len()), ("39.861111".to_owned(), 0));
        // The files have no committed prices: the one on demand is shown with a doubt.
        let on_demand = find_price(&years, "aws/m7i.large", "us-east-1", "USD").unwrap();
        assert_eq!(on_demand.monthly.exact(), "73.584");
        let doubts: Vec<String> = on_demand.doubts().into_iter().map(|doubt| doubt.text).collect();
        assert!(
            doubts.contains(&"no committed price of aws/m7i.large is known for 3y: its price is on demand".to_owned()),
            "{doubts:?}"
        );
    }
}

#[test]
fn azure_pages_are_read_in_any_packing() {
    let catalogue = build_catalogue(AZURE, Commitment::None);
    check(&catalogue, "azure/premium-ssd:P30", "westeurope", "EUR", "125.50");
    // 400 GiB at 0.00013, 1,000 IOPS at 0.0000065 and 75 MB/s at 0.000052 an hour; rows of price zero are no prices.
    check(&catalogue, "azure/premium-ssd-v2:400GiB,iops=4000,throughput=200", "westeurope", "EUR", "45.552");
    // The meter of operations is that of E4 for all tiers: 0.0019 for 10,000.
    check(&catalogue, "azure/standard-ssd:E30,monthly_operations=1000000", "westeurope", "EUR", "70.19");
    check(&catalogue, "azure/standard-ssd:E30", "westeurope", "EUR", "70.00 without operations of azure/standard-ssd");
    // Neither the price of Windows nor that of a spot machine.
    check(&catalogue, "azure/Standard_D8ds_v5", "westeurope", "EUR", "383.25");
    let skipped = read(AZURE).unwrap().skipped;
    assert_eq!(skipped.get("a machine with Windows"), Some(&1));
    assert_eq!(skipped.get("a machine that may be taken away (spot)"), Some(&1));
    // 2,400 for a year, whatever the unit says, before the savings plan of the same term; that of three years is 0.21.
    let year = build_catalogue(AZURE, Commitment::OneYear);
    check(&year, "azure/Standard_D8ds_v5", "westeurope", "EUR", "200.00");
    check(&year, "azure/premium-ssd:P30", "westeurope", "EUR", "119.166667");
    check(&build_catalogue(AZURE, Commitment::ThreeYears), "azure/Standard_D8ds_v5", "westeurope", "EUR", "153.30");
    let pages = [format!("{AZURE}\n{AZURE}"), format!("[{AZURE}, {AZURE}]")];
    let items: serde_json::Value = serde_json::from_str(AZURE).unwrap();
    for packed in pages.into_iter().chain([items["Items"].to_string()]) {
        check(&build_catalogue(&packed, Commitment::None), "azure/premium-ssd:P30", "westeurope", "EUR", "125.50");
    }
}

#[test]
fn oci_products_are_read_in_all_currencies() {
    let catalogue = build_catalogue(OCI, Commitment::None);
    check(&catalogue, "oci:100GB@10vpu", "", "USD", "4.25");
    check(&catalogue, "oci:100GB@10vpu", "", "JPY", "619.65");
    // 4 OCPUs at 4.65 and 64 GB at 0.31 an hour; the spelling of E6 has the vendor in front.
    check(&catalogue, "oci/VM.Standard.E5.Flex:4ocpu", "", "JPY", "28061.20");
    check(&catalogue, "oci/VM.Standard.E6.Flex:4ocpu", "", "JPY", "28061.20");
    check(
        &catalogue,
        "oci/VM.Standard.A2.Flex:4ocpu",
        "",
        "JPY",
        "the list of oci/VM.Standard.A2.Flex:ocpu=4,memory=24 has no price for OCPUs",
    );
    let coverage = catalogue.price_coverage();
    let yen = coverage.iter().find(|one| one.imported && one.currency == "JPY").unwrap();
    assert_eq!((yen.vendor.as_str(), yen.sources[0].date.as_str()), ("oci", "2026-11-05"));
    assert_eq!(yen.products, ["oci/block-volume", "oci/boot-volume"]);
}

#[test]
fn gcp_skus_are_read_for_disks_and_machines() {
    let catalogue = build_catalogue(GCP, Commitment::None);
    // The free allowance of 30 GiB is the account's.
    check(&catalogue, "gcp/pd-standard:100GiB", "europe-west1", "USD", "4.00");
    check(&catalogue, "gcp/hyperdisk-balanced:100GiB,iops=4000,throughput=200", "europe-west1", "USD", "17.30");
    // 8 vCPUs at 0.0347721 and 64 GiB at 0.0046607 an hour.
    check(&catalogue, "gcp/n2-highmem-8", "europe-west1", "USD", "420.816968");
    check(
        &catalogue,
        "gcp/n1-standard-8",
        "europe-west1",
        "USD",
        "the list of gcp/n1-standard-8 has no price for vCPUs",
    );
    check(&catalogue, "gcp/c2-standard-8", "europe-west1", "USD", "305.14");
    // Only the vCPUs have a price for a year: a machine has one for all its parts, or none.
    let year = build_catalogue(GCP, Commitment::OneYear);
    check(&year, "gcp/n2-highmem-8", "europe-west1", "USD", "420.816968");
    let price = find_price(&year, "gcp/n2-highmem-8", "europe-west1", "USD").unwrap();
    assert_eq!(price.uncommitted.len(), 1);
}

#[test]
fn other_files_are_refused_with_their_looks() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("<!doctype html>", "it looks like a web page or XML"),
        ("\u{1f}\u{8b}", "it looks like text without columns"),
        ("PK\u{3}\u{4}", "it is compressed (zip): unpack it first"),
        ("date,cost,service\n2026-01-01,3,EC2\n", "it looks like a table with date, cost, service"),
        ("{\"a\": 1, \"b\": []}", "it looks like JSON with a, b"),
        (
            "{\"offerCode\": \"AmazonFSx\", \"products\": {}}",
            "it looks like the AWS offer \"AmazonFSx\": the offer AmazonEC2 is read",
        ),
        (
            "{\"publicationDate\": \"2026\", \"regions\": {}}",
            "it looks like AWS's index of offers (publicationDate, regions): download the file that its currentVersionUrl names",
        ),
        ("{\"Items\": [{\"name\": 1}]}", "it looks like JSON with Items"),
    ] {
        let refused = read(text).unwrap_err();
        assert!(refused.starts_with(expected), "{text:?}: {refused}");
    }
    let broken = read(&AWS_JSON[..AWS_JSON.len() / 2]).unwrap_err();
    assert!(broken.starts_with("broken JSON: EOF"), "{broken}");
    // A list of other things is said to be one.
    let other = AZURE.replace("Premium SSD", "Blob").replace("Standard SSD", "Blob").replace("Standard_D8ds_v5", "x");
    let refused = read(&other).unwrap_err();
    assert!(
        refused.contains("has no price of a product in the catalogue")
            && refused.contains("no product of the catalogue bills it"),
        "{refused}"
    );
    // An amount of zero is not a price.
    let free = read(&AZURE.replace("0.525", "0.0").replace("2400.0", "0.0").replace("0.21", "0.0")).unwrap();
    assert_eq!(free.skipped.get("its amount is zero"), Some(&3), "{:?}", free.skipped);
    // A unit that is not known is no price, and is named.
    let other = AZURE.replace("1/Month", "1 Fortnight");
    let words = read(&other).unwrap().skipped_words();
    assert!(
        words.contains("its unit is not understood (such as Premium SSD Managed Disks/P30 LRS Disk by \"1 Fortnight\""),
        "{words}"
    );
}

#[test]
fn imported_prices_are_compared_with_those_of_the_files() {
    let list = AWS_JSON.replace("eu-west-2", "us-east-1");
    let catalogue = build_catalogue(&list, Commitment::None);
    let changes: Vec<String> = catalogue
        .price_changes()
        .iter()
        .map(|change| format!("{} {}: {} to {}", change.subject, change.component, change.before, change.after))
        .collect();
    for expected in [
        "aws/gp3 storage: 0.08 USD to 0.09 USD",
        "aws/gp3 throughput above 125 MiB/s: 0.04 USD to 0.044 USD",
        "aws/m7i.large instance: 73.58 USD to 85.85 USD",
    ] {
        assert!(changes.iter().any(|change| change == expected), "{expected}: {changes:?}");
    }
    assert!(!changes.iter().any(|change| change.contains("r7i")), "{changes:?}");
    // Before its date, the list of the file holds.
    let terms = PriceTerms {
        as_of: "2026-11-09".parse().unwrap(),
        currency: Some("USD".parse().unwrap()),
        region: Some("us-east-1".to_owned()),
    };
    let offer = catalogue.offer(&"aws/gp3:100GiB".parse().unwrap(), &terms).unwrap();
    assert_eq!(offer.price().unwrap().monthly.exact(), "8.00");
}

#[test]
fn a_later_import_adds_to_an_earlier_one() {
    let first = read(AWS_JSON).unwrap().prices.remove(0);
    let second = AWS_JSON.replace("2026-11-10", "2026-11-20").replace("\"0.0900000000\"", "\"0.1000000000\"");
    let newer = read(&second).unwrap().prices.remove(0);
    let mut merged = newer.clone();
    merged.merge(first.clone());
    assert_eq!(merged, newer);
    // The other way round: rates of a later date stay.
    let mut merged = first;
    merged.merge(newer.clone());
    assert_eq!(merged, newer);
}
