package core

import (
	"errors"
	"strings"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// CheckSelector returns an error for a parameter that is not a label selector.
func CheckSelector(at, text string) error {
	_, err := placement.ParseSelector(text)
	refusal, wrong := errors.AsType[*common.Error](err)
	if !wrong {
		return nil
	}
	return BadRequest(common.NewFault(at, "selector", text, "%s", refusal.Message).WithHint(refusal.Hint))
}

// CheckKey returns an error for a key that is too long or not printable.
func CheckKey(key string) error {
	printable := !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(key) <= maxKey && printable {
		return nil
	}
	return BadParameter("header.Idempotency-Key", "idempotency_key",
		"must be at most 128 printable ASCII characters", key)
}

// maxKey is the maximum length of an Idempotency-Key.
const maxKey = 128

// Language returns the first supported language of the header.
func Language(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
		if primary == "zh" || primary == "en" {
			return primary
		}
	}
	return "en"
}
