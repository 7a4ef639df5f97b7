//! All commands of README.md, docs/tour.md and the guides of the articles run: those in `sh` blocks, and those after
//! `$ plimsoll` in listings.
//!
//! Paths and files are replaced by temporary ones, and measurements take a second. Commands that need a block device,
//! root or a third-party server are only parsed, which is reported.

mod samples;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::folder::{Folder, stderr};

const DOCUMENTS: &str = concat!(
    include_str!("../../../../README.md"),
    include_str!("../../../../docs/tour.md"),
    include_str!("../../../../docs/articles/azure-striping.md"),
    include_str!("../../../../docs/articles/oci-levels.md"),
    include_str!("../../../../docs/articles/oci-uhp.md"),
    include_str!("../../../../docs/articles/sakura.md"),
    include_str!("../../../../docs/articles/tr-4969.md"),
);
/// Two samples of counters in the format of `plimsoll collect postgres`.
const COUNTERS: &str = r#"{"format":"plimsoll.snapshots/1","source":"postgres","interval_s":10.0}
{"at":"2026-01-31T12:00:00.000Z","server":{"track_io_timing":"on"},"pg_stat_io":[{"backend_type":"client backend","object":"relation","context":"normal","reads":10,"read_bytes":81920,"read_time":5,"writes":10,"write_bytes":81920,"write_time":1}],"pg_stat_database":[{"datid":1,"xact_commit":5,"blks_read":7,"active_time":100}]}
{"at":"2026-01-31T12:00:10.000Z","server":{"track_io_timing":"on"},"pg_stat_io":[{"backend_type":"client backend","object":"relation","context":"normal","reads":1010,"read_bytes":8273920,"read_time":1005,"writes":510,"write_bytes":4177920,"write_time":51}],"pg_stat_database":[{"datid":1,"xact_commit":505,"blks_read":1009,"active_time":9100}]}
"#;

/// A directory with the files that both documents name, removed on drop, and a volume service if one was started.
struct Reader {
    folder: Folder,
    service: Option<Child>,
}

impl Reader {
    fn new() -> Self {
        let folder = Folder::short("readme");
        let service = folder.join("volumes");
        let reader = Self { folder: folder.env("PLIMSOLL_SERVICE", service), service: None };
        reader.folder.make("reports");
        reader.folder.make("samples");
        let write = |name: &str, text: &[u8]| reader.folder.write(name, text);
        write("pg.jsonl", COUNTERS.as_bytes());
        write("q.sql", b"SELECT 1");
        write("job.fio", b"[job]\nfilename=job.data\nsize=1m\nrw=randread\n");
        write("db.trace", b"#plimsoll.trace/1\ntime_ns,kind,offset,length\n0,read,0,4096\n1000000,write,4096,4096\n");
        for name in ["awr.html", "reports/awr.html", "samples/awr.html"] {
            write(name, include_bytes!("../../../../samples/awr.html"));
        }
        // The compared runs.
        for run in ["a.json", "b.json", "before.json", "after.json"] {
            let created =
                ["measure", ".", "--size", "16MiB", "--depth", "1,4", "--duration", "1s", "--quiet", "--json", run];
            reader.folder.text(&created);
        }
        // A last run that can be fitted, however busy this host is.
        let fitted =
            ["simulate", "bank(16, 90us, lognormal 0.3)", "--quick", "--reads", "100", "--json", "fitted.json"];
        reader.folder.text(&fitted);
        let last = crate::forms::as_measured(&reader.folder.read("fitted.json"));
        reader.folder.write("runs/20991231000000-disk.json", &last);
        for run in ["a1", "a2", "a3", "b1", "b2", "b3"] {
            fs::copy(reader.folder.join("a.json"), reader.folder.join(run)).expect("it can be copied");
        }
        reader
    }

    /// Starts the service once; it runs slowly, so that a busy host keeps up.
    fn serve(&mut self) {
        if self.service.is_some() {
            return;
        }
        let service = self.folder.command(&["serve", "volumes", "--slow", "20"]).stdout(Stdio::piped()).spawn();
        let service = self.service.insert(service.expect("the service starts"));
        let lines = BufReader::new(service.stdout.take().expect("it is piped")).lines();
        let ready = lines.map_while(Result::ok).any(|line| line.contains("plimsoll volume"));
        assert!(ready, "the service ended early");
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(mut service) = self.service.take() {
            let _ = service.kill();
            let _ = service.wait();
        }
    }
}

