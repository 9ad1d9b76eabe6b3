//! The functional matrix language of Lozenge: syntax, size-indexed types, evaluator, strategies.
