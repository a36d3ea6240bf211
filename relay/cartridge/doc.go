// Package cartridge is for writing a cartridge: a program, or a set of handlers in one, that serves caps.
//
// A [Cartridge] has a [Handler] for each cap. [Cartridge.Main] serves the host that started the program, over standard
// input and output; [Cartridge.Serve] any connection. Identity, credit, numbering, heartbeats, pools and cancels are
// seen to.
//
//	func main() {
//		c := cartridge.New("hash", "1.0.0", nil)
//		c.Handle(`cap:hash;in="media:";out="media:enc=utf-8"`, "SHA-256 of a stream", hash)
//		c.Main()
//	}
//
//	func hash(ctx context.Context, r *cartridge.Request) error {
//		in, err := r.Next()
//		if err != nil {
//			return err
//		}
//		sum := sha256.New()
//		if _, err := io.Copy(sum, in); err != nil {
//			return err
//		}
//		_, err = fmt.Fprintf(r.Output("media:enc=utf-8", nil), "%x\n", sum.Sum(nil))
//		return err
//	}
//
// # Handlers
//
// Each request has a handler call of its own, in a goroutine of its own, as many at a time as the pools allow. Its
// context ends when the request is cancelled, when the connection ends, and when the handler returns; its cause is
// a [*call.Cancelled] where somebody gave a reason. A handler reads arguments from [Request.Next], writes streams that
// [Request.Output] gives it, and may ask other cartridges: a Request is a [call.Opener]. All that waits ends
// with the context.
//
// An error that wraps an [*Error] ends the request with its code; any other with HANDLER_ERROR, internal; so does a
// panic, of which the process does not die.
package cartridge
