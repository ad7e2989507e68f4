//! Formulas in the time t, with exact first and second derivatives.
//!
//! `+ - * / ^`, parentheses, numbers, `t`, `pi`, and the functions of [`FUNCTIONS`]. A formula is kept as a list of
//! operations on a stack of jets (value, first, second derivative): the chain rule to second order, no differences.
//! `step(x)` is 0 below zero and 1 from there on, and like `abs`, `min` and `max` has the derivatives of its piece.

use crate::error::RigidError;

type Jet = [f64; 3];

/// A function of one argument by name: its value and two derivatives at x.
type Function = (&'static str, fn(f64) -> Jet);

/// Functions of one argument.
const FUNCTIONS: [Function; 10] = [
    ("sin", |x| {
        let (sine, cosine) = x.sin_cos();
        [sine, cosine, -sine]
    }),
    ("cos", |x| {
        let (sine, cosine) = x.sin_cos();
        [cosine, -sine, -cosine]
    }),
    ("tan", |x| {
        let (y, slope) = (x.tan(), 1.0 + x.tan() * x.tan());
        [y, slope, 2.0 * y * slope]
    }),
    ("exp", |x| [x.exp(); 3]),
    ("log", |x| [x.ln(), 1.0 / x, -1.0 / (x * x)]),
    ("sqrt", |x| {
        let y = x.sqrt();
        [y, 0.5 / y, -0.25 / (y * x)]
    }),
    ("tanh", |x| {
        let (y, slope) = (x.tanh(), 1.0 - x.tanh() * x.tanh());
        [y, slope, -2.0 * y * slope]
    }),
    ("abs", |x| [x.abs(), if x < 0.0 { -1.0 } else { 1.0 }, 0.0]),
    ("step", |x| [if x < 0.0 { 0.0 } else { 1.0 }, 0.0, 0.0]),
    ("atan", |x| {
        let slope = 1.0 / (1.0 + x * x);
        [x.atan(), slope, -2.0 * x * slope * slope]
    }),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Number(f64),
    Time,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Negate,
    Least,
    Greatest,
    Apply(usize),
    /// Operations with a number, whose derivatives are zero.
    Plus(f64),
    Times(f64),
    Over(f64),
    From(f64),
    /// A power from 2 to 16.
    Raise(i32),
}

/// A formula in t.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    operations: Vec<Operation>,
}

/// Deepest nesting: of the stack while a formula is evaluated, and of parentheses while it is read.
const DEEPEST: usize = 32;

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// Text that is none, with the place where it stops being one.
    pub fn new(text: &str) -> Result<Self, RigidError> {
        let mut reader = Reader {
            text,
            at: 0,
            nesting: 0,
            operations: Vec::new(),
            operands: Vec::new(),
        };
        reader.sum()?;
        if reader.peek().is_some() {
            return Err(reader.fault("an operator or the end"));
        }
        let operations = reader.operations;
        let mut depth = 0_usize;
        for operation in &operations {
            match operation {
                Operation::Number(_) | Operation::Time => depth += 1,
                operation if operation.is_binary() => depth -= 1,
                _ => {}
            }
            if depth > DEEPEST {
                return Err(RigidError::Formula {
                    text: text.into(),
                    at: text.len(),
                    expected: "shallower nesting",
                });
            }
        }
        Ok(Self { operations })
    }

    /// Value, first and second derivative at time `t`.
    pub fn at(&self, t: f64) -> [f64; 3] {
        let mut stack = [[0.0; 3]; DEEPEST];
        let mut top = 0;
        for operation in &self.operations {
            let value = match operation {
                Operation::Number(x) => [*x, 0.0, 0.0],
                Operation::Time => [t, 1.0, 0.0],
                Operation::Negate => {
                    top -= 1;
                    stack[top].map(|x| -x)
                }
                Operation::Plus(x) => {
                    stack[top - 1][0] += x;
                    continue;
                }
                Operation::From(x) => {
                    top -= 1;
                    let [y, slope, second] = stack[top];
                    [x - y, -slope, -second]
                }
                Operation::Times(x) => {
                    top -= 1;
                    stack[top].map(|y| y * x)
                }
                Operation::Over(x) => {
                    top -= 1;
                    stack[top].map(|y| y / x)
                }
                Operation::Raise(n) => {
                    top -= 1;
                    raised(&stack[top], *n)
                }
                Operation::Apply(function) => {
                    top -= 1;
                    chain(FUNCTIONS[*function].1(stack[top][0]), &stack[top])
                }
                _ => {
                    top -= 2;
                    combined(operation, &stack[top], &stack[top + 1])
                }
            };
            stack[top] = value;
            top += 1;
        }
        stack[0]
    }
}

