//! Calls of operators for the tests of their C: products and windows of many shapes, and calls
//! that have a form of their own in C.

use graph::{Attribute, ElementType, Tensor};

/// Numbers that are neither equal nor exact in binary, some of them 0 and negative.
pub(super) fn numbers(dims: &[usize], double: bool, seed: usize) -> Tensor {
    let count = dims.iter().product();
    let number = |i: usize| (((i + seed) * 7919 % 1013) as f64 - 500.0) / 300.0;
    match double {
        true => Tensor::from_f64s(dims, &(0..count).map(number).collect::<Vec<_>>()),
        false => Tensor::from_f32s(dims, &(0..count).map(|i| number(i) as f32).collect::<Vec<_>>()),
    }
}

pub(super) fn ints(name: &str, values: &[i64]) -> Attribute {
    Attribute::new(name, values.to_vec())
}

/// An operator, its attributes, and the extents of its inputs.
pub(super) type Shaped = (&'static str, Vec<Attribute>, Vec<Vec<usize>>);

/// Products of matrices, of vectors and of stacks of them.
pub(super) fn products() -> Vec<Shaped> {
    let flag = |name: &str| Attribute::new(name, 1i64);
    let mut calls: Vec<Shaped> = Vec::new();
    for [m, k, n] in [
        [1, 200, 211],
        [2, 97, 193],
        [3, 61, 211],
        [5, 1, 8000],
        [6, 64, 96],
        [7, 64, 97],
        [8, 90, 48],
        [13, 53, 67],
        [64, 32, 16],
        [48, 33, 400],
        [17, 5, 401],
        [200, 200, 1],
        [1, 33000, 1],
    ] {
        calls.push(("MatMul", vec![], vec![vec![m, k], vec![k, n]]));
        calls.push(("Gemm", vec![flag("transB")], vec![vec![m, k], vec![n, k], vec![n]]));
    }
    // Panels that do not stay in a cache together.
    calls.push(("MatMul", vec![], vec![vec![33, 2100], vec![2100, 61]]));
    calls.push(("MatMul", vec![], vec![vec![2, 3, 17, 31], vec![2, 3, 31, 67]]));
    calls.push(("MatMul", vec![], vec![vec![4, 9, 31], vec![31, 40]]));
    calls.push(("MatMul", vec![], vec![vec![3, 1, 150], vec![150, 101]]));
    let scaled = vec![flag("transA"), Attribute::new("alpha", 0.75f32), Attribute::new("beta", 1.5f32)];
    calls.push(("Gemm", scaled, vec![vec![50, 19], vec![50, 43], vec![19, 1]]));
    calls.push(("Gemm", vec![], vec![vec![19, 50], vec![50, 43]]));
    calls
}

/// The attributes of a window in two dimensions: its strides, the elements before and after, its
/// dilations, and groups.
pub(super) fn square(strides: i64, before: i64, after: i64, dilations: i64, group: i64) -> Vec<Attribute> {
    let pads = [before, before, after, after];
    let ints = [("strides", vec![strides; 2]), ("pads", pads.to_vec()), ("dilations", vec![dilations; 2])];
    let mut all: Vec<Attribute> = ints.into_iter().map(|(name, v)| Attribute::new(name, v)).collect();
    all.push(Attribute::new("group", group));
    all
}

pub(super) fn convolutions() -> Vec<Shaped> {
    let mut calls: Vec<Shaped> = Vec::new();
    for (attributes, x, w) in [
        (square(1, 0, 0, 1, 1), [1, 16, 14, 14], [24, 16, 1, 1]),
        (square(2, 0, 0, 1, 1), [2, 16, 15, 15], [29, 16, 1, 1]),
        (square(1, 1, 1, 1, 1), [1, 5, 12, 13], [11, 5, 3, 3]),
        (square(2, 1, 1, 1, 1), [1, 6, 17, 16], [16, 6, 3, 3]),
        (square(2, 3, 3, 1, 1), [1, 3, 23, 24], [8, 3, 7, 7]),
        (square(3, 2, 1, 2, 1), [1, 4, 40, 41], [9, 4, 5, 5]),
        (square(1, 0, 0, 1, 1), [1, 7, 9, 40], [13, 7, 2, 3]),
        (square(1, 1, 1, 1, 1), [2, 1, 9, 137], [13, 1, 3, 3]),
        (square(2, 0, 2, 1, 1), [1, 4, 20, 21], [16, 4, 3, 3]),
        (square(1, 1, 1, 1, 2), [1, 12, 11, 10], [14, 6, 3, 3]),
        // Rows in tiles, with strides and dilations.
        (square(2, 1, 1, 1, 1), [1, 3, 33, 64], [17, 3, 3, 3]),
        (square(1, 2, 2, 2, 1), [2, 5, 9, 47], [9, 5, 3, 3]),
        (square(3, 1, 2, 2, 1), [1, 2, 20, 97], [5, 2, 2, 4]),
        // One place, and many places of windows of one element.
        (square(1, 0, 0, 1, 1), [2, 100, 1, 1], [40, 100, 1, 1]),
        (square(1, 0, 0, 1, 1), [1, 12, 3, 3], [33, 12, 3, 3]),
        (square(1, 0, 0, 1, 1), [1, 100, 23, 24], [33, 100, 1, 1]),
    ] {
        calls.push(("Conv", attributes.clone(), vec![x.to_vec(), w.to_vec()]));
        calls.push(("Conv", attributes, vec![x.to_vec(), w.to_vec(), vec![w[0]]]));
    }
    for (attributes, x, w) in [
        (square(1, 1, 1, 1, 12), [1, 12, 9, 14], [12, 1, 3, 3]),
        (square(2, 1, 1, 1, 6), [2, 6, 16, 17], [12, 1, 3, 3]),
        (square(1, 2, 2, 2, 4), [1, 8, 10, 11], [8, 2, 3, 3]),
        (square(3, 0, 2, 1, 5), [1, 5, 30, 31], [5, 1, 5, 2]),
        (square(1, 1, 1, 1, 20), [2, 20, 7, 7], [20, 1, 3, 3]),
        (square(2, 0, 1, 1, 16), [1, 16, 14, 14], [16, 1, 3, 3]),
        (square(2, 4, 3, 2, 7), [1, 7, 13, 15], [7, 1, 3, 4]),
        (square(1, 0, 0, 1, 9), [1, 9, 9, 10], [9, 1, 3, 3]),
        (square(2, 1, 1, 1, 3), [1, 3, 5, 70], [3, 1, 3, 3]),
    ] {
        calls.push(("Conv", attributes, vec![x.to_vec(), w.to_vec(), vec![w[0]]]));
    }
    // An image that is so large that it is padded in strips.
    calls.push(("Conv", square(8, 1, 1, 1, 1), vec![vec![1, 12, 206, 230], vec![32, 12, 3, 3]]));
    calls
}

/// Maxima of windows, softmax, and convolutions in one and three dimensions.
pub(super) fn other_windows() -> Vec<Shaped> {
    let pool = |kernel: [i64; 2], strides: i64, pads: [i64; 4], dilations: i64, ceil: i64| {
        vec![
            ints("kernel_shape", &kernel),
            ints("strides", &[strides; 2]),
            ints("pads", &pads),
            ints("dilations", &[dilations; 2]),
            Attribute::new("ceil_mode", ceil),
        ]
    };
    let mut calls: Vec<Shaped> = vec![
        ("MaxPool", pool([3, 3], 1, [1; 4], 1, 0), vec![vec![2, 5, 9, 14]]),
        ("MaxPool", pool([3, 3], 2, [0, 0, 1, 1], 1, 0), vec![vec![1, 6, 16, 17]]),
        ("MaxPool", pool([2, 3], 2, [1, 0, 0, 1], 2, 1), vec![vec![1, 3, 20, 23]]),
        ("MaxPool", pool([2, 2], 3, [0; 4], 1, 1), vec![vec![1, 3, 24, 25]]),
        ("MaxPool", vec![ints("kernel_shape", &[4])], vec![vec![2, 3, 19]]),
        ("MaxPool", pool([3, 3], 2, [1; 4], 1, 0), vec![vec![1, 3, 71, 72]]),
        ("MaxPool", pool([2, 2], 2, [0; 4], 1, 0), vec![vec![2, 3, 15, 40]]),
        ("MaxPool", pool([5, 3], 1, [2, 1, 2, 1], 1, 0), vec![vec![1, 2, 9, 40]]),
        ("MaxPool", pool([3, 3], 1, [2; 4], 2, 0), vec![vec![1, 2, 10, 11]]),
        ("MaxPool", pool([9, 9], 1, [4; 4], 1, 0), vec![vec![1, 3, 13, 14]]),
        ("MaxPool", pool([11, 7], 2, [5, 3, 5, 3], 1, 0), vec![vec![2, 3, 21, 70]]),
    ];
    for softmax in [vec![2, 6, 37], vec![11, 50], vec![4, 3, 9, 130], vec![14, 1]] {
        calls.push(("Softmax", vec![], vec![softmax.clone()]));
        calls.push(("LogSoftmax", vec![], vec![softmax]));
    }
    let line = vec![ints("strides", &[2]), ints("pads", &[3, 2])];
    calls.push(("Conv", line, vec![vec![2, 9, 101], vec![14, 9, 6], vec![14]]));
    let alone = vec![ints("pads", &[2, 1]), Attribute::new("group", 6i64)];
    calls.push(("Conv", alone, vec![vec![2, 6, 21], vec![6, 1, 4], vec![6]]));
    let space = vec![ints("strides", &[2, 1, 1]), ints("pads", &[1, 0, 1, 1, 0, 1])];
    calls.push(("Conv", space, vec![vec![1, 3, 7, 6, 8], vec![10, 3, 3, 2, 3], vec![10]]));
    calls
}

/// An operator, its attributes and inputs; those from the number on are constants.
pub(super) type Given = (&'static str, Vec<Attribute>, Vec<Tensor>, usize);

pub(super) fn small(dims: &[usize]) -> Tensor {
    numbers(dims, false, 3)
}

pub(super) fn raw(elem: ElementType, dims: &[usize], element: &dyn Fn(usize) -> Vec<u8>) -> Tensor {
    let count: usize = dims.iter().product();
    let bytes: Vec<u8> = (0..count).flat_map(element).collect();
    Tensor::raw(elem, dims.to_vec(), bytes.into()).unwrap()
}

pub(super) fn bytes(elem: ElementType, dims: &[usize]) -> Tensor {
    raw(elem, dims, &|i| vec![(i * 7919 % 251) as u8])
}

/// Numbers of half precision between 1/2 and 2, of both signs.
pub(super) fn halves(dims: &[usize]) -> Tensor {
    raw(ElementType::F16, dims, &|i| {
        ((i * 523 % 2048 + 0x3800 + (i % 2) * 0x8000) as u16).to_le_bytes().to_vec()
    })
}

pub(super) fn places(dims: &[usize], below: i64) -> Tensor {
    let count: usize = dims.iter().product();
    let at: Vec<i64> = (0..count as i64).map(|i| (i * i * 7 + i / 3) % below - (i % 2) * below).collect();
    Tensor::from_i64s(dims, &at)
}

pub(super) fn one(value: i64) -> Tensor {
    Tensor::from_i64s(vec![1], &[value])
}

/// Products of numbers of 8 and 16 bits.
pub(super) fn narrow_products() -> Vec<Given> {
    let mut calls: Vec<Given> = Vec::new();
    for [m, k, n] in [[5, 64, 120], [33, 40, 50], [1, 200, 300]] {
        for constant in [9, 1] {
            let (a, b) = (bytes(ElementType::U8, &[m, k]), bytes(ElementType::I8, &[k, n]));
            calls.push(("MatMulInteger", vec![], vec![a.clone(), b.clone()], constant));
            let (za, zb) = (bytes(ElementType::U8, &[m]), bytes(ElementType::I8, &[n]));
            calls.push(("MatMulInteger", vec![], vec![a, b, za, zb], constant));
            calls.push(("MatMul", vec![], vec![halves(&[m, k]), halves(&[k, n])], constant));
            let scaled = vec![Attribute::new("transB", 1i64), Attribute::new("alpha", 0.75f32)];
            calls.push(("Gemm", scaled, vec![halves(&[m, k]), halves(&[n, k]), halves(&[n])], constant));
        }
    }
    // Bytes of every size, and the largest alone.
    let (m, k, n) = (3, 1100, 40);
    for zero in [0, 200] {
        let largest = Tensor::raw(ElementType::U8, vec![m, k], vec![255; m * k].into()).unwrap();
        let least = Tensor::raw(ElementType::I8, vec![k, n], vec![128; k * n].into()).unwrap();
        let (any, some) = (bytes(ElementType::U8, &[m, k]), bytes(ElementType::I8, &[k, n]));
        for (a, b) in [(largest, least), (any, some)] {
            let shift = |elem| Tensor::raw(elem, vec![], vec![zero].into()).unwrap();
            let zeros = [shift(ElementType::U8), shift(ElementType::I8)];
            calls.push(("MatMulInteger", vec![], [vec![a, b], zeros.to_vec()].concat(), 1));
        }
    }
    let stack = |elem| bytes(elem, &[2, 20, 50]);
    calls.push((
        "MatMulInteger",
        vec![],
        vec![stack(ElementType::U8), bytes(ElementType::U8, &[1, 50, 40])],
        9,
    ));
    calls.push(("MatMul", vec![], vec![halves(&[2, 20, 50]), halves(&[2, 50, 40])], 9));
    calls
}

/// Transposed convolutions with every kind of gap.
pub(super) fn transposed_convolutions() -> Vec<Given> {
    let mut calls: Vec<Given> = Vec::new();
    for (strides, pads, extra, dilations, group, x, w) in [
        ([2, 2], [0, 0, 0, 0], [0, 0], [1, 1], 1, [1, 16, 8, 9], [16, 12, 3, 3]),
        ([2, 3], [1, 0, 2, 1], [1, 2], [1, 1], 2, [2, 8, 9, 11], [8, 9, 4, 3]),
        ([3, 1], [0, 1, 1, 0], [0, 0], [2, 3], 1, [1, 9, 12, 10], [9, 7, 2, 3]),
        ([4, 2], [0, 0, 0, 0], [3, 1], [2, 1], 1, [1, 11, 10, 10], [11, 8, 3, 1]),
    ] {
        let attributes = vec![
            ints("strides", &strides),
            ints("pads", &pads),
            ints("output_padding", &extra),
            ints("dilations", &dilations),
            Attribute::new("group", group as i64),
        ];
        let bias = small(&[w[1] * group]);
        calls.push(("ConvTranspose", attributes.clone(), vec![small(&x), small(&w)], 1));
        calls.push(("ConvTranspose", attributes, vec![small(&x), small(&w), bias], 9));
    }
    calls
}

/// Reductions and running sums.
pub(super) fn line_by_line() -> Vec<Given> {
    let mut calls: Vec<Given> = Vec::new();
    for reduction in ["ReduceMax", "ReduceMean", "ReduceL2", "ReduceProd", "ReduceLogSum"] {
        for (dims, axes) in [
            (&[9, 40][..], &[0][..]),
            (&[3, 4, 5, 6], &[0, 2]),
            (&[4, 3, 2100], &[1]),
            (&[2, 3, 33], &[0, 1]),
        ] {
            calls.push((reduction, vec![ints("axes", axes)], vec![small(dims)], 9));
            calls.push((
                reduction,
                vec![ints("axes", axes), Attribute::new("keepdims", 0i64)],
                vec![halves(dims)],
                9,
            ));
        }
    }
    for (dims, axis) in [(&[6, 40][..], 0), (&[3, 5, 1100], 1), (&[3, 5, 2], 1), (&[4, 9], 1)] {
        for exclusive in [0i64, 1] {
            for reverse in [0i64, 1] {
                let attributes =
                    vec![Attribute::new("exclusive", exclusive), Attribute::new("reverse", reverse)];
                calls.push(("CumSum", attributes, vec![small(dims), one(axis)], 1));
            }
        }
    }
    calls
}

/// Scatters that meet a place often, and orders with many equal elements.
pub(super) fn by_place() -> Vec<Given> {
    let mut calls: Vec<Given> = Vec::new();
    for reduction in ["none", "add", "mul", "max", "min"] {
        let attributes = vec![Attribute::new("reduction", reduction), Attribute::new("axis", 1i64)];
        let inputs = vec![small(&[4, 7, 3]), places(&[4, 9, 3], 7), small(&[4, 9, 3])];
        calls.push(("ScatterElements", attributes.clone(), inputs, 9));
        let inputs = vec![small(&[5, 6, 4]), places(&[8, 3, 2], 5), small(&[8, 3, 4])];
        calls.push(("ScatterND", attributes.clone(), inputs, 9));
        let inputs = vec![halves(&[4, 7, 3]), places(&[4, 9, 3], 7), halves(&[4, 9, 3])];
        calls.push(("ScatterElements", attributes, inputs, 9));
    }
    for (dims, count) in [(&[3, 300][..], 20), (&[130], 130), (&[2, 64], 1), (&[2, 9], 4), (&[1, 65], 65)] {
        for largest in [0i64, 1] {
            let attributes = vec![Attribute::new("largest", largest)];
            calls.push(("TopK", attributes.clone(), vec![small(dims), one(count)], 1));
            calls.push(("TopK", attributes, vec![bytes(ElementType::U8, dims), one(count)], 1));
        }
    }
    calls
}

/// Powers and activations.
pub(super) fn element_by_element() -> Vec<Given> {
    let mut calls: Vec<Given> = Vec::new();
    for exponent in [-1.0f32, -0.5, 0.5, 1.0, 2.0, 3.0, 2.5] {
        let exponent = Tensor::from_f32s(vec![1], &[exponent]);
        calls.push(("Pow", vec![], vec![small(&[5, 40]), exponent], 1));
    }
    for activation in ["Tanh", "Sigmoid"] {
        calls.push((activation, vec![], vec![small(&[5, 400])], 9));
        calls.push((activation, vec![], vec![halves(&[5, 400])], 9));
    }
    calls
}
