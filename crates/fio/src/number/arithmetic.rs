//! Expressions in parentheses: `(4k+4*512)`, `(60s*2)`.
//!
//! From fio's documentation: `+ - * / %` and `^`, numbers with units. Times without a unit are microseconds, unlike
//! outside of parentheses. The result is truncated to an integer.

use plimsoll_language::{label, say};

use super::{NumberScale, Unreadable};

/// Maximum nesting of parentheses and signs.
const DEPTH_MAX: u32 = 32;

/// Value of an expression in parentheses.
pub(super) fn evaluate(text: &str, scale: NumberScale) -> Result<i128, Unreadable> {
    let scale = match scale {
        NumberScale::Time(_) => NumberScale::Time(1),
        counts @ NumberScale::Counts(_) => counts,
    };
    let mut sum = ArithmeticSum { rest: text, scale, depth: 0 };
    let value = sum.atom()?;
    let rest = sum.rest.trim();
    if !rest.is_empty() {
        return Err(wrong(&say!("{rest:?} after the parentheses")));
    }
    // 2^100, which exceeds the limits of all options.
    if value.abs() < 1.3e30 { Ok(value.trunc() as i128) } else { Err(wrong(label!("no finite value"))) }
}

fn wrong(what: &str) -> Unreadable {
    Unreadable(say!("invalid expression: {what}; write an expression in parentheses, such as (4k+4*512)"))
}

struct ArithmeticSum<'a> {
    rest: &'a str,
    scale: NumberScale,
    depth: u32,
}

impl ArithmeticSum<'_> {
    fn next_is(&mut self, operators: &str) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|c| operators.contains(*c))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn terms(&mut self) -> Result<f64, Unreadable> {
        let mut value = self.factors()?;
        while let Some(operator) = self.next_is("+-") {
            let other = self.factors()?;
            value = if operator == '+' { value + other } else { value - other };
        }
        Ok(value)
    }

    fn factors(&mut self) -> Result<f64, Unreadable> {
        let mut value = self.power()?;
        while let Some(operator) = self.next_is("*/%") {
            let other = self.power()?;
            if operator != '*' && other == 0.0 {
                return Err(wrong(label!("a division by zero")));
            }
            value = match operator {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, Unreadable> {
        let base = self.atom()?;
        if self.next_is("^").is_none() {
            return Ok(base);
        }
        self.deeper()?;
        let exponent = self.power()?;
        self.depth -= 1;
        Ok(base.powf(exponent))
    }

    fn deeper(&mut self) -> Result<(), Unreadable> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(wrong(label!("too deep"))) } else { Ok(()) }
    }

    fn atom(&mut self) -> Result<f64, Unreadable> {
        if self.next_is("(").is_some() {
            self.deeper()?;
            let value = self.terms()?;
            self.depth -= 1;
            return if self.next_is(")").is_some() {
                Ok(value)
            } else {
                Err(wrong(label!("a parenthesis stays open")))
            };
        }
        if self.next_is("-").is_some() {
            self.deeper()?;
            let value = self.atom()?;
            self.depth -= 1;
            return Ok(-value);
        }
        self.number()
    }

    fn number(&mut self) -> Result<f64, Unreadable> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        if text.starts_with("0x") {
            return super::integer(text, self.scale).map(|value| value as f64);
        }
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number: f64 = number.parse().map_err(|_| wrong(&say!("{text:?} is not a number")))?;
        let unit = self.scale.unit(unit).ok_or_else(|| wrong(&say!("{unit:?} is not a unit")))?;
        Ok(number * unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Base;
    use super::*;

    #[test]
    fn expressions_are_evaluated() {
        let check = |text, expected: i128| {
            assert_eq!(evaluate(text, NumberScale::Counts(Base::Binary)), Ok(expected), "{text}");
        };
        check("(4*1024)", 4_096);
        check("( 4k + 4 * 512 )", 6_144);
        check("((2+2)*2)", 8);
        check("(2^3^2)", 512);
        check("(10-3-2)", 5);
        check("(7%4)", 3);
        check("(-(2))", -2);
        check("(1.5k)", 1_536);
        check("(0x10*2)", 32);
        assert_eq!(evaluate("(60s*2)", NumberScale::Time(1_000_000)), Ok(120_000_000));
        assert_eq!(evaluate("(5)", NumberScale::Time(1_000_000)), Ok(5));
    }

    #[test]
    fn invalid_expressions_are_refused() {
        for text in ["(", "()", "(1", "(1+)", "(1)k", "(1/0)", "(x)", "(2^99^99)", "(1 2)", "(4q)"] {
            assert!(evaluate(text, NumberScale::Counts(Base::Binary)).is_err(), "{text}");
        }
        for unit in ["(", "(-", "(1^"] {
            assert!(evaluate(&unit.repeat(5_000), NumberScale::Counts(Base::Binary)).is_err(), "{unit}");
        }
    }
}
