#define ZERO 0.0
