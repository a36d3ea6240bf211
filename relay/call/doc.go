// Package call is the requester's side of a request: arguments go out, the response comes in, both as streams
// under credit.
//
// An [Opener] carries requests: a switch, a connection to one, or the request that a cartridge serves, for peer
// calls. [Do] is for the common case, bytes out and bytes in:
//
//	out, err := call.Do(ctx, opener, "cap:hash", call.Bytes("media:", data))
//
// [Start] gives the whole of it: any number of arguments, each a reader or a sequence of items, sent while the
// response is read with [Call.Next].
//
// # Ends
//
// A request ends once. After an END that says success [Call.Next] returns io.EOF; after anything else that ends it, an
// [*Error] with the code and the class of who is to blame. A request whose context ends is cancelled; see [Cancelled]
// for the reason that its handler is told.
package call
