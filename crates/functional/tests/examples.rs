//! Whole programs of the library, each compared with a plain program in Rust that does the same in
//! another way. (That C computes what the evaluator does is tested by `lozenge test library`.)

mod common;

use std::collections::BTreeMap;

use common::*;
use functional::eval::{Limits, Value, evaluate};
use loops::{Data, Tensor};

/// The numbers of the value of a definition, one after another.
fn run(file: &str, name: &str, sizes: &[(&str, usize)], args: &[Value]) -> Vec<f64> {
    let text = std::fs::read_to_string(golden::root().join("library").join(file)).unwrap();
    let mut beside = |_: &str, import: &str| {
        let path = golden::root().join("library/examples").join(import);
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        Ok((import.to_owned(), text))
    };
    let (sources, errors) = functional::load(file, &text, &mut beside);
    assert!(errors.is_empty(), "{file}: {errors:?}");
    let checked = functional::check_sources(&sources).unwrap_or_else(|e| panic!("{file}: {e:?}"));
    let definition = checked.elaborate(name).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let sizes: BTreeMap<_, _> = sizes.iter().map(|(n, v)| ((*n).into(), *v as i64)).collect();
    let value = evaluate(&definition, &sizes, args, Limits::default());
    let mut numbers = Vec::new();
    flatten(&value.unwrap_or_else(|e| panic!("{name}: {e}")), &mut numbers);
    numbers
}

/// Pairs of arrays one after another, arrays of pairs pair by pair.
fn flatten(value: &Value, numbers: &mut Vec<f64>) {
    fn at(data: &Data, i: usize, numbers: &mut Vec<f64>) {
        match data {
            Data::F32(v) => numbers.push(v[i].into()),
            Data::F64(v) => numbers.push(v[i]),
            Data::I32(v) => numbers.push(v[i].into()),
            Data::I64(v) => numbers.push(v[i] as f64),
            Data::Bool(v) => numbers.push(f64::from(u8::from(v[i]))),
            Data::U8(v) => numbers.push(v[i].into()),
            Data::U32(v) => numbers.push(v[i].into()),
            Data::Pair(a, b) => {
                at(a, i, numbers);
                at(b, i, numbers);
            }
            other => panic!("{other:?}"),
        }
    }
    match value {
        Value::Tensor(t) => (0..t.data.len()).for_each(|i| at(&t.data, i, numbers)),
        Value::Pair(a, b) => {
            flatten(a, numbers);
            flatten(b, numbers);
        }
    }
}

/// Numbers that are the same in each run, from -1 to 1.
fn draw(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn integers(count: usize, seed: u64, below: i64) -> Vec<i64> {
    draw(count, seed).into_iter().map(|x| ((x + 1.0) / 2.0 * below as f64) as i64).collect()
}

fn singles(shape: &[usize], values: &[f64]) -> Value {
    let data = Data::F32(values.iter().map(|x| *x as f32).collect());
    Value::Tensor(Tensor { shape: shape.to_vec(), data })
}

fn words(values: &[i32]) -> Value {
    Value::Tensor(Tensor { shape: vec![values.len()], data: Data::I32(values.to_vec()) })
}

fn pairs(a: &[f64], b: &[f64]) -> Value {
    let data = Data::Pair(Box::new(Data::F64(a.to_vec())), Box::new(Data::F64(b.to_vec())));
    Value::Tensor(Tensor { shape: vec![a.len()], data })
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance * e.abs().max(1.0), "at {i}: {f}, not {e}");
    }
}

fn bytes(shape: &[usize], values: &[u8]) -> Value {
    Value::Tensor(Tensor { shape: shape.to_vec(), data: Data::U8(values.to_vec()) })
}

