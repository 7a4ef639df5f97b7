//! Settings of the host that keep flushes from reaching the storage: mount options and preloaded libraries.

use crate::host::Tree;
use crate::subject::Subject;

/// Mount options of ext3, ext4, XFS and btrfs that disable barriers.
const UNSAFE_OPTIONS: [&str; 3] = ["nobarrier", "barrier=0", "barrier=none"];
/// Replaces `fsync` and its relatives in the C library by functions that return at once.
const PRELOADED: &str = "libeatmydata";

/// The settings that disable flushes of files at `subject`, such as `mount option nobarrier`.
pub fn flush_overrides(subject: &Subject) -> Vec<String> {
    unsafe_options(subject.filesystem.as_ref().map_or("", |filesystem| &filesystem.options))
}

fn unsafe_options(options: &str) -> Vec<String> {
    let found = options.split(',').filter(|option| UNSAFE_OPTIONS.contains(option));
    found.map(|option| format!("mount option {option}")).collect()
}

/// The library in this process that disables flushes made through the C library. This crate flushes by direct system
/// calls and is not affected; a database started from the same shell is.
pub fn flush_library() -> Option<&'static str> {
    preloaded(&Tree::system())
}

fn preloaded(tree: &Tree) -> Option<&'static str> {
    tree.text("proc/self/maps").is_ok_and(|maps| maps.contains(PRELOADED)).then_some(PRELOADED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::Fixture;

    #[test]
    fn disabled_barriers_are_found() {
        assert_eq!(unsafe_options("rw,nobarrier,relatime"), ["mount option nobarrier"]);
        assert!(unsafe_options("rw,relatime,barrier=1").is_empty());
    }

    #[test]
    fn preloaded_libraries_are_found() {
        let check = |name: &str, line: &str, expected: Option<&str>| {
            let fixture = Fixture::new(name, &[("proc/self/maps", line)]);
            assert_eq!(preloaded(&fixture.tree()), expected, "{line}");
        };
        let library = "7f00-7f01 r-xp 0 0:1 5 /usr/lib/libeatmydata/libeatmydata.so\n";
        check("flush-library", library, Some("libeatmydata"));
        check("flush-library-none", "7f00-7f01 r-xp 0 0:1 5 /lib/libc.so\n", None);
    }
}
