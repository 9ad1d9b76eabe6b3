//! Branches and loops of models as C: each model gives what the evaluation of its nodes gives, to
//! the last bit.
#![allow(missing_docs)]

mod support;

use graph::text;
use loops::Registers;
use lozenge::pipeline::graph::{ModelRequest, compile, prepare};
use support::{calls, model};

#[test]
fn branches_are_taken_when_the_model_runs() {
    // what is returned is a constant, comes from outside, or is the same twice
    let branch = |compared: &str| {
        model(
            &[("zero", &[]), ("w", &[4])],
            &format!(
                "  input x: f32[3, 4]\n  s = ReduceSum(x) {{ keepdims: 0 }}\n  c = {compared}(s, s)
  a, b, d = If(c) {{
    then_branch: graph yes {{
      init k: f32[3, 4] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.5, 2.5, 3.5]
      k2 = Identity(k)
      t = Mul(x, w)
      x2 = Identity(x)
      output k2: f32[3, 4]
      output t: f32[3, 4]
      output x2: f32[3, 4]
    }},
    else_branch: graph no {{
      e = Neg(x)
      e2 = Identity(e)
      x3 = Identity(x)
      output x3: f32[3, 4]
      output e: f32[3, 4]
      output e2: f32[3, 4]
    }}
  }}
  y = Add(a, d)\n  output y: f32[3, 4]\n  output b: f32[3, 4]\n  output d: f32[3, 4]"
            ),
        )
    };
    assert_eq!(calls(&branch("Equal")), 5);
    assert_eq!(calls(&branch("Less")), 5);
}

#[test]
fn constant_conditions_are_decided_before() {
    // by a shape, with branches of different rank; names inside are those of the other branches,
    // too
    let squeezed = model(
        &[],
        "  input x: f32[2, 1, 4]
  init one: i64[1] = [1]
  h = Shape(x) { start: 1, end: 2 }
  c = Equal(h, one)
  z = If(c) {
    then_branch: graph yes { init w: f32[4] = [1.0, 2.0, 3.0, 4.0] t = Squeeze(x, one) u = Mul(t, w) output u: f32[..] },
    else_branch: graph no { e = Identity(x) output e: f32[..] }
  }
  z2 = If(c) {
    then_branch: graph yes { init w: f32[4] = [5.0, 6.0, 7.0, 8.0] t = Sub(z, z) u = Add(t, w) output u: f32[..] },
    else_branch: graph no { e = Identity(x) output e: f32[..] }
  }
  output z2: f32[2, 4]
  output z: f32[2, 4]",
    );
    assert_eq!(calls(&squeezed), 2);
}

#[test]
fn states_go_from_round_to_round() {
    // two states that change places, one of them collected before it changes, and a weight of the
    // graph around
    let turns = model(
        &[("w", &[4])],
        "  input x: f32[3, 4]
  init m: i64[] = [5]
  n = Neg(x)
  p, q, r, s = Loop(m, _, x, n) {
    body: graph round {
      input i: i64[]
      input go: bool[]
      input a: f32[3, 4]
      input b: f32[3, 4]
      on = Identity(go)
      a2 = Add(a, w)
      swapped = Identity(a)
      old = Identity(b)
      both = Mul(x, a2)
      output on: bool[]
      output b: f32[3, 4]
      output a2: f32[3, 4]
      output old: f32[3, 4]
      output both: f32[3, 4]
    }
  }
  y = Relu(s)
  output p: f32[3, 4]\n  output q: f32[3, 4]\n  output r: f32[5, 3, 4]\n  output y: f32[5, 3, 4]",
    );
    assert_eq!(calls(&turns), 4);
    let nothing =
        text::parse_model(&turns.to_string().replace("= [5]", "= [0]").replace("f32[5, ", "f32[0, "))
            .unwrap();
    assert_eq!(calls(&nothing), 4);
}

#[test]
fn loops_end_when_their_condition_says_so() {
    let grown = model(
        &[("w", &[4])],
        "  input x: f32[3, 4]
  input go: bool[]
  init m: i64[] = [40]
  init most: f32[] = [9.0]
  p = Loop(m, go, x) {
    body: graph round {
      input i: i64[]
      input on: bool[]
      input a: f32[3, 4]
      b = Mul(w, w)
      a2 = Add(a, b)
      top = ReduceMax(a2) { keepdims: 0 }
      next = Less(top, most)
      output next: bool[]
      output a2: f32[3, 4]
    }
  }
  output p: f32[3, 4]",
    );
    assert_eq!(calls(&grown), 3);
}

#[test]
fn branches_and_loops_stand_in_loops() {
    let nested = model(
        &[("w", &[4])],
        "  input x: f32[6, 4]
  init m: i64[] = [6]
  init two: i64[] = [2]
  init none: i64[] = [0]
  p, sums = Loop(m, _, w) {
    body: graph round {
      input i: i64[]
      input go: bool[]
      input a: f32[4]
      on = Identity(go)
      row = Gather(x, i) { axis: 0 }
      odd = Mod(i, two)
      even = Equal(odd, none)
      s = If(even) {
        then_branch: graph yes { t = Add(a, row) output t: f32[4] },
        else_branch: graph no { t2 = Sub(a, row) output t2: f32[4] }
      }
      q = Loop(two, _, s) {
        body: graph inner {
          input j: i64[]
          input still: bool[]
          input v: f32[4]
          v2 = Tanh(v)
          v3 = Mul(v2, row)
          more = Identity(still)
          output more: bool[]
          output v3: f32[4]
        }
      }
      sum = ReduceSum(q) { keepdims: 0 }
      output on: bool[]
      output q: f32[4]
      output sum: f32[]
    }
  }
  output p: f32[4]\n  output sums: f32[6]",
    );
    assert_eq!(calls(&nested), 6);
}

