//! A function that calls generated functions one after the other on planned memory: the C of a whole model.
//!
//! It gets the parameters of the model as one block, takes an arena for what lives inside, and returns the first status that is not 0.
//! Not here: what the functions compute, and where anything lies in memory.

use std::fmt::Write as _;

use loops::{Elem, Name, ParamMode, Scalar};

use crate::openmp::{Signature, SignatureParam, names};

/// Where an argument lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The input with this number.
    Input(usize),
    /// The output with this number.
    Output(usize),
    /// The parameters, from this byte.
    Parameters(usize),
    /// The arena, from this byte.
    Arena(usize),
}

/// A call of a generated function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Which function.
    pub function: usize,
    /// Its arguments, in the order of its parameters.
    pub arguments: Vec<Place>,
    /// Indices that have to be inside before it may run.
    pub checks: Vec<Check>,
    /// What is said of it in a comment.
    pub comment: String,
}

/// Integers that have to be places in something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Where they are.
    pub place: Place,
    /// `i32` or `i64`.
    pub elem: Scalar,
    /// How many there are.
    pub count: usize,
    /// What they have to be below (and not less than its negative), in turns.
    pub extents: Vec<i64>,
}

/// What the function of a model returns if an index is outside.
pub const OUTSIDE: i32 = 4;

/// An input or output of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name.
    pub name: Name,
    /// Type of its elements.
    pub elem: Scalar,
    /// Its extents.
    pub dims: Vec<usize>,
}

/// The name of the variable of each thread that says which memory functions may take.
pub const WORKSPACE: &str = "lozenge_workspace";

/// A model: what it takes and gives, its memory, its calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Its name.
    pub name: Name,
    /// What the caller gives.
    pub inputs: Vec<Port>,
    /// What the caller gets.
    pub outputs: Vec<Port>,
    /// Bytes of the block of parameters.
    pub parameter_bytes: usize,
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// Bytes that the calls take in turns from [`WORKSPACE`]; 0 if their functions do not take memory there ([`crate::Options::workspace`]).
    pub workspace_bytes: usize,
    /// Calls in order.
    pub calls: Vec<Call>,
    /// Copies after them: from, to, bytes.
    pub copies: Vec<(Place, Place, usize)>,
}

fn c_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::Bool => "bool",
        Scalar::I8 => "int8_t",
        Scalar::U8 => "uint8_t",
        Scalar::I16 => "int16_t",
        Scalar::U16 => "uint16_t",
        Scalar::U32 => "uint32_t",
        Scalar::U64 => "uint64_t",
    }
}

