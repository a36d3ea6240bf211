// Package manifest has the JSON documents of the protocol: what a host announces to a switch, what a
// cartridge says of itself, and the states of its pools.
//
// An [Inventory] is the manifest of a RELAY_NOTIFY, a [Cartridge] the one of a HELLO, and [Pools] the
// pool map of a HELLO, of the answer to a heartbeat and of a record in an inventory. [ParseInventory],
// [ParseCartridge] and [ParsePools] read them, each from bytes that they neither change nor keep;
// AppendJSON writes them. A [Follower] reads the inventories that one host announces one after the
// other, and takes over from the last what did not change.
//
// # JSON
//
// The documents are RFC 8259 texts in UTF-8. Names of members count as they are written, in upper and
// lower case. Members that are not known are kept where a type has an Extra, and passed over elsewhere.
// A member that occurs twice in one object is an error, since the parsers of this world do not agree on
// which of the two counts. Numbers are whole, without fraction and exponent, and fit in 64 bits: 1.0 and
// 1e3 are errors, as are -1 and 2^64 where a number has no sign. null is the same as an absent member
// where a member may be absent.
//
// Cap URNs are canonical once they are read, however they were spelled, also where they are the names of
// members.
//
// Values of this package are plain data. Those that were read may share memory, and nothing in them
// changes by itself: they are safe for concurrent use as long as nobody writes to them.
package manifest
