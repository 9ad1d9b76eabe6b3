//! The table of operators, and properties of their programs.

use graph::operators::{Call, Operand, Role, TABLE, Work, compiled, meaning, page};
use graph::{Attribute, ElementType, Operator, Tensor};
use loops::{Registers, Size};

#[test]
fn the_page_of_operators_is_current() {
    let path = golden::root().join("docs/operators.md");
    let text = std::fs::read_to_string(&path).expect("the page");
    let (start, end) = ("<!-- operators: made by a test, BLESS=1 writes it -->\n", "<!-- end -->");
    let (head, rest) = text.split_once(start).expect("a place for the table");
    let (_, tail) = rest.split_once(end).expect("the end of the table");
    let wanted = format!("{head}{start}\n{}\n{end}{tail}", page());
    golden::compare(&path, &wanted).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn there_are_enough_operators_and_each_is_there_once() {
    assert!(TABLE.len() >= 150, "{}", TABLE.len());
    let mut names: Vec<_> = TABLE.iter().map(|entry| (entry.domain, entry.name)).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Operators that the schema knows and the library has take what the schema says.
#[test]
fn operators_of_the_library_are_operators_of_the_schema() {
    for entry in TABLE {
        if entry.domain.is_empty() {
            assert!(
                graph::schema::lookup("", entry.name, 22).is_some()
                    || graph::schema::lookup("", entry.name, 28).is_some()
                    || graph::schema::lookup("", entry.name, 9).is_some(),
                "`{}`",
                entry.name
            );
        }
    }
}

/// The record of an operator says of an input what its name in the standard says.
#[test]
fn inputs_have_the_roles_that_their_names_say() {
    let mut seen = 0;
    for entry in TABLE.iter().filter(|entry| entry.domain.is_empty()) {
        let Some(schema) = graph::schema::versions("", entry.name).iter().rev().find(|s| !s.deprecated)
        else {
            continue;
        };
        let (_, most) = schema.input_range();
        for (slot, _) in entry.inputs {
            assert!(most.is_none_or(|most| *slot < most), "`{}` has no input {slot}", entry.name);
        }
        for (slot, input) in schema.inputs.iter().enumerate() {
            let role = entry.role(slot);
            if role == Role::Opaque {
                continue;
            }
            let expected: &[Role] = match input.name {
                "axes" | "axis" => &[Role::Axes],
                "shape" | "repeats" | "starts" | "ends" | "steps" | "pads" | "split" => &[Role::Shape],
                "indices" if entry.moves || entry.family == "gather" => &[Role::Places],
                "W" | "w" if entry.work == Work::Convolution => &[Role::Weights],
                "scale" | "B" if entry.work == Work::Scaling => &[Role::Channel],
                _ => continue,
            };
            seen += 1;
            assert!(expected.contains(&role), "input `{}` of `{}` is {role:?}", input.name, entry.name);
        }
    }
    assert!(seen >= 35, "{seen}");
}

/// Quantised operators take no floating-point numbers as data.
#[test]
fn products_of_bytes_are_of_integers_only() {
    for name in ["ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"] {
        let entry = graph::operators::lookup("", name).unwrap();
        assert!(!entry.elements.others, "`{name}`");
        assert!(matches!(entry.work, Work::Convolution | Work::Product), "`{name}`");
    }
}

/// An operator, the extents of its inputs, those of its result.
type Example = (&'static str, Vec<Vec<Size>>, Vec<Size>);

fn operand(shape: &[Size]) -> Option<Operand<'static>> {
    Some(Operand { elem: ElementType::F32, shape: shape.to_vec(), constant: None, sizes: None })
}

fn call<'a>(op: &'a Operator, attributes: &'a [Attribute], inputs: Vec<Option<Operand<'a>>>) -> Call<'a> {
    Call { op, opset: 21, attributes, inputs, outputs: 1 }
}

