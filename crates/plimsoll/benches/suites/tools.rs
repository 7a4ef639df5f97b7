//! Tools of others, found on the path.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folder;

pub struct Tool(PathBuf);

/// A tool by its name, looked for on the path and in other folders. Says when it is not there.
pub fn tool(name: &str, elsewhere: &[PathBuf]) -> Option<Tool> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(system).chain(elsewhere.iter().cloned());
    let found = folders.map(|folder| folder.join(name)).find(|path: &PathBuf| Path::is_file(path));
    if found.is_none() {
        println!("\nskipped: {name} is not installed");
    }
    found.map(Tool)
}

impl Tool {
    /// All that it prints.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.0).args(arguments).current_dir(folder()).env("LC_ALL", "C").output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(output.status.success(), "{}: {text}", self.0.display());
        text
    }
}
