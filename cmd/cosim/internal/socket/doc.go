// Package socket listens on Unix sockets as the commands do: a path that cannot be one is refused in words, what is there is
// left there, and the file that was made is removed at the end, no other.
package socket
