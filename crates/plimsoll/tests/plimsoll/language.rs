//! The language of results and messages.

use super::folder::{Folder, stderr};

#[test]
fn language_is_that_of_the_option_or_the_file_or_the_locale() {
    let folder = Folder::new("language");
    let language = |locale: &str, arguments: &[&str]| {
        let output = folder.command(arguments).env("LC_ALL", locale).output().expect("the program starts");
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("it is UTF-8");
        text.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(language("C.UTF-8", &["config"]), "language: en (LC_ALL=C.UTF-8)");
    assert_eq!(language("ja_JP.UTF-8", &["config"]), "language: ja (LC_ALL=ja_JP.UTF-8)");
    assert_eq!(language("ja_JP.UTF-8", &["config", "--lang", "en"]), "language: en (--lang or the configuration file)");
    folder.make("config/plimsoll");
    folder.write("config/plimsoll/config.toml", "lang = \"ja\"\n");
    assert_eq!(language("C.UTF-8", &["config"]), "language: ja (--lang or the configuration file)");
    assert_eq!(language("C.UTF-8", &["--lang", "en", "config"]), "language: en (--lang or the configuration file)");
}

/// Rules about doubts apply to them, not to their translation.
#[test]
fn doubts_are_the_same_in_both_languages() {
    let folder = Folder::new("language");
    for (command, [english, japanese]) in
        [("quote", ["\ndoubt", "\n疑義"]), ("simulate", ["\ncaution  the model:", "\n注意     モデル:"])]
    {
        let count = |language: &str, lead: &str| {
            let text = folder.text(&[command, "oci:100GB", "--details", "--lang", language]);
            assert!(text.contains(lead), "{text}");
            text.matches(lead).count()
        };
        assert_eq!(count("en", english), count("ja", japanese), "{command}");
    }
}

#[test]
fn results_are_japanese_but_json_and_csv_english() {
    let folder = Folder::new("language");
    let quote = |more: &[&str]| folder.text(&[&["quote", "aws/gp3:500GiB"], more].concat());
    assert!(quote(&["--lang", "ja"]).contains("価格"), "{}", quote(&["--lang", "ja"]));
    for form in ["--json", "--csv"] {
        assert_eq!(quote(&["--lang", "ja", form, "-"]), quote(&[form, "-"]));
    }
}
