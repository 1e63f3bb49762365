package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// applyBody replaces an ApplyRequest whose jobs are checked one by one: its text is in the visit.
type applyBody struct{}

// Schema returns the schema of an ApplyRequest.
func (applyBody) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[ApplyRequest](), true, "")
}

// jobsOf takes the jobs out of the body of an apply, each as it is written: they are parts of it,
// not copies.
func jobsOf(body []byte) (sent []json.RawMessage, err error) {
	wrong := func(at, code, message string) error {
		return core.BadParameter(at, code, message, "")
	}
	in := json.NewDecoder(bytes.NewReader(body))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return nil, wrong("body", "type", "must be an object")
	}
	given := false
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, wrong("body", "json", "is not valid JSON")
		}
		at := "body." + common.Excerpt(fmt.Sprint(key))
		switch {
		case key != "jobs":
			return nil, wrong(at, "unknown", "is not a known field")
		case given:
			return nil, wrong(at, "duplicate", "is a duplicate")
		}
		given = true
		if t, err := in.Token(); err != nil || t != json.Delim('[') {
			return nil, wrong(at, "type", "must be an array")
		}
		for in.More() {
			begin := in.InputOffset()
			if err := in.Decode(&skipped{}); err != nil {
				return nil, wrong(at, "json", "is not valid JSON")
			}
			if sent = append(sent, bytes.TrimLeft(body[begin:in.InputOffset()], " \t\r\n,")); len(sent) > maxMany {
				return nil, wrong(at, "too_many", fmt.Sprintf("must be at most %d", maxMany))
			}
		}
		if _, err := in.Token(); err != nil && !errors.Is(err, io.EOF) {
			return nil, wrong(at, "json", "is not valid JSON")
		}
	}
	if !given {
		return nil, wrong("body.jobs", "required", "is required")
	}
	return sent, nil
}

// skipped is a value that is ignored.
type skipped struct{}

// UnmarshalJSON accepts any value.
func (*skipped) UnmarshalJSON([]byte) error { return nil }
