//! Contents that are checked, through every engine: what was changed behind its back is found and said, and what merely
//! overlaps is not.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

mod contents {
    mod corruption;
    mod engines;
    mod nbd;
    mod overlap;
    mod rig;
    mod state;
}
