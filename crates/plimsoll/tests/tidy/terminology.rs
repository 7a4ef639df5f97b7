//! Japanese terms: a word has a single spelling in all translations.

use super::complaint::{Complaint, assert_found, assert_none};
use super::tree;

/// Words that end with a long vowel.
const LONG: [&str; 20] = [
    "サーバ",
    "ユーザ",
    "カウンタ",
    "タイマ",
    "ドライバ",
    "ハイパーバイザ",
    "ベンダ",
    "プロバイダ",
    "ログライタ",
    "バックグラウンドライタ",
    "フォルダ",
    "ブラウザ",
    "ヘッダ",
    "セクタ",
    "コンピュータ",
    "マネージャ",
    "スケジューラ",
    "イニシエータ",
    "モニタ",
    "エクスポータ",
];
/// Words that do not.
const SHORT: [&str; 8] =
    ["バッファ", "コントローラ", "パラメータ", "レイテンシ", "メモリ", "プロセッサ", "クラスタ", "ディレクトリ"];
/// Other spellings and the one in use.
const OTHERS: [(&str, &str); 7] = [
    ("コンマ", "カンマ"),
    ("インタフェース", "インターフェース"),
    ("ボリウム", "ボリューム"),
    ("負荷限界", "負荷上限"),
    ("ブロックボリューム", "ブロック・ボリューム"),
    ("ブートボリューム", "ブート・ボリューム"),
    // Japanese has no semicolon.
    ("；", "。 or 、"),
];

fn check(path: &str, text: &str) -> Vec<Complaint> {
    let find_in = |line: &str| {
        // モニタリング is another word.
        let long = LONG.into_iter().filter(|word| line.split(word).skip(1).any(|rest| !rest.starts_with(['ー', 'リ'])));
        let short = SHORT.into_iter().filter(|word| line.contains(&format!("{word}ー")));
        let other = OTHERS.into_iter().filter(|(word, _)| line.contains(word));
        long.map(|word| format!("{word}ー"))
            .chain(short.map(str::to_owned))
            .chain(other.map(|(_, word)| word.to_owned()))
            .collect::<Vec<_>>()
    };
    let complain = |number: usize, line: &str, word: String| Complaint {
        place: format!("{path}:{number}"),
        found: format!("another spelling of {word}: {line}"),
        allowed: "the spelling of the other texts".to_owned(),
        remedy: format!("write {word}"),
    };
    let lines = text.lines().enumerate();
    lines.flat_map(|(at, line)| find_in(line).into_iter().map(move |word| complain(at + 1, line, word))).collect()
}

#[test]
fn japanese_terms_have_a_single_spelling() {
    let paths = tree::files_ending("ja.po").chain(tree::files_ending(".ja.md"));
    let complaints = paths.flat_map(|path| check(path, &tree::read_text(path).unwrap_or_default()));
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn planted_spellings_are_found() {
    let text = "サーバーのドライブ\nサーバの数\nバッファープール\nバッファ、モニタリング\nコンマ区切り\n";
    let found = ["2: another spelling of サーバー", "3: another spelling of バッファ", "5: another spelling of カンマ"];
    assert_found(&check("ja.po", text), &found.map(|found| format!("ja.po:{found}")).each_ref().map(String::as_str));
}
