package main

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"carillon/internal/common"
)

// maxNodes bounds the nodes of a YAML text once its aliases are expanded: aliases of aliases can make some hundred
// bytes fill the memory. The largest flow has fewer.
const maxNodes = 2_000_000

// expandable returns an error for a text whose aliases expand to too much. A text that is not YAML is expandable: the
// decoder reports it better.
func expandable(data []byte) error {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	for _, doc := range file.Docs {
		if expanded(doc.Body, map[string]int{}) > maxNodes {
			return common.Errorf(common.CodeTooLarge, "its aliases expand to more than %d values", maxNodes)
		}
	}
	return nil
}

// expanded returns the number of nodes that a node expands to, at most a little more than maxNodes. known has those of
// the anchors before it.
func expanded(node ast.Node, known map[string]int) (n int) {
	add := func(more ast.Node) {
		if n <= maxNodes {
			n += expanded(more, known)
		}
	}
	switch node := node.(type) {
	case nil:
		return 0
	case *ast.AnchorNode:
		n = expanded(node.Value, known)
		known[node.Name.String()] = n
		return n
	case *ast.AliasNode:
		return 1 + known[node.Value.String()]
	case *ast.TagNode:
		return expanded(node.Value, known)
	case *ast.MappingNode:
		for _, value := range node.Values {
			add(value)
		}
	case *ast.MappingValueNode:
		add(node.Value)
	case *ast.SequenceNode:
		for _, value := range node.Values {
			add(value)
		}
	}
	return n + 1
}