/// The commands of both documents, without `plimsoll`.
fn list_commands() -> Vec<Vec<String>> {
    let mut language = None;
    let mut commands = Vec::new();
    for line in DOCUMENTS.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            language = language.is_none().then_some(fence);
            continue;
        }
        let command = match language {
            Some("sh") => line,
            Some(_) => line.strip_prefix("$ ").unwrap_or_default(),
            None => continue,
        };
        let words = split_words(command);
        let plimsoll = words.iter().position(|word| word == "plimsoll").map(|at| at + 1);
        let begin = plimsoll.or_else(|| words.iter().position(|word| word == "--").map(|at| at + 1));
        commands.extend(begin.map(|begin| words[begin..].to_vec()));
    }
    commands
}

/// The words of a line without its comment; quotes group words.
fn split_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            '#' if !quoted && words.last().is_some_and(String::is_empty) => break,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().expect("there is one").push(other),
        }
    }
    words.retain(|word| !word.is_empty() && word != "&");
    words
}

/// The reason why a command cannot run in a test, if any.
fn needs(arguments: &[String]) -> Option<&'static str> {
    let has = |part: &str| arguments.iter().any(|argument| argument.starts_with(part));
    match () {
        () if has("/dev/") || has("--filename=/dev/") => Some("a block device"),
        () if has("nbd://") => Some("an NBD server"),
        () if has("postgres://") || has("collect") => Some("a PostgreSQL server"),
        () if has("mariadb") => Some("minutes on a MariaDB server"),
        () if arguments.ends_with(&["dd".to_owned(), ".".to_owned()]) => Some("20 GiB"),
        () if has("--ab") => Some("settings of the host to change"),
        () if has("attach") => Some("root"),
        () if arguments[0] == "web" => Some("a browser"),
        () if has("--oci") => Some("the oci CLI"),
        () if has("--make") && !is_installed("postgres") => Some("PostgreSQL"),
        () => None,
    }
}

