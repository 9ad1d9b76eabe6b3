//! Whatever is given to an operator, it computes or refuses: inference, programs, the evaluator and
//! programs for C never panic.
//!
//! `LOZENGE_HOSTILE=N` draws N calls of each operator instead of the usual number.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use graph::operators::{self, Call, Operand, TABLE};
use graph::schema::{self, Arity};
use graph::{
    Attribute, AttributeValue, ElementType, Graph, NewNode, Operator, Place, Tensor, folding_kernels,
};
use loops::registers::Registers;

/// Numbers that a seed gives.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Mostly small.
    fn whole(&mut self) -> i64 {
        let usual = [0, 1, 1, 2, 2, 3, 4, -1, -1, -2, -3, 5];
        let seldom = [i64::MAX, i64::MIN, i64::MAX / 2, 1 << 40, -(1 << 33), 1000];
        if self.once_in(20) { self.pick(&seldom) } else { self.pick(&usual) }
    }
}

const TYPES: [ElementType; 8] = [
    ElementType::F32,
    ElementType::F64,
    ElementType::I32,
    ElementType::I64,
    ElementType::Bool,
    ElementType::U8,
    ElementType::I8,
    ElementType::F16,
];

fn tensor(elem: ElementType, dims: Vec<usize>, dice: &mut Dice) -> Tensor {
    let count: usize = dims.iter().product();
    let floats = [0.0, 1.0, -1.5, 2.0, 0.5, 3.25, f64::INFINITY, f64::NAN, -2.0, 1e30];
    match elem {
        ElementType::F32 => {
            Tensor::from_f32s(dims, &(0..count).map(|_| dice.pick(&floats) as f32).collect::<Vec<_>>())
        }
        ElementType::F64 => {
            Tensor::from_f64s(dims, &(0..count).map(|_| dice.pick(&floats)).collect::<Vec<_>>())
        }
        ElementType::I32 => {
            Tensor::from_i32s(dims, &(0..count).map(|_| dice.whole() as i32).collect::<Vec<_>>())
        }
        ElementType::I64 => Tensor::from_i64s(dims, &(0..count).map(|_| dice.whole()).collect::<Vec<_>>()),
        ElementType::Bool => {
            Tensor::from_bools(dims, &(0..count).map(|_| dice.once_in(2)).collect::<Vec<_>>())
        }
        _ => {
            let bytes: Vec<u8> = (0..elem.raw_len(count).unwrap()).map(|_| dice.below(7) as u8).collect();
            Tensor::raw(elem, dims, bytes.into()).unwrap()
        }
    }
}

fn attribute(kind: &str, dice: &mut Dice) -> Option<AttributeValue> {
    let words = [
        "NOTSET",
        "SAME_UPPER",
        "VALID",
        "linear",
        "nearest",
        "constant",
        "edge",
        "none",
        "ij,jk->ik",
        "",
        "x",
    ];
    Some(match kind {
        "int" => dice.whole().into(),
        "float" => dice.pick(&[0.0f32, 0.5, 1.0, -1.0, f32::NAN, 1e30]).into(),
        "string" => dice.pick(&words).into(),
        "ints" => (0..dice.below(6)).map(|_| dice.whole()).collect::<Vec<i64>>().into(),
        _ => return None,
    })
}

/// Where the last panic was.
static LAST: Mutex<String> = Mutex::new(String::new());

struct Drawn {
    op: Operator,
    opset: i64,
    attributes: Vec<Attribute>,
    inputs: Vec<Option<Tensor>>,
    outputs: usize,
}

