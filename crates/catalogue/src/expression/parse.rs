//! Parser of expressions: precedence climbing (Richards 1979) with type checks.
//!
//! Precedence, lowest first: `or`, `and`, `not`, comparisons, sums, products, signs.

use super::{Binary, Expression, Function, Node, Type};

/// Resolves variables by name.
pub(crate) trait Resolve {
    /// Number and type of a variable; the error lists the known names.
    fn resolve(&mut self, name: &str) -> Result<(usize, Type), String>;
}

/// A syntax or type error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// Byte offset.
    pub at: usize,
    /// The error.
    pub what: String,
    /// Allowed alternatives.
    pub allowed: String,
}

/// Maximum nesting, to protect the stack.
const DEPTH_MAX: usize = 40;

const OPERAND: &str = "a number, a name, 'text', (, -, not, or a function: min max clamp ceil floor if given";

/// Parses `text` as an expression of type `required`.
pub(crate) fn parse(text: &str, required: Type, names: &mut dyn Resolve) -> Result<Expression, ParseError> {
    let mut parser = Parser { text, at: 0, depth: 0, names };
    let (root, found) = parser.level(0)?;
    parser.skip_spaces();
    if parser.at < text.len() {
        return Err(parser.error("it goes on after its end", "an operator: + - * / == != < <= > >= and or"));
    }
    parser.at = 0;
    parser.expect_type(found, required)?;
    Ok(Expression { root, text: text.into() })
}

struct Parser<'t, 'n> {
    text: &'t str,
    at: usize,
    depth: usize,
    names: &'n mut dyn Resolve,
}

type Parsed = Result<(Node, Type), ParseError>;

/// Operators by precedence, lowest first; longer tokens before their prefixes.
const LEVELS: [&[(&str, Binary)]; 5] = [
    &[("or", Binary::Or)],
    &[("and", Binary::And)],
    &[
        ("==", Binary::Equal),
        ("!=", Binary::Unequal),
        ("<=", Binary::AtMost),
        (">=", Binary::AtLeast),
        ("<", Binary::Less),
        (">", Binary::Greater),
    ],
    &[("+", Binary::Plus), ("-", Binary::Minus)],
    &[("*", Binary::Times), ("/", Binary::Divided)],
];
/// Level of comparisons, which do not chain; `not` is just above it.
const COMPARISONS: usize = 2;