/// A function with derivatives `f` of a jet.
#[inline(always)]
fn chain(f: Jet, u: &Jet) -> Jet {
    // A constant argument at a pole of the derivatives leaves no 0 * infinity behind.
    let scaled = |slope: f64, rate: f64| if rate == 0.0 { 0.0 } else { slope * rate };
    [
        f[0],
        scaled(f[1], u[1]),
        scaled(f[2], u[1] * u[1]) + scaled(f[1], u[2]),
    ]
}

#[inline(always)]
fn product(u: &Jet, v: &Jet) -> Jet {
    [
        u[0] * v[0],
        u[1] * v[0] + u[0] * v[1],
        u[2] * v[0] + 2.0 * u[1] * v[1] + u[0] * v[2],
    ]
}

#[inline(always)]
fn combined(operation: &Operation, u: &Jet, v: &Jet) -> Jet {
    match operation {
        Operation::Add => std::array::from_fn(|k| u[k] + v[k]),
        Operation::Subtract => std::array::from_fn(|k| u[k] - v[k]),
        Operation::Multiply => product(u, v),
        Operation::Divide => {
            let r = 1.0 / v[0];
            product(u, &chain([r, -r * r, 2.0 * r * r * r], v))
        }
        Operation::Least => *if u[0] <= v[0] { u } else { v },
        Operation::Greatest => *if u[0] >= v[0] { u } else { v },
        _ => power(u, v),
    }
}

/// u^v: by powers of u while v is constant, so that negative bases have their integer powers.
fn power(u: &Jet, v: &Jet) -> Jet {
    if v[1] == 0.0 && v[2] == 0.0 {
        let n = v[0];
        let whole = n.abs() <= 16.0 && n.fract() == 0.0;
        let power = |n: f64| {
            if whole {
                u[0].powi(n as i32)
            } else {
                u[0].powf(n)
            }
        };
        if whole && n >= 2.0 {
            return raised(u, n as i32);
        }
        let slope = if n == 0.0 { 0.0 } else { n * power(n - 1.0) };
        let second = if n == 0.0 || n == 1.0 {
            0.0
        } else {
            n * (n - 1.0) * power(n - 2.0)
        };
        return chain([power(n), slope, second], u);
    }
    let x = u[0];
    let log = chain([x.ln(), 1.0 / x, -1.0 / (x * x)], u);
    let exponent = product(v, &log);
    chain([exponent[0].exp(); 3], &exponent)
}

/// u^n, n at least 2.
#[inline(always)]
fn raised(u: &Jet, n: i32) -> Jet {
    let (y, exponent) = (u[0].powi(n - 2), f64::from(n));
    chain(
        [
            y * u[0] * u[0],
            exponent * y * u[0],
            exponent * (exponent - 1.0) * y,
        ],
        u,
    )
}

impl Operation {
    fn is_binary(&self) -> bool {
        use Operation::{Add, Divide, Greatest, Least, Multiply, Power, Subtract};
        matches!(
            self,
            Add | Subtract | Multiply | Divide | Power | Least | Greatest
        )
    }

