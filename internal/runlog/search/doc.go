// Package search finds text in what runs have printed.
//
// What is searched is what is read: the lines of both streams as they came, or those of one. A line
// ends with \n or \r\n, which do not belong to it, with the output, or where a part of the output is
// missing: nothing is found across a hole. Any byte may stand in a line. Colours and other controls of a terminal (ANSI
// escape sequences) are left out of the text that is searched, for what is seen is to be found. Of
// each line the first match is told. A line of more than 32 KiB is searched in pieces, each of which begins
// with the last KiB of the one before: a word is found wherever it stands, and told once for each piece. A
// line of one stream ends where the other one has printed more than 1 MiB since it began.
//
// Offsets are those of the bytes in all that the command printed. How the output is cut into
// chunks changes nothing but the times of matches, which are those of their chunks.
//
// The match told of a piece is the first that ends behind what it shares with the piece before, of all that
// follow one another from the beginning of the piece, as regexp finds them. Only where those that end earlier
// took as much reading as the piece is long, it is the first that begins behind the shared part: which one
// is told depends on the text alone.
//
// All work is bounded: by bytes, by runs, by the context's time; who asks hears how far it got, and
// goes on from there. Patterns are RE2 (linear in the text for each match), and refused where their programs
// would be large. A line is read four times at most, and the context is looked at after each 64 characters, or
// 2^18 steps, of it: milliseconds of work. A line that was not finished counts as not looked at.
// Nothing here starts a goroutine.
package search
