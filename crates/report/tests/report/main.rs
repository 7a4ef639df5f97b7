//! Tests of pages and their forms, as one program.

mod choices;
mod csv;
mod diagnosis;
mod evidence;
mod forms;
mod glossary;
mod kubernetes;
mod language;
mod mutants;
mod pages;
mod sizing;
mod sizing_screen;
mod suites;
mod summary;
mod support;
mod terminal;
mod timeline;
mod words;
