//! Numbers before the lines of a report, as `cat -n`, `grep -n` and editors print them.

/// Removes the numbers of lines from a text, piece by piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    /// The number of the line before.
    last: u64,
    /// Blanks and digits at the begin of a line.
    pending: Vec<u8>,
    is_within_line: bool,
}

impl Numbering {
    /// For a report of a database whose lines have consecutive numbers. Other tables may begin with a column of numbers.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        const MIN_LINES: usize = 10;
        const TITLES: [&str; 3] = ["WORKLOAD REPOSITORY", "STATSPACK report for", "Load Profile"];
        let text = String::from_utf8_lossy(head);
        if !TITLES.iter().any(|title| text.contains(title)) {
            return None;
        }
        let numbers: Vec<Option<u64>> = text.lines().map(find_number).collect();
        // The last line may be incomplete.
        let numbered = numbers.iter().rev().skip(1).flatten().count();
        let consecutive = numbers.windows(2).filter(|pair| pair[0].is_some_and(|one| pair[1] == Some(one + 1))).count();
        (numbered >= MIN_LINES && consecutive * 10 >= numbers.len() * 9).then(Self::default)
    }

    /// Removes the numbers of a piece.
    pub(crate) fn apply(&mut self, text: &mut Vec<u8>) {
        let mut rest = Vec::with_capacity(text.len());
        for &byte in text.iter() {
            if self.is_within_line {
                rest.push(byte);
                self.is_within_line = byte != b'\n';
                continue;
            }
            let has_digits = self.pending.last().is_some_and(u8::is_ascii_digit);
            match byte {
                b'0'..=b'9' => self.pending.push(byte),
                b' ' | b'\t' if !has_digits => self.pending.push(byte),
                _ => self.end_number(byte, &mut rest),
            }
        }
        *text = rest;
    }

    /// Ends the begin of a line with the byte behind it.
    fn end_number(&mut self, byte: u8, rest: &mut Vec<u8>) {
        let number = std::str::from_utf8(&self.pending).ok().and_then(|digits| digits.trim().parse::<u64>().ok());
        let is_number = number.is_some_and(|number| number > self.last) && is_end(byte);
        if let Some(number) = number.filter(|_| is_number) {
            self.last = number;
        } else {
            rest.extend_from_slice(&self.pending);
        }
        self.pending.clear();
        if !is_number || matches!(byte, b'\r' | b'\n') {
            rest.push(byte);
        }
        self.is_within_line = byte != b'\n';
    }
}

/// True for a byte behind the number of a line.
const fn is_end(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b':' | b'|' | b'\r' | b'\n')
}

/// The number before a line.
fn find_number(line: &str) -> Option<u64> {
    let line = line.trim_start();
    let end = line.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(line.len());
    line[..end].parse().ok().filter(|_| line.as_bytes().get(end).is_none_or(|byte| is_end(*byte)))
}

#[cfg(test)]
mod tests {
    use super::Numbering;

    fn check(text: &str, expected: Option<&str>) {
        for step in [1, 3, 1_000] {
            let removed = Numbering::of(text.as_bytes()).map(|mut numbering| {
                let mut all = Vec::new();
                for piece in text.as_bytes().chunks(step) {
                    let mut piece = piece.to_vec();
                    numbering.apply(&mut piece);
                    all.extend(piece);
                }
                String::from_utf8(all).unwrap()
            });
            assert_eq!(removed.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_before_lines_are_removed() {
        let lines: Vec<String> = (1..=12).map(|line| format!("row {line}")).collect();
        let plain = format!("STATSPACK report for\n\n{}\n", lines.join("\n"));
        let number = |print: fn(usize, &str) -> String| {
            plain.lines().zip(1..).map(|(line, number)| print(number, line)).collect::<String>()
        };
        check(&number(|number, line| format!("{number:6}\t{line}\n")), Some(&plain));
        check(&number(|number, line| format!("{number}:{line}\n")), Some(&plain));
        check(&number(|number, line| format!("{number:4} {line}\n")), Some(&plain));
        check(&number(|number, line| format!("{number}\t{line}\r\n")), Some(&plain.replace('\n', "\r\n")));
        check(&number(|number, line| format!("{} {line}\n", number + 40)), Some(&plain));
        check(&number(|number, line| format!("{number} {line}").trim_end().to_owned() + "\n"), Some(&plain));
        check(&plain, None);
        check(&number(|number, line| format!("{number},{line}\n")), None);
        check(&number(|number, _| format!("{number} 4096 R\n")), None);
    }
}
