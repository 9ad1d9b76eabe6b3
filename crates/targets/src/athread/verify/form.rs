//! Integer expressions in a normal form: polynomials whose unknowns are names and whole calls. Two
//! expressions are equal if they have the same normal form.
//!
//! A second implementation of polynomials on purpose: the verifier judges text that other code
//! wrote with `arith` and shares none of it. States also share forms in memory here.

use std::cmp::Ordering;
use std::rc::Rc;

/// An unknown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Atom {
    /// A name.
    Symbol(Rc<str>),
    /// A function, or an operation that is no polynomial, of some values.
    Apply(String, Vec<Form>),
}

impl Atom {
    fn mentions(&self, name: &str) -> bool {
        match self {
            Atom::Symbol(symbol) => **symbol == *name,
            Atom::Apply(_, arguments) => arguments.iter().any(|argument| argument.mentions(name)),
        }
    }
}

/// A product of unknowns, in order.
type Product = Rc<[Atom]>;

/// A polynomial: factors for each product of unknowns, in the order of these; none is 0.
///
/// States have the same forms in common, so a copy is one more reference, and what is the same
/// place in memory is equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Form(Rc<Vec<(Product, i64)>>);

impl Ord for Form {
    fn cmp(&self, other: &Form) -> Ordering {
        if Rc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for Form {
    fn partial_cmp(&self, other: &Form) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Terms in order, those of one product added up.
fn collected(mut terms: Vec<(Product, i64)>) -> Form {
    terms.sort_by(|a, b| a.0.cmp(&b.0));
    terms.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 = sum.1.saturating_add(next.1);
        }
        same
    });
    terms.retain(|(_, factor)| *factor != 0);
    Form(Rc::new(terms))
}

impl Form {
    pub fn int(n: i64) -> Form {
        if n == 0 { Form::default() } else { Form(Rc::new(vec![(Rc::new([]), n)])) }
    }

    pub fn symbol(name: &str) -> Form {
        Form::atom(Atom::Symbol(name.into()))
    }

    fn atom(atom: Atom) -> Form {
        Form(Rc::new(vec![(Rc::new([atom]), 1)]))
    }

    /// The factor of a product; 0 if it is no term.
    fn factor(&self, product: &[Atom]) -> i64 {
        self.0.binary_search_by(|(own, _)| (**own).cmp(product)).map_or(0, |at| self.0[at].1)
    }

    /// A function of values; known ones are computed.
    pub fn apply(function: &str, arguments: Vec<Form>) -> Form {
        let numbers: Option<Vec<i64>> = arguments.iter().map(Form::constant).collect();
        if let Some([a, b]) = numbers.as_deref() {
            let known = match function {
                "LOZENGE_MIN" => Some(*a.min(b)),
                "LOZENGE_MAX" => Some(*a.max(b)),
                "LOZENGE_FLOOR_DIV" if *b > 0 => Some(a.div_euclid(*b)),
                "LOZENGE_MOD" if *b > 0 => Some(a.rem_euclid(*b)),
                _ => None,
            };
            if let Some(n) = known {
                return Form::int(n);
            }
        }
        if let ("LOZENGE_FLOOR_DIV" | "LOZENGE_MOD", [e, by]) = (function, arguments.as_slice())
            && let Some(d) = by.constant().filter(|d| *d > 0)
        {
            // Multiples come out of quotients and remainders.
            let (mut whole, mut rest) = (Vec::new(), Vec::new());
            for (product, factor) in e.0.iter() {
                let (q, r) = match (product.is_empty(), factor % d) {
                    (true, _) => (factor.div_euclid(d), factor.rem_euclid(d)),
                    (false, 0) => (factor / d, 0),
                    (false, _) => (0, *factor),
                };
                whole.push((Rc::clone(product), q));
                rest.push((Rc::clone(product), r));
            }
            let (whole, rest) = (collected(whole), collected(rest));
            let floor = function == "LOZENGE_FLOOR_DIV";
            if let Some(n) = rest.constant() {
                return if floor { whole } else { Form::int(n) };
            }
            let one = Form::atom(Atom::Apply(function.to_owned(), vec![rest, by.clone()]));
            return if floor { whole.plus(&one) } else { one };
        }
        Form::atom(Atom::Apply(function.to_owned(), arguments))
    }

