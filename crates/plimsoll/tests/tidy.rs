//! Machine-checked rules of the project, a module for each. ARCHITECTURE.md and STYLE.md give the reasons.
//!
//! Reads the tree as text and tokens, and `cargo metadata`. Each module has a check from data to complaints, tests with
//! injected faults, and a test on the real tree.

mod tidy {
    mod budgets;
    mod complaint;
    mod cycles;
    mod dependencies;
    mod documents;
    mod edges;
    mod english;
    mod identifiers;
    mod leaks;
    mod modules;
    mod sentences;
    mod sizes;
    mod source;
    mod table;
    mod terminology;
    mod translations;
    mod tree;
    mod types;
    mod words;
    mod workspace;
    mod zones;
}