fn draw(name: &str, dice: &mut Dice) -> Option<Drawn> {
    let opset = dice.pick(&[9, 13, 17, 18, 21, 24, 26, 28]);
    let schema = schema::lookup("", name, opset)?;
    let mut elem = dice.pick(&TYPES);
    let mut shape: Vec<usize> = (0..dice.below(6)).map(|_| dice.pick(&[1usize, 2, 2, 3, 4, 0])).collect();
    let mut inputs = Vec::new();
    for parameter in &schema.inputs {
        let times = match parameter.arity {
            Arity::One => usize::from(!dice.once_in(30)),
            Arity::Optional => usize::from(dice.once_in(2)),
            Arity::Any => dice.below(3),
            Arity::Some => 1 + dice.below(2),
        };
        for _ in 0..times {
            // Types and shapes that go together are more likely than not, so that programs get past
            // the first check.
            let list = dice.once_in(4);
            if dice.once_in(4) {
                elem = dice.pick(&TYPES);
            }
            if dice.once_in(3) {
                shape = (0..dice.below(5)).map(|_| dice.pick(&[1usize, 2, 2, 3, 4, 0])).collect();
            }
            let (elem, dims) =
                if list { (ElementType::I64, vec![dice.below(5)]) } else { (elem, shape.clone()) };
            inputs.push(Some(tensor(elem, dims, dice)));
        }
        if times == 0 {
            inputs.push(None);
        }
    }
    while matches!(inputs.last(), Some(None)) {
        inputs.pop();
    }
    let mut attributes = Vec::new();
    for schema in &schema.attributes {
        if (schema.required || dice.once_in(3))
            && let Some(value) = attribute(schema.kind, dice)
        {
            attributes.push(Attribute::new(schema.name, value));
        }
    }
    let outputs = 1 + dice.below(schema.outputs.len().max(1));
    Some(Drawn { op: Operator::from(name), opset, attributes, inputs, outputs })
}

/// All that is done with a call, one thing after the other.
fn go(call: &Drawn) {
    let inputs: Vec<Option<&Tensor>> = call.inputs.iter().map(Option::as_ref).collect();
    let mut graph = Graph::new("g");
    let values = call.inputs.iter().map(|x| x.as_ref().map(|x| graph.add_initializer("x", x.clone())));
    let values: Vec<_> = values.collect();
    let results: Vec<_> = (0..call.outputs).map(|_| Some(graph.add_value("y"))).collect();
    let mut node = NewNode::new(call.op.clone(), values, results);
    for a in &call.attributes {
        node = node.with(a.name.as_str(), a.value.clone());
    }
    let id = graph.insert(node, Place::Last);
    let _ = graph::infer_node(&mut graph, call.opset, id);
    let _ = folding_kernels::evaluate(&call.op, &call.attributes, &inputs, call.outputs, 1 << 16);
    let _ = operators::evaluate(&call.op, call.opset, &call.attributes, &inputs, call.outputs);
    let operands = call.inputs.iter().map(|x| {
        x.as_ref().map(|x| Operand {
            elem: x.elem,
            shape: x.dims.iter().map(|d| loops::Size::constant(*d as i64)).collect(),
            constant: None,
            sizes: None,
        })
    });
    let given = Call {
        op: &call.op,
        opset: call.opset,
        attributes: &call.attributes,
        inputs: operands.collect(),
        outputs: call.outputs,
    };
    let _ = operators::compiled(&given, Registers { count: 16, bytes: 32 });
}

#[test]
fn nothing_panics() {
    let times: u64 = std::env::var("LOZENGE_HOSTILE").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let mut panics: BTreeMap<String, String> = BTreeMap::new();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    for (k, entry) in (0u64..).zip(TABLE.iter().filter(|entry| entry.domain.is_empty())) {
        for seed in 0..times {
            let mut dice = Dice(k << 40 | seed << 1 | 1);
            for _ in 0..4 {
                dice.below(2);
            }
            let Some(call) = draw(entry.name, &mut dice) else { continue };
            if std::env::var_os("LOZENGE_HOSTILE_TELL").is_some() {
                eprintln!("{} {seed}", entry.name);
            }
            if let Err(why) = catch_unwind(AssertUnwindSafe(|| go(&call))) {
                let text = why.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| why.downcast_ref::<&str>().copied()).unwrap_or("?");
                let shapes: Vec<_> =
                    call.inputs.iter().map(|x| x.as_ref().map(|x| (x.elem, x.dims.clone()))).collect();
                let short: String = text.chars().take(60).collect();
                let place = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
                panics.entry(format!("{} at {place}: {short}", entry.name)).or_insert_with(|| {
                    format!("seed {seed}, opset {}, {shapes:?}, {:?}", call.opset, call.attributes)
                });
            }
        }
    }
    std::panic::set_hook(hook);
    let told: String = panics.iter().map(|(what, how)| format!("{what}\n    {how}\n")).collect();
    assert!(panics.is_empty(), "{} panics:\n{told}", panics.len());
}
