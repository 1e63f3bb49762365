// Package search finds text in the output of runs.
//
// The searched text is the output as it is read: the lines of both streams as they arrived, or those of one.
// A line ends with \n or \r\n, which do not belong to it, with the output, or where a part of the output is
// missing: a match never spans a gap. A line may contain any byte. Colours and other terminal controls (ANSI
// escape sequences) are removed from the searched text, so that visible text is found. The first match of
// each line is reported. A line of more than 32 KiB is searched in pieces, each of which begins with the last
// KiB of the previous one: a word is found anywhere, and reported once for each piece. A line of one stream
// ends where the other one has printed more than 1 MiB since it began.
//
// Offsets are those of the bytes in the complete output of the command. The division of the output into
// chunks affects only the times of matches, which are those of their chunks.
//
// The reported match of a piece is the first that ends after the part shared with the previous piece, among
// successive matches from the beginning of the piece, as regexp finds them. If the earlier matches took as
// much reading as the length of the piece, it is the first that begins after the shared part: the result
// depends on the text alone.
//
// All work is bounded: by bytes, by runs, by the context's time; the caller receives the position reached,
// and continues from there. Patterns are RE2 (linear in the text for each match), and refused if their
// programs would be large. A line is read four times at most, and the context is checked after each 64
// characters, or 2^18 steps, of it: milliseconds of work. A line that was not finished counts as not
// searched. The package starts no goroutine.
package search
