//! Parser of requirement files.

use plimsoll_units::{Bytes, Span};

use super::cites::Cites;
use super::parse_toml;
use super::section::{Section, read_number};
use crate::complaint::{Complaint, Complaints};
use crate::nearest;
use crate::product_text::ProductText;
use crate::requirement::{RequiredFigure, RequiredUnit, Requirement, RequirementCondition};

/// Parses a requirement. `name` is that of its file in complaints.
///
/// # Errors
/// All defects with their positions.
pub fn parse_requirement(name: &str, text: &str) -> Result<Requirement, Vec<Complaint>> {
    let source = ProductText::read(name, text, &|_| None);
    let mut to = Complaints::new(&source);
    let document = parse_toml(text, &mut to);
    if !to.is_empty() {
        return Err(to.into_sorted());
    }
    let head = Section::new(document.get_ref(), 0, "the file");
    let cites = Cites::read(&head, &mut to);
    let mut text = |key| head.required(key, &mut to).map_or("", |text| text.text).to_owned();
    let (title, about, jobs) = (text("title"), text("about"), text("jobs"));
    let assumptions = head.texts("assumptions", &mut to).into_iter().map(|text| text.text.to_owned()).collect();
    let sections = head.sections("condition", "[[condition]]", &mut to);
    if sections.is_empty() {
        to.at(0, "the file has no condition", "[[condition]] with a figure and its limit");
    }
    let conditions = sections.into_iter().filter_map(|section| read_condition(section, &cites, &mut to)).collect();
    let cite = cites.cite(&head, &mut to);
    head.finish(&mut to);
    let requirement = Requirement { name: name.to_owned(), title, about, jobs, cite, assumptions, conditions };
    if to.is_empty() { Ok(requirement) } else { Err(to.into_sorted()) }
}

fn read_condition(section: Section, cites: &Cites, to: &mut Complaints) -> Option<RequirementCondition> {
    let figure = section.required("figure", to).and_then(|text| {
        let figure = RequiredFigure::parse(text.text);
        if figure.is_none() {
            let near = nearest::suggestion(text.text, RequiredFigure::FORMS);
            let allowed = nearest::one_of(&RequiredFigure::FORMS);
            to.at(text.at, format!("figure is {:?}{near}", text.text), format!("{allowed}; any percentile for p99"));
        }
        figure
    });
    let job = section.text("job", to).map(|text| text.text.to_owned());
    let cite = cites.cite(&section, to);
    let bound = figure.and_then(|figure| read_bound(&section, figure, to));
    // Without a figure either limit could be right.
    if figure.is_none() {
        let _ = (section.get("at_least"), section.get("at_most"));
    }
    section.finish(to);
    Some(RequirementCondition { figure: figure?, job, bound: bound?, cite })
}

fn read_bound(section: &Section, figure: RequiredFigure, to: &mut Complaints) -> Option<u64> {
    let (key, form) = match figure.unit() {
        RequiredUnit::Iops => ("at_least", "at_least = 3000, operations per second"),
        RequiredUnit::BytesPerSecond => ("at_least", "at_least = \"75MB/s\""),
        RequiredUnit::Nanoseconds => ("at_most", "at_most = \"10ms\""),
    };
    let Some(value) = section.get(key) else {
        to.at(section.at, format!("{} of {figure} has no {key}", section.name), form);
        return None;
    };
    let text = value.get_ref().as_str();
    let bound = match figure.unit() {
        RequiredUnit::Iops => read_number(value).map(|number| number.round() as u64),
        RequiredUnit::BytesPerSecond => {
            text.and_then(|text| text.strip_suffix("/s")?.parse().ok()).map(|bytes: Bytes| bytes.get())
        }
        RequiredUnit::Nanoseconds => text.and_then(|text| text.parse().ok()).map(|span: Span| span.as_nanos()),
    };
    let bound = bound.filter(|bound| *bound > 0);
    if bound.is_none() {
        to.at(value.span().start, format!("{key} of {figure} is no limit"), form);
    }
    bound
}
