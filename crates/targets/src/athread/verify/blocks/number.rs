//! Index expressions of the text in which names are replaced by positions of numbers, so that they
//! can be evaluated often.
//!
//! An evaluation of its own on purpose, as all of the verifier. It is stricter than that of loop
//! programs: a quotient that is rounded down has a value only by positive numbers.

/// A function of the text that only computes: its numbers are put in places of their own.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub parameters: Vec<usize>,
    pub steps: Vec<(usize, Number)>,
    pub result: Number,
}

/// A sum, as [`Number::flat`] makes it.
#[derive(Clone, Default, Debug)]
pub(super) struct Sum {
    at: i64,
    places: Vec<(usize, i64)>,
    others: Vec<(Number, i64)>,
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Int(i64),
    /// The number in a place.
    At(usize),
    /// One of several numbers from a place on, by its index, and how many there are.
    Of(usize, Box<Number>, i64),
    Two(Operation, Box<[Number; 2]>),
    /// A sum: a number, numbers in places, and others, each so often.
    Sum(Box<Sum>),
    Not(Box<Number>),
    Choice(Box<[Number; 3]>),
    Call(Box<(Function, Vec<Number>)>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    FloorDiv,
    Mod,
    Min,
    Max,
    Less,
    LessEqual,
    Equal,
    Different,
    And,
    Or,
}

impl Operation {
    fn of(self, a: i64, b: i64) -> Option<i64> {
        Some(match self {
            Operation::Add => a.checked_add(b)?,
            Operation::Sub => a.checked_sub(b)?,
            Operation::Mul => a.checked_mul(b)?,
            Operation::Div => a.checked_div(b)?,
            Operation::Rem => a.checked_rem(b)?,
            Operation::FloorDiv => a.checked_div_euclid(b).filter(|_| b > 0)?,
            Operation::Mod => a.checked_rem_euclid(b).filter(|_| b > 0)?,
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Less => i64::from(a < b),
            Operation::LessEqual => i64::from(a <= b),
            Operation::Equal => i64::from(a == b),
            Operation::Different => i64::from(a != b),
            Operation::And => i64::from(a != 0 && b != 0),
            Operation::Or => i64::from(a != 0 || b != 0),
        })
    }
}

impl Number {
    pub fn two(op: Operation, a: Number, b: Number) -> Number {
        if let (Number::Int(a), Number::Int(b)) = (&a, &b)
            && let Some(n) = op.of(*a, *b)
        {
            return Number::Int(n);
        }
        Number::Two(op, Box::new([a, b]))
    }

    /// The value; none where a number has none, or an index is not one of those that there are.
    pub fn value(&self, places: &mut [Option<i64>]) -> Option<i64> {
        match self {
            Number::Int(n) => Some(*n),
            Number::At(place) => places[*place],
            Number::Of(first, index, many) => {
                let index = index.value(places).filter(|k| (0..*many).contains(k))?;
                places[first + index as usize]
            }
            Number::Two(op, both) => {
                let a = both[0].value(places)?;
                match (op, a) {
                    (Operation::And, 0) => return Some(0),
                    (Operation::Or, a) if a != 0 => return Some(1),
                    _ => {}
                }
                op.of(a, both[1].value(places)?)
            }
            Number::Sum(sum) => {
                let mut all = sum.at;
                for (place, by) in &sum.places {
                    all = all.checked_add(places[*place]?.checked_mul(*by)?)?;
                }
                for (other, by) in &sum.others {
                    all = all.checked_add(other.value(places)?.checked_mul(*by)?)?;
                }
                Some(all)
            }
            Number::Not(a) => Some(i64::from(a.value(places)? == 0)),
            Number::Choice(parts) => {
                let which = if parts[0].value(places)? != 0 { 1 } else { 2 };
                parts[which].value(places)
            }
            Number::Call(call) => {
                let (function, arguments) = &**call;
                // An argument may call the function itself.
                let mut values = [0; 4];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = argument.value(places)?;
                }
                for (place, value) in function.parameters.iter().zip(values) {
                    places[*place] = Some(value);
                }
                for (place, step) in &function.steps {
                    places[*place] = step.value(places);
                }
                function.result.value(places)
            }
        }
    }

    /// The value, and what is added to it when the number in a place grows by one; none where that
    /// is not always the same.
    pub fn linear(&self, along: usize, places: &mut [Option<i64>]) -> Option<(i64, i64)> {
        match self {
            Number::At(place) => Some((places[*place]?, i64::from(*place == along))),
            Number::Two(op @ (Operation::Add | Operation::Sub | Operation::Mul), both) => {
                let ((a, x), (b, y)) = (both[0].linear(along, places)?, both[1].linear(along, places)?);
                let step = match op {
                    Operation::Add => x.checked_add(y)?,
                    Operation::Sub => x.checked_sub(y)?,
                    _ if x == 0 || y == 0 => a.checked_mul(y)?.checked_add(b.checked_mul(x)?)?,
                    _ => return None,
                };
                Some((op.of(a, b)?, step))
            }
            Number::Sum(sum) => {
                let (mut all, mut step) = (sum.at, 0i64);
                for (place, by) in &sum.places {
                    all = all.checked_add(places[*place]?.checked_mul(*by)?)?;
                    step += if *place == along { *by } else { 0 };
                }
                for (other, by) in &sum.others {
                    let (own, more) = other.linear(along, places)?;
                    all = all.checked_add(own.checked_mul(*by)?)?;
                    step = step.checked_add(more.checked_mul(*by)?)?;
                }
                Some((all, step))
            }
            other if other.has(along) => None,
            other => Some((other.value(places)?, 0)),
        }
    }

