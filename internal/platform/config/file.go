package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"carillon/internal/common"
)

// fromFile reads the settings of a YAML file.
func (s *settings) fromFile(path string) common.Faults {
	data, err := readSmall(path, maxFile)
	if err != nil {
		return common.Faults{common.NewFault("--"+fileFlag, "file", nil, "%s", err)}
	}
	r := &fileReader{settings: s, path: path}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		r.syntax(err)
		return r.faults
	}
	if len(file.Docs) > 1 {
		r.add(file.Docs[1].Body, "syntax", "contains a second document; only one is allowed")
		return r.faults
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			r.mapping("", doc.Body)
		}
	}
	return r.faults
}

// fileReader reads one file.
type fileReader struct {
	settings *settings
	path     string
	faults   common.Faults
}

func (r *fileReader) syntax(err error) {
	location, message := r.path, err.Error()
	if e, ok := errors.AsType[yaml.Error](err); ok {
		message = e.GetMessage()
		if t := e.GetToken(); t != nil {
			location = fmt.Sprintf("%s:%d", r.path, t.Position.Line)
		}
	}
	r.faults.Add(location, "syntax", nil, "%s", message)
}

func (r *fileReader) add(at ast.Node, code, message string) {
	r.faults.Add(r.place(at), code, nil, "%s", message)
}

func (r *fileReader) place(at ast.Node) string {
	if at == nil || at.GetToken() == nil {
		return r.path
	}
	return fmt.Sprintf("%s:%d", r.path, at.GetToken().Position.Line)
}

// mapping reads the keys below prefix ("" or "etcd.").
func (r *fileReader) mapping(prefix string, node ast.Node) {
	entries, ok := entriesOf(node)
	if !ok {
		r.add(node, "syntax", fmt.Sprintf("%smust be a mapping of keys to values", label(prefix)))
		return
	}
	for _, entry := range entries {
		key := prefix + entry.Key.GetToken().Value
		switch one := r.settings.find(key); {
		case one != nil:
			r.take(one, entry)
		case r.isSection(key + "."):
			if _, empty := entry.Value.(*ast.NullNode); !empty {
				r.mapping(key+".", entry.Value)
			}
		default:
			r.faults = append(r.faults, unknown(r.place(entry.Key), "key", key, r.keys()))
		}
	}
}

func label(prefix string) string {
	if prefix == "" {
		return ""
	}
	return strings.TrimSuffix(prefix, ".") + " "
}

func (r *fileReader) keys() []string {
	var keys []string
	for _, one := range r.settings.list {
		keys = append(keys, one.key)
	}
	return keys
}

func (r *fileReader) isSection(prefix string) bool {
	for _, one := range r.settings.list {
		if strings.HasPrefix(one.key, prefix) {
			return true
		}
	}
	return false
}

func (r *fileReader) take(one *setting, entry *ast.MappingValueNode) {
	text, err := textOf(one.value, entry.Value)
	if err == nil {
		one.value.changed = false
		err = one.value.Set(text)
	}
	if err != nil {
		r.add(entry.Key, "value", one.key+" "+err.Error())
	}
}

// textOf returns a YAML value as the text that a flag would accept.
func textOf(v *value, node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", fmt.Errorf("has no value; leave the key out, or write \"\"")
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return strings.TrimRight(n.Value.Value, "\n"), nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return node.GetToken().Value, nil
	case *ast.SequenceNode:
		if v.kind != "list" {
			return "", fmt.Errorf("must be one value, not a list")
		}
		var items []string
		for _, item := range n.Values {
			text, err := textOf(&value{}, item)
			if err != nil {
				return "", err
			}
			items = append(items, text)
		}
		return strings.Join(items, ","), nil
	case *ast.MappingNode, *ast.MappingValueNode:
		if v.kind != "labels" && v.kind != "files" && v.kind != "groups" {
			return "", fmt.Errorf("must be one value, not a mapping")
		}
		var items []string
		entries, _ := entriesOf(node)
		for _, entry := range entries {
			text, err := textOfEntry(v, entry.Value)
			if err != nil {
				return "", err
			}
			items = append(items, entry.Key.GetToken().Value+"="+text)
		}
		return strings.Join(items, ","), nil
	}
	return "", fmt.Errorf("must be a plain value; anchors, aliases and tags are not supported")
}

// textOfEntry returns the value of an entry of a mapping. Groups may be a list.
func textOfEntry(v *value, node ast.Node) (string, error) {
	list, is := node.(*ast.SequenceNode)
	if !is || v.kind != "groups" {
		return textOf(&value{}, node)
	}
	var items []string
	for _, item := range list.Values {
		text, err := textOf(&value{}, item)
		if err != nil {
			return "", err
		}
		items = append(items, text)
	}
	return strings.Join(items, "+"), nil
}

// entriesOf returns the entries of a mapping.
func entriesOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}