    /// A form that is above 0 where this one is: of remainders it is asked whether they are small,
    /// not whether they are large, and of quotients whether what is divided is large enough.
    pub fn question(&self) -> Form {
        let k = self.factor(&[]);
        let mut others = self.0.iter().filter(|(product, _)| !product.is_empty());
        if let (Some((product, 1)), None) = (others.next(), others.next())
            && let [Atom::Apply(function, arguments)] = &**product
            && let ("LOZENGE_MOD", [e, by]) = (function.as_str(), arguments.as_slice())
            && let Some(d) = by.constant().filter(|d| (1..*d).contains(&(1 - k)))
        {
            // From 1 - k on is as many below d, from there on.
            let from = Form::int(1 - k);
            let rest = Form::apply("LOZENGE_MOD", vec![e.minus(&from), by.clone()]);
            return Form::int(d).minus(&from).minus(&rest);
        }
        let mut others = self.0.iter().filter(|(product, _)| !product.is_empty());
        if let (Some((product, 1)), None, least @ 1..) =
            (others.next(), others.next(), 1_i64.saturating_sub(k))
            && let [Atom::Apply(function, arguments)] = &**product
            && let ("LOZENGE_FLOOR_DIV" | "/", [e, by]) = (function.as_str(), arguments.as_slice())
            && let Some(all) = by.constant().filter(|d| *d > 0).and_then(|d| d.checked_mul(least))
        {
            // Both round a quotient of 1 and more down.
            return e.minus(&Form::int(all.saturating_sub(1)));
        }
        self.clone()
    }