/// A picture under a filter, its histogram, and a product with bytes of both kinds.
#[test]
fn programs_on_bytes() {
    let (h, w) = (7, 12);
    let picture: Vec<u8> = integers(h * w, 21, 256).into_iter().map(|x| x as u8).collect();
    let at = |i: i64, j: i64| {
        let (i, j) = (i.clamp(0, h as i64 - 1), j.clamp(0, w as i64 - 1));
        i64::from(picture[i as usize * w + j as usize])
    };
    let mut blurred = Vec::new();
    for (i, j) in (0..h as i64).flat_map(|i| (0..w as i64).map(move |j| (i, j))) {
        let window = (-1..=1).flat_map(|a: i64| (-1..=1).map(move |b: i64| (a, b)));
        let sum: i64 = window.map(|(a, b)| (2 - a.abs()) * (2 - b.abs()) * at(i + a, j + b)).sum();
        blurred.push(((sum + 8) / 16) as f64);
    }
    let file = "examples/bytes.loz";
    let found = run(file, "blur", &[("h", h), ("w", w)], &[bytes(&[h, w], &picture)]);
    assert_eq!(found, blurred);

    let counts = run(file, "histogram_u8", &[("n", h * w), ("k", 256)], &[bytes(&[h * w], &picture)]);
    let expected = (0..=255u8).map(|g| picture.iter().filter(|x| **x == g).count() as f64);
    assert_eq!(counts, expected.collect::<Vec<_>>());

    let a: Vec<i8> = picture.iter().map(|x| *x as i8).collect();
    let sizes = [("n", h), ("k", w), ("m", h)];
    let left = Value::Tensor(Tensor { shape: vec![h, w], data: Data::I8(a.clone()) });
    let product = run(file, "byte_product", &sizes, &[left, bytes(&[w, h], &picture)]);
    let places = (0..h).flat_map(|i| (0..h).map(move |j| (i, j)));
    let sum = |(i, j): (usize, usize)| {
        (0..w).map(|k| i64::from(a[i * w + k]) * i64::from(picture[k * h + j])).sum::<i64>() as f64
    };
    assert_eq!(product, places.map(sum).collect::<Vec<_>>());
}

#[test]
fn k_means() {
    let (n, k, d) = (101, 5, 3);
    let (points, centres) = (draw(n * d, 1), draw(k * d, 2));
    let mut sums = vec![(0.0, vec![0.0; d]); k];
    for p in points.chunks(d) {
        let far = |c: &[f64]| p.iter().zip(c).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let nearest =
            (0..k).min_by(|a, b| far(&centres[a * d..][..d]).total_cmp(&far(&centres[b * d..][..d])));
        let (count, sum) = &mut sums[nearest.unwrap()];
        *count += 1.0;
        sum.iter_mut().zip(p).for_each(|(s, x)| *s += x);
    }
    let mean = |(c, (count, sum)): (&[f64], &(f64, Vec<f64>))| -> Vec<f64> {
        if *count > 0.0 { sum.iter().map(|s| s / count).collect() } else { c.to_vec() }
    };
    let expected: Vec<f64> = centres.chunks(d).zip(&sums).flat_map(mean).collect();
    let args = [f64_tensor(&[n, d], &points), f64_tensor(&[k, d], &centres)];
    close(&run("examples/numerics.loz", "k_means", &[("n", n), ("k", k), ("d", d)], &args), &expected, 1e-12);
}

#[test]
fn sparse_products() {
    let (m, p) = (40, 17);
    let lengths = integers(m, 3, 9);
    let starts: Vec<i64> = std::iter::once(0)
        .chain(lengths.iter().scan(0, |s, n| {
            *s += n;
            Some(*s)
        }))
        .collect();
    let n = starts[m] as usize;
    let rows: Vec<i64> = (0..m).flat_map(|i| vec![i as i64; lengths[i] as usize]).collect();
    let (columns, values, x) = (integers(n, 4, p as i64), draw(n, 5), draw(p, 6));
    let mut dense = vec![0.0; m];
    for e in 0..n {
        dense[rows[e] as usize] += values[e] * x[columns[e] as usize];
    }
    let sizes = [("n", n), ("m", m), ("p", p)];
    let tail = [i64_tensor(&[n], &columns), f64_tensor(&[n], &values), f64_tensor(&[p], &x)];
    for (name, first) in
        [("coordinate_product", i64_tensor(&[n], &rows)), ("csr_product", i64_tensor(&[m + 1], &starts))]
    {
        let args: Vec<Value> = std::iter::once(first).chain(tail.clone()).collect();
        close(&run("examples/numerics.loz", name, &sizes, &args), &dense, 1e-12);
    }
}

