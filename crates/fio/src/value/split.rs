//! Block sizes with percentages: `4k/50:8k/50`.

use plimsoll_language::say;
use plimsoll_units::Bytes;

use crate::number::{Base, Unreadable};

/// fio's maximum.
const SIZES_MAX: usize = 64;

/// Sizes and percentages in the given order, 100 in total.
///
/// Observed with fio 3.33. Sizes without a percentage, or with 0, share the rest equally. Percentages are assigned in
/// order up to a total of 100, and the last size gets the rest: `4k/60:8k/60` is 60 and 40, `4k/10:8k/10` is 10 and 90.
/// Sizes with no percentage left are dropped.
pub(super) fn read(text: &str, base: Base) -> Result<Vec<(Bytes, u32)>, Unreadable> {
    let parts: Vec<&str> = text.split(':').take_while(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.len() > SIZES_MAX {
        return Err(Unreadable("no split; write 1 to 64 sizes with their shares, such as 4k/60:64k/40".to_owned()));
    }
    let given = parts.iter().map(|part| one(part, base)).collect::<Result<Vec<_>, _>>()?;
    let missing = given.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let sum: u32 = given.iter().filter_map(|(_, share)| *share).sum();
    let part = 100_u32.saturating_sub(sum).checked_div(missing).unwrap_or(0);
    let last = given.len() - 1;
    let mut left = 100;
    let mut split = Vec::new();
    for (index, (size, share)) in given.into_iter().enumerate() {
        let share = if index == last { left } else { share.unwrap_or(part).min(left) };
        left -= share;
        if share > 0 {
            split.push((size, share));
        }
    }
    Ok(split)
}

fn one(part: &str, base: Base) -> Result<(Bytes, Option<u32>), Unreadable> {
    let (size, share) = part.split_once('/').unwrap_or((part, ""));
    let size = super::bounded(size, crate::number::NumberScale::Counts(base), 1, i64::from(u32::MAX))?;
    // fio reads the digits before a point: decimals of zero change nothing.
    let is_zero = |decimals: &str| decimals.bytes().all(|digit| digit == b'0');
    let share = share.trim();
    let digits = share.split_once('.').filter(|(_, decimals)| is_zero(decimals)).map_or(share, |(digits, _)| digits);
    let share = match (digits, digits.parse::<u32>()) {
        ("", _) | (_, Ok(0)) => None,
        (_, Ok(share)) if share <= 100 => Some(share),
        _ => return Err(Unreadable(say!("{share:?} is not a percentage; write a whole number from 1 to 100"))),
    };
    Ok((Bytes::new(size as u64), share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(text: &str) -> String {
        match read(text, Base::Binary) {
            Ok(split) => {
                let sizes: Vec<String> = split.iter().map(|(size, share)| format!("{}/{share} ", size.get())).collect();
                sizes.concat()
            }
            Err(Unreadable(words)) => words,
        }
    }

    #[test]
    fn missing_shares_are_filled_like_fio() {
        let check = |text, expected: &str| assert!(display(text).starts_with(expected), "{text}: {}", display(text));
        check("4k/50:8k/50", "4096/50 8192/50 ");
        check("4k/50:8k", "4096/50 8192/50 ");
        check("4k/50:1k/:32k/", "4096/50 1024/25 32768/25 ");
        check("4k:8k:16k", "4096/33 8192/33 16384/34 ");
        check("4k/0:8k", "4096/50 8192/50 ");
        check("4k/60:8k/60", "4096/60 8192/40 ");
        check("4k/10:8k/10", "4096/10 8192/90 ");
        check("4k/60:8k/60:16k", "4096/60 8192/40 ");
        check("4k/100", "4096/100 ");
        check("4k/50.0:8k/50.00", "4096/50 8192/50 ");
        check("4k/0.0:8k", "4096/50 8192/50 ");
        check("4k/33.3:8k", "\"33.3\" is not a percentage");
        check("4k/101", "\"101\" is not a percentage");
        check("4q/50", "read by fio as 4");
        check("0/50", "below 1");
        check("", "no split");
        check(&"4k:".repeat(65), "no split");
    }
}
