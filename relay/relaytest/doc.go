// Package relaytest helps to test what speaks the relay protocol: cartridge hosts, switches
// and transports of other makes as much as the packages of this module.
//
//   - [CheckVectors] runs a file of golden data against the codec, the buffers and the URNs here.
//   - [Pipe], [BufferedPipe], [SocketPair] and [FilePipes] make connections, [Inject] and
//     [Shuffle] make them bad: slow, torn into pieces, cut, out of order.
//   - [BenchLink] and its kin measure the frame path over a connection that the caller makes,
//     [BenchSwitch] and [BenchStream] what the caller built upon it, [BenchLookup] finding caps
//     in a table.
//   - [NoLeaks] fails a test that leaves goroutines or files behind.
//
// What has to do with waiting works inside of a [testing/synctest] bubble, except for real
// sockets and pipes.
package relaytest
