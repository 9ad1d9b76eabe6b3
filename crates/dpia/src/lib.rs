//! Acceptor- and continuation-passing translation of functional programs to loop programs.
