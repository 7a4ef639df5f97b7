//! Arithmetic of product files: `min(80000, max(3000, 500 * size))`.
//!
//! Parsed once, when a file is read; evaluated for each configuration. Variables are identified by number. Logic is
//! three-valued (Kleene 1938): an operation on a missing variable has no value, unless the other operand decides.

mod parse;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use parse::{ParseError, Resolve, parse};

/// Value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Missing.
    Absent,
    /// A number, or a boolean as 1 or 0.
    Number(f64),
    /// A choice or a cell of a table.
    Text(Arc<str>),
}

impl Value {
    pub(crate) const fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Text for messages: numbers with grouped thousands.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Absent => "not given".to_owned(),
            Self::Number(number) => crate::number::display(*number),
            Self::Text(text) => text.to_string(),
        }
    }
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Any type: a variable of another product.
    Any,
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    root: Node,
    /// Source text.
    text: Box<str>,
}

#[derive(Clone, Debug)]
enum Node {
    Number(f64),
    Text(Arc<str>),
    Variable(usize),
    Given(usize),
    Not(Box<Node>),
    Negative(Box<Node>),
    Binary(Binary, Box<[Node; 2]>),
    Call(Function, Box<[Node]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divided,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Clamp,
    Ceil,
    Floor,
    If,
}

/// An intermediate value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Observation<'v> {
    Number(f64),
    Text(&'v str),
}

impl Observation<'_> {
    const fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(_) => None,
        }
    }
}

impl Expression {
    /// A constant number.
    pub(crate) fn constant(value: f64) -> Self {
        Self { root: Node::Number(value), text: value.to_string().into() }
    }

    /// A constant text.
    pub(crate) fn constant_text(text: &str) -> Self {
        Self { root: Node::Text(text.into()), text: text.into() }
    }

    /// The number of a constant.
    pub(crate) fn as_constant(&self) -> Option<f64> {
        if asks(&self.root) { None } else { self.number(&[]) }
    }

    /// True for a constant without a value, such as `0 / 0`.
    pub(crate) fn is_nothing(&self) -> bool {
        !asks(&self.root) && self.value(&[]) == Value::Absent
    }

    /// Source text.
    pub(crate) const fn text(&self) -> &str {
        &self.text
    }

    /// Its number; `None` if a required variable is missing, or the result is not finite.
    pub(crate) fn number(&self, values: &[Value]) -> Option<f64> {
        evaluate(&self.root, values)?.number().filter(|number| number.is_finite())
    }

    /// Its truth; `None` if a deciding variable is missing.
    pub(crate) fn truth(&self, values: &[Value]) -> Option<bool> {
        self.number(values).map(|number| number != 0.0)
    }

    /// Its value.
    pub(crate) fn value(&self, values: &[Value]) -> Value {
        match evaluate(&self.root, values) {
            Some(Observation::Number(number)) if number.is_finite() => Value::Number(number),
            Some(Observation::Text(text)) => Value::Text(text.into()),
            _ => Value::Absent,
        }
    }
}

/// True if the expression contains a variable.
fn asks(node: &Node) -> bool {
    match node {
        Node::Number(_) | Node::Text(_) => false,
        Node::Variable(_) | Node::Given(_) => true,
        Node::Not(inner) | Node::Negative(inner) => asks(inner),
        Node::Binary(_, operands) => operands.iter().any(asks),
        Node::Call(_, arguments) => arguments.iter().any(asks),
    }
}

fn evaluate<'v>(node: &'v Node, values: &'v [Value]) -> Option<Observation<'v>> {
    match node {
        Node::Number(number) => Some(Observation::Number(*number)),
        Node::Text(text) => Some(Observation::Text(text)),
        Node::Variable(slot) => match &values[*slot] {
            Value::Absent => None,
            Value::Number(number) => Some(Observation::Number(*number)),
            Value::Text(text) => Some(Observation::Text(text)),
        },
        Node::Given(slot) => Some(truth(values[*slot] != Value::Absent)),
        Node::Not(inner) => Some(truth(evaluate(inner, values)?.number()? == 0.0)),
        Node::Negative(inner) => Some(Observation::Number(-evaluate(inner, values)?.number()?)),
        Node::Binary(binary, operands) => combine(*binary, operands, values),
        Node::Call(function, arguments) => call(*function, arguments, values),
    }
}

const fn truth(holds: bool) -> Observation<'static> {
    Observation::Number(if holds { 1.0 } else { 0.0 })
}

fn combine<'v>(binary: Binary, [left, right]: &'v [Node; 2], values: &'v [Value]) -> Option<Observation<'v>> {
    let left = evaluate(left, values);
    if matches!(binary, Binary::Or | Binary::And) {
        return decide(binary == Binary::Or, left, || evaluate(right, values));
    }
    let (left, right) = (left?, evaluate(right, values)?);
    match binary {
        Binary::Equal => return Some(truth(left == right)),
        Binary::Unequal => return Some(truth(left != right)),
        _ => {}
    }
    let (left, right) = (left.number()?, right.number()?);
    Some(match binary {
        Binary::Less => truth(left < right),
        Binary::AtMost => truth(left <= right),
        Binary::Greater => truth(left > right),
        Binary::AtLeast => truth(left >= right),
        Binary::Plus => Observation::Number(left + right),
        Binary::Minus => Observation::Number(left - right),
        Binary::Times => Observation::Number(left * right),
        _ => Observation::Number(left / right),
    })
}

/// `or` if `deciding` is true, else `and`, with short-circuit on either side.
fn decide<'v>(
    deciding: bool,
    left: Option<Observation>,
    right: impl FnOnce() -> Option<Observation<'v>>,
) -> Option<Observation<'v>> {
    let holds = |observed: Option<Observation>| observed.and_then(Observation::number).map(|number| number != 0.0);
    let left = holds(left);
    if left == Some(deciding) {
        return Some(truth(deciding));
    }
    let right = holds(right());
    if right == Some(deciding) {
        return Some(truth(deciding));
    }
    (left.is_some() && right.is_some()).then_some(truth(!deciding))
}

fn call<'v>(function: Function, arguments: &'v [Node], values: &'v [Value]) -> Option<Observation<'v>> {
    let number = |node: &'v Node| evaluate(node, values)?.number();
    if function == Function::If {
        let [condition, then, otherwise] = arguments else { return None };
        return evaluate(if number(condition)? == 0.0 { otherwise } else { then }, values);
    }
    let mut rest = arguments.iter().map(number);
    let first = rest.next()??;
    let result = match function {
        Function::Min => rest.try_fold(first, |least, next| next.map(|next| least.min(next)))?,
        Function::Max => rest.try_fold(first, |max, next| next.map(|next| max.max(next)))?,
        Function::Clamp => {
            let (low, high) = (rest.next()??, rest.next()??);
            first.max(low).min(high)
        }
        Function::Ceil => first.ceil(),
        _ => first.floor(),
    };
    Some(Observation::Number(result))
}
