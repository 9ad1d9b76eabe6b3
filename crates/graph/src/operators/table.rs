//! The table of operators: name, family, what a call costs, which integers its elements may be, and
//! the function that builds the program. Not here: signatures (`schema`) and shapes (`infer`).

use std::fmt::Write as _;

use super::*;
use crate::types::ElementType as E;

/// What a call of an operator does, for the cost of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// An operation or two for each element of the result.
    Plain,
    /// Nothing: only the description of the tensor changes.
    Description,
    /// Sums of products of windows and filters.
    Convolution,
    /// Sums of products along one axis.
    Product,
    /// Sums of products along some axes.
    Contraction,
    /// Two products and a softmax between them.
    Attention,
    /// Sums or extrema of windows.
    Window,
    /// Other positions of the elements.
    Permutation,
    /// A function of the mathematical library for each element.
    Function,
    /// A product and a sum for each element.
    Scaling,
    /// Means and variances of the elements.
    Normalisation,
    /// Sums or extrema of the elements.
    Reduction,
}

/// What the standard says of the elements of the first input (of `Where`: of the second).
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// The integer types that they may have.
    pub integers: &'static [ElementType],
    /// Whether they may also be floating-point numbers, or truth values.
    pub others: bool,
}

/// What a call does with an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The result is computed of its elements.
    Data,
    /// Its elements are weights of the first input.
    Weights,
    /// It has an element for each channel of another input.
    Channel,
    /// Its elements are places in the first input.
    Places,
    /// Its elements are axes.
    Axes,
    /// Its elements say the extents of the result, or where it begins and ends.
    Shape,
    /// An exponent, or a number of bits: few values mean something.
    Amount,
    /// Nobody looks at its elements.
    Nothing,
    /// Nothing is known of what its elements say.
    Opaque,
}

impl Role {
    /// Whether the elements are places, axes or extents, which are integers in every call.
    pub fn is_structure(self) -> bool {
        matches!(self, Role::Places | Role::Axes | Role::Shape)
    }
}

/// An operator of the library.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its domain; empty for the standard one.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The family it belongs to, which is the file that builds it.
    pub family: &'static str,
    /// What a call does.
    pub work: Work,
    /// What its elements may be.
    pub elements: Elements,
    /// What it does with those inputs that are not data.
    pub inputs: &'static [(usize, Role)],
    /// Whether each element of the result is an element of its inputs, perhaps of another type.
    pub moves: bool,
    /// What it leaves out or needs.
    pub note: &'static str,
    pub(super) build: fn(&mut Op<'_>) -> Done,
}

type Types = &'static [ElementType];
const ANY: Types = &[E::I8, E::I16, E::I32, E::I64, E::U8, E::U16, E::U32, E::U64];
const SIGNED: Types = &[E::I8, E::I16, E::I32, E::I64];
const UNSIGNED: Types = &[E::U8, E::U16, E::U32, E::U64];
const COMPARED: Types = &[E::I8, E::I32, E::I64, E::U8, E::U32, E::U64];
const WIDE: Types = &[E::I32, E::I64, E::U32, E::U64];
const WIDE_SIGNED: Types = &[E::I32, E::I64];
const BYTES: Types = &[E::I8, E::U8];
const DEQUANTISED: Types = &[E::I8, E::I32, E::U8];
const I32: Types = &[E::I32];
const I64: Types = &[E::I64];

macro_rules! elements {
    () => {
        Elements { integers: &[], others: true }
    };
    (only $types:ident) => {
        Elements { integers: $types, others: false }
    };
    ($types:ident) => {
        Elements { integers: $types, others: true }
    };
}

macro_rules! work {
    () => {
        Work::Plain
    };
    ($work:ident) => {
        Work::$work
    };
}

macro_rules! moves {
    () => {
        false
    };
    (moves) => {
        true
    };
}

macro_rules! operators {
    ($($family:ident { $(
        $name:literal = $build:ident $(: $work:ident)? $([$($types:ident)+])?
            $({$($slot:literal $role:ident)+})? $($moves:ident)? $(($note:literal))?;
    )* })*) => {
        /// All operators, by family.
        pub const TABLE: &[Entry] = &[$($(named($name, Entry {
            domain: "",
            name: $name,
            family: stringify!($family),
            work: work!($($work)?),
            elements: elements!($($($types)+)?),
            inputs: &[$($(($slot, Role::$role)),+)?],
            moves: moves!($($moves)?),
            note: concat!($($note)?),
            build: |op| $family::$build(op),
        }),)*)*];
    };
}

