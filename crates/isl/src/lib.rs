//! An owned, safe face of the integer set library.