impl<'t> Parser<'t, '_> {
    fn error(&self, what: impl Into<String>, allowed: impl Into<String>) -> ParseError {
        ParseError { at: self.at, what: what.into(), allowed: allowed.into() }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Consumes `token` if it is next.
    fn take(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let is_word = token.ends_with(|c: char| c.is_ascii_alphabetic());
        let next = self.rest().strip_prefix(token);
        let found = next.is_some_and(|next| !is_word || !next.starts_with(is_name_letter));
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.error("it cannot be read", format!("{token:?}"))) }
    }

    fn expect_type(&self, found: Type, required: Type) -> Result<(), ParseError> {
        match (found, required) {
            (Type::Text, Type::Number) => Err(self.error("it is a text", "a number")),
            (Type::Number, Type::Text) => Err(self.error("it is a number", "a text")),
            _ => Ok(()),
        }
    }

    fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        if level == COMPARISONS && self.take("not") {
            let (inner, found) = self.deeper(|parser| parser.level(COMPARISONS))?;
            self.expect_type(found, Type::Number)?;
            return Ok((Node::Not(Box::new(inner)), Type::Number));
        }
        let (mut left, mut found) = self.level(level + 1)?;
        while let Some((_, binary)) = operators.iter().find(|(token, _)| self.take(token)) {
            let (right, other) = self.level(level + 1)?;
            if matches!(binary, Binary::Equal | Binary::Unequal) {
                self.expect_type(other, found)?;
            } else {
                self.expect_type(found, Type::Number)?;
                self.expect_type(other, Type::Number)?;
            }
            left = Node::Binary(*binary, Box::new([left, right]));
            found = Type::Number;
            if level == COMPARISONS {
                break;
            }
        }
        Ok((left, found))
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("it is nested too deeply", format!("at most {DEPTH_MAX} levels")));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn operand(&mut self) -> Parsed {
        self.skip_spaces();
        match self.rest().bytes().next() {
            Some(b'(') => self.deeper(|parser| {
                parser.expect("(")?;
                let inside = parser.level(0)?;
                parser.expect(")")?;
                Ok(inside)
            }),
            Some(b'-') => self.deeper(|parser| {
                parser.expect("-")?;
                let (inner, found) = parser.operand()?;
                parser.expect_type(found, Type::Number)?;
                Ok((Node::Negative(Box::new(inner)), Type::Number))
            }),
            Some(b'\'') => self.text_literal(),
            Some(b'0'..=b'9') => self.number(),
            Some(letter) if letter.is_ascii_alphabetic() || letter == b'_' => self.deeper(Self::named),
            _ => Err(self.error("it cannot be read", OPERAND)),
        }
    }

    fn text_literal(&mut self) -> Parsed {
        let inside = self.rest()[1..].split_once('\'').map(|(inside, _)| inside);
        let inside = inside.ok_or_else(|| self.error("a text does not end", "'text'"))?;
        self.at += inside.len() + 2;
        Ok((Node::Text(inside.into()), Type::Text))
    }

    fn number(&mut self) -> Parsed {
        let bytes = self.rest().as_bytes();
        let signed = |index: usize| index > 0 && b"+-".contains(&bytes[index]) && b"eE".contains(&bytes[index - 1]);
        let inside = |index: usize| bytes[index].is_ascii_alphanumeric() || b"._".contains(&bytes[index]);
        let end = (0..bytes.len()).find(|index| !inside(*index) && !signed(*index)).unwrap_or(bytes.len());
        let text = &self.rest()[..end];
        let number =
            text.replace('_', "").parse().map_err(|_| self.error(format!("{text} is no number"), "such as 1e6"))?;
        self.at += end;
        Ok((Node::Number(number), Type::Number))
    }

    fn named(&mut self) -> Parsed {
        let end = self.rest().find(|c| !is_name_letter(c)).unwrap_or(self.rest().len());
        let (begin, name) = (self.at, &self.rest()[..end]);
        self.at += end;
        let truth = |value| Ok((Node::Number(value), Type::Number));
        match name {
            "true" => return truth(1.0),
            "false" => return truth(0.0),
            "given" => return self.given(),
            _ => {}
        }
        if self.take("(") {
            return self.call(name, begin);
        }
        let (slot, found) = self.variable(name, begin)?;
        Ok((Node::Variable(slot), found))
    }

    fn variable(&mut self, name: &str, begin: usize) -> Result<(usize, Type), ParseError> {
        let unknown = |allowed| ParseError { at: begin, what: format!("there is no {name:?}"), allowed };
        self.names.resolve(name).map_err(unknown)
    }

    fn given(&mut self) -> Parsed {
        self.expect("(")?;
        self.skip_spaces();
        let (begin, rest) = (self.at, self.rest());
        let name = &rest[..rest.find(|c| !is_name_letter(c)).unwrap_or(rest.len())];
        self.at += name.len();
        let (slot, _) = self.variable(name, begin)?;
        self.expect(")")?;
        Ok((Node::Given(slot), Type::Number))
    }

    fn call(&mut self, name: &str, begin: usize) -> Parsed {
        let (function, counts) = match name {
            "min" => (Function::Min, 1..=16),
            "max" => (Function::Max, 1..=16),
            "clamp" => (Function::Clamp, 3..=3),
            "ceil" => (Function::Ceil, 1..=1),
            "floor" => (Function::Floor, 1..=1),
            "if" => (Function::If, 3..=3),
            _ => {
                let what = format!("there is no function {name:?}");
                return Err(ParseError { at: begin, what, allowed: "min max clamp ceil floor if given".to_owned() });
            }
        };
        let (mut arguments, mut types) = (Vec::new(), Vec::new());
        loop {
            let (argument, found) = self.level(0)?;
            arguments.push(argument);
            types.push(found);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        if !counts.contains(&arguments.len()) {
            let what = format!("{name} is given {} arguments", arguments.len());
            return Err(ParseError { at: begin, what, allowed: format!("{} to {}", counts.start(), counts.end()) });
        }
        let result = if function == Function::If { types[1] } else { Type::Number };
        let expected_type = |index: usize| if function == Function::If && index > 0 { result } else { Type::Number };
        types.iter().enumerate().try_for_each(|(index, found)| self.expect_type(*found, expected_type(index)))?;
        Ok((Node::Call(function, arguments.into()), result))
    }
}

/// `tier.iops` is a single name.
const fn is_name_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}
