// Package response puts what a response carries where it was asked for: [Streams] writes its streams to a writer, a
// file or a directory, and [Events] prints all of it as lines of JSON.
//
// The bytes of a scalar are written as they come. Of a sequence, an item that is a text is written as a line, one that is
// bytes as these bytes, and any other as a line in the diagnostic notation of CBOR (RFC 8949, section 8), such as
// {"words": 3}; so is a value of a scalar that is neither text nor bytes.
package response
