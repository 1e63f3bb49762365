package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// Text returns the text of an entry that is hashed: value, as etcd stores it, with its fields
// sorted by name, its sides replaced by their hashes, and its place and revision added. Fields that
// this version does not know are kept.
func Text(value []byte, seq, revision int64) (string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return "", fmt.Errorf("decode audit entry: %w", err)
	}
	for _, side := range []string{"before", "after"} {
		if data := fields[side]; len(data) > 0 {
			fields[side] = json.RawMessage(strconv.Quote(Sum(data)))
		}
	}
	fields["seq"] = strconv.AppendInt(nil, seq, 10)
	fields["revision"] = strconv.AppendInt(nil, revision, 10)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return "", fmt.Errorf("encode audit entry: %w", err)
	}
	return strings.ToValidUTF8(strings.TrimSuffix(text.String(), "\n"), "\ufffd"), nil
}

// Hash returns the hash of a link after the link with the hash previous.
func Hash(previous, text string) string { return Sum([]byte(previous + text)) }

// Sum returns the hash of one side of an entry, as used in a text.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sides are the parts of a text that are compared with its entry.
type sides struct {
	ID            string
	Seq           int64
	Before, After string
}

// altered returns what of an entry differs from its link; "" if nothing does.
func altered(c *common.Change) string {
	if Hash(c.Link.Previous, c.Link.Text) != c.Link.Hash {
		return "its text does not match the hash"
	}
	var text sides
	if err := json.Unmarshal([]byte(c.Link.Text), &text); err != nil {
		return "its text cannot be read"
	}
	said := func(side []byte) string {
		if len(side) == 0 {
			return ""
		}
		return Sum(side)
	}
	switch {
	case c.Link.Misfiled:
		return "its listed fields differ from the hashed ones"
	case text.Seq != c.Link.Seq:
		return "it is in the place of another entry"
	case text.ID != c.ID:
		return "it has the id of another entry"
	case text.Before != said(c.Before):
		return "the state before the change does not match the hash"
	case text.After != said(c.After):
		return "the state after the change does not match the hash"
	}
	return ""
}
