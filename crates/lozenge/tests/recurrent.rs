//! Recurrent operators as C: products before the loop and tiles in each step give what the
//! definition gives, to the last bit.
#![allow(missing_docs)]

mod support;

use support::{calls, model};

const STEPS: usize = 3;
const WIDTH: usize = 5;

/// A model of one call: gates, units, samples, attributes, and which inputs behind the weights
/// there are.
struct Network {
    operator: &'static str,
    units: usize,
    batch: usize,
    attributes: &'static str,
    directions: usize,
    /// Weights are inputs and not constants.
    given: bool,
    bias: bool,
    /// Lengths of sequences, first states and peepholes.
    lengths: bool,
    start: bool,
    peep: bool,
}

impl Default for Network {
    fn default() -> Network {
        Network {
            operator: "LSTM",
            units: 6,
            batch: 1,
            attributes: "",
            directions: 1,
            given: false,
            bias: true,
            lengths: false,
            start: false,
            peep: false,
        }
    }
}

impl Network {
    fn check(&self) {
        let Network { operator, units, batch, directions, .. } = *self;
        let gates = match operator {
            "LSTM" => 4,
            "GRU" => 3,
            _ => 1,
        };
        let long = operator == "LSTM";
        let batched = self.attributes.contains("layout: 1");
        let mut weights: Vec<(&str, Vec<usize>)> = vec![
            ("w", vec![directions, gates * units, WIDTH]),
            ("r", vec![directions, gates * units, units]),
        ];
        if self.bias {
            weights.push(("b", vec![directions, 2 * gates * units]));
        }
        if self.peep {
            weights.push(("p", vec![directions, 3 * units]));
        }
        let (x, state) = match batched {
            true => ([batch, STEPS, WIDTH], [batch, directions, units]),
            false => ([STEPS, batch, WIDTH], [directions, batch, units]),
        };
        let y = match batched {
            true => [batch, STEPS, directions, units],
            false => [STEPS, directions, batch, units],
        };
        let mut body = format!("  input x: f32{x:?}\n");
        let mut inits: Vec<(&str, &[usize])> = Vec::new();
        for (name, dims) in &weights {
            match self.given {
                true => body.push_str(&format!("  input {name}: f32{dims:?}\n")),
                false => inits.push((name, dims)),
            }
        }
        if self.lengths {
            let lengths: Vec<usize> = (0..batch).map(|k| [2, 0, 3, 1][k % 4]).collect();
            body.push_str(&format!("  init lengths: i32[{batch}] = {lengths:?}\n"));
        }
        if self.start {
            body.push_str(&format!("  input h: f32{state:?}\n  input c: f32{state:?}\n"));
        }
        let named = |there: bool, name: &'static str| if there { name } else { "_" };
        let mut inputs = vec!["x", "w", "r", named(self.bias, "b"), named(self.lengths, "lengths")];
        inputs.push(named(self.start, "h"));
        if long {
            inputs.extend([named(self.start, "c"), named(self.peep, "p")]);
        }
        let (results, last) = if long { ("y, z, u", true) } else { ("y, z", false) };
        body.push_str(&format!(
            "  {results} = {operator}({}) {{ hidden_size: {units}{} }}\n  output y: f32{y:?}\n  output z: f32{state:?}\n",
            inputs.join(", "),
            self.attributes
        ));
        if last {
            body.push_str(&format!("  output u: f32{state:?}\n"));
        }
        calls(&model(&inits, &body));
    }
}

const TWICE: &str = ", direction: \"bidirectional\"";

#[test]
fn units_that_fill_no_register_and_several() {
    for operator in ["LSTM", "GRU", "RNN"] {
        for (units, batch) in [(1, 1), (6, 3), (37, 5)] {
            Network { operator, units, batch, ..Network::default() }.check();
        }
    }
    Network {
        operator: "GRU",
        units: 37,
        batch: 2,
        attributes: ", linear_before_reset: 1",
        ..Network::default()
    }
    .check();
}

#[test]
fn directions_layouts_lengths_and_first_states() {
    for operator in ["LSTM", "GRU", "RNN"] {
        let network = Network { operator, batch: 4, ..Network::default() };
        Network { attributes: ", direction: \"reverse\"", lengths: true, ..network }.check();
        let two = Network { operator, batch: 4, directions: 2, attributes: TWICE, ..Network::default() };
        Network { start: true, bias: false, lengths: true, ..two }.check();
        Network { operator, batch: 2, attributes: ", layout: 1", start: true, ..Network::default() }.check();
    }
    Network { peep: true, start: true, directions: 2, attributes: TWICE, batch: 2, ..Network::default() }
        .check();
}

#[test]
fn weights_that_are_not_known_and_other_activations() {
    for operator in ["LSTM", "GRU", "RNN"] {
        Network { operator, given: true, batch: 2, units: 20, ..Network::default() }.check();
        Network { operator, given: true, directions: 2, attributes: TWICE, ..Network::default() }.check();
    }
    let relu = ", activations: [\"Relu\"], clip: 0.5";
    Network { operator: "RNN", attributes: relu, batch: 3, ..Network::default() }.check();
    Network { attributes: ", clip: 0.25", batch: 3, ..Network::default() }.check();
}
