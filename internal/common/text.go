package common

import "bytes"

// WithoutMark returns a text file without the byte-order mark that some editors begin it with.
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }
