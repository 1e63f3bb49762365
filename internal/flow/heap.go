package flow

// heap is a binary heap of turns of steps, the first one on top. A step may be in it more than once.
type heap []int32

func (h *heap) push(i int32) {
	a := append(*h, i)
	for at := len(a) - 1; at > 0; {
		above := (at - 1) / 2
		if a[above] <= a[at] {
			break
		}
		a[above], a[at], at = a[at], a[above], above
	}
	*h = a
}

func (h *heap) pop() {
	a := *h
	last := len(a) - 1
	a[0], a = a[last], a[:last]
	for at := 0; ; {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(a); child++ {
			if a[child] < a[least] {
				least = child
			}
		}
		if least == at {
			break
		}
		a[at], a[least], at = a[least], a[at], least
	}
	*h = a
}
