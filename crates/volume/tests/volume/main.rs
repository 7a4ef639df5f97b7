//! Integration tests of volumes: durability through crashes and failures, and timing.

#[cfg(test)]
mod crash;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod flat;
#[cfg(test)]
mod life;
#[cfg(test)]
mod log;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod truth;
