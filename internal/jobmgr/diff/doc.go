// Package diff computes how two definitions of a job differ: which fields, and line by line.
//
// It promises that the lines of a definition are equivalent YAML, a field a line and a text of several lines
// as a block; that an unchanged definition has no difference; and that its work is bounded for any length of
// the definitions: if too much differs, the old text is removed as a whole, and the new one is added.
package diff