#[test]
fn scans_go_along_any_axis_and_either_way() {
    let scan = model(
        &[],
        "  input s0: f32[3]
  input u0: f32[3]
  input x: f32[3, 5]
  input z: f32[5, 3]
  s, u, rows, old = Scan(s0, u0, x, z) {
    num_scan_inputs: 2,
    scan_input_axes: [-1, 0],
    scan_input_directions: [1, 0],
    scan_output_axes: [1, -1],
    scan_output_directions: [0, 1],
    body: graph round {
      input a: f32[3]
      input b: f32[3]
      input e: f32[3]
      input f: f32[3]
      a2 = Add(a, e)
      o = Mul(a2, f)
      b2 = Sub(o, b)
      before = Identity(a)
      output a2: f32[3]
      output b2: f32[3]
      output o: f32[3]
      output before: f32[3]
    }
  }
  output s: f32[3]\n  output u: f32[3]\n  output rows: f32[3, 5]\n  output old: f32[3, 5]",
    );
    assert_eq!(calls(&scan), 6);
}

#[test]
fn what_has_no_size_before_it_runs_is_refused() {
    let refusal = |body: &str| {
        let model = model(&[], body);
        let registers = Some(Registers { count: 16, bytes: 32 });
        let request = ModelRequest { registers, ..ModelRequest::default() };
        let (prepared, _) = prepare(model, &request).expect("a model");
        let failure = compile(&prepared, &request).expect_err("no size");
        failure.diagnostics[0].message.to_string()
    };
    let round = |next: &str, out: &str| {
        format!(
            "  input x: f32[3, 4]\n  input m: i64[]\n  p, r = Loop(m, _, x) {{
    body: graph round {{
      input i: i64[]\n      input go: bool[]\n      input a: f32[..]\n      on = Identity(go)\n      a2 = {next}
      output on: bool[]\n      output a2: f32[..]\n{out}
    }}
  }}\n  output p: f32[..]"
        )
    };
    assert_eq!(
        refusal(&round("Neg(a)", "      output i: i64[]")),
        "the length of result 1 depends on the data"
    );
    assert_eq!(
        refusal(&round("Concat(a, a) { axis: 0 }", "")),
        "state 0 is f32[3, 4] at first and f32[..] after a round"
    );
    assert_eq!(
        refusal(
            "  input x: f32[3, 4]\n  input c: bool[]\n  y = If(c) {
    then_branch: graph yes { t = Neg(x) output t: f32[..] },
    else_branch: graph no { e = Concat(x, x) { axis: 0 } output e: f32[..] }
  }\n  output y: f32[..]"
        ),
        "result 0 is f32[3, 4] in one branch and f32[6, 4] in the other"
    );
}

/// A branch that does not fit the sizes does no harm unless it is taken: the function says so then.
#[test]
fn a_branch_that_does_not_fit_is_an_error_only_where_it_is_taken() {
    let branches = |axis: &str| {
        model(
            &[],
            &format!(
                "  input x: f32[2, 3]
  init axis: i64[1] = [{axis}]
  init half: f32[] = [0.5]
  s = ReduceSum(x) {{ keepdims: 0 }}
  c = Equal(s, s)
  z = If(c) {{
    then_branch: graph yes {{ t = ReduceSum(x, axis) {{ keepdims: 0 }} u = Mul(t, half) output u: f32[..] }},
    else_branch: graph no {{ e = Squeeze(x, axis) output e: f32[..] }}
  }}
  y = Relu(z)
  output y: f32[3]"
            ),
        )
    };
    assert_eq!(calls(&branches("0")), 5);
    let request = ModelRequest::default();
    let (prepared, _) = prepare(branches("0"), &request).expect("a model");
    let source = compile(&prepared, &request).expect("code").source;
    let refusal = "does not fit these sizes: it has a subgraph in which the Squeeze that makes `e`";
    assert!(source.contains(refusal) && source.contains("status = 5;"), "{source}");
    // where neither branch fits, nothing is compiled
    let text =
        branches("0").to_string().replace("= ReduceSum(x, axis) { keepdims: 0 }", "= Squeeze(x, axis)");
    let failure = prepare(text::parse_model(&text).expect("a model"), &request).expect_err("no branch");
    assert_eq!(failure.diagnostics[0].code.0, "G0301");
}

/// Shapes that the model also returns are constants, and what they decide is compiled.
#[test]
fn returned_shapes_are_constants() {
    let body = "  input x: f32[6, 4]
  init two: i64[1] = [2]
  init four: i64[1] = [4]
  s = Shape(x)
  d = Div(s, two)
  e = Concat(d, four) { axis: 0 }
  z = ConstantOfShape(d)
  y = Reshape(x, e)
  output s: i64[2]
  output d: i64[k]
  output z: f32[m, n]
  output y: f32[a, b, c]";
    // The first three are constants that are copied, the last one is the input in another shape.
    assert_eq!(calls(&model(&[], body)), 0);
}
