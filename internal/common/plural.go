package common

import "fmt"

// Count returns n with the words for one or for several: "1 job", "2 jobs".
func Count[N int | int32 | int64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", several)
}
