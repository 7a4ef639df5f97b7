//! Numbers of columns, quickly: files of this kind have gigabytes. Knows no column.

/// Powers of ten that a double holds exactly, as it does whole numbers of 15 digits: so one division rounds correctly.
const TENS: [f64; 16] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Adds the numbers of `text` to `into`. False when there is anything else but blanks and numbers, with a decimal point or
/// comma: then some may have been added.
pub(super) fn numbers(text: &[u8], into: &mut Vec<f64>) -> bool {
    separated(text, b' ', into)
}

/// The same, with a mark between the numbers.
pub(super) fn separated(text: &[u8], mark: u8, into: &mut Vec<f64>) -> bool {
    let mut at = 0;
    loop {
        while text.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == mark) {
            at += 1;
        }
        if at == text.len() {
            return true;
        }
        let (mut digits, mut count, mut decimals, mut pointed) = (0_u64, 0, 0, false);
        while let Some(byte) = text.get(at) {
            match byte {
                _ if *byte == mark => break,
                b'0'..=b'9' if count < 15 => {
                    digits = digits * 10 + u64::from(byte - b'0');
                    count += 1;
                    decimals += usize::from(pointed);
                }
                b'.' | b',' if !pointed => pointed = true,
                b' ' | b'\t' => break,
                _ => return false,
            }
            at += 1;
        }
        if count == 0 {
            return false;
        }
        into.push(digits as f64 / TENS[decimals]);
    }
}

/// One number, with a decimal point or comma; a sign and an exponent are taken as well.
pub(super) fn number(text: &str) -> Option<f64> {
    let plain = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    if text.len() > 64 {
        return None;
    }
    if text.contains(',') && !text.contains('.') { plain(&text.replacen(',', ".", 1)) } else { plain(text) }
}

/// A number for people: `1.5k`, `0.3%`. With the factor that its unit stands for; none where it has no unit.
pub(super) fn with_unit(text: &str) -> Option<(f64, Option<f64>)> {
    let Some(last) = text.chars().last().filter(|last| !last.is_ascii_digit()) else {
        return Some((number(text)?, None));
    };
    let factor = match last {
        '%' => return Some((number(text.strip_suffix('%')?)?, None)),
        's' => 512.0,
        'B' => 1.0,
        'k' | 'K' => 1024.0,
        'M' => 1_048_576.0,
        'G' => 1_073_741_824.0,
        'T' => 1_099_511_627_776.0,
        'P' => 1_125_899_906_842_624.0,
        _ => return None,
    };
    Some((number(text.strip_suffix(last)?)?, Some(factor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&[f64]>) {
        let mut into = Vec::new();
        let whole = numbers(text.as_bytes(), &mut into);
        assert_eq!(whole.then_some(into.as_slice()), expected, "{text:?}");
    }

    #[test]
    fn columns_of_numbers() {
        check(" 0.10  12\t3,25 ", Some(&[0.1, 12.0, 3.25]));
        check("", Some(&[]));
        check("1 sda", None);
        check("1.2.3", None);
        check("-1", None);
        check(".", None);
        check("1234567890123456", None);
        check("123456789012.345", Some(&[123_456_789_012.345]));
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(with_unit("1.5k"), Some((1.5, Some(1024.0))));
        assert_eq!(with_unit("0,3%"), Some((0.3, None)));
        assert_eq!(with_unit("12"), Some((12.0, None)));
        assert_eq!((with_unit("k"), with_unit("1.5x"), with_unit("")), (None, None, None));
        assert_eq!(with_unit("é"), None);
    }
}
