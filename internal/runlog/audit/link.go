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

// Text is what of a change is hashed: value, as etcd holds it, with its fields in the order of
// their names, the hashes of its sides in place of those, and its place and revision. Fields that this
// version does not know stay.
func Text(value []byte, seq, revision int64) (string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return "", fmt.Errorf("read a change: %w", err)
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
		return "", fmt.Errorf("write a change: %w", err)
	}
	return strings.ToValidUTF8(strings.TrimSuffix(text.String(), "\n"), "\ufffd"), nil
}

// Hash is that of a link whose predecessor has the hash previous.
func Hash(previous, text string) string { return Sum([]byte(previous + text)) }

// Sum is the hash of one side of a change as it is in a text.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sides are the parts of a text that are held against the entry it belongs to.
type sides struct {
	ID            string
	Seq           int64
	Before, After string
}

// altered tells what of a change is not what its link says; empty where all is.
func altered(c *common.Change) string {
	if Hash(c.Link.Previous, c.Link.Text) != c.Link.Hash {
		return "its text is not what was hashed"
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
		return "it is listed under other words than those that were hashed"
	case text.Seq != c.Link.Seq:
		return "it stands in the place of another"
	case text.ID != c.ID:
		return "it has the id of another"
	case text.Before != said(c.Before):
		return "what was before is not what was hashed"
	case text.After != said(c.After):
		return "what was after is not what was hashed"
	}
	return ""
}
