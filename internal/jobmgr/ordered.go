package jobmgr

import (
	"cmp"
	"iter"
	"slices"
)

// maxChunk is the length of a chunk at which it is cut in two.
const maxChunk = 512

// ordered holds slots in the order of their names, in chunks, so that the cost of an insertion does not grow
// with their number.
type ordered struct{ chunks [][]slot }

func byName(s slot, name string) int { return cmp.Compare(s.job.name, name) }

// place returns the chunk and the index at which a name is, or would be inserted.
func (o *ordered) place(name string) (chunk, at int, found bool) {
	chunk, _ = slices.BinarySearchFunc(o.chunks, name, func(c []slot, name string) int {
		return byName(c[len(c)-1], name)
	})
	if chunk == len(o.chunks) {
		chunk = max(0, chunk-1)
	}
	if len(o.chunks) == 0 {
		return 0, 0, false
	}
	at, found = slices.BinarySearchFunc(o.chunks[chunk], name, byName)
	return chunk, at, found
}

// put inserts a slot, or replaces the one of the same name.
func (o *ordered) put(s slot) {
	chunk, at, found := o.place(s.job.name)
	switch {
	case found:
		o.chunks[chunk][at] = s
		return
	case len(o.chunks) == 0:
		o.chunks = append(o.chunks, []slot{s})
		return
	}
	o.chunks[chunk] = slices.Insert(o.chunks[chunk], at, s)
	if c := o.chunks[chunk]; len(c) >= maxChunk {
		half := slices.Clone(c[maxChunk/2:])
		clear(c[maxChunk/2:])
		o.chunks[chunk] = c[:maxChunk/2]
		o.chunks = slices.Insert(o.chunks, chunk+1, half)
	}
}

func (o *ordered) drop(name string) {
	chunk, at, found := o.place(name)
	if !found {
		return
	}
	if o.chunks[chunk] = slices.Delete(o.chunks[chunk], at, at+1); len(o.chunks[chunk]) == 0 {
		o.chunks = slices.Delete(o.chunks, chunk, chunk+1)
	}
}

// after returns the slots whose names come after one.
func (o *ordered) after(name string) iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		chunk, at, found := o.place(name)
		if found {
			at++
		}
		for ; chunk < len(o.chunks); chunk, at = chunk+1, 0 {
			for c := o.chunks[chunk]; at < len(c); at++ {
				if !yield(&c[at]) {
					return
				}
			}
		}
	}
}

// before returns the slots whose names come before one, in descending order; all of them if the name is
// empty.
func (o *ordered) before(name string) iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		chunk, at := len(o.chunks), 0
		if name != "" {
			chunk, at, _ = o.place(name)
		}
		for {
			for at--; at >= 0; at-- {
				if !yield(&o.chunks[chunk][at]) {
					return
				}
			}
			if chunk--; chunk < 0 {
				return
			}
			at = len(o.chunks[chunk])
		}
	}
}
