//! Hash tables for names and identifiers. They are fast for short keys. Each process uses another
//! seed, so nobody can make a file whose names collide. Nothing that is printed or decided depends
//! on the order of their entries.

use std::collections::{HashMap, HashSet};

/// How keys are hashed.
pub(crate) type Hashing = foldhash::fast::RandomState;

/// A table by key.
pub type Map<K, V> = HashMap<K, V, Hashing>;

/// A set of keys.
pub type Set<K> = HashSet<K, Hashing>;
