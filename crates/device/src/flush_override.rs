//! Settings of the host that keep flushes from reaching the storage: mount options and preloaded libraries.

use crate::host::Tree;
use crate::subject::Subject;

/// Mount options of ext3, ext4, XFS and btrfs that disable barriers.
const UNSAFE_OPTIONS: [&str; 3] = ["nobarrier", "barrier=0", "barrier=none"];
/// Replaces `fsync` and its relatives by functions that return at once.
const PRELOADED: &str = "libeatmydata";

/// The settings that disable flushes of files at `subject`, such as `mount option nobarrier`.
pub fn flush_overrides(subject: &Subject) -> Vec<String> {
    let options = subject.filesystem.as_ref().map_or("", |filesystem| &filesystem.options);
    read(&Tree::system(), options)
}

fn read(tree: &Tree, options: &str) -> Vec<String> {
    let unsafe_options = options.split(',').filter(|option| UNSAFE_OPTIONS.contains(option));
    let mut found: Vec<String> = unsafe_options.map(|option| format!("mount option {option}")).collect();
    if tree.text("proc/self/maps").is_ok_and(|maps| maps.contains(PRELOADED)) {
        found.push(format!("preloaded library {PRELOADED}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::Fixture;

    #[test]
    fn disabled_barriers_and_preloaded_libraries_are_found() {
        let fixture = Fixture::new(
            "flush-override",
            &[("proc/self/maps", "7f00-7f01 r-xp 0 0:1 5 /usr/lib/libeatmydata/libeatmydata.so\n")],
        );
        let expected = ["mount option nobarrier", "preloaded library libeatmydata"];
        assert_eq!(read(&fixture.tree(), "rw,nobarrier,relatime"), expected);
        let plain = Fixture::new("flush-override-none", &[("proc/self/maps", "7f00-7f01 r-xp 0 0:1 5 /lib/libc.so\n")]);
        assert!(read(&plain.tree(), "rw,relatime,barrier=1").is_empty());
    }
}
