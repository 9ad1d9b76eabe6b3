//! Values as text: what test cases say of arguments and results, and how elements are shown.
//!
//! `1`, `-2.5e3`, `inf`, `nan`, `true`, lists `[1, 2]`, pairs `(1, 2)`; nested lists are rows,
//! outermost first. A value has no type of its own: it is read as the type of the parameter that it
//! is for.

use loops::{Data, Elem, Tensor};

/// Values nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;

/// A value before it has a type.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A number, as written, so that 64-bit integers lose nothing.
    Number(String),
    /// A truth value.
    Bool(bool),
    /// A list.
    List(Vec<Value>),
    /// A pair.
    Pair(Box<Value>, Box<Value>),
}

impl Value {
    /// Reads the value at the beginning of a text; returns it and the rest.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn read(text: &str) -> Result<(Value, &str), String> {
        read(text, 0)
    }

    /// The extents of the lists, outermost first; `None` if rows differ in length or kind.
    pub fn shape(&self) -> Option<Vec<usize>> {
        let Value::List(items) = self else { return Some(Vec::new()) };
        let Some(first) = items.first() else { return Some(vec![0]) };
        let inner = first.shape()?;
        if items.iter().any(|item| item.shape().as_ref() != Some(&inner)) {
            return None;
        }
        let mut shape = vec![items.len()];
        shape.extend(inner);
        Some(shape)
    }

    /// The tensor of this shape and element type.
    ///
    /// # Errors
    /// What does not fit, as a sentence.
    pub fn tensor(&self, elem: &Elem, shape: &[usize]) -> Result<Tensor, String> {
        let mut data = Data::zeros(elem, 0);
        self.fill(shape, &mut data)?;
        Ok(Tensor { shape: shape.to_vec(), data })
    }

    fn fill(&self, shape: &[usize], data: &mut Data) -> Result<(), String> {
        match (shape, self) {
            ([], _) => push(self, data),
            ([extent, inner @ ..], Value::List(items)) if items.len() == *extent => {
                items.iter().try_for_each(|item| item.fill(inner, data))
            }
            ([extent, ..], Value::List(items)) => {
                Err(format!("a list has {} elements where {extent} are needed", items.len()))
            }
            _ => Err(format!("{} is given where a list is needed", self.kind())),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Bool(_) => "a truth value",
            Value::List(_) => "a list",
            Value::Pair(..) => "a pair",
        }
    }
}

fn push(value: &Value, data: &mut Data) -> Result<(), String> {
    let scalar = match data.elem() {
        Elem::Scalar(s) => s.keyword(),
        Elem::Pair(..) => "a pair",
    };
    match (data, value) {
        (Data::Pair(a, b), Value::Pair(x, y)) => {
            push(x, a)?;
            push(y, b)?;
        }
        (Data::Bool(v), Value::Bool(x)) => v.push(*x),
        (Data::F32(v), Value::Number(x)) => v.push(float(x, f32::is_infinite, |x| x == 0.0)?),
        (Data::F64(v), Value::Number(x)) => v.push(float(x, f64::is_infinite, |x| x == 0.0)?),
        (Data::I32(v), Value::Number(x)) => v.push(number(x)?),
        (Data::I64(v), Value::Number(x)) => v.push(number(x)?),
        (Data::I8(v), Value::Number(x)) => v.push(number(x)?),
        (Data::U8(v), Value::Number(x)) => v.push(number(x)?),
        (Data::I16(v), Value::Number(x)) => v.push(number(x)?),
        (Data::U16(v), Value::Number(x)) => v.push(number(x)?),
        (Data::F16(v), Value::Number(x)) => v.push(loops::nearest_half(number(x)?)),
        (Data::U32(v), Value::Number(x)) => v.push(number(x)?),
        (Data::U64(v), Value::Number(x)) => v.push(number(x)?),
        _ => return Err(format!("{} is given where {scalar} is needed", value.kind())),
    }
    Ok(())
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of this type"))
}

