// Package frame reads and writes the frames of the CapDAG relay protocol, version 4: CBOR
// maps with integer keys (RFC 8949), each behind its length in four bytes.
//
// [Decode] and [Frame.Append] are the codec of one body, [Reader] and [Writer] work on a
// stream of them, [Check] tests a body and says only what a relay has to know. Nothing of
// this allocates: a decoded [Frame] refers to the bytes it was decoded from, and a writer
// encodes into a buffer that it keeps.
//
// # Borrowed bytes
//
// Texts, payload and meta of a frame are byte slices that somebody owns. A frame from
// [Decode] borrows from the body given, a frame from [Reader.Next] from the reader's buffer,
// until the next call of Next. Whoever keeps one longer takes [Frame.Clone]. Nothing in this
// package writes into borrowed bytes, and a writer is done with a frame when Write returns.
//
// Tests find out who keeps them too long: with the build tag framepoison, as in
//
//	go test -tags framepoison ./...
//
// a reader overwrites all that is no longer valid with 0xdb before it reads on, and reads most
// frames alone, so that the frame before goes at once. A writer overwrites what it has written,
// and a builder the meta that Reset takes back.
//
// # Errors
//
// Every error is an [*Error] with a [Kind]; errors.Is(err, frame.ErrDecode) tells one kind
// from another. A reader reports a clean end as [io.EOF].
package frame
