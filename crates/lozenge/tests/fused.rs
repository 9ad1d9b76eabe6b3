//! Calls of models that several nodes became: each model is made into as many calls as expected,
//! compiled and run, and gives what the evaluation of its nodes gives, to the last bit.
#![allow(missing_docs)]

mod support;

use lozenge::pipeline::graph::{ModelRequest, prepare};
use support::{calls, model};

#[test]
fn convolutions_take_what_follows() {
    // a residual on the flat image, and what comes beside before the convolution's own input
    let residual = model(
        &[("w", &[20, 16, 1, 1]), ("b", &[20]), ("w2", &[20, 16, 1, 1])],
        "  input x: f32[2, 16, 9, 9]\n  c = Conv(x, w, b)\n  d = Conv(x, w2)\n  s = Add(c, d)\n  y = Relu(s)\n  output y: f32[2, 20, 9, 9]",
    );
    assert_eq!(calls(&residual), 2);
    // places between rows are left out behind the product; a factor a channel
    let windows = model(
        &[("w", &[13, 5, 3, 3]), ("f", &[13, 1, 1]), ("low", &[]), ("high", &[])],
        "  input x: f32[1, 5, 12, 13]\n  c = Conv(x, w)\n  k = Clip(c, low, high)\n  y = Mul(k, f)\n  output y: f32[1, 13, 10, 11]",
    );
    assert_eq!(calls(&windows), 1);
    let depthwise = model(
        &[("w", &[12, 1, 3, 3]), ("b", &[12])],
        "  input x: f32[2, 12, 9, 14]\n  input z: f32[2, 12, 7, 12]\n  c = Conv(x, w, b) { group: 12 }\n  r = Relu(c)\n  y = Sub(z, r)\n  output y: f32[2, 12, 7, 12]",
    );
    assert_eq!(calls(&depthwise), 1);
    // at all places of the flat image, those between its rows too
    let short = model(
        &[("w", &[12, 1, 3, 3]), ("f", &[12, 1, 1]), ("low", &[]), ("high", &[])],
        "  input x: f32[1, 12, 14, 14]\n  c = Conv(x, w) { group: 12, pads: [1, 1, 1, 1], strides: [2, 2] }\n  k = Clip(c, low, high)\n  y = Mul(k, f)\n  output y: f32[1, 12, 7, 7]",
    );
    assert_eq!(calls(&short), 1);
    let grouped = model(
        &[("w", &[14, 6, 3, 3])],
        "  input x: f32[1, 12, 11, 10]\n  c = Conv(x, w) { group: 2, pads: [1, 1, 1, 1] }\n  y = HardSwish(c)\n  output y: f32[1, 14, 11, 10]",
    );
    assert_eq!(calls(&grouped), 1);
    // a row of the image for all of it: not at flat places
    let rows = model(
        &[("w", &[20, 16, 1, 1]), ("r", &[9])],
        "  input x: f32[1, 16, 9, 9]\n  c = Conv(x, w)\n  y = Add(c, r)\n  output y: f32[1, 20, 9, 9]",
    );
    assert_eq!(calls(&rows), 2);
}

/// Filters along the lanes: sums of 96 products and more, or of 64 where a tensor is read beside.
#[test]
fn filters_go_along_lanes() {
    // one vector left over, the last one not full; windows that reach over the borders, all on the
    // result
    let odd = model(
        &[("w", &[70, 15, 3, 3]), ("b", &[70]), ("f", &[70, 1, 1])],
        "  input x: f32[2, 15, 9, 14]\n  c = Conv(x, w, b) { pads: [1, 1, 1, 1] }\n  r = Relu(c)\n  y = Mul(r, f)\n  output y: f32[2, 70, 9, 14]",
    );
    assert_eq!(calls(&odd), 1);
    // strides and dilations, other paddings before than behind, rows that fit no block
    let apart = model(
        &[("w", &[48, 10, 3, 5]), ("b", &[48])],
        "  input x: f32[1, 10, 22, 41]\n  c = Conv(x, w, b) { pads: [2, 0, 1, 3], strides: [2, 2], dilations: [2, 1] }\n  y = Relu(c)\n  output y: f32[1, 48, 11, 20]",
    );
    assert_eq!(calls(&apart), 1);
    // a point for a window: all places are one row, long and short; what is added has its own
    // element at each place
    for (height, width) in [(7, 7), (10, 11), (1, 5)] {
        let point = model(
            &[("w", &[96, 70, 1, 1]), ("b", &[96])],
            &format!(
                "  input x: f32[1, 70, {height}, {width}]\n  input z: f32[1, 96, {height}, {width}]\n  c = Conv(x, w, b)\n  s = Add(c, z)\n  y = Relu(s)\n  output y: f32[1, 96, {height}, {width}]"
            ),
        );
        assert_eq!(calls(&point), 1);
    }
    let skipped = model(
        &[("w", &[112, 130, 1, 1])],
        "  input x: f32[1, 130, 10, 10]\n  y = Conv(x, w) { strides: [2, 2] }\n  output y: f32[1, 112, 5, 5]",
    );
    assert_eq!(calls(&skipped), 1);
    // one and three dimensions
    let line = model(
        &[("w", &[64, 50, 3])],
        "  input x: f32[2, 50, 37]\n  y = Conv(x, w) { pads: [1, 1] }\n  output y: f32[2, 64, 37]",
    );
    assert_eq!(calls(&line), 1);
    let space = model(
        &[("w", &[33, 8, 2, 3, 3])],
        "  input x: f32[1, 8, 4, 5, 8]\n  y = Conv(x, w) { pads: [0, 1, 1, 1, 1, 1] }\n  output y: f32[1, 33, 4, 5, 8]",
    );
    assert_eq!(calls(&space), 1);
}