#[test]
fn extents_may_be_symbolic() {
    let (n, m, k) = (Size::param("n"), Size::param("m"), Size::param("k"));
    let three = Size::constant(3);
    let cases: &[Example] = &[
        ("Relu", vec![vec![n.clone(), m.clone()]], vec![n.clone(), m.clone()]),
        ("Add", vec![vec![n.clone(), m.clone()], vec![m.clone()]], vec![n.clone(), m.clone()]),
        ("MatMul", vec![vec![n.clone(), k.clone()], vec![k.clone(), m.clone()]], vec![n.clone(), m.clone()]),
        ("Softmax", vec![vec![n.clone(), m.clone()]], vec![n.clone(), m.clone()]),
        ("Transpose", vec![vec![n.clone(), m.clone()]], vec![m.clone(), n.clone()]),
        (
            "Concat",
            vec![vec![n.clone(), three.clone()], vec![m.clone(), three.clone()]],
            vec![n.clone() + m.clone(), three.clone()],
        ),
        ("ReduceMean", vec![vec![n.clone(), m.clone()]], vec![Size::constant(1), Size::constant(1)]),
        (
            "LayerNormalization",
            vec![vec![n.clone(), m.clone()], vec![m.clone()], vec![m.clone()]],
            vec![n, m],
        ),
    ];
    let axis = [Attribute::new("axis", 0i64)];
    for (name, inputs, result) in cases {
        let op = Operator::from(*name);
        let attributes: &[Attribute] = if *name == "Concat" { &axis } else { &[] };
        let call = call(&op, attributes, inputs.iter().map(|s| operand(s)).collect());
        for meaning in [meaning(&call), compiled(&call, Registers::default())] {
            let meaning = meaning.unwrap_or_else(|d| panic!("{name}: {d}"));
            functional::check(&meaning.definition).unwrap_or_else(|d| panic!("{name}: {d}"));
            assert_eq!(meaning.results[0].shape, *result, "{name}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_code() {
    let two = Size::constant(2);
    let three = Size::constant(3);
    let check = |name: &str, inputs: Vec<Option<Operand<'_>>>, code: &str| {
        let op = Operator::from(name);
        let error = meaning(&call(&op, &[], inputs)).expect_err(name);
        assert_eq!(error.code.0, code, "{name}: {error}");
    };
    check("NoSuchOperator", vec![], "G0501");
    check(
        "Add",
        vec![
            operand(std::slice::from_ref(&two)),
            Some(Operand { elem: ElementType::I64, shape: vec![], constant: None, sizes: None }),
        ],
        "G0502",
    );
    check(
        "Relu",
        vec![Some(Operand { elem: ElementType::String, shape: vec![], constant: None, sizes: None })],
        "G0502",
    );
    check("Add", vec![operand(std::slice::from_ref(&two)), operand(std::slice::from_ref(&three))], "G0503");
    check(
        "MatMul",
        vec![operand(&[two.clone(), three.clone()]), operand(&[two.clone(), three.clone()])],
        "G0503",
    );
    check("Add", vec![operand(std::slice::from_ref(&two))], "G0503");
    let shape =
        Some(Operand { elem: ElementType::I64, shape: vec![two.clone()], constant: None, sizes: None });
    check("Reshape", vec![operand(&[two, three]), shape], "G0504");
}

/// Equal calls give equal programs, so that generated code has one function for them.
#[test]
fn equal_calls_have_equal_programs() {
    let op = Operator::from("Conv");
    let shapes =
        [vec![1, 3, 8, 8], vec![4, 3, 3, 3]].map(|s| s.into_iter().map(Size::constant).collect::<Vec<_>>());
    let make = || {
        let call = call(&op, &[], shapes.iter().map(|s| operand(s)).collect());
        (
            meaning(&call).expect("a program").definition,
            compiled(&call, Registers::default()).expect("a program").definition,
        )
    };
    assert_eq!(make(), make());
}

/// No size that a model claims makes the library run out of time or memory.
#[test]
fn hostile_sizes_are_refused_or_harmless() {
    let huge = Size::constant(i64::MAX / 2);
    for name in [
        "Add",
        "MatMul",
        "Gather",
        "Tile",
        "Concat",
        "Conv",
        "MaxPool",
        "Pad",
        "Resize",
        "TopK",
        "Einsum",
        "DepthToSpace",
    ] {
        let op = Operator::from(name);
        let constant = Tensor::from_i64s(vec![1], &[i64::MAX]);
        let inputs = vec![
            operand(&[huge.clone(), huge.clone()]),
            Some(Operand {
                elem: ElementType::I64,
                shape: vec![Size::constant(1)],
                constant: Some(&constant),
                sizes: None,
            }),
        ];
        let _ = meaning(&call(&op, &[], inputs));
    }
}