fn is_installed(program: &str) -> bool {
    let installed = Path::new("/usr/lib/postgresql").is_dir();
    installed || Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The command on temporary paths, shortened.
fn shortened(mut arguments: Vec<String>) -> Vec<String> {
    for argument in &mut arguments {
        let own = match argument.as_str() {
            "/var/lib/postgresql" | "/data" | "/mnt/new" | "/mnt/a" | "/mnt/b" => ".",
            "RUN" => "last",
            "20s" => "1s",
            "4GiB" | "10GiB" => "16MiB",
            "256" => "16",
            _ => continue,
        };
        own.clone_into(argument);
    }
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let budget: &[&str] = match arguments[0].as_str() {
        "measure" if has("--replay") => &[],
        "measure" if has("--duration") => &["--size", "16MiB"],
        "measure" => &["--size", "16MiB", "--duration", "1s"],
        // Its operations take seconds.
        "simulate" if arguments.iter().any(|argument| argument.contains("9880ms")) => &[],
        "simulate" => &["--duration", "1s"],
        // A measurement of a second on a busy host may have no load line.
        "match" if !has("--iops") => &["--iops", "1000", "--objective", "p99<=1s"],
        "suite" if has("slob") && !has("--cache") => {
            &["--cache", "16MiB", "--scale", "16MiB", "--threads", "1", "--duration", "2s"]
        }
        "suite" if has("slob") => &["--scale", "16MiB", "--threads", "1", "--duration", "2s"],
        "suite" if has("bonnie") && has("--size") => &["--fast", "--files", "0"],
        "suite" if has("bonnie") => &["--size", "16MiB", "--fast", "--files", "0"],
        "suite" if has("crystaldiskmark") && has(".") => &["--runs", "1", "--measure", "100ms", "--interval", "0s"],
        "suite" if has("tiobench") => &["--size", "4MiB", "--random", "16"],
        "suite" if has("ladder") => &["--measure", "1s", "--concurrency", "1,2"],
        _ => &[],
    };
    let keep = |word: &String| !(word == "--quick" && budget.contains(&"--duration"));
    arguments.into_iter().filter(keep).chain(budget.iter().map(|&word| word.to_owned())).collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    let mut reader = Reader::new();
    let commands = list_commands();
    assert!(commands.len() > 30, "{commands:?}");
    let mut failed = Vec::new();
    for command in commands {
        let missing = needs(&command);
        let mut arguments: Vec<String> = shortened(command.clone());
        if let Some(missing) = missing {
            eprintln!("skipped: plimsoll {} needs {missing}: its flags are parsed", command.join(" "));
            arguments = command.iter().cloned().chain(["--help".to_owned()]).collect();
        } else if arguments == ["serve"] {
            reader.serve();
            continue;
        } else if arguments[0] == "volume" && arguments[1] == "create" {
            reader.serve();
        }
        let output = reader.folder.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        // A condition on figures of a second holds, is refuted, or is undecided.
        let reported = stderr(&output);
        let is_condition = arguments.iter().any(|argument| argument == "--fail-if");
        let is_judged = is_condition && (output.status.code() == Some(3) || reported.contains("plimsoll: failed, "));
        if !output.status.success() && !is_judged {
            failed.push(format!("plimsoll {}: {}: {reported}", arguments.join(" "), output.status));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The Japanese page has no commands of its own, so that those above cover it.
#[test]
fn commands_of_the_japanese_readme_are_those_of_the_readme() {
    let bare = |line: &str| line.split("  #").next().unwrap_or_default().trim_end().to_owned();
    let english: Vec<String> = include_str!("../../../../README.md").lines().map(bare).collect();
    let japanese = include_str!("../../../../README.ja.md").lines().map(bare);
    let lines: Vec<String> = japanese
        .filter(|line| line.is_ascii() && (line.starts_with("plimsoll ") || line.starts_with("cargo ")))
        .collect();
    assert!(lines.len() > 10, "{lines:?}");
    let others: Vec<&String> = lines.iter().filter(|line| !english.contains(line)).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn commands_of_a_japanese_guide_are_those_of_the_guide() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/articles");
    let listings = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.join(name)).expect("it can be read");
        // Outputs are in the language of the guide.
        let commands = |listing: &str| -> Vec<String> {
            let is_output = listing.starts_with("text");
            let is_command = |line: &&str| !is_output || line.starts_with("$ ");
            listing.lines().filter(is_command).map(str::to_owned).collect()
        };
        text.split("```").skip(1).step_by(2).flat_map(commands).collect()
    };
    let names = fs::read_dir(&folder).expect("it can be read").map(|entry| entry.expect("an entry").file_name());
    let names: Vec<String> = names.map(|name| name.into_string().expect("UTF-8")).collect();
    let guides: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix(".ja.md")).collect();
    assert_eq!(guides.len() * 2, names.len(), "{names:?}");
    for guide in guides {
        assert_eq!(listings(&format!("{guide}.ja.md")), listings(&format!("{guide}.md")), "{guide}");
    }
}

/// The options of each command, from the reference: those of `plimsoll volume` are accepted by `plimsoll volume list`, and
/// global ones by all.
fn options_by_command() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut options: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut command = "";
    for line in include_str!("../../../../docs/reference/commands.md").lines() {
        if line.starts_with('#') {
            let is_global = line.starts_with("### Global options:");
            command = line.find("plimsoll ").filter(|_| !is_global).map_or("plimsoll ", |at| &line[at..]);
        }
        options.entry(command).or_default().extend(long_options(line));
    }
    options
}

/// Words such as `--html`.
fn long_options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !(letter == '-' || letter.is_ascii_alphanumeric()));
    words.filter(|word| word.len() > 2 && word.starts_with("--"))
}

#[test]
fn options_in_documents_are_in_the_reference() {
    let options = options_by_command();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut lines, mut unknown) = (0, Vec::new());
    for folder in [root.clone(), root.join("docs"), root.join("docs/articles")] {
        let paths = fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("an entry").path());
        for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
            let text = fs::read_to_string(&path).expect("it can be read").replace("\\\n", " ");
            for (at, _) in text.match_indices("plimsoll ") {
                // Options after `--` are those of another program, and `plimsoll fio` also accepts fio's.
                let line = text[at..].split(['`', '\n', '|', ';', '&', '#']).next().unwrap_or_default();
                let line = line.split(" -- ").next().unwrap_or_default();
                let of_line = || options.iter().filter(|(command, _)| line.starts_with(*command));
                let accepted: BTreeSet<&str> = of_line().flat_map(|(_, options)| options).copied().collect();
                if of_line().count() < 2 || line.starts_with("plimsoll fio") {
                    continue;
                }
                lines += 1;
                let others = long_options(line).filter(|option| !accepted.contains(option));
                unknown.extend(others.map(|option| format!("{}: {option} in {line:?}", path.display())));
            }
        }
    }
    assert!(lines > 200 && unknown.is_empty(), "{lines} commands; unknown options:\n{}", unknown.join("\n"));
}
