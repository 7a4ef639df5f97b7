//! The volume service with files in a temporary directory and real clients of its NBD server.

mod clones;
mod home;
mod levels;
mod life;
mod lives;
mod refusals;
