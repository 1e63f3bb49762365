// Package jobdiff tells how two definitions of a job differ: which fields, and line by line.
//
// It promises that the lines of a definition are YAML which says the same, a field a line and a
// text of several lines as a block; that a definition which did not change has no difference; and
// that its work is bounded, however long the definitions are: where too much differs, what stood
// there is taken away as a whole, and what stands there now is added.
package jobdiff
