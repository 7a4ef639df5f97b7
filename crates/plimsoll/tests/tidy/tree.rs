//! The files of the project: tracked or untracked files of git, or all files without git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Larger files are data, not text.
const TEXT_BYTES_MAX: u64 = 4 << 20;

pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        package.ancestors().nth(2).expect("this package lies two levels below the workspace").to_path_buf()
    })
}

/// Paths of all files from the top, with `/`, sorted.
pub fn list_files() -> &'static [String] {
    static FILES: OnceLock<Vec<String>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = listed_by_git().unwrap_or_default();
        if files.is_empty() {
            walk(root(), &mut files);
        }
        // git also lists deleted files before the commit.
        files.retain(|path| root().join(path).is_file());
        files.sort();
        files.dedup();
        files
    })
}

/// Paths of the files with this extension.
pub fn files_ending(extension: &str) -> impl Iterator<Item = &'static String> {
    list_files().iter().filter(move |path| path.ends_with(extension))
}

/// The text of a file, `None` when it is not text.
pub fn read_text(path: &str) -> Option<String> {
    let path = root().join(path);
    if fs::metadata(&path).ok()?.len() > TEXT_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// `git ls-files` including new files, so that violations are found before the commit.
fn listed_by_git() -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let names = String::from_utf8(output.stdout).ok()?;
    Some(names.split_terminator('\0').map(String::from).collect())
}

fn walk(directory: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        // A directory, or a file in a worktree.
        if name == ".git" {
            continue;
        }
        // Cargo marks its build directory; a module may be called target.
        if kind.is_dir() && !path.join("CACHEDIR.TAG").exists() {
            walk(&path, files);
        } else if kind.is_file() {
            let below = path.strip_prefix(root()).expect("the walk starts at the root");
            files.push(below.to_string_lossy().into_owned());
        }
    }
}

#[test]
fn without_git_the_same_sources_are_found() {
    let mut walked = Vec::new();
    walk(root(), &mut walked);
    for path in list_files() {
        assert!(walked.contains(path), "{path} was not found by walking");
    }
}
