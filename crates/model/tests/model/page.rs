//! The reference of the notation, `docs/models.md`: its examples are valid models, and every stage has a section.

use plimsoll_model::{Chain, Model, ModelAnswer, parse};
use plimsoll_units::{Instant, Kind, Op, Slot};

const PAGE: &str = include_str!("../../../../docs/models.md");
const ANALYTIC: &str = include_str!("../../src/analytic.rs");

/// The models of the page's commands: the quoted argument of `simulate`.
fn list_examples() -> Vec<&'static str> {
    PAGE.lines()
        .filter_map(|line| line.strip_prefix("plimsoll simulate '"))
        .map(|rest| rest.split_once('\'').expect("an example ends with an apostrophe").0)
        .collect()
}

/// The stage names of the notation, from the message for an unknown stage.
fn list_forms() -> Vec<String> {
    let message = parse("unknown(1)").expect_err("the stage is unknown").to_string();
    let list = message.split_once("is not a stage: use ").expect("it lists the forms").1;
    list.trim_end_matches(", joined by then").split(", ").map(str::to_owned).collect()
}

#[test]
fn every_example_can_be_read_and_answers() {
    let examples = list_examples();
    assert!(examples.len() > 20, "{} examples were found", examples.len());
    for example in examples {
        let spec = parse(example).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(parse(&spec.to_string()).as_ref(), Ok(&spec), "{example}");
        let mut chain = Chain::new(&spec, 1);
        for (slot, kind) in [Kind::Read, Kind::Write, Kind::DurableWrite, Kind::Flush].into_iter().enumerate() {
            let length = if kind == Kind::Flush { 0 } else { 8192 };
            chain.submit(Instant::ZERO, Slot(slot as u32), &Op { offset: 0, length, kind, stream: 0 });
        }
        let mut answers: Vec<ModelAnswer> = Vec::new();
        chain.drain(Instant::NEVER, &mut answers);
        assert_eq!(answers.len(), 4, "{example}");
    }
}

#[test]
fn every_stage_has_its_section_and_an_example() {
    let forms = list_forms();
    assert!(forms.len() > 20, "{forms:?}");
    let examples = list_examples();
    for form in forms {
        assert!(PAGE.contains(&format!("\n### {form}\n\n`{form}(")), "docs/models.md has no section for {form}");
        let used = |example: &str| example.split([' ', '(']).any(|word| word == form);
        assert!(examples.iter().any(|example| used(example)), "docs/models.md has no example of {form}");
    }
}

#[test]
fn the_table_of_the_analytic_solution_is_that_of_its_source() {
    let rows: Vec<&str> = ANALYTIC.lines().filter_map(|line| line.strip_prefix("//! |")).collect();
    assert!(rows.len() > 4, "{rows:?}");
    for row in rows {
        assert!(PAGE.contains(&format!("\n|{row}\n")), "docs/models.md lacks |{row}");
    }
}
