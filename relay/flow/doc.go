// Package flow holds what the frames of a request have to do with each other: their order, their
// credit, and the chunks of their streams.
//
// Order: the last writer before a wire numbers frames with a [SeqAssigner], and a relay puts them
// in order again with a [ReorderBuffer]. Both know a flow by its [Key].
//
// Credit: a sender takes it from the [Gate] of a stream, which [Gates] find for the CREDIT frames
// that come, and a receiver's [Window] says when to send them.
//
// Streams: a [Chunker] cuts what is sent into CHUNK frames with checksums. A [Collector] puts a
// scalar together again and [Items] a sequence, piece by piece; a [Verifier] only checks.
//
// Nothing here reads, writes or starts a goroutine: whoever has the connection calls. Assigners,
// buffers and what cuts and joins streams belong to one goroutine at a time; gates and windows are
// safe for concurrent use. What works on frames in order allocates nothing in the long run, and
// everything that peers make grow is bounded.
package flow
