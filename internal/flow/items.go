package flow

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"carillon/internal/common"
)

// parseItems returns the items of a list: its lines that are not empty.
func parseItems(list string, most int) ([]string, error) {
	if len(list) > common.MaxOutputList {
		return nil, fmt.Errorf("the list is larger than %d KiB", common.MaxOutputList>>10)
	}
	var items []string
	for line := range strings.Lines(list) {
		item := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if item == "" {
			continue
		}
		if len(items) == most {
			return nil, fmt.Errorf("the list has more than %d items", most)
		}
		if fault := itemFault(item); fault != "" {
			return nil, fmt.Errorf("item %d %s", len(items), fault)
		}
		items = append(items, item)
	}
	return items, nil
}

// itemFault returns why a text cannot be an item, or "".
func itemFault(item string) string {
	switch {
	case len(item) > common.MaxParam:
		return fmt.Sprintf("is longer than %d KiB", common.MaxParam>>10)
	case !utf8.ValidString(item) || strings.ContainsRune(item, 0):
		return "is not text"
	}
	return ""
}
