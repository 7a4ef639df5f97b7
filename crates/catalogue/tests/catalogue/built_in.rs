//! The built-in catalogue: complete, sound, and quick to parse at every start.

#![expect(clippy::disallowed_methods, reason = "compares an embedded list with its folder")]

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll_catalogue::{Catalogue, Config, PriceTerms, ProductKind, built_in_files, check_built_in};

fn files_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder of product files") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_none_or(|end| end != "po") {
            let parts: Vec<_> = path.iter().map(|part| part.to_str().expect("paths of the project are text")).collect();
            let top = parts.iter().rposition(|part| *part == "catalogue").expect("it began there");
            found.insert(parts[top..].join("/"));
        }
    }
}

#[test]
fn no_file_is_forgotten() {
    let mut in_folder = BTreeSet::new();
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalogue"), &mut in_folder);
    let listed: BTreeSet<String> = built_in_files().map(str::to_owned).collect();
    assert_eq!(listed, in_folder, "the list is crates/catalogue/src/built_in.rs");
}

#[test]
fn every_file_is_sound() {
    let complaints: Vec<String> = check_built_in().iter().map(ToString::to_string).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_product_is_found_by_its_names_and_can_be_quoted() {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: "2026-11-21".parse().unwrap(), currency: None, region: None };
    for product in catalogue.products().filter(|product| product.kind() != ProductKind::Machine) {
        for name in product.aliases().iter().map(String::as_str).chain([product.name()]) {
            assert_eq!(catalogue.find(name).unwrap().name(), product.name());
        }
        let needs_size = product.options().iter().any(|option| &*option.name == "size" && option.default.is_empty());
        let size = product.smallest_size(plimsoll_units::Bytes::ZERO).filter(|_| needs_size);
        let size = size.map_or_else(String::new, |size| format!(":size={size}"));
        let config: Config = format!("{}{size}", product.name()).parse().unwrap();
        let offer = catalogue.offer(&config, &terms).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(catalogue.offer(&offer.config, &terms).unwrap().config, offer.config);
        assert_eq!(offer.config.to_string().parse::<Config>().unwrap(), offer.config);
    }
}

#[test]
fn texts_for_people_name_no_keys_of_sources() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let products = built_in_files().filter(|file| Path::new(file).extension().is_some_and(|end| end == "toml"));
    for file in products {
        let text = std::fs::read_to_string(top.join(file)).expect("a product file");
        let keys = || text.lines().filter_map(|line| line.strip_prefix("[sources.")?.strip_suffix(']'));
        let displayed =
            |line: &&str| ["note = ", "text = ", "message = ", "about = "].iter().any(|key| line.starts_with(key));
        for line in text.lines().filter(displayed) {
            // Keys of a single word may be words of the text.
            let leaked = keys().filter(|key| key.contains('_')).find(|key| line.contains(key));
            assert!(leaked.is_none(), "{file} shows the key {leaked:?} where its title should stand: {line}");
        }
    }
}
