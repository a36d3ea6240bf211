// Package structure holds the tests of what the repository consists of: its modules, the
// direction in which they import each other, and what the pure ones keep away from.
package structure
