//! Products of the catalogue. Arithmetic is text, as in product files; an empty text means that there is none.

use std::collections::BTreeMap;

use plimsoll_catalogue::{
    Autotune, Catalogue, Complaint, Deviation, Durability, LatencyStatement, LimitView, ManagedDatabase, ModelView,
    NamedFigure, OptionView, PriceView, Product, ProductKind, RacSupport, RuleView, ServiceLevel, SharingView, Status,
    TypicalRates, Warning,
};
use plimsoll_units::Bytes;

use super::each;

view! {
    /// Every product of the catalogue, in short.
    struct Products from catalogue: &Catalogue {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.catalogue/1"))]
        format: &'static str = "plimsoll.catalogue/1",
        /// The products by name.
        products: Vec<ProductSummary> = each(sorted(catalogue)),
    }

    /// A product in short.
    struct ProductSummary from product: &Product {
        /// Name, such as `aws/gp3`; of machines, the part before the slash.
        name: String = product.name().to_owned(),
        /// Title.
        title: String = product.title().to_owned(),
        /// Kind.
        kind: ProductKind = product.kind(),
        /// Description in a sentence.
        about: String = product.about().to_owned(),
        /// Other names.
        aliases: Vec<String> = product.aliases().to_vec(),
        /// Unit of capacity of the vendor.
        capacity_unit: String = product.capacity_unit().0.to_owned(),
        /// Size of that unit in bytes.
        capacity_unit_bytes: Bytes = product.capacity_unit().1,
        /// Names of the price lists.
        price_lists: Vec<String> = product.price_lists(),
        /// Number of figures of each status of reliability.
        figures_by_status: BTreeMap<&'static str, usize> = figures_by_status(product),
    }

    /// A product in full.
    struct ProductResult from product: &Product {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.product/1"))]
        format: &'static str = "plimsoll.product/1",
        #[serde(flatten)]
        summary: ProductSummary = product.into(),
        /// Options of a configuration.
        options: Vec<OptionView> = product.options(),
        /// Table of tiers.
        tiers: Tiers = product.tier_table().unwrap_or_default().into(),
        /// Limits.
        limits: Vec<LimitView> = product.limits(),
        /// Statements of the vendor about latency.
        latency: Vec<LatencyStatement> = product.latency(),
        /// Constraints on combinations of options.
        rules: Vec<RuleView> = product.rules(),
        /// Price lists.
        prices: Vec<PriceView> = product.price_views(),
        /// Timing model; null if there is none.
        model: Option<ModelView> = product.model_view(),
        /// Named numbers.
        figures: Vec<NamedFigure> = product.figures(),
        /// Rates of the published drives that it stands for, in some configuration.
        typical: Vec<TypicalRates> = product.typical().into_iter().cloned().collect(),
        /// Engines and division of work of a managed database; null for other products.
        managed: Option<ManagedDatabase> = product.managed().cloned(),
        /// Annual failure rate of a volume; null if the vendor states none.
        durability: Option<Durability> = product.durability().cloned(),
        /// Service levels, whatever their condition.
        service_levels: Vec<ServiceLevel> = product.service_levels(),
        /// Machines that can attach a volume at the same time.
        sharing: Vec<SharingView> = product.sharing_views(),
        /// Oracle's support of RAC on own machines with the volume; null without a statement.
        rac: Option<RacSupport> = product.rac().cloned(),
        /// Loads whose quoted and simulated rates differ.
        deviations: Vec<Deviation> = product.deviations().to_vec(),
        /// Automatic functions of the service.
        autotune: Vec<Autotune> = product.autotune().to_vec(),
        /// Names of the machines of a family.
        machines: Vec<String> = product.machines().collect(),
        /// Inconsistencies in its documents.
        warnings: Vec<Warning> = product.warnings().to_vec(),
    }

    /// Product files and their defects.
    struct CheckedProducts from files: &[(String, Vec<Complaint>)] {
        /// Name and version of this format.
        #[schemars(extend("const" = "plimsoll.product-check/1"))]
        format: &'static str = "plimsoll.product-check/1",
        /// The files, in the order of the arguments.
        files: Vec<CheckedProduct> = each(files),
    }

    /// A product file and its defects.
    struct CheckedProduct from (file, complaints): &(String, Vec<Complaint>) {
        /// Path of the file.
        file: String = file.clone(),
        /// True without defects.
        valid: bool = complaints.is_empty(),
        /// Defects, by their position.
        defects: Vec<ProductDefect> = each(complaints),
    }

    /// A defect of a product file.
    struct ProductDefect from defect: &Complaint {
        /// Line, counted from 1.
        line: u32 = defect.line,
        /// Column in characters, counted from 1.
        column: u32 = defect.column,
        /// The defect in a sentence.
        what: String = defect.what.clone(),
        /// Allowed alternatives.
        allowed: String = defect.allowed.clone(),
    }

    /// The table of tiers; empty without tiers.
    struct Tiers from (columns, rows): (Vec<String>, Vec<Vec<String>>) {
        /// Names of the columns.
        columns: Vec<String> = columns,
        /// Cells of each tier; unknown cells are empty.
        rows: Vec<Vec<String>> = rows,
    }
}

fn sorted(catalogue: &Catalogue) -> Vec<&Product> {
    let mut products: Vec<&Product> = catalogue.products().collect();
    products.sort_by_key(|product| product.name());
    products
}

fn figures_by_status(product: &Product) -> BTreeMap<&'static str, usize> {
    let cites = product.cites();
    let count = |status: Status| (status.name(), cites.iter().filter(|cite| cite.status == status).count());
    Status::ALL.map(count).into()
}
