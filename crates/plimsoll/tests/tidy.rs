//! The house rules that a machine can check, one module for each. ARCHITECTURE.md and STYLE.md say why they are.
//!
//! Knows nothing about what plimsoll does: it reads the tree as text and tokens, and `cargo metadata` for the crates.
//! Each module has a check that takes data and returns complaints, tests with planted faults, and one test that
//! applies it to the real tree.

mod tidy {
    mod budgets;
    mod complaint;
    mod documents;
    mod edges;
    mod leaks;
    mod modules;
    mod sizes;
    mod source;
    mod table;
    mod tree;
    mod words;
    mod workspace;
    mod zones;
}