/// What is added at each place is added where tiles are written, and what comes before it in the
/// lanes; of a large image in strips, at the places of the whole.
#[test]
fn a_residual_is_added_behind_what_comes_before() {
    let inside = model(
        &[("w", &[40, 12, 3, 3]), ("b", &[40]), ("f", &[40, 1, 1])],
        "  input x: f32[2, 12, 9, 13]\n  input z: f32[2, 40, 9, 13]\n  c = Conv(x, w, b) { pads: [1, 1, 1, 1] }\n  s = HardSigmoid(c)\n  m = Mul(c, s)\n  t = Add(m, z)\n  y = Mul(t, f)\n  output y: f32[2, 40, 9, 13]",
    );
    assert_eq!(calls(&inside), 1);
    // The product of what comes first and of what was added: nothing can be done before.
    let across = model(
        &[("w", &[40, 12, 3, 3])],
        "  input x: f32[1, 12, 9, 13]\n  input z: f32[1, 40, 9, 13]\n  c = Conv(x, w) { pads: [1, 1, 1, 1] }\n  r = Relu(c)\n  t = Add(r, z)\n  y = Mul(t, c)\n  output y: f32[1, 40, 9, 13]",
    );
    assert_eq!(calls(&across), 1);
    let strips = model(
        &[("w", &[32, 12, 3, 3]), ("b", &[32])],
        "  input x: f32[1, 12, 206, 230]\n  input z: f32[1, 32, 26, 29]\n  c = Conv(x, w, b) { pads: [1, 1, 1, 1], strides: [8, 8] }\n  r = Relu(c)\n  y = Sub(z, r)\n  output y: f32[1, 32, 26, 29]",
    );
    assert_eq!(calls(&strips), 1);
}

#[test]
fn products_take_what_follows() {
    let layer = model(
        &[("w", &[48, 67]), ("b", &[67]), ("v", &[67, 48])],
        "  input x: f32[1, 29, 48]\n  p = MatMul(x, w)\n  h = Add(b, p)\n  r = Relu(h)\n  q = MatMul(r, v)\n  y = Add(q, x)\n  output y: f32[1, 29, 48]",
    );
    assert_eq!(calls(&layer), 2);
    // GELU as exporters write it
    let gelu = model(
        &[("w", &[48, 67]), ("b", &[67]), ("root", &[]), ("one", &[]), ("half", &[])],
        "  input x: f32[29, 48]\n  p = MatMul(x, w)\n  h = Add(b, p)\n  d = Div(h, root)\n  e = Erf(d)\n  a = Add(e, one)\n  m = Mul(h, a)\n  y = Mul(m, half)\n  output y: f32[29, 67]",
    );
    assert_eq!(calls(&gelu), 1);
    let batch = model(
        &[("mask", &[2, 1, 1, 33])],
        "  input a: f32[2, 3, 17, 31]\n  input b: f32[2, 3, 31, 33]\n  p = MatMul(a, b)\n  y = Add(p, mask)\n  output y: f32[2, 3, 17, 33]",
    );
    // not flat, since the mask is the same for the matrices of a sample
    assert_eq!(calls(&batch), 2);
    // one weight for two nodes, a single row, and a product that is not worth tiles
    let shared = model(
        &[("w", &[64, 96]), ("c", &[96]), ("u", &[96, 2])],
        "  input x: f32[1, 64]\n  input z: f32[8, 64]\n  p = Gemm(x, w, c)\n  r = Relu(p)\n  q = Gemm(z, w)\n  s = Add(q, r)\n  t = Gemm(r, u)\n  k = Relu(t)\n  output s: f32[8, 96]\n  output k: f32[1, 2]",
    );
    assert_eq!(calls(&shared), 3);
}

