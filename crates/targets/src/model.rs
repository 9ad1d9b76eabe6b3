//! The C function of a whole model: it calls generated functions one after the other on planned
//! memory.
//!
//! Branches and loops of the model become branches and loops of C around these calls. The function
//! gets the parameters of the model as one block. It allocates one arena for intermediate results.
//! It returns the first status that is not 0. Not here: what the functions compute, and where
//! anything is in memory.

use std::fmt::Write as _;

mod extents;
mod memory;

use loops::{Elem, Name, ParamMode, Scalar, Size};

use crate::openmp::types::scalar_type;
use crate::openmp::{Signature, SignatureParam, names};

use extents::Extents;

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
    /// The room of the arena with this number.
    Room(usize),
}

/// What the function of a model does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A function is called.
    Call(Call),
    /// Bytes are copied.
    Copy {
        /// From where.
        from: Slice,
        /// To where.
        to: Slice,
        /// How many.
        bytes: Size,
    },
    /// The one or the other.
    Branch {
        /// A truth value.
        condition: Place,
        /// Where it holds.
        then: Vec<Step>,
        /// Where it does not.
        otherwise: Vec<Step>,
        /// What is said of it in a comment.
        comment: String,
    },
    /// Steps that are repeated.
    Repeat {
        /// How often at most.
        rounds: Rounds,
        /// A truth value that is asked before each round.
        condition: Option<Place>,
        /// Where the number of the round is noted, an `int64_t`.
        number: Option<Place>,
        /// What is done each time.
        body: Vec<Step>,
        /// What is said of it in a comment.
        comment: String,
    },
    /// The function returns [`UNFIT`]. The text says why, in a comment.
    Fail(String),
}

/// How often steps are repeated at most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rounds {
    /// So often.
    Known(Size),
    /// As often as the `int64_t` at this place says.
    Data(Place),
    /// As often as the condition holds.
    Unlimited,
}

/// A place, or a part of a place that moves on with each iteration of the innermost loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The place of the whole.
    pub place: Place,
    /// The byte of it in the first round.
    pub first: Size,
    /// So many bytes further with each round.
    pub step: Size,
}

/// A call of a generated function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Which function.
    pub function: usize,
    /// Its sizes, over the names of [`Model::extents`].
    pub sizes: Vec<Size>,
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
    pub count: Size,
    /// The bounds that they must be below (and not less than the negative of), in order.
    pub extents: Vec<Size>,
}

/// What the function of a model returns if its extents are not admissible.
pub const SIZES: i32 = 2;

/// What the function of a model returns if an index is outside.
pub const OUTSIDE: i32 = 4;

/// What the function of a model returns if a branch is taken that does not fit the sizes.
pub const UNFIT: i32 = 5;

/// An input or output of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name.
    pub name: Name,
    /// Type of its elements.
    pub elem: Scalar,
    /// Its extents, over the names of [`Model::extents`].
    pub dims: Vec<Size>,
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
    /// Bytes of the arena without its rooms.
    pub arena_bytes: usize,
    /// The rooms behind it: the bytes of what is put there, of which the most are taken.
    pub rooms: Vec<Vec<Size>>,
    /// The extents that are arguments, in order.
    pub extents: Vec<Name>,
    /// Bytes of [`WORKSPACE`] that the calls use in turn; 0 if their functions do not take memory
    /// there ([`crate::Options::workspace`]).
    pub workspace_bytes: usize,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// Whether the time of each call is counted, and printed at the end of the program.
    pub profile: bool,
}

/// The function of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Driver {
    /// Its text.
    pub text: String,
    /// What a caller needs to know.
    pub signature: Signature,
    /// The function that tells the bytes that a run takes, where extents are arguments.
    pub memory: Option<String>,
}

