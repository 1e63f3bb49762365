package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"carillon/internal/audit"
	"carillon/internal/common"
)

// chained returns entries as a log store has them: each with its link, whose hash covers the link before it.
func chained(names ...string) (entries []common.Change, head audit.Head, err error) {
	for i, name := range names {
		c := common.Change{ID: fmt.Sprintf("%020d.a", i+1), Verb: "create", Kind: "job", Name: name}
		c.Revision = int64(100 + i)
		value, err := json.Marshal(c)
		if err != nil {
			return nil, head, err
		}
		seq := int64(i + 1)
		text, err := audit.Text(value, seq, c.Revision)
		if err != nil {
			return nil, head, err
		}
		c.Link = &common.Link{Seq: seq, Previous: head.Hash, Hash: audit.Hash(head.Hash, text), Text: text}
		head.Seq, head.Hash = seq, c.Link.Hash
		entries = append(entries, c)
	}
	return entries, head, nil
}

// A verifier finds an entry of the log store that was altered after it was sealed.
func ExampleVerifier() {
	entries, head, err := chained("backup", "report")
	if err != nil {
		fmt.Println(err)
		return
	}
	entries[0].Link.Text = strings.Replace(entries[0].Link.Text, "backup", "innocent", 1)

	store := newShelf() // etcd and log store in memory
	store.head = head
	for _, entry := range entries {
		store.stored[entry.ID] = entry
	}
	step, err := audit.NewVerifier(store, store).Verify(context.Background(), 1, 100)
	fmt.Println(step.Checked, "entries checked", err)
	for _, fault := range step.Faults {
		fmt.Println(fault.Seq, fault.Code+":", fault.Text)
	}
	// Output:
	// 2 entries checked <nil>
	// 1 altered: its text does not match the hash
}

// An entry is hashed with its fields sorted, its sides replaced by their hashes, and its place and revision added.
func ExampleText() {
	text, err := audit.Text([]byte(`{"verb":"create","name":"backup"}`), 1, 4711)
	fmt.Println(text, err)
	// Output: {"name":"backup","revision":4711,"seq":1,"verb":"create"} <nil>
}
