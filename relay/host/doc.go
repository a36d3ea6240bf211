// Package host is the cartridge host runtime: it owns cartridges, starts them when a request needs them, and serves
// them to a switch behind a relay.
package host
