// Package flow holds what the frames of a request have to do with each other: their numbers
// and their order, the credit of their senders, and the chunks of their streams.
package flow
