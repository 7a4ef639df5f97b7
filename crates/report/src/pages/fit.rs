//! A fitted model: parameters with intervals, quality of the fit, and alternatives.

use plimsoll_analyse::{Fitted, FittedRange, Misfit, Parameter};
use plimsoll_catalogue::ModelFit;
use plimsoll_language::{label, say};

use crate::page::{Block, Cell, Column, Fact, Headline, Page, PageSection, Table};
use crate::words::fitted_value;

/// A model fitted to runs.
pub fn fit(fitted: &Fitted) -> Page {
    let prediction = match &fitted.held_out {
        Some(held_out) => say!("; predicts held-out loads within {}", misfit(*held_out)),
        None => label!("; too few loads for cross-validation").into(),
    };
    let described = say!("Describes the measured response times within {}{prediction}.", misfit(fitted.error));
    let table = Table::rows(label!("Parameters"), &fitted.parameters)
        .column(Column::text(label!("parameter"), 0), |parameter| parameter.name.as_str())
        .column(Column::text(label!("value"), 0), |parameter| value(parameter))
        .table();
    let evidence = fitted
        .parameters
        .iter()
        .map(|fit| Fact::new(label!("known by"), format!("{}: {}", fit.name, fit.identified_by)));
    let sections = vec![
        PageSection::bare(label!("Parameters"), vec![Block::Table(table)]),
        PageSection::bare(label!("Evidence"), vec![Block::Facts(evidence.collect())]),
        PageSection::bare(label!("Doubts and alternatives"), vec![Block::Facts(alternatives(fitted))]),
    ];
    let details = vec![described, say!("Model: {}.", range(fitted).words())];
    let headline = Headline { text: fitted.spec.to_string(), grade: label!("fitted"), details, ..Headline::default() };
    Page { title: label!("Fitted model").to_owned(), headline: Some(headline), sections, ..Page::default() }
}

/// Range and error as every answer of the model states them.
fn range(fitted: &Fitted) -> ModelFit {
    let FittedRange { block_bytes: (low, high), in_flight, reads } = fitted.range;
    ModelFit { error_share: fitted.uncertainty, block_bytes: (low as f64, high as f64), in_flight, reads }
}

fn misfit(misfit: Misfit) -> String {
    say!("{:.1} % (at worst {:.1} %)", misfit.mean * 100.0, misfit.worst * 100.0)
}

fn value(parameter: &Parameter) -> Cell {
    let displayed = |number: f64| fitted_value(parameter.unit, number);
    let interval = match parameter.interval {
        Some((low, high)) => say!("{} to {}", displayed(low), displayed(high)),
        None if parameter.identified => label!("no interval").into(),
        None => label!("not identified").into(),
    };
    let exact = format!("{} {}", parameter.value, parameter.unit);
    Cell { text: displayed(parameter.value), exact, ..Cell::default() }.with_interval(interval)
}

fn alternatives(fitted: &Fitted) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(rival) = &fitted.rival {
        let (shape, off, spec) = (rival.shape, misfit(rival.error), &rival.spec);
        let text = say!("{shape} describes the runs nearly as well ({off}) and differs beyond them: {spec}");
        facts.push(Fact::caution(label!("rival"), text));
    }
    facts.extend(fitted.doubts.iter().map(|doubt| Fact::caution(label!("doubt"), doubt.to_string())));
    let tried = fitted.alternatives.iter();
    let tried: Vec<String> =
        tried.map(|other| format!("{} {}", other.shape, misfit(other.held_out.unwrap_or(other.error)))).collect();
    if !tried.is_empty() {
        facts.push(Fact::new(label!("tried"), tried.join(label!("; "))));
    }
    facts
}
