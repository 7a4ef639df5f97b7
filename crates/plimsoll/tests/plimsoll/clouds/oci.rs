//! The real oci CLI, configured for a service.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;

/// The oci CLI with the configuration of a service.
pub struct Cli {
    program: PathBuf,
    folder: PathBuf,
}

/// The program of a variable of the environment, or of the path; says so when there is none.
pub fn client(variable: &str, usual: &str) -> Option<PathBuf> {
    let program = std::env::var_os(variable).map_or_else(|| PathBuf::from(usual), PathBuf::from);
    let run = Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if run.is_ok_and(|status| status.success()) {
        return Some(program);
    }
    eprintln!("skipped: {} is not installed; {variable} names it", program.display());
    None
}

/// The essence of an output: state of an object, number of objects, code of an error.
fn summary(printed: &Value) -> String {
    match &printed["data"] {
        Value::Array(objects) => format!("{} objects", objects.len()),
        Value::Object(object) => {
            let state = ["lifecycle-state", "status"].iter().find_map(|key| object.get(*key)).unwrap_or(&Value::Null);
            format!("{} {state}", object.get("id").or(object.get("volume-id")).unwrap_or(&Value::Null))
        }
        _ => {
            let text = printed.as_str().unwrap_or_default();
            let code = text.split_once("\"code\": \"").and_then(|(_, rest)| rest.split('"').next());
            code.or(text.lines().rev().find(|line| !line.is_empty())).unwrap_or("no output").to_owned()
        }
    }
}

impl Cli {
    /// Configures the CLI for the service of a home; `None` without the program.
    pub fn new(home: &Home) -> Option<Self> {
        let program = client("PLIMSOLL_OCI_CLI", "oci")?;
        home.does(&["oci-config", "cli"]);
        Some(Self { program, folder: home.path().join("cli") })
    }

    /// Runs a command that ends with `code`; what it printed.
    #[track_caller]
    pub fn ends(&self, code: i32, arguments: &[&str]) -> Value {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("SUPPRESS_LABEL_WARNING", "True").env("OCI_CLI_CONFIG_FILE", self.file("config"));
        command.env("OCI_CLI_RC_FILE", self.file("oci_cli_rc")).env("HOME", &self.folder).stdin(Stdio::null());
        let output = command.output().expect("the CLI starts");
        let (reported, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "oci {}: {reported}{wrong}", arguments.join(" "));
        let printed = serde_json::from_str(&reported).unwrap_or_else(|_| json!(format!("{reported}{wrong}")));
        eprintln!("| `oci {}` | {code} | {} |", arguments.join(" "), summary(&printed));
        printed
    }

    #[track_caller]
    pub fn does(&self, arguments: &[&str]) -> Value {
        self.ends(0, arguments)
    }

    /// Runs a command that makes an object; its identifier.
    #[track_caller]
    pub fn makes(&self, arguments: &[&str]) -> String {
        let created = self.does(arguments);
        created["data"]["id"].as_str().unwrap_or_else(|| panic!("{arguments:?}: {created}")).to_owned()
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(&self.folder).join(name)
    }
}
