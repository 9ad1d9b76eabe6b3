//! Sets and maps, dependences, schedule trees, transformations and their checks.
