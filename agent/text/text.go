// Package text makes foreign text safe to show and measures it in cells.
//
// Everything that a model, a program, a server or a file name says is hostile
// until it has passed one of these:
//
//	Stripper  the output of a program, arriving in pieces
//	Plain     a whole result or message
//	Line      the same for one line of the screen
//	Visible   what a person must judge: nothing hidden, nothing removed
//	Valid     valid UTF-8 and nothing else changed
//
// After that Width, Graphemes, Clip and Wrap cut it to a screen by grapheme
// clusters (UAX 29) with one width function for every part of the program, and Table
// lays it out in columns. What is bounded for other reasons is cut by Prefix (bytes),
// Head, Short and OneLine (characters), which look at no more than they may keep.
//
// The sanitiser (stripper.go, escape.go, plain.go, rune.go) belongs to the part
// that is audited by hand: it uses no generated table, no regular expression and
// no state that grows with its input. The package draws nothing, knows no
// colours, writes no escape sequence and imports nothing of ours.
package text
