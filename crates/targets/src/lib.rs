//! Loop programs become text: OpenMP C.
