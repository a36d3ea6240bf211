// Package caps knows the names of capabilities: cap URNs such as
//
//	cap:extract;in="media:ext=pdf";out="media:enc=utf-8"
//
// the media URNs within them, and which registered cap serves a request.
//
// [Parse] reads a cap, [ParseMedia] a media URN and [ParseURN] a tagged URN with another prefix.
// What is read has one canonical text, its String, which reads as the same again: names are the
// same when their canonical texts are, so that text is what belongs into the key of a map.
// [Dispatchable] says whether a provider can serve a request, and [Rank] which of several does it
// best. An [Index] finds that one in a large table, in a time that hardly depends on how large.
//
// URNs and caps never change once they are read. They and an Index are safe for concurrent use.
// Nothing here keeps a text that it was given, or memory of it. Texts may come from anybody:
// [MaxLength] and [MaxTags] bound them, and reading one takes time and memory in proportion to
// its length.
package caps
