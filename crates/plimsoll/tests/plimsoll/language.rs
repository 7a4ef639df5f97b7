//! The language of results and messages.

use super::folder::{Folder, stderr, stdout};

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
    assert_eq!(language("ja_JP.UTF-8", &["config"]), "言語: ja（LC_ALL=ja_JP.UTF-8）");
    assert_eq!(language("ja_JP.UTF-8", &["config", "--lang", "en"]), "language: en (--lang or the configuration file)");
    folder.make("config/plimsoll");
    folder.write("config/plimsoll/config.toml", "lang = \"ja\"\n");
    assert_eq!(language("C.UTF-8", &["config"]), "言語: ja（--lang または設定ファイル）");
    assert_eq!(language("C.UTF-8", &["--lang", "en", "config"]), "language: en (--lang or the configuration file)");
}

/// Rules about doubts apply to them, not to their translation.
#[test]
fn doubts_are_the_same_in_both_languages() {
    let folder = Folder::new("language");
    for (command, [english, japanese]) in
        [("quote", ["\ndoubt", "\n不確かな点"]), ("simulate", ["\ncaution  the model:", "\n注意     モデル:"])]
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

#[test]
fn help_and_errors_of_options_are_in_the_language_of_the_option_or_the_locale() {
    let folder = Folder::new("language");
    let run = |locale: &str, arguments: &[&str]| {
        let output = folder.command(arguments).env("LC_ALL", locale).output().expect("the program starts");
        (output.status.code(), stdout(&output), stderr(&output))
    };
    for (locale, option) in [("ja_JP.UTF-8", &[][..]), ("C.UTF-8", &["--lang", "ja"]), ("C.UTF-8", &["--lang=ja"])] {
        let (code, help, _) = run(locale, &[&["quote", "--help"], option].concat());
        assert_eq!(code, Some(0));
        for text in ["使い方: plimsoll quote", "\n例:", "引数:", "[既定値: 4KiB]", "\n全体のオプション:"]
        {
            assert!(help.contains(text), "{text}: {help}");
        }
        let (code, _, error) = run(locale, &[&["quote", "oci:1GB", "--block-size", "x"], option].concat());
        assert_eq!(code, Some(2));
        assert!(error.starts_with("エラー: '--block-size <SIZE>' の値 'x' は無効: サイズではない"), "{error}");
        assert!(error.ends_with("\n\n詳しくは '--help' を参照してください。\n"), "{error}");
    }
    let (code, _, error) = run("ja_JP.UTF-8", &["--lang", "en", "mesure"]);
    assert_eq!(code, Some(2));
    assert!(
        error.starts_with("error: unrecognized subcommand 'mesure'\n\n  tip: a similar subcommand exists"),
        "{error}"
    );
}

/// Each kind of error that the flag table allows, with its remedy.
#[test]
fn errors_of_options_are_japanese() {
    let folder = Folder::new("language");
    for (arguments, expected) in [
        (
            &["mesure"][..],
            "エラー: サブコマンド 'mesure' は存在しない\n\n  ヒント: 似たサブコマンド: 'measure'\n\n使い方: plimsoll ",
        ),
        (
            &["measure", "--nope"],
            "引数 '--nope' は使えない\n\n  ヒント: '--nope' を値として渡すには '-- --nope' と書く\n\n使い方:",
        ),
        (&["measure", ".", "--rates", "5"], "引数 '--rates' は使えない\n\n  ヒント: 似た引数: '--rate'\n"),
        (&["measure"], "次の必須の引数がない:\n  <PATH|URI>\n\n使い方: plimsoll measure "),
        (&["measure", ".", "--quick", "--thorough"], "引数 '--quick' は次の引数と同時に指定できない:\n  --thorough\n"),
        (&["measure", ".", "--quick", "--quick"], "引数 '--quick' は一度しか指定できない\n"),
        (&["measure", ".", "--depth"], "'--depth <DEPTHS>' には値が必要\n"),
        (&["measure", ".", "--depth", "x"], "'--depth <DEPTHS>' の値 'x' は無効: 整数ではない: 16 "),
        (
            &["measure", ".", "--engine", "foo"],
            "の値 'foo' は無効\n  [指定できる値: auto, io_uring, threads, fio]\n\n  ヒント: 似た値: 'fio'",
        ),
        (
            &["measure", ".", "--ab", "true"],
            "'--ab <COMMAND_A> <COMMAND_B>' には 2 個の値が必要: 指定された値は 1 個\n",
        ),
        (&["measure", ".", "--color"], "  ヒント: 出力に色が付くのは端末だけ"),
        (&["presets", "a", "b"], "引数 'b' は使えない\n\n使い方: plimsoll presets [OPTIONS] [NAME]\n"),
    ] {
        let output = folder.run(&[&["--lang", "ja"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = stderr(&output);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}
