//! Types and shapes as far as they are known before anything runs, and what is refused.

use graph::text::parse_model;
use graph::{infer, validate};

/// The type of `y` in a model of these lines.
fn y(lines: &str) -> String {
    let mut model =
        parse_model(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} output y }}")).unwrap();
    infer(&mut model).unwrap_or_else(|e| panic!("{e} {:?}", e.notes));
    let y = model.graph.find("y").unwrap();
    model.graph.value(y).ty().map_or("nothing".to_owned(), ToString::to_string)
}

fn refusal(lines: &str) -> String {
    let mut model = parse_model(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} }}")).unwrap();
    infer(&mut model).unwrap_err().message
}

/// What newer operators do with such operands is something else, so nothing may be computed of
/// them.
#[test]
fn operands_that_begin_at_an_axis_are_refused() {
    for op in ["Add", "Pow", "Equal"] {
        let text = |opset: u32| {
            format!(
                "model ir 3 opset \"\" {opset} graph g {{ input x: f32[2, 2] input b: f32[2] y = {op}(x, b) {{ axis: 0 }} output y }}"
            )
        };
        let refusal = infer(&mut parse_model(&text(6)).unwrap()).unwrap_err();
        assert!(refusal.message.contains("has an attribute `axis`"), "{}", refusal.message);
        assert_eq!(infer(&mut parse_model(&text(7)).unwrap()), Ok(()));
    }
}

#[test]
fn extents_stay_symbolic() {
    let x = "input x: f32[n, 3, h, 224]";
    assert_eq!(
        y(&format!("{x} init w: f32[2, 3, 1, 1] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] y = Conv(x, w)")),
        "f32[n, 2, h, 224]"
    );
    assert_eq!(
        y(&format!("{x} input w: f32[64, 3, 7, 7] y = Conv(x, w) {{ strides: [2, 2], pads: [3, 3, 3, 3] }}")),
        "f32[n, 64, (1 + 1 * ((-1 + 1 * h) / (2))), 112]"
    );
    assert_eq!(y("input x: f32[n, m] z = Concat(x, x) { axis: 1 } y = Transpose(z)"), "f32[(2 * m), n]");
    assert_eq!(y("input x: f32[n, 4] input z: f32[1] y = Add(x, z)"), "f32[n, 4]");
    assert_eq!(y("input x: f32[n] input z: f32[m] y = Add(x, z)"), "f32[?]");
}

#[test]
fn shape_arithmetic_is_followed() {
    // What exporters write for `x.view(batch, -1, heads, width)`.
    let view = "input x: f32[batch, length, 768] s = Shape(x) zero = Constant() { value: tensor i64[] [0] } \
        one = Constant() { value: tensor i64[] [1] } axes = Constant() { value_ints: [0] } \
        b = Gather(s, zero) l = Gather(s, one) bu = Unsqueeze(b, axes) lu = Unsqueeze(l, axes) \
        rest = Constant() { value_ints: [12, 64] } shape = Concat(bu, lu, rest) { axis: 0 } y = Reshape(x, shape)";
    assert_eq!(y(view), "f32[batch, length, 12, 64]");
    assert_eq!(
        y("input x: f32[batch, 3, 4] shape = Constant() { value_ints: [0, -1] } y = Reshape(x, shape)"),
        "f32[batch, 12]"
    );
    assert_eq!(
        y("input x: f32[batch, 3, 4] shape = Constant() { value_ints: [-1, 6] } y = Reshape(x, shape)"),
        "f32[(2 * batch), 6]"
    );
    assert_eq!(
        y("input x: f32[a, b] s = Shape(x) y = ConstantOfShape(s) { value: tensor i64[1] [1] }"),
        "i64[a, b]"
    );
    assert_eq!(
        y(
            "input x: f32[a, 10] s = Shape(x) { start: 1 } two = Constant() { value_ints: [2] } h = Div(s, two) \
           z = Constant() { value_ints: [0] } one = Constant() { value_ints: [1] } y = Slice(x, z, h, one)"
        ),
        "f32[a, 5]"
    );
}

#[test]
fn subgraphs_see_the_types_around_them() {
    assert_eq!(
        y(
            "input c: bool[] input x: f32[n, 4] y = If(c) { then_branch: graph t { outer x  a = Relu(x) output a }, \
           else_branch: graph e { outer x  two = Constant() { value_int: 2 } b = Abs(x) output b } }"
        ),
        "f32[n, 4]"
    );
}

#[test]
fn states_of_loops_keep_their_types_if_the_body_does() {
    let body = |next: &str| {
        format!(
            "input x: f32[n, 4] init m: i64[] = [3] y, z = Loop(m, _, x) {{ body: graph b {{ input i: i64[] input go: bool[] input a: f32[..] \
             on = Identity(go) a2 = {next} row = Neg(a2) output on output a2 output row }} }}"
        )
    };
    assert_eq!(y(&body("Relu(a)")), "f32[n, 4]");
    assert_eq!(y(&body("Relu(a)").replace("y, z", "first, y")), "f32[3, n, 4]");
    assert_eq!(y(&body("Concat(a, a) { axis: 0 }")), "f32[..]");
    assert_eq!(y(&body("Concat(a, a) { axis: 0 }").replace("y, z", "first, y")), "nothing");
}

