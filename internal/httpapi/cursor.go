package httpapi

import (
	"encoding/base64"
	"encoding/json"

	"carillon/internal/common"
)

// Cursors are opaque to clients: what a list goes on from, as JSON in base64, with
// the name of the list, so that none is taken for another's.
type cursor[T any] struct {
	List  string `json:"l"`
	After T      `json:"a"`
}

func writeCursor[T any](list string, after T) (string, error) {
	data, err := json.Marshal(cursor[T]{List: list, After: after})
	return base64.RawURLEncoding.EncodeToString(data), err
}

func readCursor[T any](list, text string) (T, error) {
	var c cursor[T]
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.List != list {
		var zero T
		return zero, &requestFault{Fault{Location: "query.cursor", Code: "cursor", Message: "is not a cursor of this list",
			Value: common.Excerpt(text)}}
	}
	return c.After, nil
}