/// The text of the model's function, to stand behind the text of the functions that it calls, and its signature: the block of parameters
/// (as `int64_t`, aligned to 64 bytes), the inputs, the outputs.
pub fn driver(model: &Model, functions: &[Signature]) -> (String, Signature) {
    let mut taken: Vec<String> = functions.iter().map(|f| f.c_name.clone()).collect();
    taken.extend(["arena", "parameters", "status", "a", "p"].map(str::to_owned));
    // A function with the name of the library's would stand in for it.
    let name = fresh(&model.name, &mut taken, names::is_of_library);
    let ports = |list: &[Port], mode, taken: &mut Vec<String>| -> Vec<(String, SignatureParam)> {
        let one = |port: &Port| {
            let c_name = fresh(&port.name, taken, |_| false);
            let param = SignatureParam {
                name: port.name.clone(),
                elem: Elem::Scalar(port.elem),
                c_type: c_type(port.elem).to_owned(),
                dims: if port.dims.is_empty() {
                    vec!["1".into()]
                } else {
                    port.dims.iter().map(ToString::to_string).collect()
                },
                mode,
                pointer: true,
            };
            (c_name, param)
        };
        list.iter().map(one).collect()
    };
    let inputs = ports(&model.inputs, ParamMode::In, &mut taken);
    let outputs = ports(&model.outputs, ParamMode::Out, &mut taken);
    let parameters = SignatureParam {
        name: "parameters".into(),
        elem: Elem::Scalar(Scalar::I64),
        c_type: "int64_t".into(),
        dims: vec![(model.parameter_bytes / 8).to_string()],
        mode: ParamMode::In,
        pointer: true,
    };
    let base = |place: Place| match place {
        Place::Input(k) => (inputs[k].0.clone(), 0),
        Place::Output(k) => (outputs[k].0.clone(), 0),
        Place::Parameters(offset) => ("p".to_owned(), offset),
        Place::Arena(offset) => ("a".to_owned(), offset),
    };
    let address = |place: Place| match base(place) {
        (name, 0) => name,
        (name, offset) => format!("{name} + {offset}"),
    };
    let argument = |param: &SignatureParam, place: Place| {
        let read = if param.mode == ParamMode::In { "const " } else { "" };
        let (name, offset) = base(place);
        let pointer = match place {
            Place::Input(_) | Place::Output(_) => name,
            _ => format!("({read}{} *)({name} + {offset})", param.c_type),
        };
        if param.pointer { pointer } else { format!("*{pointer}") }
    };

    let mut text = String::new();
    let checks = || model.calls.iter().flat_map(|call| &call.checks);
    for elem in [Scalar::I32, Scalar::I64] {
        if checks().any(|check| check.elem == elem) {
            let _ = writeln!(text, "{}", outside(elem));
        }
    }
    let _ = writeln!(
        text,
        "/* The whole model. `parameters` are {} bytes, aligned to 64. The result is 0, {}1 if memory ran out{}. */",
        model.parameter_bytes,
        if checks().next().is_some() { "" } else { "or " },
        match checks().next() {
            Some(_) => format!(", or {OUTSIDE} if an index is outside of what it is an index of"),
            None => String::new(),
        }
    );
    let _ = write!(text, "int {name}(const int64_t *restrict parameters");
    for (c_name, param) in &inputs {
        let _ = write!(text, ", const {} *restrict {c_name}", param.c_type);
    }
    for (c_name, param) in &outputs {
        let _ = write!(text, ", {} *restrict {c_name}", param.c_type);
    }
    text.push_str(")\n{\n    const char *p = (const char *)parameters;\n");
    let bytes = model.arena_bytes + model.workspace_bytes;
    let in_arena = bytes > 0;
    if in_arena {
        let _ = writeln!(
            text,
            "    char *a;\n    void *arena;\n    int status;\n    if (posix_memalign(&arena, 64, {bytes})) return 1;\n    a = arena;"
        );
        if model.workspace_bytes > 0 {
            let _ = writeln!(
                text,
                "    {WORKSPACE}.from = {WORKSPACE}.at = a + {};\n    {WORKSPACE}.to = a + {bytes};",
                model.arena_bytes
            );
        }
    } else {
        text.push_str("    int status = 0;\n");
    }
    text.push_str("    (void)p;\n");
    for call in &model.calls {
        let signature = &functions[call.function];
        let arguments: Vec<String> = signature
            .params
            .iter()
            .zip(&call.arguments)
            .map(|(param, place)| argument(param, *place))
            .collect();
        let comment: String = call
            .comment
            .chars()
            .filter(|c| !c.is_control())
            .collect::<String>()
            .replace("*/", "* /")
            .replace("/*", "/ *");
        let _ = writeln!(text, "    /* {comment} */");
        for check in &call.checks {
            let (ty, (name, offset)) = (c_type(check.elem), base(check.place));
            let pointer = match check.place {
                Place::Input(_) | Place::Output(_) => name,
                _ => format!("(const {ty} *)({name} + {offset})"),
            };
            for (part, extent) in check.extents.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "    if (lozenge_outside_{}({pointer}, {}, {}, {part}, {extent})) {{\n        status = {OUTSIDE};\n        goto done;\n    }}",
                    check.elem,
                    check.count,
                    check.extents.len(),
                );
            }
        }
        let _ =
            writeln!(text, "    if ((status = {}({}))) goto done;", signature.c_name, arguments.join(", "));
    }
    if model.calls.is_empty() {
        text.push_str("    status = 0;\n    if (status) goto done;\n");
    }
    for (from, to, bytes) in &model.copies {
        let _ = writeln!(text, "    memcpy({}, {}, {bytes});", address(*to), address(*from));
    }
    text.push_str("done:\n");
    if in_arena {
        if model.workspace_bytes > 0 {
            let _ = writeln!(text, "    {WORKSPACE}.from = NULL;");
        }
        text.push_str("    free(arena);\n");
    }
    text.push_str("    return status;\n}\n");
    let params =
        std::iter::once(parameters).chain(inputs.into_iter().chain(outputs).map(|(_, p)| p)).collect();
    (text, Signature { name: model.name.clone(), c_name: name, sizes: Vec::new(), params })
}

/// The function that looks whether indices are outside: every one of `parts`, from `part` on. It has no exit inside, so that it is done in vectors.
fn outside(elem: Scalar) -> String {
    let ty = c_type(elem);
    format!(
        "/* Whether an index is outside of `n` elements; one below 0 counts from the end. */
static bool lozenge_outside_{elem}(const {ty} *at, int64_t count, int64_t parts, int64_t part, int64_t n)
{{
    bool outside = false;
    for (int64_t k = part; k < count; k += parts) {{
        outside |= at[k] < -n || at[k] >= n;
    }}
    return outside;
}}
"
    )
}

/// An identifier of C made from a name, different from those that are taken, and none that it must not be.
fn fresh(name: &str, taken: &mut Vec<String>, bars: fn(&str) -> bool) -> String {
    let mut made: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let begins_well = made.starts_with(|c: char| c.is_ascii_alphabetic());
    if !begins_well || names::is_reserved(&made) || bars(&made) {
        made = format!("m_{made}");
    }
    let mut found = made.clone();
    for k in 2u64.. {
        if !taken.contains(&found) {
            break;
        }
        found = format!("{made}_{k}");
    }
    taken.push(found.clone());
    found
}