/// The operator is believed, and what was declared is told.
#[test]
fn declared_shapes_give_way_to_operators() {
    let lines = "input x: f32[2] y = Relu(x) output y: f32[3]";
    assert_eq!(y(&lines.replace(" output y: f32[3]", "")), "f32[2]");
    let mut model = parse_model(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} }}")).unwrap();
    assert_eq!(infer(&mut model), Ok(()));
    let told = "the Relu that makes `y` has the result `y`, which is declared as f32[3] and is f32[2]";
    assert_eq!(graph::infer::misdeclared(&model), [told]);
    let y = model.graph.outputs()[0];
    assert_eq!(model.graph.value(y).ty().map(ToString::to_string).as_deref(), Some("f32[2]"));
    // what is not declared at all, or better than what is found, is no contradiction
    let lines = "input x: f32[n] y = Relu(x) output y: f32[3]";
    let mut model = parse_model(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} }}")).unwrap();
    assert_eq!(infer(&mut model), Ok(()));
    assert!(graph::infer::misdeclared(&model).is_empty());
}

#[test]
fn contradictions_name_the_node_and_the_extents() {
    for (lines, expected) in [
        (
            "input x: f32[2, 4] input w: f32[5, 2] y = MatMul(x, w) @\"fc\"",
            "the MatMul `fc` multiplies rows of 4 with columns of 5",
        ),
        (
            "input x: f32[2] input z: f32[3] y = Add(x, z)",
            "the Add that makes `y` has operands that can't be broadcast: an extent of 2 meets one of 3",
        ),
        (
            "input x: f32[2] input z: i64[2] y = Add(x, z)",
            "the Add that makes `y` has operands of types f32 and i64",
        ),
        (
            "input x: f32[2, 3] y = Softmax(x) z = Transpose(y) { perm: [0, 0] }",
            "the Transpose that makes `z` has `perm` [0, 0] for 2 dimensions",
        ),
        (
            "input x: f32[2, 3] s = Constant() { value_ints: [4, -1] } y = Reshape(x, s)",
            "the Reshape that makes `y` divides 6 elements into parts of 4",
        ),
        (
            "input x: f32[1, 4, 8, 8] input w: f32[6, 3, 3, 3] y = Conv(x, w)",
            "the Conv that makes `y` has 4 channels where the weights take 1 times 3",
        ),
        (
            "input x: f32[1, 4, 8, 8] input w: f32[6, 4, 3, 3] y = Conv(x, w) { strides: [0, 1] }",
            "the Conv that makes `y` has a stride or dilation of 0",
        ),
        (
            "input x: f32[1, 4, 8, 8] input w: f32[6, 4, 3, 3] y = Conv(x, w) { kernel_shape: [3, 2] }",
            "the Conv that makes `y` has the `kernel_shape` [3, 2] and weights of [3, 3]",
        ),
        (
            "input x: f32[2, 2] y = Einsum(x) { equation: \"ij,jk->ik\" }",
            "the Einsum that makes `y` has the equation \"ij,jk->ik\" for 1 operands",
        ),
        (
            "input x: f32[2, 2] y, z = Split(x) { axis: 5 }",
            "the Split that makes `y` has the axis 5 where there are 2 dimensions",
        ),
        (
            "input x: f32[2, 6] y, z = Split(x) { axis: 1, num_outputs: 3 }",
            "the Split that makes `y` has 2 results and `num_outputs` 3",
        ),
    ] {
        assert_eq!(refusal(lines), expected);
    }
}

fn invalid(text: &str) -> Vec<String> {
    validate(&parse_model(text).unwrap()).iter().map(ToString::to_string).collect()
}

#[test]
fn invalid_models_are_told_what_is_wrong() {
    let model = |lines: &str| invalid(&format!("model ir 10 opset \"\" 21 graph g {{ {lines} }}"));
    assert_eq!(model("input x: f32[2] y = Relu(x) output y"), [""; 0]);
    assert_eq!(
        model("y = Conv(x, w) @\"c\" input x: f32[1] output y"),
        ["error[G0201]: nothing defines `w`: the Conv `c` uses it"]
    );
    assert_eq!(model("output y"), ["error[G0201]: nothing defines `y`: the graph returns it"]);
    assert_eq!(
        model("input x: f32[1] y = Relu(a) a = Abs(x) output y"),
        [
            "error[G0202]: the Relu that makes `y` comes before the Abs that makes `a`, although it uses its result"
        ]
    );
    assert_eq!(model("a = Relu(b) b = Relu(a) output a").len(), 1);
    assert!(model("a = Relu(b) b = Relu(a) output a")[0].contains("depends on its own result"));
    assert_eq!(
        model("input x: f32[1] y = \"com.example\".Odd(x) output y"),
        [
            "error[G0204]: the com.example.Odd that makes `y` is of a domain that the model does not import: com.example"
        ]
    );
    assert!(model("input x: f32[-1] y = Relu(x) { a: 1, a: 2 } output y").concat().contains("G0205"));
    assert!(model("input x: f32[-1] y = Relu(x) output y").concat().contains("`x` is declared as f32[-1]"));
    let branch = |inner: &str| {
        model(&format!(
            "input x: f32[1] input c: bool[] y = If(c) {{ then_branch: graph t {{ {inner} }}, else_branch: graph e {{ outer x output x }} }} output y"
        ))
    };
    assert_eq!(branch("outer x r = Relu(x) output r"), [""; 0]);
    assert!(
        branch("outer x x2 = Relu(x) c = Abs(x2) output c").concat().contains("a subgraph defines `c` again")
    );
    assert!(branch("outer z r = Relu(z) output r").concat().contains("nothing defines `z`"));
}