/// Against the integral of the density, by Simpson's rule.
#[test]
fn black_scholes() {
    let normal = |x: f64| {
        let (steps, density) = (2000, |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt());
        let h = x / f64::from(steps);
        let weight = |i: i32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        0.5 + h / 3.0 * (0..=steps).map(|i| weight(i) * density(f64::from(i) * h)).sum::<f64>()
    };
    let (rate, volatility) = (0.03, 0.25);
    let spots: Vec<f64> = draw(20, 7).iter().map(|x| 100.0 + 30.0 * x).collect();
    let (strikes, times) = (vec![95.0; 20], (1..=20).map(|i| f64::from(i) / 8.0).collect::<Vec<_>>());
    let expected: Vec<f64> = (0..20)
        .map(|i| {
            let root = volatility * times[i].sqrt();
            let d = ((spots[i] / strikes[i]).ln() + (rate + volatility * volatility / 2.0) * times[i]) / root;
            spots[i] * normal(d) - strikes[i] * (-rate * times[i]).exp() * normal(d - root)
        })
        .collect();
    let rest = Data::Pair(Box::new(Data::F64(strikes)), Box::new(Data::F64(times)));
    let data = Data::Pair(Box::new(Data::F64(spots)), Box::new(rest));
    let args = [Value::f64(rate), Value::f64(volatility), Value::Tensor(Tensor { shape: vec![20], data })];
    close(&run("examples/numerics.loz", "black_scholes", &[("n", 20)], &args), &expected, 1e-5);
}

#[test]
fn gravity() {
    let n = 30;
    let v: Vec<Vec<f64>> = (0..4).map(|k| draw(n, 8 + k)).collect();
    let mut expected = Vec::new();
    for i in 0..n {
        for k in 1..4 {
            expected.push(
                (0..n)
                    .map(|j| {
                        let r2 = (1..4).map(|k| (v[k][j] - v[k][i]).powi(2)).sum::<f64>() + 0.01;
                        v[0][j] * (v[k][j] - v[k][i]) * r2.powf(-1.5)
                    })
                    .sum(),
            );
        }
    }
    let column = |k: usize| Box::new(Data::F64(v[k].clone()));
    let place = Data::Pair(column(1), Box::new(Data::Pair(column(2), column(3))));
    let data = Data::Pair(column(0), Box::new(place));
    let args = [Value::f64(0.1), Value::Tensor(Tensor { shape: vec![n], data })];
    close(&run("examples/numerics.loz", "gravity", &[("n", n)], &args), &expected, 1e-10);
}

#[test]
fn powers_of_matrices() {
    let n = 4;
    let a = integers(n * n, 12, 5);
    let mut power: Vec<i64> = (0..n * n).map(|e| i64::from(e / n == e % n)).collect();
    for exponent in 0..9 {
        let args = [Value::i64(exponent), i64_tensor(&[n, n], &a)];
        let expected: Vec<f64> = power.iter().map(|x| *x as f64).collect();
        assert_eq!(run("examples/numerics.loz", "matrix_power", &[("n", n)], &args), expected, "{exponent}");
        power = (0..n * n).map(|e| (0..n).map(|k| power[e / n * n + k] * a[k * n + e % n]).sum()).collect();
    }
}

/// The matrix times the solution is the right side.
#[test]
fn systems_of_equations() {
    let n = 23;
    let (mut l, b) = (draw(n * n, 13), draw(n, 14));
    (0..n).for_each(|i| l[i * n + i] += 4.0);
    let lower: Vec<f64> = (0..n * n).map(|e| if e % n <= e / n { l[e] } else { 0.0 }).collect();
    let times = |a: &[f64], x: &[f64]| -> Vec<f64> {
        a.chunks(n).map(|r| r.iter().zip(x).map(|(u, v)| u * v).sum()).collect()
    };
    let args = [f64_tensor(&[n, n], &l), f64_tensor(&[n], &b)];
    let x = run("examples/numerics.loz", "triangular_solve", &[("n", n)], &args);
    close(&times(&lower, &x), &b, 1e-12);
    let symmetric: Vec<f64> =
        (0..n * n).map(|e| (0..n).map(|k| lower[e / n * n + k] * lower[e % n * n + k]).sum()).collect();
    let args = [f64_tensor(&[n, n], &symmetric), f64_tensor(&[n], &b)];
    let x = run("examples/numerics.loz", "conjugate_gradients", &[("n", n), ("steps", 60)], &args);
    close(&times(&symmetric, &x), &b, 1e-6);
}