    /// The same with a number on the left or on the right, if there is a shorter way to it.
    fn with(&self, left: Option<f64>, right: Option<f64>) -> Option<Self> {
        Some(match (self, left, right) {
            (Self::Add, Some(x), _) | (Self::Add, _, Some(x)) => Self::Plus(x),
            (Self::Subtract, _, Some(x)) => Self::Plus(-x),
            (Self::Subtract, Some(x), _) => Self::From(x),
            (Self::Multiply, Some(x), _) | (Self::Multiply, _, Some(x)) => Self::Times(x),
            (Self::Divide, _, Some(x)) => Self::Over(x),
            (Self::Power, _, Some(n)) if n.fract() == 0.0 && (2.0..=16.0).contains(&n) => {
                Self::Raise(n as i32)
            }
            _ => return None,
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    nesting: usize,
    operations: Vec<Operation>,
    /// Where the operands that are still to be worked on begin.
    operands: Vec<usize>,
}

impl Reader<'_> {
    /// Adds an operation; what it makes of numbers alone is a number, what it makes of one number is shorter.
    fn push(&mut self, operation: Operation) {
        use Operation::{Apply, Negate, Number, Time};
        let number = |operations: &[Operation]| match operations {
            [Number(x)] => Some(*x),
            _ => None,
        };
        if let Number(_) | Time = operation {
            self.operands.push(self.operations.len());
            self.operations.push(operation);
            return;
        }
        let last = if operation.is_binary() {
            self.operands.pop().unwrap_or(0)
        } else {
            self.operations.len()
        };
        let first = self.operands.last().copied().unwrap_or(0);
        let left = number(&self.operations[first..last]);
        let right = number(&self.operations[last..]);
        let constant = |x: f64| [x, 0.0, 0.0];
        let folded = match (operation, left, right) {
            (Negate, Some(x), _) => Some(-x),
            (Apply(function), Some(x), _) => Some(FUNCTIONS[function].1(x)[0]),
            (_, Some(x), Some(y)) => Some(combined(&operation, &constant(x), &constant(y))[0]),
            _ => None,
        };
        if let Some(value) = folded {
            self.operations.truncate(first);
            self.operations.push(Number(value));
        } else if let Some(shorter) = operation.with(left, right) {
            let number = if left.is_some() { first } else { last };
            self.operations.remove(number);
            self.operations.push(shorter);
        } else {
            self.operations.push(operation);
        }
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|c| c.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn fault(&self, expected: &'static str) -> RigidError {
        RigidError::Formula {
            text: self.text.into(),
            at: self.at,
            expected,
        }
    }

    fn sum(&mut self) -> Result<(), RigidError> {
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return Err(self.fault("shallower nesting"));
        }
        self.product()?;
        loop {
            let operation = match self.peek() {
                Some(b'+') => Operation::Add,
                Some(b'-') => Operation::Subtract,
                _ => break,
            };
            self.at += 1;
            self.product()?;
            self.push(operation);
        }
        self.nesting -= 1;
        Ok(())
    }

    fn product(&mut self) -> Result<(), RigidError> {
        self.signed()?;
        loop {
            let operation = match self.peek() {
                Some(b'*') if !self.text[self.at..].starts_with("**") => Operation::Multiply,
                Some(b'/') => Operation::Divide,
                _ => return Ok(()),
            };
            self.at += 1;
            self.signed()?;
            self.push(operation);
        }
    }

    /// A power with its signs: -x^2 is -(x^2).
    fn signed(&mut self) -> Result<(), RigidError> {
        let mut negative = false;
        loop {
            if self.take(b'-') {
                negative = !negative;
            } else if !self.take(b'+') {
                break;
            }
        }
        self.atom()?;
        let stars = self.peek().is_some() && self.text[self.at..].starts_with("**");
        if stars || self.peek() == Some(b'^') {
            self.at += if stars { 2 } else { 1 };
            self.nesting += 1;
            if self.nesting > DEEPEST {
                return Err(self.fault("shallower nesting"));
            }
            self.signed()?;
            self.nesting -= 1;
            self.push(Operation::Power);
        }
        if negative {
            self.push(Operation::Negate);
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), RigidError> {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                self.sum()?;
                self.close()
            }
            Some(c) if c.is_ascii_digit() || c == b'.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.word(),
            _ => Err(self.fault("a number, t, pi, a function or a parenthesis")),
        }
    }

    fn close(&mut self) -> Result<(), RigidError> {
        if self.take(b')') {
            Ok(())
        } else {
            Err(self.fault("an operator or `)`"))
        }
    }

    fn number(&mut self) -> Result<(), RigidError> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut length = 0;
        while length < rest.len() {
            let c = rest[length];
            let exponent_sign =
                matches!(c, b'+' | b'-') && length > 0 && matches!(rest[length - 1], b'e' | b'E');
            if !(c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E') || exponent_sign) {
                break;
            }
            length += 1;
        }
        let value = self.text[self.at..self.at + length].parse::<f64>();
        match value {
            Ok(value) if value.is_finite() => {
                self.at += length;
                self.push(Operation::Number(value));
                Ok(())
            }
            _ => Err(self.fault("a finite number")),
        }
    }

