package catalog

import (
	"cmp"
	"iter"
	"slices"
)

// maxChunk is the length of a chunk at which it is cut in two.
const maxChunk = 512

// ordered holds rows in the order of their names, in chunks, so that the cost of an insertion does not grow
// with their number.
type ordered struct{ chunks [][]row }

func byName(r row, name string) int { return cmp.Compare(r.job.Name, name) }

// search returns the chunk and the index at which a name is, or would be inserted.
func (o *ordered) search(name string) (chunk, at int, found bool) {
	chunk, _ = slices.BinarySearchFunc(o.chunks, name, func(c []row, name string) int {
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

// put inserts a row, or replaces the one of the same name.
func (o *ordered) put(r row) {
	chunk, at, found := o.search(r.job.Name)
	switch {
	case found:
		o.chunks[chunk][at] = r
		return
	case len(o.chunks) == 0:
		o.chunks = append(o.chunks, []row{r})
		return
	}
	o.chunks[chunk] = slices.Insert(o.chunks[chunk], at, r)
	if c := o.chunks[chunk]; len(c) >= maxChunk {
		half := slices.Clone(c[maxChunk/2:])
		clear(c[maxChunk/2:])
		o.chunks[chunk] = c[:maxChunk/2]
		o.chunks = slices.Insert(o.chunks, chunk+1, half)
	}
}

func (o *ordered) drop(name string) {
	chunk, at, found := o.search(name)
	if !found {
		return
	}
	if o.chunks[chunk] = slices.Delete(o.chunks[chunk], at, at+1); len(o.chunks[chunk]) == 0 {
		o.chunks = slices.Delete(o.chunks, chunk, chunk+1)
	}
}

// after returns the rows whose names come after one.
func (o *ordered) after(name string) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		chunk, at, found := o.search(name)
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

// before returns the rows whose names come before one, in descending order; all of them if the name is
// empty.
func (o *ordered) before(name string) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		chunk, at := len(o.chunks), 0
		if name != "" {
			chunk, at, _ = o.search(name)
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
