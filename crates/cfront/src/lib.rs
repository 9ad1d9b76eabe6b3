//! C with marked regions in, loop programs out, and the result spliced back.