/// The text of the model's function, to stand behind the text of the functions that it calls, and
/// its signature: the extents that are no numbers, the block of parameters (as `int64_t`, aligned
/// to 64 bytes), the inputs, the outputs.
pub fn driver(model: &Model, functions: &[Signature]) -> Driver {
    let mut taken: Vec<String> = functions.iter().map(|f| f.c_name.clone()).collect();
    taken.extend(["arena", "parameters", "status", "a", "p"].map(str::to_owned));
    // A function with the name of the library's would stand in for it.
    let name = fresh(&model.name, &mut taken, names::is_of_library);
    let open = !model.extents.is_empty();
    if open {
        taken.extend(["at", "bytes", "end", "most"].map(str::to_owned));
    }
    let mut more = |what: &str| match open {
        true => fresh(&format!("{name}_{what}"), &mut taken, names::is_of_library),
        false => String::new(),
    };
    let (rooms, memory) = (more("rooms"), more("memory"));
    let extents = Extents::new(&model.extents, rooms, |name| fresh(name, &mut taken, |_| false));
    let mut ports = |list: &[Port], mode| -> Vec<(String, SignatureParam)> {
        let named = |port: &Port| (fresh(&port.name, &mut taken, |_| false), parameter(port, mode, &extents));
        list.iter().map(named).collect()
    };
    let inputs = ports(&model.inputs, ParamMode::In);
    let outputs = ports(&model.outputs, ParamMode::Out);
    let parameters = SignatureParam {
        name: "parameters".into(),
        elem: Elem::Scalar(Scalar::I64),
        c_type: "int64_t".into(),
        dims: vec![(model.parameter_bytes / 8).to_string()],
        mode: ParamMode::In,
        pointer: true,
    };
    let bytes = model.arena_bytes + model.workspace_bytes;
    let in_arena = bytes > 0 || !model.rooms.is_empty();
    let mut text = String::new();
    if in_arena && (open || bytes >= memory::LARGE) {
        text.push_str(&memory::arena());
    }
    let mut found = Vec::new();
    checks_of(&model.steps, &mut found);
    let checks = || found.iter();
    for elem in [Scalar::I32, Scalar::I64] {
        if checks().any(|check| check.elem == elem) {
            let _ = writeln!(text, "{}", outside(elem));
        }
    }
    let _ = writeln!(
        text,
        "/* The whole model. `parameters` are {} bytes, aligned to 64. The result is {}. */",
        model.parameter_bytes,
        results(&[
            (open, SIZES, "if the extents are not admissible"),
            (checks().next().is_some(), OUTSIDE, "if an index is outside of what it is an index of"),
            (fails(&model.steps), UNFIT, "if a branch is taken that does not fit the sizes"),
        ])
    );
    let sizes = extents.parameters();
    let _ = write!(text, "int {name}({sizes}const int64_t *restrict parameters");
    for (c_name, param) in &inputs {
        let _ = write!(text, ", const {} *restrict {c_name}", param.c_type);
    }
    for (c_name, param) in &outputs {
        let _ = write!(text, ", {} *restrict {c_name}", param.c_type);
    }
    text.push_str(")\n{\n    const char *p = (const char *)parameters;\n");
    text.push_str(&if open { extents.entry(model, in_arena) } else { memory::entry(model) });
    text.push_str("    (void)p;\n");
    if found_none(&model.steps) {
        text.push_str("    if (status) goto done;\n");
    }
    let profiled = model.profile.then_some(0);
    let mut body = Body {
        functions,
        extents: &extents,
        inputs: &inputs,
        outputs: &outputs,
        text,
        depth: 1,
        loops: 0,
        profiled,
    };
    body.steps(&model.steps);
    let mut text = match body.profiled {
        Some(calls) => clocks(calls) + &body.text,
        None => body.text,
    };
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
    if open {
        text = extents.functions(model, &memory) + &text;
    }
    let signature =
        Signature { name: model.name.clone(), c_name: name, sizes: model.extents.clone(), params };
    Driver { text, signature, memory: open.then_some(memory) }
}

/// An input or output as a parameter.
fn parameter(port: &Port, mode: ParamMode, extents: &Extents) -> SignatureParam {
    SignatureParam {
        name: port.name.clone(),
        elem: Elem::Scalar(port.elem),
        c_type: scalar_type(port.elem).to_owned(),
        dims: match port.dims.is_empty() {
            true => vec!["1".into()],
            false => port.dims.iter().map(|n| extents.text(n)).collect(),
        },
        mode,
        pointer: true,
    }
}

