// Package endtoend tests the whole relay: an engine, a switch, hosts on Unix sockets, and cartridges that are
// processes of their own. It has nothing but tests.
package endtoend