/// A floating-point number; not one that would become infinite, or 0, for being beyond the range of
/// its type.
fn float<T: std::str::FromStr + Copy>(
    text: &str,
    is_infinite: impl Fn(T) -> bool,
    is_zero: impl Fn(T) -> bool,
) -> Result<T, String> {
    let value = number(text)?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let beyond = (is_infinite(value) && digits.contains(|c: char| c.is_ascii_digit()))
        || (is_zero(value) && digits.contains(|c| ('1'..='9').contains(&c)));
    if beyond { Err(format!("`{text}` is beyond the range of this type")) } else { Ok(value) }
}

fn read(text: &str, depth: u32) -> Result<(Value, &str), String> {
    if depth > MAX_DEPTH {
        return Err("a value is nested too deep".into());
    }
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('[') {
        let mut items = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(']') {
                return Ok((Value::List(items), after));
            }
            let (item, after) = read(rest, depth + 1)?;
            items.push(item);
            rest = after.trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None if rest.starts_with(']') => {}
                None => return Err("a list is not closed by `]`".into()),
            }
        }
    }
    if let Some(rest) = text.strip_prefix('(') {
        let (first, rest) = read(rest, depth + 1)?;
        let rest = rest.trim_start().strip_prefix(',').ok_or("a pair has no `,`")?;
        let (second, rest) = read(rest, depth + 1)?;
        let rest = rest.trim_start().strip_prefix(')').ok_or("a pair is not closed by `)`")?;
        return Ok((Value::Pair(Box::new(first), Box::new(second)), rest));
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c))).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    match word {
        "true" => Ok((Value::Bool(true), rest)),
        "false" => Ok((Value::Bool(false), rest)),
        _ if word.parse::<f64>().is_ok() => Ok((Value::Number(word.to_owned()), rest)),
        "" => Err("a value is missing".into()),
        _ => Err(format!("`{word}` is not a value")),
    }
}

/// One element as text.
pub fn element(data: &Data, k: usize) -> String {
    match data {
        Data::F32(v) => v[k].to_string(),
        Data::F64(v) => v[k].to_string(),
        Data::I32(v) => v[k].to_string(),
        Data::I64(v) => v[k].to_string(),
        Data::Bool(v) => v[k].to_string(),
        Data::I8(v) => v[k].to_string(),
        Data::U8(v) => v[k].to_string(),
        Data::I16(v) => v[k].to_string(),
        Data::U16(v) => v[k].to_string(),
        Data::F16(v) => v[k].to_string(),
        Data::U32(v) => v[k].to_string(),
        Data::U64(v) => v[k].to_string(),
        Data::Pair(a, b) => format!("({}, {})", element(a, k), element(b, k)),
    }
}

/// A tensor as text, a row a line; of a long one the beginning and the end of each dimension.
pub fn show(tensor: &Tensor) -> String {
    let mut next = 0;
    let shown = if tensor.shape.len() > 1 { 6 } else { 10 };
    show_dimension(&tensor.shape, &tensor.data, &mut next, shown, 1)
}

fn show_dimension(shape: &[usize], data: &Data, next: &mut usize, shown: usize, indent: usize) -> String {
    let [extent, inner @ ..] = shape else {
        *next += 1;
        return element(data, *next - 1);
    };
    let step: usize = inner.iter().product();
    let mut items = Vec::new();
    let mut k = 0;
    while k < *extent {
        if *extent > shown + 1 && k == shown / 2 {
            items.push("...".to_owned());
            let skipped = extent - shown;
            k += skipped;
            *next += skipped * step;
        }
        items.push(show_dimension(inner, data, next, shown, indent + 1));
        k += 1;
    }
    let separator = if inner.is_empty() { ", ".to_owned() } else { format!(",\n{}", " ".repeat(indent)) };
    format!("[{}]", items.join(&separator))
}

/// How close two results must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Closeness {
    /// The same bits; any NaN is as good as any other.
    Exact,
    /// Floating point may differ by these bounds (single, double precision) times the larger of 1
    /// and the largest magnitude in both arrays.
    Within(f64, f64),
}