    /// Whether the number in a place is part of it.
    pub fn has(&self, place: usize) -> bool {
        let mut found = false;
        self.walk(&mut |n| {
            found |= match n {
                Number::At(own) => *own == place,
                Number::Of(first, _, many) => (*first..first + *many as usize).contains(&place),
                _ => false,
            }
        });
        found
    }

    /// The same, faster.
    pub fn flat(&self) -> Number {
        let all = |numbers: &[Number]| numbers.iter().map(Number::flat).collect::<Vec<Number>>();
        match self {
            Number::Int(_) | Number::At(_) | Number::Sum(_) => self.clone(),
            Number::Of(first, index, many) => Number::Of(*first, Box::new(index.flat()), *many),
            Number::Two(Operation::Add | Operation::Sub | Operation::Mul, _) => {
                let mut sum = Sum::default();
                self.add_to(1, &mut sum);
                sum.places.retain(|(_, by)| *by != 0);
                if sum.places.is_empty() && sum.others.is_empty() {
                    return Number::Int(sum.at);
                }
                Number::Sum(Box::new(sum))
            }
            Number::Two(op, both) => Number::Two(*op, Box::new([both[0].flat(), both[1].flat()])),
            Number::Not(a) => Number::Not(Box::new(a.flat())),
            Number::Choice(parts) => {
                Number::Choice(Box::new([parts[0].flat(), parts[1].flat(), parts[2].flat()]))
            }
            Number::Call(call) => {
                let (function, arguments) = &**call;
                let steps = function.steps.iter().map(|(place, n)| (*place, n.flat())).collect();
                let parameters = function.parameters.clone();
                let function = Function { parameters, steps, result: function.result.flat() };
                Number::Call(Box::new((function, all(arguments))))
            }
        }
    }

    fn add_to(&self, by: i64, sum: &mut Sum) {
        match self {
            Number::Int(n) => sum.at = sum.at.saturating_add(n.saturating_mul(by)),
            Number::At(place) => match sum.places.iter_mut().find(|(own, _)| own == place) {
                Some((_, factor)) => *factor = factor.saturating_add(by),
                None => sum.places.push((*place, by)),
            },
            Number::Two(op, both) => match (op, &both[0], &both[1]) {
                (Operation::Add, a, b) => {
                    a.add_to(by, sum);
                    b.add_to(by, sum);
                }
                (Operation::Sub, a, b) => {
                    a.add_to(by, sum);
                    b.add_to(by.saturating_neg(), sum);
                }
                (Operation::Mul, Number::Int(n), a) | (Operation::Mul, a, Number::Int(n)) => {
                    a.add_to(by.saturating_mul(*n), sum);
                }
                (op, a, b) => sum.others.push((Number::Two(*op, Box::new([a.flat(), b.flat()])), by)),
            },
            other => sum.others.push((other.flat(), by)),
        }
    }

    /// All parts of it.
    pub fn walk(&self, see: &mut dyn FnMut(&Number)) {
        see(self);
        match self {
            Number::Int(_) | Number::At(_) => {}
            Number::Of(_, a, _) | Number::Not(a) => a.walk(see),
            Number::Two(_, both) => both.iter().for_each(|n| n.walk(see)),
            Number::Sum(sum) => {
                sum.places.iter().for_each(|(place, _)| see(&Number::At(*place)));
                sum.others.iter().for_each(|(n, _)| n.walk(see));
            }
            Number::Choice(parts) => parts.iter().for_each(|n| n.walk(see)),
            Number::Call(call) => {
                call.1.iter().for_each(|n| n.walk(see));
                call.0.steps.iter().for_each(|(_, n)| n.walk(see));
                call.0.result.walk(see);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_numbers_are_the_same() {
        let two = Number::two;
        let (a, b) = (Number::At(0), Number::At(1));
        let rest = two(Operation::Rem, two(Operation::Add, a.clone(), Number::Int(3)), Number::Int(5));
        let product = two(Operation::Mul, Number::Int(7), two(Operation::Sub, b.clone(), rest));
        let least = two(Operation::Min, two(Operation::Mul, a.clone(), b.clone()), product.clone());
        let all =
            two(Operation::Sub, two(Operation::Add, product, a), two(Operation::Mul, least, Number::Int(2)));
        for k in 0..200 {
            let mut places = vec![Some(k % 13), Some(k % 17 - 4)];
            assert_eq!(all.value(&mut places), all.flat().value(&mut places));
        }
        let grows = two(Operation::Sub, two(Operation::Mul, Number::Int(40), b.clone()), Number::At(0));
        let mut places = vec![Some(2), Some(5)];
        assert_eq!(grows.linear(1, &mut places), Some((198, 40)));
        assert_eq!(grows.flat().linear(1, &mut places), Some((198, 40)));
        assert_eq!(all.flat().linear(1, &mut places), None);
        assert_eq!(two(Operation::Add, b, Number::At(0)).value(&mut [None, Some(1)]), None);
    }
}