#[test]
fn functions_of_elements_become_one() {
    // two readers of one result, both inside
    let diamond = model(
        &[("a", &[7]), ("half", &[])],
        "  input x: f32[5, 7]\n  d = Div(x, a)\n  s = Add(d, half)\n  m = Mul(x, s)\n  y = Mul(m, d)\n  output y: f32[5, 7]",
    );
    assert_eq!(calls(&diamond), 1);
    // one that is a result, and one that something else reads
    let needed = model(
        &[("a", &[7])],
        "  input x: f32[5, 7]\n  d = Div(x, a)\n  s = Add(d, a)\n  m = Mul(s, s)\n  t = Transpose(m)\n  y = Sub(m, s)\n  output d: f32[5, 7]\n  output t: f32[7, 5]\n  output y: f32[5, 7]",
    );
    assert_eq!(calls(&needed), 5);
    // another type in the middle
    let types = model(
        &[("a", &[7])],
        "  input x: f32[5, 7]\n  g = Greater(x, a)\n  y = Where(g, x, a)\n  output y: f32[5, 7]",
    );
    assert_eq!(calls(&types), 1);
}

/// What is undefined stays so behind a convolution that a function of elements became part of.
#[test]
fn undefined_numbers_stay_behind_convolutions() {
    for function in
        ["Relu(c)", "LeakyRelu(c) { alpha: 0.1 }", "Clip(c, low, high)", "HardSigmoid(c)", "HardSwish(c)"]
    {
        let undefined = model(
            &[("w", &[13, 5, 3, 3]), ("zero", &[]), ("low", &[]), ("high", &[])],
            &format!(
                "  input x: f32[1, 5, 12, 13]\n  d = Sub(x, x)\n  n = Div(d, d)\n  g = Greater(x, zero)\n  m = Where(g, n, x)\n  c = Conv(m, w)\n  y = {function}\n  output y: f32[1, 13, 10, 11]"
            ),
        );
        assert!(calls(&undefined) >= 1);
    }
}

/// All samples are one matrix; what follows is at the samples and filters.
#[test]
fn windows_of_whole_images_are_products() {
    for (samples, channels, side) in [(1, 67, 1), (7, 131, 1), (13, 19, 3)] {
        let weights = [31, channels, side, side];
        let beside = model(
            &[("w", &weights), ("b", &[31]), ("f", &[31, 1, 1])],
            &format!(
                "  input x: f32[{samples}, {channels}, {side}, {side}]\n  input z: f32[{samples}, 31, 1, 1]\n  c = Conv(x, w, b)\n  k = Mul(c, f)\n  s = Add(z, k)\n  y = Relu(s)\n  output y: f32[{samples}, 31, 1, 1]"
            ),
        );
        assert_eq!(calls(&beside), 1);
    }
    // one place, but the window goes beyond the image
    let padded = model(
        &[("w", &[33, 41, 3, 3])],
        "  input x: f32[2, 41, 3, 3]\n  y = Conv(x, w) { pads: [1, 1, 1, 1], strides: [3, 3] }\n  output y: f32[2, 33, 1, 1]",
    );
    calls(&padded);
}

/// Nobody gives an input of compiled code another value than its default: weights that a file lists
/// as inputs are stored as others.
#[test]
fn defaults_of_inputs_are_constants() {
    let numbers: Vec<String> = (0..24 * 48).map(|k| format!("{}.5", k % 7)).collect();
    let listed =
        format!("  input w: f32[24, 48, 1, 1]\n  init w: f32[24, 48, 1, 1] = [{}]\n", numbers.join(", "));
    let body = "  input x: f32[31, 48, 1, 1]\n  y = Conv(x, w)\n  output y: f32[31, 24, 1, 1]";
    let given = model(&[], &format!("{listed}{body}"));
    assert_eq!(given.graph.inputs().len(), 2);
    let request = ModelRequest::default();
    let (prepared, _) = prepare(given.clone(), &request).expect("a model");
    assert_eq!(prepared.graph.inputs().len(), 1);
    assert!(prepared.graph.constant(prepared.graph.find("w").expect("a value")).is_some());
    assert_eq!(calls(&given), 1);
}