impl Closeness {
    /// For results whose sums were formed in another order: 1e-4 in single, 1e-10 in double
    /// precision.
    pub const REASSOCIATED: Closeness = Closeness::Within(1e-4, 1e-10);
    /// For results written in decimal by a person: 1e-5 in single, 1e-9 in double precision.
    pub(crate) const WRITTEN: Closeness = Closeness::Within(1e-5, 1e-9);
}

impl std::fmt::Display for Closeness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Closeness::Exact => f.write_str("to the last bit"),
            Closeness::Within(single, double) => {
                write!(f, "within {single:e} (f32) or {double:e} (f64) of the largest magnitude")
            }
        }
    }
}

/// The first difference of two tensors, as text; `None` if they agree.
pub fn difference(left: &Tensor, right: &Tensor, closeness: Closeness) -> Option<String> {
    if left.shape != right.shape {
        return Some(format!("the shapes are {:?} and {:?}", left.shape, right.shape));
    }
    if left.data.elem() != right.data.elem() {
        return Some(format!("the element types are {} and {}", left.data.elem(), right.data.elem()));
    }
    let (k, count) = first_difference(&left.data, &right.data, closeness)?;
    let mut rest = k;
    let mut index = vec![0; left.shape.len()];
    for (place, extent) in index.iter_mut().zip(&left.shape).rev() {
        (*place, rest) = (rest % extent.max(&1), rest / extent.max(&1));
    }
    let place = if index.is_empty() { String::new() } else { format!(" at {index:?}") };
    let more =
        if count > 1 { format!(" ({count} of {} elements differ)", left.data.len()) } else { String::new() };
    Some(format!("{}{place} against {}{more}", element(&left.data, k), element(&right.data, k)))
}

