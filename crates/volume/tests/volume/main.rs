//! Volumes from outside: what they promise, kept through crashes, failures and time.

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
