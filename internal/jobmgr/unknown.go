package jobmgr

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"carillon/internal/common"
)

// keepUnknown adds to a job's new value what its old one holds beside the fields that
// are known here: a newer version wrote it, and wants it back.
func keepUnknown(old, value []byte) ([]byte, error) {
	var held map[string]json.RawMessage
	if err := json.Unmarshal(old, &held); err != nil {
		return nil, fmt.Errorf("decode the stored job: %w", err)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[common.StoredJob]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(held, name)
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value = append(value[:len(value)-1], ',')
		value = append(append(append(append(value, key...), ':'), held[name]...), '}')
	}
	return value, nil
}