    fn word(&mut self) -> Result<(), RigidError> {
        let rest = &self.text[self.at..];
        let length = rest
            .bytes()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == b'_')
            .count();
        let word = &rest[..length];
        let simple = match word {
            "t" => Some(Operation::Time),
            "pi" => Some(Operation::Number(std::f64::consts::PI)),
            _ => None,
        };
        if let Some(operation) = simple {
            self.at += length;
            self.push(operation);
            return Ok(());
        }
        let operation = match word {
            "min" => Operation::Least,
            "max" => Operation::Greatest,
            _ => match FUNCTIONS.iter().position(|(name, _)| *name == word) {
                Some(index) => Operation::Apply(index),
                None => {
                    let known =
                        "t, pi, min, max, sin, cos, tan, exp, log, sqrt, tanh, abs, step or atan";
                    return Err(self.fault(known));
                }
            },
        };
        self.at += length;
        if !self.take(b'(') {
            return Err(self.fault("`(` after a function"));
        }
        self.sum()?;
        if !matches!(operation, Operation::Apply(_)) {
            if !self.take(b',') {
                return Err(self.fault("`,` and a second argument"));
            }
            self.sum()?;
        }
        self.close()?;
        self.push(operation);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_arithmetic() {
        for (text, t, exact) in [
            ("1 + 2 * 3", 0.0, 7.0),
            ("-2^2", 0.0, -4.0),
            ("2^-1", 0.0, 0.5),
            ("2 ** 3 ** 2", 0.0, 512.0),
            ("(1 - t) / 4", 3.0, -0.5),
            ("min(t, 2) + max(t, 2)", 5.0, 7.0),
            ("step(t - 1) * 1e-3", 1.0, 1e-3),
            ("8 - 2 - 1", 0.0, 5.0),
        ] {
            assert_eq!(Formula::new(text).unwrap().at(t)[0], exact, "{text}");
        }
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let d = 1e-4;
        for text in [
            "0.002 * (1 - cos(2 * pi * t / 0.9))",
            "exp(-t) * sin(3 * t) / (1 + t^2)",
            "t^2.5 + tan(t) - log(1 + t) + sqrt(t) + atan(t)",
            "tanh(2 * t)^3 + t^t + abs(t - 2)",
            "max(t, 0.1)^3 * min(sin(t), 2)",
        ] {
            let f = Formula::new(text).unwrap();
            for t in [0.31, 0.77] {
                let [y, y1, y2] = f.at(t);
                let (up, down) = (f.at(t + d)[0], f.at(t - d)[0]);
                assert!(
                    (y1 - (up - down) / (2.0 * d)).abs() < 1e-5 * (1.0 + y1.abs()),
                    "{text}"
                );
                assert!(
                    (y2 - (up - 2.0 * y + down) / (d * d)).abs() < 1e-4 * (1.0 + y2.abs()),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_formula_is_refused_with_its_place() {
        for text in [
            "", "1 +", "x", "sin t", "(1", "1 2", "min(1)", "1e999", "t)",
        ] {
            let fault = Formula::new(text).unwrap_err().to_string();
            assert!(fault.contains("formula"), "{fault}");
        }
        assert!(Formula::new(&"(".repeat(10_000)).is_err());
        assert!(Formula::new(&"-".repeat(10_000)).is_err());
        assert!(Formula::new(&"2^".repeat(10_000)).is_err());
    }
}