/// What the result of the function means, in words: those codes of the list that there are.
fn results(codes: &[(bool, i32, &str)]) -> String {
    let mut all = vec!["0".to_owned(), "1 if memory ran out".to_owned()];
    all.extend(codes.iter().filter(|(there, ..)| *there).map(|(_, code, when)| format!("{code} {when}")));
    let last = all.pop().unwrap_or_default();
    format!("{}, or {last}", all.join(", "))
}

/// Whether there is a branch that can't be taken.
fn fails(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Fail(_) => true,
        Step::Call(_) | Step::Copy { .. } => false,
        Step::Branch { then, otherwise, .. } => fails(then) || fails(otherwise),
        Step::Repeat { body, .. } => fails(body),
    })
}

/// Whether no function is called.
fn found_none(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Call(_) | Step::Fail(_) => false,
        Step::Copy { .. } => true,
        Step::Branch { then, otherwise, .. } => found_none(then) && found_none(otherwise),
        Step::Repeat { body, .. } => found_none(body),
    })
}

fn checks_of<'m>(steps: &'m [Step], found: &mut Vec<&'m Check>) {
    for step in steps {
        match step {
            Step::Call(call) => found.extend(&call.checks),
            Step::Copy { .. } | Step::Fail(_) => {}
            Step::Branch { then, otherwise, .. } => {
                checks_of(then, found);
                checks_of(otherwise, found);
            }
            Step::Repeat { body, .. } => checks_of(body, found),
        }
    }
}

/// The statements of the function.
struct Body<'a> {
    extents: &'a Extents,
    functions: &'a [Signature],
    inputs: &'a [(String, SignatureParam)],
    outputs: &'a [(String, SignatureParam)],
    text: String,
    /// How deep the next line is indented.
    depth: usize,
    /// How many loops have a variable by now.
    loops: usize,
    /// How many calls have a clock, if they get one.
    profiled: Option<usize>,
}

