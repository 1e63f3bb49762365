package spool

import (
	"bytes"
	"reflect"
	"testing"

	"carillon/internal/common"
)

// FuzzReadFrame reads any bytes: either a frame that can be written again, or an error.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Add(appendFrame(nil, &common.Chunk{Run: "a.1.1", Offset: 7, Stream: common.Stdout, Data: []byte("x")}))
	f.Add(appendFrame(nil, &common.Chunk{Run: "a.1.1", Offset: 7, Missing: 9}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, size, err := readFrame(bytes.NewReader(data))
		if err != nil {
			return
		}
		if size <= 0 || size > int64(len(data)) {
			t.Fatalf("a frame of %d bytes in %d", size, len(data))
		}
		again, _, err := readFrame(bytes.NewReader(appendFrame(nil, &c)))
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v becomes %+v: %v", c, again, err)
		}
	})
}
