//! Hash tables for names and identifiers: quick on short keys, and seeded anew in each process, so that no file can be made whose names
//! collide. Their order means nothing: nothing that is printed or decided depends on it.

use std::collections::{HashMap, HashSet};

/// How keys are hashed.
pub type Hashing = foldhash::fast::RandomState;

/// A table by key.
pub type Map<K, V> = HashMap<K, V, Hashing>;

/// A set of keys.
pub type Set<K> = HashSet<K, Hashing>;