impl Body<'_> {
    fn base(&self, place: Place) -> (&str, String) {
        match place {
            Place::Input(k) => (&self.inputs[k].0, "0".to_owned()),
            Place::Output(k) => (&self.outputs[k].0, "0".to_owned()),
            Place::Parameters(offset) => ("p", offset.to_string()),
            Place::Arena(offset) => ("a", offset.to_string()),
            Place::Room(k) => ("a", format!("at[{k}]")),
        }
    }

    /// A place as a pointer to elements of a type.
    fn pointer(&self, place: Place, ty: &str) -> String {
        let (name, offset) = self.base(place);
        match place {
            Place::Input(_) | Place::Output(_) => name.to_owned(),
            _ => format!("({ty} *)({name} + {offset})"),
        }
    }

    fn argument(&self, param: &SignatureParam, place: Place) -> String {
        let read = if param.mode == ParamMode::In { "const " } else { "" };
        let pointer = self.pointer(place, &format!("{read}{}", param.c_type));
        if param.pointer { pointer } else { format!("*{pointer}") }
    }

    /// The address of a slice, in the loop with this variable if it moves on.
    fn address(&self, slice: &Slice, variable: &str) -> String {
        let (name, offset) = self.base(slice.place);
        let at = match (offset.parse::<i64>(), slice.first.as_constant()) {
            (Ok(offset), Some(first)) => (offset + first).to_string(),
            _ => format!("{offset} + {}", self.extents.text(&slice.first)),
        };
        if slice.step.as_constant() == Some(0) {
            return if at == "0" { name.to_owned() } else { format!("{name} + {at}") };
        }
        let bytes = match slice.place {
            Place::Input(_) => format!("(const char *){name}"),
            Place::Output(_) => format!("(char *){name}"),
            _ => name.to_owned(),
        };
        format!("{bytes} + ({at} + {variable} * {})", self.extents.factor(&slice.step))
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 4 * self.depth);
    }

    fn comment(&mut self, text: &str) {
        self.line(&format!("/* {} */", crate::foreign_names::comment_text(text)));
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Call(call) => self.call(call),
            Step::Copy { from, to, bytes } => {
                let variable = format!("i{}", self.loops);
                let copy = format!(
                    "memcpy({}, {}, {});",
                    self.address(to, &variable),
                    self.address(from, &variable),
                    self.extents.bytes(bytes)
                );
                self.line(&copy);
            }
            Step::Fail(why) => {
                self.comment(why);
                self.line(&format!("status = {UNFIT};"));
                self.line("goto done;");
            }
            Step::Branch { condition, then, otherwise, comment } => {
                self.comment(comment);
                self.line(&format!("if (*{}) {{", self.pointer(*condition, "const bool")));
                self.inside(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inside(otherwise);
                }
                self.line("}");
            }
            Step::Repeat { rounds, condition, number, body, comment } => {
                self.comment(comment);
                self.loops += 1;
                let variable = format!("i{}", self.loops);
                let mut goes_on = match rounds {
                    Rounds::Known(n) => Some(format!("{variable} < {}", self.extents.text(n))),
                    Rounds::Data(place) => {
                        Some(format!("{variable} < *{}", self.pointer(*place, "const int64_t")))
                    }
                    Rounds::Unlimited => None,
                };
                if let Some(condition) = condition {
                    let asked = format!("*{}", self.pointer(*condition, "const bool"));
                    goes_on = Some(goes_on.map_or(asked.clone(), |limit| format!("{limit} && {asked}")));
                }
                self.line(&format!(
                    "for (int64_t {variable} = 0; {}; {variable}++) {{",
                    goes_on.unwrap_or_default()
                ));
                if let Some(number) = number {
                    let note = format!("*{} = {variable};", self.pointer(*number, "int64_t"));
                    self.depth += 1;
                    self.line(&note);
                    self.depth -= 1;
                }
                self.inside(body);
                self.loops -= 1;
                self.line("}");
            }
        }
    }

    fn inside(&mut self, steps: &[Step]) {
        self.depth += 1;
        self.steps(steps);
        self.depth -= 1;
    }

    fn call(&mut self, call: &Call) {
        self.comment(&call.comment);
        for check in &call.checks {
            let pointer = self.pointer(check.place, &format!("const {}", scalar_type(check.elem)));
            for (part, extent) in check.extents.iter().enumerate() {
                let parts = check.extents.len();
                self.line(&format!(
                    "if (lozenge_outside_{}({pointer}, {}, {parts}, {part}, {})) {{",
                    check.elem,
                    self.extents.text(&check.count),
                    self.extents.text(extent)
                ));
                self.line(&format!("    status = {OUTSIDE};"));
                self.line("    goto done;");
                self.line("}");
            }
        }
        let signature = &self.functions[call.function];
        let places = signature.params.iter().zip(&call.arguments);
        let sizes = call.sizes.iter().map(|size| self.extents.text(size));
        let arguments: Vec<String> =
            sizes.chain(places.map(|(param, place)| self.argument(param, *place))).collect();
        let line = format!("if ((status = {}({}))) goto done;", signature.c_name, arguments.join(", "));
        if let Some(number) = &mut self.profiled {
            *number += 1;
            let end = format!("lozenge_count({}, lozenge_began);", *number - 1);
            self.line("lozenge_began = lozenge_now();");
            self.line(&line);
            self.line(&end);
            return;
        }
        self.line(&line);
    }
}

/// What counts the time of so many calls, and tells it at the end of the program.
fn clocks(calls: usize) -> String {
    format!(
        "#include <stdio.h>
#include <time.h>
/* How often each call ran, and the seconds that it took. */
static long lozenge_runs[{0}];
static double lozenge_seconds[{0}], lozenge_began;
static double lozenge_now(void)
{{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}}
static void lozenge_count(int call, double began)
{{
    lozenge_runs[call]++;
    lozenge_seconds[call] += lozenge_now() - began;
}}
static void __attribute__((destructor)) lozenge_tell(void)
{{
    for (int k = 0; k < {1}; k++)
        printf(\"lozenge-profile %ld %.9f\\n\", lozenge_runs[k], lozenge_seconds[k]);
}}
",
        calls.max(1),
        calls
    )
}

/// The function that tests whether indices are out of bounds: every one of `parts`, from `part` on.
/// Its loop has no early exit, so that it can be vectorised.
fn outside(elem: Scalar) -> String {
    let ty = scalar_type(elem);
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

/// An identifier of C made from a name. It differs from those that are taken and from reserved
/// ones.
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
