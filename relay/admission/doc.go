// Package admission lets requests in to a cartridge, as many at a time as its pools have room for, and
// makes the others wait.
//
// A [Controller] stands for the pools of one cartridge: within the cartridge itself, and at a switch for
// each install behind each master. Every request takes a place in each pool of its cap's chain, which is
// the cap's own pool, every declared pool that lists the cap, and [manifest.PoolAll]. It takes them in one
// step, or none of them.
//
// # Who comes first
//
// Requests wait in a queue of their cap, the oldest first. Of the first ones of all caps the oldest is let
// in whose chain has room. A first one whose own pool has room, and which lacks some only in pools that it
// shares, keeps a place in each of its declared pools: younger requests get what it leaves. One that waits
// for its own pool keeps nothing, so that a cap that is slow by itself holds up no other.
//
// From that follows, as long as whoever was let in gives its places back some day, and bounds do not
// shrink:
//
//   - No deadlock: nobody holds a place while it waits. A place that is kept is free, and the oldest that
//     keeps any waits for requests that were let in, never for others that wait.
//   - No starvation: once a request is the first of its cap and its own pool has room, no younger one gets
//     ahead of it in a declared pool, and the place it needs in the pool of all is its own as soon as one is
//     free and the others have room.
//   - No idle places where every cap is in one declared pool at most: there whoever fits is let in at once.
package admission
