package schedule

import "math/bits"

// set holds small numbers; 192 bits are enough for the 130 years.
type set [3]uint64

func (s *set) add(v int)      { s[v>>6] |= 1 << (v & 63) }
func (s *set) has(v int) bool { return s[v>>6]&(1<<(v&63)) != 0 }
func (s *set) empty() bool    { return *s == set{} }

func (s *set) count() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2])
}

// values lists the members in ascending order, each plus base.
func (s *set) values(base int) []int {
	out := make([]int, 0, s.count())
	for i, word := range s {
		for word != 0 {
			out = append(out, base+i<<6+bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	return out
}
