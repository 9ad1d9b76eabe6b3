//! The table of inference rules: which rule each operator has. All operators of the standard domain
//! are known by their names; [`contributed`] says which of other domains are.

use super::call::{Call, Found, one, typed};
use super::{elementwise_rules as e, layout as l, linear as m, sequence as s, windows as w};
use crate::graph::Operator;
use crate::types::ElementType::{self, Bool, I32};

type Rule = fn(&Call) -> Found;

/// Whether an operator that is not of the standard domain has a rule, under its name.
pub(super) fn contributed(op: &Operator) -> bool {
    *op.domain == *"com.microsoft" && *op.name == *"DynamicQuantizeLSTM"
}

macro_rules! rules {
    ($($($name:literal)+ => $rule:expr;)*) => {
        /// The rule of an operator.
        pub(super) fn find(name: &str) -> Option<Rule> {
            Some(match name {
                $($($name)|+ => $rule,)*
                _ => return None,
            })
        }
    };
}

// Each entry: the operators, and their rule.
rules! {
    "Abs" "Acos" "Acosh" "Asin" "Asinh" "Atan" "Atanh" "BitwiseNot" "Ceil" "Celu" "Clip" "Cos"
    "Cosh" "CumSum" "CumProd" "Elu" "Erf" "Exp" "Floor" "Gelu" "GroupNormalization"
    "HardSigmoid" "HardSwish" "Hardmax" "Identity" "InstanceNormalization" "LRN" "LeakyRelu"
    "Log" "LogSoftmax" "LpNormalization" "MeanVarianceNormalization" "Mish" "Neg" "Not" "PRelu"
    "Reciprocal" "Relu" "ReverseSequence" "RotaryEmbedding" "Round" "Scatter" "ScatterElements"
    "ScatterND" "Selu" "Shrink" "Sigmoid" "Sign" "Sin" "Sinh" "Softmax" "Softplus" "Softsign"
    "Sqrt" "Swish" "Tan" "Tanh" "ThresholdedRelu" "Trilu" => e::same;
    "Add" "Sub" "Mul" "Div" "Max" "Min" "Sum" "Mean" "Mod" "And" "Or" "Xor" "BitwiseAnd"
    "BitwiseOr" "BitwiseXor" "StringConcat" => e::arithmetic;
    "Pow" "BitShift" => e::of_first;
    "Equal" "Greater" "GreaterOrEqual" "Less" "LessOrEqual" => e::comparison;
    "IsInf" "IsNaN" "RegexFullMatch" => |c| e::with_elem(c, Some(Bool));
    "Where" => e::select;
    "Cast" "BitCast" => e::cast;
    "CastLike" => e::cast_like;
    "RandomNormalLike" "RandomUniformLike" "Bernoulli" "EyeLike" => e::random_like;
    "RandomNormal" "RandomUniform" => e::random;
    "Dropout" => e::dropout;
    "QuantizeLinear" => e::quantize;
    "DequantizeLinear" => e::dequantize;
    "DynamicQuantizeLinear" => e::dynamic_quantize;
    "BatchNormalization" => e::batch_normalization;
    "LayerNormalization" "RMSNormalization" => e::layer_normalization;

    "Conv" => |c| w::convolution(c, 1, c.elem(0).or(c.elem(1)));
    "ConvInteger" => |c| w::convolution(c, 1, Some(I32));
    "QLinearConv" => |c| w::convolution(c, 3, c.elem(7));
    "ConvTranspose" => w::convolution_transposed;
    "DeformConv" => w::deformed;
    "MaxPool" "AveragePool" "LpPool" => w::pool;
    "GlobalAveragePool" "GlobalMaxPool" "GlobalLpPool" => w::global_pool;
    "MaxUnpool" => w::max_unpool;
    "RoiAlign" "MaxRoiPool" => w::regions;
    "Col2Im" => w::columns_to_image;

    "MatMul" => |c| m::matmul(c, 1, c.elem(0).or(c.elem(1)));
    "MatMulInteger" => |c| m::matmul(c, 1, Some(I32));
    "QLinearMatMul" => |c| m::matmul(c, 3, c.elem(7));
    "Gemm" => m::gemm;
    "Einsum" => m::einsum;
    "LSTM" "GRU" "RNN" "DynamicQuantizeLSTM" => m::recurrent;
    "Attention" => m::attention;
    "Det" => m::determinant;
    "DFT" => m::dft;
    "STFT" => m::short_time_transform;
    "HannWindow" "HammingWindow" "BlackmanWindow" => m::window;
    "MelWeightMatrix" => m::mel_weights;
    "NegativeLogLikelihoodLoss" => |c| m::loss(c, false);
    "SoftmaxCrossEntropyLoss" => |c| m::loss(c, true);
    "AffineGrid" => m::affine_grid;
    "GridSample" => m::grid_sample;

    "Shape" => l::shape_of;
    "Size" "SequenceLength" => |_| l::scalar_i64();
    "Constant" => l::constant;
    "Reshape" => l::reshape;
    "Flatten" => l::flatten;
    "Squeeze" => l::squeeze;
    "Unsqueeze" => l::unsqueeze;
    "Transpose" => l::transpose;
    "Concat" => l::concat;
    "Split" => l::split;
    "Slice" => l::slice;
    "Gather" => l::gather;
    "GatherElements" => l::gather_elements;
    "GatherND" => l::gather_nd;
    "Expand" => l::expand;
    "Tile" => l::tile;
    "Pad" => l::pad;
    "Range" => l::range;
    "ConstantOfShape" => l::constant_of_shape;
    "ReduceL1" "ReduceL2" "ReduceLogSum" "ReduceLogSumExp" "ReduceMax" "ReduceMean" "ReduceMin"
    "ReduceProd" "ReduceSum" "ReduceSumSquare" => l::reduce;
    "ArgMax" "ArgMin" => l::arg_reduce;
    "TopK" => l::top_k;
    "OneHot" => l::one_hot;
    "NonZero" => l::non_zero;
    "Compress" => l::compress;
    "Unique" => l::unique;
    "DepthToSpace" => |c| l::depth_to_space(c, true);
    "SpaceToDepth" => |c| l::depth_to_space(c, false);
    "Resize" "Upsample" => l::resize;
    "CenterCropPad" => l::center_crop_pad;
    "NonMaxSuppression" => |_| l::non_max_suppression();
    "Multinomial" => l::multinomial;
    "StringSplit" => l::string_split;
    "TfIdfVectorizer" => l::term_counts;
    "ImageDecoder" => |_| one(typed(Some(ElementType::U8), Some(vec![Default::default(); 3])));
    "StringNormalizer" =>
        |c| one(typed(Some(ElementType::String), c.rank(0).map(|r| vec![Default::default(); r])));

    "SequenceConstruct" => s::construct;
    "SequenceEmpty" => s::empty;
    "SequenceAt" => s::at;
    "SequenceInsert" => s::insert;
    "SequenceErase" => s::erase;
    "ConcatFromSequence" => s::concat;
    "SplitToSequence" => s::split;
    "Optional" => s::optional;
    "OptionalGetElement" => s::optional_element;
    "OptionalHasElement" => |_| one(typed(Some(Bool), Some(Vec::new())));
    "TensorScatter" => s::tensor_scatter;
}