/// The entry under this name: what stands before a colon is the domain.
const fn named(full: &'static str, entry: Entry) -> Entry {
    let bytes = full.as_bytes();
    let mut k = 0;
    while k < bytes.len() {
        if bytes[k] == b':' {
            let (domain, rest) = full.split_at(k);
            let (_, name) = rest.split_at(1);
            return Entry { domain, name, ..entry };
        }
        k += 1;
    }
    entry
}

// Each line: name and the function that builds it, its work unless that is plain, the integers that
// its elements may be (`only` if nothing else), which inputs are not data, whether it only `moves`
// elements, and what it leaves out.
operators! {
    elementwise {
        "Abs" = abs [ANY]; "Acos" = acos; "Acosh" = acosh; "Add" = add [ANY]; "And" = and;
        "Asin" = asin; "Asinh" = asinh; "Atan" = atan; "Atanh" = atanh;
        "BitCast" = bit_cast ("not between floating-point types of 16 bits or less");
        "BitShift" = bit_shift [only UNSIGNED] {1 Amount}; "BitwiseAnd" = bitwise_and [only ANY];
        "BitwiseNot" = bitwise_not [only ANY]; "BitwiseOr" = bitwise_or [only ANY];
        "BitwiseXor" = bitwise_xor [only ANY];
        "Cast" = cast_op [ANY] moves ("not from or to strings");
        "CastLike" = cast_like [ANY] {1 Nothing} ("not from or to strings"); "Ceil" = ceil;
        "Celu" = celu; "Clip" = clip [ANY]; "Cos" = cos: Function; "Cosh" = cosh; "Div" = div [ANY];
        "Elu" = elu: Function; "Equal" = equal [ANY] ("not of strings"); "Erf" = erf: Function;
        "Exp" = exp: Function; "Floor" = floor; "Gelu" = gelu: Function; "Greater" = greater [ANY];
        "GreaterOrEqual" = greater_or_equal [ANY]; "HardSigmoid" = hard_sigmoid;
        "HardSwish" = hard_swish: Function;
        "Identity" = identity: Description [ANY] moves ("of tensors"); "IsInf" = is_inf;
        "IsNaN" = is_nan; "LeakyRelu" = leaky_relu; "Less" = less_op [ANY];
        "LessOrEqual" = less_or_equal [ANY]; "Log" = log: Function; "Max" = max [ANY];
        "Mean" = mean; "Min" = min [ANY]; "Mish" = mish: Function; "Mod" = modulo [ANY];
        "Mul" = mul [ANY]; "Neg" = neg [SIGNED]; "Not" = not; "Or" = or; "PRelu" = prelu [WIDE];
        "Pow" = pow: Function [WIDE_SIGNED] {1 Amount}; "Reciprocal" = reciprocal;
        "Relu" = relu [SIGNED]; "Round" = round; "Selu" = selu: Function; "Shrink" = shrink [ANY];
        "Sigmoid" = sigmoid: Function; "Sign" = sign [ANY]; "Sin" = sin: Function; "Sinh" = sinh;
        "Softplus" = softplus: Function; "Softsign" = softsign; "Sqrt" = sqrt: Function;
        "Sub" = sub [ANY]; "Sum" = sum; "Swish" = swish; "Tan" = tan; "Tanh" = tanh: Function;
        "ThresholdedRelu" = thresholded_relu; "Where" = where_op [ANY]; "Xor" = xor;
    }
    constants {
        "Constant" = constant: Description ("not of strings or sparse tensors");
        "ConstantOfShape" = constant_of_shape [I64] {0 Shape};
        "EyeLike" = eye_like [ANY] {0 Nothing}; "Range" = range {0 Opaque 1 Opaque 2 Opaque};
        "Shape" = shape: Description [ANY] {0 Nothing}; "Size" = size_op [ANY] {0 Nothing};
    }
    movement {
        "CenterCropPad" = center_crop_pad [ANY] {1 Shape}; "Concat" = concat [ANY] moves;
        "DepthToSpace" = depth_to_space [ANY]; "Expand" = expand [ANY] {1 Shape} moves;
        "Flatten" = flatten: Description [ANY] moves; "Pad" = pad [ANY] {1 Shape 3 Axes};
        "Reshape" = reshape_op: Description [ANY] {1 Shape} moves;
        "ReverseSequence" = reverse_sequence [ANY] {1 Shape};
        "Slice" = slice [ANY] {1 Shape 2 Shape 3 Axes 4 Shape} moves;
        "SpaceToDepth" = space_to_depth [ANY]; "Split" = split [ANY] {1 Shape} moves;
        "Squeeze" = squeeze: Description [ANY] {1 Axes} moves; "Tile" = tile [ANY] {1 Shape} moves;
        "Transpose" = transpose: Permutation [ANY] moves; "Trilu" = trilu [ANY] {1 Shape};
        "Unsqueeze" = unsqueeze: Description [ANY] {1 Axes} moves;
    }
    gather {
        "Compress" = compress [ANY] ("its length depends on the data: evaluation only");
        "Gather" = gather [ANY] {1 Places} moves;
        "GatherElements" = gather_elements [ANY] {1 Places};
        "GatherND" = gather_nd [ANY] {1 Places};
        "NonZero" = non_zero ("its length depends on the data: evaluation only");
        "OneHot" = one_hot [ANY] {0 Opaque 1 Shape}; "Scatter" = scatter_elements {1 Places};
        "ScatterElements" = scatter_elements [ANY] {1 Places};
        "ScatterND" = scatter_nd [ANY] {1 Places}; "TensorScatter" = tensor_scatter;
        "ai.onnx.ml:ArrayFeatureExtractor" = array_feature_extractor;
        "ai.onnx.ml:Binarizer" = binarizer;
    }
    reduce {
        "ArgMax" = arg_max [ANY]; "ArgMin" = arg_min [ANY]; "CumProd" = cum_prod {1 Axes};
        "CumSum" = cum_sum [WIDE] {1 Axes}; "Hardmax" = hardmax;
        "LogSoftmax" = log_softmax: Function; "ReduceL1" = l1: Reduction [WIDE] {1 Axes};
        "ReduceL2" = l2: Reduction [WIDE] {1 Axes};
        "ReduceLogSum" = log_sum: Reduction [WIDE] {1 Axes};
        "ReduceLogSumExp" = log_sum_exp: Reduction [WIDE] {1 Axes};
        "ReduceMax" = max: Reduction [COMPARED] {1 Axes};
        "ReduceMean" = mean: Reduction [WIDE] {1 Axes};
        "ReduceMin" = min: Reduction [COMPARED] {1 Axes};
        "ReduceProd" = product_of: Reduction [WIDE] {1 Axes};
        "ReduceSum" = sum: Reduction [WIDE] {1 Axes};
        "ReduceSumSquare" = sum_square: Reduction [WIDE] {1 Axes}; "Softmax" = softmax: Function;
    }
    matrix {
        "Det" = det; "Einsum" = einsum: Contraction [ANY];
        "Gemm" = gemm: Product [WIDE] {2 Channel}; "MatMul" = mat_mul: Product [WIDE];
        "MatMulInteger" = mat_mul_integer: Product [only BYTES];
        "QLinearMatMul" = qlinear_mat_mul: Product [only BYTES];
    }
    convolution {
        "Col2Im" = col2im {0 Opaque 1 Opaque 2 Opaque};
        "Conv" = conv: Convolution {1 Weights 2 Channel};
        "ConvInteger" = conv_integer: Convolution [only BYTES] {1 Weights};
        "ConvTranspose" = conv_transpose: Convolution {1 Weights 2 Channel};
        "DeformConv" = deform_conv: Convolution {1 Weights};
        "QLinearConv" = qlinear_conv: Convolution [only BYTES] {3 Weights 8 Channel};
    }
    pool {
        "AveragePool" = average_pool: Window; "GlobalAveragePool" = global_average_pool: Reduction;
        "GlobalLpPool" = global_lp_pool; "GlobalMaxPool" = global_max_pool: Reduction;
        "LpPool" = lp_pool: Window; "MaxPool" = max_pool: Window [BYTES]; "MaxUnpool" = max_unpool;
    }
    select {
        "NonMaxSuppression" = non_max_suppression
            {0 Opaque 1 Opaque 2 Opaque 3 Opaque 4 Opaque}
            ("its length depends on the data: evaluation only");
        "TopK" = top_k [ANY] {1 Shape};
        "Unique" = unique ("its length depends on the data: evaluation only");
    }
    quantise {
        "DequantizeLinear" = dequantize_linear [only DEQUANTISED];
        "DynamicQuantizeLinear" = dynamic_quantize_linear; "QuantizeLinear" = quantize_linear [I32];
    }
    loss {
        "Dropout" = dropout: Description ("in inference, or with ratio 0");
        "NegativeLogLikelihoodLoss" = nll; "SoftmaxCrossEntropyLoss" = softmax_cross_entropy;
    }
    image {
        "AffineGrid" = affine_grid {0 Opaque 1 Opaque}; "GridSample" = grid_sample;
        "Resize" = resize {0 Opaque 1 Opaque 2 Opaque 3 Opaque}; "RoiAlign" = roi_align;
        "Upsample" = upsample {0 Opaque 1 Opaque};
    }
    attention {
        "Attention" = attention: Attention; "CausalConvWithState" = causal_conv;
        "LinearAttention" = linear_attention; "RotaryEmbedding" = rotary_embedding;
        "SwiGLU" = swiglu;
    }
    recurrent {
        "GRU" = gru ("activations sigmoid, tanh, relu");
        "LSTM" = lstm ("activations sigmoid, tanh, relu; without coupled gates");
        "RNN" = rnn ("activations sigmoid, tanh, relu");
        "com.microsoft:DynamicQuantizeLSTM" = lstm_of_bytes
            ("as `LSTM`; the states of all samples have one scale");
    }
    signal {
        "BlackmanWindow" = blackman {0 Shape}; "DFT" = dft {1 Shape 2 Axes};
        "HammingWindow" = hamming {0 Shape}; "HannWindow" = hann {0 Shape};
        "MelWeightMatrix" = mel_weight_matrix {0 Opaque 1 Opaque 2 Opaque 3 Opaque 4 Opaque};
        "STFT" = stft {1 Shape 3 Shape};
    }
    learning {
        "ai.onnx.preview.training:Adagrad" = adagrad; "ai.onnx.preview.training:Adam" = adam;
        "ai.onnx.preview.training:Momentum" = momentum;
    }
    normalise {
        "BatchNormalization" = batch_normalization: Scaling {1 Channel 2 Channel 3 Channel 4 Channel};
        "GroupNormalization" = group_normalization: Normalisation;
        "InstanceNormalization" = instance_normalization: Normalisation; "LRN" = lrn;
        "LayerNormalization" = layer_normalization: Normalisation;
        "LpNormalization" = lp_normalization;
        "MeanVarianceNormalization" = mean_variance_normalization;
        "RMSNormalization" = rms_normalization;
    }
}

impl Entry {
    /// What a call does with an input.
    pub fn role(&self, slot: usize) -> Role {
        self.inputs.iter().find(|(at, _)| *at == slot).map_or(Role::Data, |(_, role)| *role)
    }

    /// The first input with this role.
    pub fn slot(&self, role: Role) -> Option<usize> {
        self.inputs.iter().find(|(_, of)| *of == role).map(|(slot, _)| *slot)
    }
}

/// The operator of this domain and name.
pub fn lookup(domain: &str, name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name && entry.domain == domain)
}

/// The table of `docs/operators.md`.
pub fn page() -> String {
    let mut text = String::from("| operator | family | what it leaves out |\n| --- | --- | --- |\n");
    let mut all: Vec<&Entry> = TABLE.iter().collect();
    all.sort_by_key(|entry| (entry.domain, entry.name));
    for entry in all {
        let domain = if entry.domain.is_empty() { String::new() } else { format!("{}.", entry.domain) };
        let _ = writeln!(text, "| `{domain}{}` | `{}` | {} |", entry.name, entry.family, entry.note);
    }
    text
}
