// Package admission lets requests in to a cartridge, as many at a time as its pools have room for, and makes the
// others wait.
//
// A [Controller] stands for the pools of one cartridge: within the cartridge itself, and at a switch for each
// install behind each master. Every request takes a place in each pool of its cap's chain, which is the
// cap's own pool, every declared pool that lists the cap, and [manifest.PoolAll]. It takes them in one step,
// or none of them.
//
// # Who comes first
//
// Requests wait in a queue of their cap, and the oldest is the first of it. Of the first ones of all caps, the
// oldest whose chain has room is let in. A first one that lacks room only in pools that it shares with other
// caps keeps a place in those of its declared pools that have one: younger requests get what it leaves. One that
// waits for its own pool keeps nothing, so that a cap that is slow by itself does not hold up others.
//
// From that follows, as long as every request that was let in is released some day and bounds do not shrink:
//
//   - No deadlock: nobody holds a place while waiting, and a place that is kept is one of somebody who waits for
//     requests that have been let in, never for others that wait.
//   - No starvation: a request is overtaken in a declared pool only while its own pool is full or others of its cap
//     are before it; in the pool of all it is overtaken only by such as have room elsewhere when it has not. The oldest of those that wait
//     for shared pools gets every place that becomes free in them.
//   - No idle places in cartridges whose caps are in one declared pool at most: there whoever fits is let in at once.
package admission