    /// This and a multiple of another form.
    fn with(&self, other: &Form, times: i64) -> Form {
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let order = match (ours.peek(), theirs.peek()) {
                (None, None) => return Form(Rc::new(sum)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let own = if order.is_le() { ours.next() } else { None };
            let more = if order.is_ge() { theirs.next() } else { None };
            let factor = own
                .map_or(0, |(_, factor)| *factor)
                .saturating_add(more.map_or(0, |(_, factor)| factor.saturating_mul(times)));
            if let Some((product, _)) = own.or(more)
                && factor != 0
            {
                sum.push((Rc::clone(product), factor));
            }
        }
    }

    pub fn plus(&self, other: &Form) -> Form {
        if self.0.is_empty() {
            return other.clone();
        }
        if other.0.is_empty() { self.clone() } else { self.with(other, 1) }
    }

    pub fn minus(&self, other: &Form) -> Form {
        if other.0.is_empty() { self.clone() } else { self.with(other, -1) }
    }

    pub fn times(&self, other: &Form) -> Form {
        for (number, form) in [(self, other), (other, self)] {
            match number.constant() {
                Some(0) => return Form::default(),
                Some(1) => return form.clone(),
                Some(n) => {
                    let terms = form.0.iter().map(|(product, x)| (Rc::clone(product), x.saturating_mul(n)));
                    return Form(Rc::new(terms.collect()));
                }
                None => {}
            }
        }
        let mut terms = Vec::with_capacity(self.0.len() * other.0.len());
        for (a, x) in self.0.iter() {
            for (b, y) in other.0.iter() {
                let mut both = [&**a, &**b].concat();
                both.sort();
                terms.push((both.into(), x.saturating_mul(*y)));
            }
        }
        collected(terms)
    }

    /// The value, if it is known.
    pub fn constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0[0].0.is_empty().then(|| self.0[0].1),
            _ => None,
        }
    }

    /// Products with their factors.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.0.iter().map(|(product, factor)| (&**product, *factor))
    }

    /// The number in it, and the rest as a number times a form.
    pub fn steps(&self) -> (i64, i64, Form) {
        let at = self.factor(&[]);
        let rest = self.minus(&Form::int(at));
        let by = rest.0.iter().fold(0i64, |a, (_, b)| {
            let (mut a, mut b) = (a.abs(), b.abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        });
        let times = rest.over(by).unwrap_or_default();
        (at, by, times)
    }

    /// With a form in place of a function of some values, where that is a term of its own.
    pub fn swap(&self, function: &str, arguments: &[Form], value: &Form) -> Form {
        let term = Form::atom(Atom::Apply(function.to_owned(), arguments.to_vec()));
        let factor = self.factor(&term.0[0].0);
        if factor == 0 {
            return self.clone();
        }
        self.with(&term, factor.saturating_neg()).plus(&value.times(&Form::int(factor)))
    }

    /// An exact quotient by a number.
    pub fn over(&self, by: i64) -> Option<Form> {
        let whole = by != 0 && self.0.iter().all(|(_, factor)| factor % by == 0);
        whole.then(|| {
            Form(Rc::new(self.0.iter().map(|(product, factor)| (Rc::clone(product), factor / by)).collect()))
        })
    }

    /// The array and the element that it is the address of, if it is one.
    pub fn address(&self) -> Option<(String, Form)> {
        let mut products = self.0.iter();
        match (products.next(), products.next()) {
            (Some((product, 1)), None) => match &**product {
                [Atom::Apply(name, arguments)] => {
                    Some((name.strip_prefix('&')?.to_owned(), arguments.first()?.clone()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The factor by which this is a multiple of another form, beside a rest that is a number:
    /// `k * other + rest`.
    pub fn multiple(&self, other: &Form) -> Option<(i64, i64)> {
        // Of a pitch such as `n + 8` the number is a part of the multiple.
        let first = self.0.iter().find(|(product, _)| !product.is_empty());
        let times = first.map(|(product, factor)| (other.factor(product), *factor));
        if let Some((own, factor)) = times
            && own != 0
            && other.times(&Form::int(factor / own)) == *self
        {
            return Some((factor / own, 0));
        }
        let rest = self.factor(&[]);
        let whole = self.minus(&Form::int(rest));
        if whole.0.is_empty() {
            return Some((0, rest));
        }
        let (product, factor) = whole.0.iter().next()?;
        let own = other.factor(product);
        if own == 0 || factor % own != 0 {
            return None;
        }
        let k = factor / own;
        (other.times(&Form::int(k)) == whole).then_some((k, rest))
    }

    /// What a name is multiplied with.
    pub fn by(&self, name: &str) -> Form {
        let mut terms = Vec::new();
        for (product, factor) in self.0.iter() {
            let named = |atom: &Atom| matches!(atom, Atom::Symbol(symbol) if **symbol == *name);
            if let Some(at) = product.iter().position(named) {
                let mut rest = product.to_vec();
                rest.remove(at);
                terms.push((rest.into(), *factor));
            }
        }
        collected(terms)
    }

    /// How often a form that is one product is in this one, whatever else there is.
    pub(crate) fn times_in(&self, other: &Form) -> Option<i64> {
        let [(product, each)] = other.0.as_slice() else { return None };
        let all = self.0.iter().find(|(own, _)| own == product).map_or(0, |(_, factor)| *factor);
        (!product.is_empty() && all % each == 0).then(|| all / each)
    }

    /// What is left of it without the terms that are multiples of a form that is one product.
    pub fn without(&self, other: &Form) -> Form {
        let [(product, each)] = other.0.as_slice() else { return self.clone() };
        if product.is_empty() {
            return self.clone();
        }
        let has = |own: &Product| {
            let mut rest: Vec<&Atom> = own.iter().collect();
            product.iter().all(|atom| match rest.iter().position(|own| *own == atom) {
                Some(at) => {
                    rest.swap_remove(at);
                    true
                }
                None => false,
            })
        };
        let stays = |(own, factor): &&(Product, i64)| factor % each != 0 || !has(own);
        Form(Rc::new(self.0.iter().filter(stays).cloned().collect()))
    }

    /// A number that it never exceeds, if one is plain to see.
    pub fn bound(&self) -> Option<i64> {
        let mut sum = 0i64;
        for (product, factor) in self.0.iter() {
            let most = match &**product {
                [] => 1,
                [Atom::Apply(function, arguments)] if *factor > 0 => {
                    let bounds = arguments.iter().map(Form::bound);
                    match function.as_str() {
                        "LOZENGE_MIN" => bounds.flatten().min()?,
                        "LOZENGE_MAX" => bounds.collect::<Option<Vec<i64>>>()?.into_iter().max()?,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            sum = sum.checked_add(most.checked_mul(*factor)?)?;
        }
        Some(sum)
    }

    /// With a form in place of a name.
    pub fn put(&self, name: &str, value: &Form) -> Form {
        if !self.mentions(name) {
            return self.clone();
        }
        // What does not mention it stays; nearly always that is most.
        let mentions = |product: &Product| product.iter().any(|atom| atom.mentions(name));
        let (change, stay): (Vec<_>, Vec<_>) =
            self.0.iter().map(|(p, f)| (Rc::clone(p), *f)).partition(|(p, _)| mentions(p));
        let mut sum = Form(Rc::new(stay));
        for (product, factor) in change {
            let mut term = Form::int(factor);
            for atom in product.iter() {
                let atom = match atom {
                    Atom::Symbol(symbol) if **symbol == *name => value.clone(),
                    Atom::Apply(function, arguments) if atom.mentions(name) => {
                        Form::apply(function, arguments.iter().map(|a| a.put(name, value)).collect())
                    }
                    other => Form::atom(other.clone()),
                };
                term = term.times(&atom);
            }
            sum = sum.plus(&term);
        }
        sum
    }

    /// Names that are terms or factors of it.
    pub fn symbols(&self) -> Vec<String> {
        let names = self.0.iter().flat_map(|(product, _)| product.iter()).filter_map(|atom| match atom {
            Atom::Symbol(name) => Some(name.to_string()),
            Atom::Apply(..) => None,
        });
        names.collect()
    }

    /// Whether a name is part of it.
    pub fn mentions(&self, name: &str) -> bool {
        self.0.iter().any(|(product, _)| product.iter().any(|atom| atom.mentions(name)))
    }

    /// Whether a name is part of it outside of some operations.
    pub fn outside(&self, operations: &[&str], name: &str) -> bool {
        self.0.iter().flat_map(|(product, _)| product.iter()).any(|atom| match atom {
            Atom::Symbol(symbol) => **symbol == *name,
            Atom::Apply(operation, arguments) => {
                !operations.contains(&operation.as_str())
                    && arguments.iter().any(|a| a.outside(operations, name))
            }
        })
    }

    /// Whether some unknown in it is of a kind.
    pub fn any(&self, is: &dyn Fn(&Atom) -> bool) -> bool {
        self.0.iter().flat_map(|(product, _)| product.iter()).any(|atom| {
            is(atom)
                || matches!(atom, Atom::Apply(_, arguments) if arguments.iter().any(|argument| argument.any(is)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_has_one_form() {
        let (n, k) = (Form::symbol("n"), Form::symbol("k"));
        let next = k.plus(&Form::int(1));
        let a = Form::int(16).times(&next).times(&n);
        let b = Form::int(16).times(&n).plus(&k.times(&n).times(&Form::int(16)));
        assert_eq!(a, b);
        assert_eq!(a.minus(&b), Form::int(0));
        assert_eq!(a.put("k", &Form::int(-1)), Form::default());
        assert_eq!(a.minus(&k.times(&n).times(&Form::int(16))).multiple(&n), Some((16, 0)));
        assert_eq!(n.plus(&Form::int(3)).multiple(&k), None);
    }

    #[test]
    fn quotients_and_remainders() {
        let (n, d) = (Form::symbol("n"), Form::int(16));
        let of = |f: &str, e: Form| Form::apply(f, vec![e, d.clone()]);
        let more = n.plus(&Form::symbol("k").times(&d)).minus(&Form::int(1));
        let quotient = of("LOZENGE_FLOOR_DIV", n.plus(&Form::int(15)));
        assert_eq!(
            of("LOZENGE_FLOOR_DIV", more.clone()),
            quotient.plus(&Form::symbol("k")).minus(&Form::int(1))
        );
        assert_eq!(of("LOZENGE_MOD", more), of("LOZENGE_MOD", n.plus(&Form::int(15))));
        // n mod 16 is at least 12 where (n + 4) mod 16 is at most 3.
        let large = of("LOZENGE_MOD", n.clone()).minus(&Form::int(11));
        let small = Form::int(4).minus(&of("LOZENGE_MOD", n.plus(&Form::int(4))));
        assert_eq!(large.question(), small);
        for n in -40..40i64 {
            assert_eq!(
                large.put("n", &Form::int(n)).constant().map(|k| k > 0),
                small.put("n", &Form::int(n)).constant().map(|k| k > 0)
            );
        }
    }

    #[test]
    fn quotients_are_asked_by_what_is_divided() {
        let n = Form::symbol("n");
        for function in ["LOZENGE_FLOOR_DIV", "/"] {
            for k in [-3, -1, 0] {
                let enough = Form::apply(function, vec![n.clone(), Form::int(16)]).plus(&Form::int(k));
                let asked = enough.question();
                assert_ne!(asked, enough);
                for value in -40..80i64 {
                    let above = value.div_euclid(16) + k > 0;
                    assert_eq!(
                        asked.put("n", &Form::int(value)).constant().map(|v| v > 0),
                        Some(above),
                        "{value} {k}"
                    );
                }
            }
            // Below 0 the two round differently.
            let any = Form::apply(function, vec![n.clone(), Form::int(16)]).plus(&Form::int(1));
            assert_eq!(any.question(), any);
        }
    }

    #[test]
    fn bounds_and_calls() {
        let n = Form::symbol("n");
        let least = Form::apply("LOZENGE_MIN", vec![Form::int(32), n.clone()]);
        assert_eq!(least.bound(), Some(32));
        assert_eq!(least.put("n", &Form::int(5)), Form::int(5));
        assert_eq!(n.bound(), None);
        let (rows, row) = (Form::symbol("rows"), Form::symbol("row"));
        let gap = rows.times(&n).times(&row).plus(&n.times(&Form::int(64)));
        assert_eq!(gap.without(&rows.times(&n)), n.times(&Form::int(64)));
        assert_eq!(gap.without(&n.times(&n)), gap);
        assert_eq!(gap.without(&rows.times(&n).times(&Form::int(2))), gap);
        assert_eq!(Form::apply("LOZENGE_FLOOR_DIV", vec![Form::int(-1), Form::int(32)]), Form::int(-1));
    }
}