/// The first index that differs, and how many do.
fn first_difference(left: &Data, right: &Data, closeness: Closeness) -> Option<(usize, usize)> {
    fn scan<T: Copy>(a: &[T], b: &[T], same: impl Fn(T, T) -> bool) -> Option<(usize, usize)> {
        let mut differing = a.iter().zip(b).enumerate().filter(|(_, (x, y))| !same(**x, **y)).map(|(k, _)| k);
        let first = differing.next()?;
        Some((first, 1 + differing.count()))
    }
    fn float(
        closeness: Closeness,
        single: bool,
        values: impl Iterator<Item = f64>,
    ) -> impl Fn(f64, f64) -> bool {
        // Numbers of single precision have different bits in double precision too.
        let bound = match closeness {
            Closeness::Exact => None,
            Closeness::Within(f32_bound, f64_bound) => {
                let scale = values.map(f64::abs).filter(|x| x.is_finite()).fold(1.0, f64::max);
                Some(scale * if single { f32_bound } else { f64_bound })
            }
        };
        move |x, y| {
            let near = bound.is_some_and(|bound| x == y || (x - y).abs() <= bound);
            x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()) || near
        }
    }
    match (left, right) {
        (Data::F32(a), Data::F32(b)) => {
            let same = float(closeness, true, a.iter().chain(b).map(|x| f64::from(*x)));
            scan(a, b, |x, y| same(f64::from(x), f64::from(y)))
        }
        (Data::F64(a), Data::F64(b)) => scan(a, b, float(closeness, false, a.iter().chain(b).copied())),
        (Data::I32(a), Data::I32(b)) => scan(a, b, |x, y| x == y),
        (Data::I64(a), Data::I64(b)) => scan(a, b, |x, y| x == y),
        (Data::Bool(a), Data::Bool(b)) => scan(a, b, |x, y| x == y),
        (Data::I8(a), Data::I8(b)) => scan(a, b, |x, y| x == y),
        (Data::U8(a), Data::U8(b)) => scan(a, b, |x, y| x == y),
        (Data::I16(a), Data::I16(b)) => scan(a, b, |x, y| x == y),
        (Data::U16(a), Data::U16(b)) => scan(a, b, |x, y| x == y),
        (Data::F16(a), Data::F16(b)) => {
            let same = float(closeness, true, a.iter().chain(b).map(|x| x.to_f64()));
            scan(a, b, |x, y| same(x.to_f64(), y.to_f64()))
        }
        (Data::U32(a), Data::U32(b)) => scan(a, b, |x, y| x == y),
        (Data::U64(a), Data::U64(b)) => scan(a, b, |x, y| x == y),
        (Data::Pair(a1, a2), Data::Pair(b1, b2)) => {
            let (first, second) = (first_difference(a1, b1, closeness), first_difference(a2, b2, closeness));
            match (first, second) {
                (Some((k, n)), Some((l, m))) => Some((k.min(l), n.max(m))),
                (one, other) => one.or(other),
            }
        }
        _ => Some((0, left.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loops::Scalar;

    fn tensor(text: &str, elem: Elem) -> Result<Tensor, String> {
        let (value, rest) = Value::read(text)?;
        assert_eq!(rest.trim(), "");
        let shape = value.shape().ok_or("ragged")?;
        value.tensor(&elem, &shape)
    }

    #[test]
    fn values_become_tensors() {
        let rows = tensor("[[1, 2.5], [3, -inf]]", Scalar::F32.into()).unwrap();
        assert_eq!(
            rows,
            Tensor { shape: vec![2, 2], data: Data::F32(vec![1.0, 2.5, 3.0, f32::NEG_INFINITY]) }
        );
        let pairs =
            tensor("[(1, true), (2, false)]", Elem::pair(Scalar::I64.into(), Scalar::Bool.into())).unwrap();
        assert_eq!(show(&pairs), "[(1, true), (2, false)]");
        assert_eq!(tensor("[]", Scalar::I32.into()).unwrap().shape, [0]);
        assert_eq!(
            tensor("9007199254740993", Scalar::I64.into()).unwrap().data,
            Data::I64(vec![9_007_199_254_740_993])
        );
    }

    #[test]
    fn what_does_not_fit_is_said() {
        assert!(tensor("[1, [2]]", Scalar::F32.into()).unwrap_err().contains("ragged"));
        assert!(
            tensor("[1.5]", Scalar::I32.into()).unwrap_err().contains("`1.5` is not a number of this type")
        );
        assert!(
            tensor("(1, 2)", Scalar::I32.into()).unwrap_err().contains("a pair is given where i32 is needed")
        );
        assert!(Value::read("[1").unwrap_err().contains("not closed"));
        assert!(Value::read(&"[".repeat(100_000)).unwrap_err().contains("too deep"));
    }

    #[test]
    fn differences_are_found_and_placed() {
        let a = Tensor { shape: vec![2, 2], data: Data::F32(vec![1.0, 2.0, f32::NAN, 0.0]) };
        let mut b = a.clone();
        assert_eq!(difference(&a, &b, Closeness::Exact), None);
        b.data = Data::F32(vec![1.0, 2.0, -f32::NAN, 0.0]);
        assert_eq!(difference(&a, &b, Closeness::Exact), None);
        b.data = Data::F32(vec![1.0, 2.0, f32::NAN, -0.0]);
        assert_eq!(difference(&a, &b, Closeness::Exact).unwrap(), "0 at [1, 1] against -0");
        assert_eq!(difference(&a, &b, Closeness::WRITTEN), None);
        b.data = Data::F32(vec![1.0, 2.000_001, f32::NAN, 0.0]);
        assert_eq!(difference(&a, &b, Closeness::Exact).unwrap(), "2 at [0, 1] against 2.000001");
        assert_eq!(difference(&a, &b, Closeness::WRITTEN), None);
        b.data = Data::F32(vec![1.0, 2.0, 0.0, 0.0]);
        assert_eq!(difference(&a, &b, Closeness::REASSOCIATED).unwrap(), "NaN at [1, 0] against 0");
    }

    #[test]
    fn long_tensors_are_shown_in_part() {
        let long = Tensor { shape: vec![1000], data: Data::I32((0..1000).collect()) };
        assert_eq!(show(&long), "[0, 1, 2, 3, 4, ..., 995, 996, 997, 998, 999]");
        let wide = Tensor { shape: vec![2, 11], data: Data::I32((0..22).collect()) };
        assert_eq!(show(&wide), "[[0, 1, 2, ..., 8, 9, 10],\n [11, 12, 13, ..., 19, 20, 21]]");
    }
}