/// Against the sum of the definition.
#[test]
fn fourier_transform() {
    let n = 64;
    let (re, im) = (draw(n, 15), draw(n, 16));
    let mut expected = Vec::new();
    for k in 0..n {
        let term = |j: usize| {
            let (s, c) = (-2.0 * std::f64::consts::PI * (j * k) as f64 / n as f64).sin_cos();
            (re[j] * c - im[j] * s, re[j] * s + im[j] * c)
        };
        let sum = (0..n).map(term).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        expected.extend([sum.0, sum.1]);
    }
    let found = run("examples/numerics.loz", "fft", &[("stages", 6), ("h", n / 2)], &[pairs(&re, &im)]);
    close(&found, &expected, 1e-12);
}

#[test]
fn life() {
    let (h, w) = (7, 11);
    let cells = integers(h * w, 17, 2);
    let mut now = cells.clone();
    for _ in 0..5 {
        now = (0..h * w)
            .map(|e| {
                let (y, x) = (e / w, e % w);
                let mut around = -now[e];
                for dy in [h - 1, 0, 1] {
                    for dx in [w - 1, 0, 1] {
                        around += now[(y + dy) % h * w + (x + dx) % w];
                    }
                }
                i64::from(around == 3 || around == 2 && now[e] == 1)
            })
            .collect();
    }
    let data = Data::I32(cells.iter().map(|c| *c as i32).collect());
    let args = [Value::Tensor(Tensor { shape: vec![h, w], data })];
    let found = run("examples/numerics.loz", "life", &[("steps", 5), ("h", h), ("w", w)], &args);
    assert_eq!(found, now.iter().map(|x| *x as f64).collect::<Vec<_>>());
}

#[test]
fn common_subsequence() {
    fn longest(xs: &[i32], ys: &[i32], known: &mut BTreeMap<(usize, usize), usize>) -> usize {
        let ([x, xs_rest @ ..], [y, ys_rest @ ..]) = (xs, ys) else { return 0 };
        if let Some(length) = known.get(&(xs.len(), ys.len())) {
            return *length;
        }
        let length = if x == y {
            1 + longest(xs_rest, ys_rest, known)
        } else {
            longest(xs_rest, ys, known).max(longest(xs, ys_rest, known))
        };
        known.insert((xs.len(), ys.len()), length);
        length
    }
    let word = |count, seed| integers(count, seed, 4).iter().map(|x| *x as i32).collect::<Vec<_>>();
    let (xs, ys) = (word(31, 18), word(40, 19));
    let found = run(
        "examples/numerics.loz",
        "common_subsequence",
        &[("m", 31), ("n", 40)],
        &[words(&xs), words(&ys)],
    );
    assert_eq!(found, [longest(&xs, &ys, &mut BTreeMap::new()) as f64]);
}

#[test]
fn primes() {
    let mut sieve = [true; 200];
    for d in 0..200 {
        if d < 2 {
            sieve[d] = false;
        } else if sieve[d] {
            (2 * d..200).step_by(d).for_each(|m| sieve[m] = false);
        }
    }
    let expected: Vec<f64> = sieve.iter().map(|p| f64::from(u8::from(*p))).collect();
    assert_eq!(run("examples/numerics.loz", "primes", &[("n", 200)], &[]), expected);
}

#[test]
fn sorting() {
    let file = "examples/sorting.loz";
    for n in [0, 1, 2, 33, 1000] {
        let xs: Vec<i32> = draw(n, 20).iter().map(|x| (x * f64::from(i32::MAX)) as i32).collect();
        let mut sorted = xs.clone();
        sorted.sort_unstable();
        let numbers = |xs: &[i32]| xs.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        assert_eq!(run(file, "sort", &[("n", n)], &[words(&xs)]), numbers(&sorted));
        let (mut evens, odds): (Vec<i32>, Vec<i32>) = xs.iter().partition(|x| *x % 2 == 0);
        evens.extend(odds);
        assert_eq!(run(file, "evens_first", &[("n", n)], &[words(&xs)]), numbers(&evens));
        let singles_of = draw(n, 21);
        let mut in_order: Vec<f32> = singles_of.iter().map(|x| *x as f32).collect();
        let mut kept: Vec<f64> = in_order.iter().filter(|x| **x > 0.0).map(|x| f64::from(*x)).collect();
        let count = kept.len();
        kept.resize(n, 0.0);
        kept.push(count as f64);
        in_order.sort_by(f32::total_cmp);
        let in_order: Vec<f64> = in_order.into_iter().map(f64::from).collect();
        let arg = [singles(&[n], &singles_of)];
        assert_eq!(run(file, "sort_floats", &[("n", n)], &arg), in_order);
        assert_eq!(run(file, "positives", &[("n", n)], &arg), kept);
        if n >= 3 {
            let largest: Vec<f64> = in_order.iter().rev().take(3).copied().collect();
            assert_eq!(run(file, "largest", &[("k", 3), ("n", n)], &arg), largest);
        }
        if n >= 1 {
            let wanted = draw(50, 22);
            let below = |x: &f64| in_order.iter().filter(|y| **y < f64::from(*x as f32)).count() as f64;
            let args = [singles(&[n], &in_order), singles(&[50], &wanted)];
            let found = run(file, "lower_bounds", &[("n", n), ("m", 50)], &args);
            assert_eq!(found, wanted.iter().map(below).collect::<Vec<_>>());
        }
    }
}

