//! Builders of pages. They alone decide content, order and wording of each result.

mod catalogue;
mod changes;
mod comparison;
mod curves;
mod demand;
mod diagnosis;
mod doctor;
mod elapsed;
mod explanation;
mod fit;
mod history;
mod jobs;
mod matches;
mod nbd_check;
mod presets;
mod price_chart;
mod prices;
mod quotes;
pub(crate) mod requirement;
mod runs;
mod settings;
mod sizing;
mod suites;
mod trial;
pub mod volumes;
mod watch;
mod what_if;

pub use catalogue::{build_products_page, checked_products, product};
pub use changes::{CompletedChange, changes};
pub use comparison::comparison;
pub use curves::{Sheet, curves};
pub(crate) use demand::measure_name;
pub use demand::{DemandDetail, demand};
use plimsoll_language::label;

use demand::{file_name, format_figure};
pub use diagnosis::diagnoses;
pub use doctor::doctor;
pub use elapsed::elapsed;
pub use explanation::explanation;
pub use fit::fit;
pub use history::{HistoryRun, RunHistory, history};
pub use jobs::jobs;
pub use matches::{Detail, matches, matches_short};
pub use nbd_check::{CheckedFeature, FeatureVerdict, nbd_check};
pub use presets::{PresetEntry, preset, presets};
pub use prices::prices;
pub use quotes::quotes;
pub use requirement::{CheckedRequirement, checked_requirement, requirements};
pub use runs::{KeptRun, runs};
pub use settings::{Settings, settings};
pub use sizing::{add_gaps, sizing};
pub use suites::suites;
pub use trial::{LevelRate, LevelTrial, Trial, trial};
pub use watch::{WatchReport, describe_watch, list_firing, watch};

use crate::page::{Block, Cell, Page, PageSection};
use crate::words::product_text;

/// Name of a limit in a cell; a dash for no limit.
fn limit(name: Option<&str>) -> Cell {
    Cell::or_unknown(name, |name| Cell::text(product_text(name)))
}

/// Pages one after the other, each as sections under its own title; anchors stay unique.
pub fn joined(title: &str, parts: Vec<Page>) -> Page {
    let mut page = Page { title: title.to_owned(), ..Page::default() };
    let mut makers = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let Page { title, subject, alert, headline, figures, sections, made_by, .. } = part;
        let mut blocks: Vec<Block> = Vec::new();
        blocks.extend(alert.map(|(_, text)| Block::Text(text)));
        if let Some(headline) = headline {
            blocks.push(Block::Text(headline.text));
            blocks.extend(headline.cautions.into_iter().chain(headline.details).map(Block::Text));
        }
        blocks.extend(subject.into_iter().map(Block::Note));
        blocks.push(Block::Facts(figures));
        page.sections.push(PageSection::new(title, blocks).with_anchor(format!("part{index}")));
        page.sections.extend(sections);
        makers.push(made_by);
    }
    makers.retain(|maker| !maker.is_empty());
    makers.dedup();
    page.made_by = makers.join(label!(", "));
    page
}
