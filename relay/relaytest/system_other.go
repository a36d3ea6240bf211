//go:build !unix

package relaytest

func systemTransports() []Transport { return nil }