#[test]
fn blocks() {
    for n in [0, 1, 31, 32, 1023, 1024, 1025, 5000] {
        let (xs, k) = (integers(n, 23, 12), 7);
        let mut counts = vec![0.0; k];
        xs.iter().filter(|x| (**x as usize) < k).for_each(|x| counts[*x as usize] += 1.0);
        let args = [i64_tensor(&[n], &xs)];
        assert_eq!(run("parallel.loz", "histogram_par", &[("n", n), ("k", k)], &args), counts);
        let reals = draw(n, 24);
        let best = reals.iter().map(|x| *x as f32).enumerate();
        let best = best.fold((f32::NEG_INFINITY, -1.0), |b, (i, x)| if x > b.0 { (x, i as f64) } else { b });
        let arg = [singles(&[n], &reals)];
        assert_eq!(run("parallel.loz", "arg_max_par", &[("n", n)], &arg), [f64::from(best.0), best.1]);
        let count = n as f64;
        let mean = reals.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = reals.iter().map(|x| (x - mean).powi(2)).sum();
        let found = run("parallel.loz", "moments", &[("n", n)], &[f64_tensor(&[n], &reals)]);
        close(&found, &[count, mean, squares], 1e-10);
        // Whole numbers, so that sums are exact in any order.
        let whole: Vec<f64> = xs.iter().map(|x| *x as f64).collect();
        let sums: Vec<f64> = whole
            .iter()
            .scan(0.0, |s, x| {
                *s += x;
                Some(*s)
            })
            .collect();
        assert_eq!(run("parallel.loz", "prefix_sum_par", &[("n", n)], &[singles(&[n], &whole)]), sums);
        let ab: Vec<(f64, f64)> = reals.iter().zip(&whole).map(|(a, b)| (f64::from(*a as f32), *b)).collect();
        let states: Vec<f64> = ab
            .iter()
            .scan(2.0, |y, (a, b)| {
                *y = a * *y + b;
                Some(*y)
            })
            .collect();
        let halves = |v: Vec<f64>| Box::new(Data::F32(v.iter().map(|x| *x as f32).collect()));
        let (a, b) = ab.into_iter().unzip();
        let pairs = Value::Tensor(Tensor { shape: vec![n], data: Data::Pair(halves(a), halves(b)) });
        close(&run("parallel.loz", "recurrence", &[("n", n)], &[Value::f32(2.0), pairs]), &states, 1e-4);
    }
}

#[test]
fn layers() {
    let (m, n, d, e) = (5, 7, 3, 4);
    let (q, k, v) = (draw(m * d, 25), draw(n * d, 26), draw(n * e, 27));
    let mut expected = Vec::new();
    for query in q.chunks(d) {
        let score = |key: &[f64]| query.iter().zip(key).map(|(a, b)| a * b).sum::<f64>() / (d as f64).sqrt();
        let weights: Vec<f64> = k.chunks(d).map(|key| score(key).exp()).collect();
        let total: f64 = weights.iter().sum();
        expected.extend((0..e).map(|c| (0..n).map(|j| weights[j] / total * v[j * e + c]).sum::<f64>()));
    }
    let args = [singles(&[m, d], &q), singles(&[n, d], &k), singles(&[n, e], &v)];
    let sizes = [("m", m), ("n", n), ("d", d), ("e", e)];
    close(&run("neural.loz", "attention", &sizes, &args), &expected, 1e-5);
    let total: f64 = q.iter().map(|x| x.exp()).sum();
    let expected: Vec<f64> = q.iter().map(|x| x.exp() / total).collect();
    close(&run("neural.loz", "softmax", &[("n", m * d)], &[singles(&[m * d], &q)]), &expected, 1e-5);
}
