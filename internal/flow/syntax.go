package flow

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"carillon/internal/common"
)

// Bounds of an expression. Together with the operators that walker accepts they bound the cost of an evaluation.
const (
	maxNodes   = 200
	maxDepth   = 32
	maxPattern = 1000 // characters and classes of a pattern, repetitions multiplied
	maxExact   = 1 << 53
)

// walker accepts comparisons of references and constants, collects the references, and replaces each by the function of
// values that reads it. Everything else that the library can parse is rejected: functions, closures, arithmetic,
// variables, ranges, optional chains.
type walker struct {
	nodes   int
	refs    []reference
	numbers bool // a text is read as a number
}

var (
	errTooComplex = errors.New("is too complex")
	errList       = errors.New("a list must follow in, and contain constants only")
)

func (w *walker) node(at *ast.Node, depth int) error {
	w.nodes++
	if w.nodes > maxNodes || depth > maxDepth {
		return errTooComplex
	}
	switch n := (*at).(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return nil
	case *ast.IdentifierNode, *ast.MemberNode:
		return w.reference(at)
	case *ast.UnaryNode:
		if n.Operator != "!" && n.Operator != "not" && !isNegative(n) {
			return fmt.Errorf("operator %s is not supported", n.Operator)
		}
		return w.node(&n.Node, depth+1)
	case *ast.BinaryNode:
		return w.binary(n, depth)
	default:
		return fmt.Errorf("%s is not supported: compare values with the operators == != < <= > >= in && || ! "+
			"matches startsWith endsWith contains", construct(n))
	}
}

func (w *walker) binary(n *ast.BinaryNode, depth int) error {
	compares := false
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
		compares = true
	case "&&", "||", "and", "or", "startsWith", "endsWith", "contains":
	case "in":
		numbers, err := w.list(n.Right)
		if err != nil {
			return err
		}
		if err := w.node(&n.Left, depth+1); err != nil {
			return err
		}
		if numbers {
			w.asNumber(n.Left)
		}
		return nil
	case "matches":
		if err := pattern(n.Right); err != nil {
			return err
		}
	case "-":
		return errors.New(`operator - is not supported; write steps["a-b"] for a step whose name contains '-'`)
	default:
		return fmt.Errorf("operator %s is not supported", n.Operator)
	}
	if err := w.node(&n.Left, depth+1); err != nil {
		return err
	}
	if err := w.node(&n.Right, depth+1); err != nil {
		return err
	}
	for _, side := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		if compares && isNumber(side[0]) {
			if err := exact(side[0]); w.asNumber(side[1]) && err != nil {
				return err
			}
		}
	}
	return nil
}

// Names of the functions of values.
const (
	readText   = "text"
	readCount  = "count"
	readNumber = "number"
)

// isNumber reports whether a node is a number.
func isNumber(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	case *ast.UnaryNode:
		return n.Operator == "-"
	case *ast.CallNode:
		return reader(n).Value == readCount
	}
	return false
}

// asNumber lets a reference to a text be read as a number, and reports whether the node is one.
func (w *walker) asNumber(n ast.Node) bool {
	call, ok := n.(*ast.CallNode)
	if !ok || reader(call).Value == readCount {
		return false
	}
	reader(call).Value, w.numbers = readNumber, true
	return true
}

// reader returns the name of the function that reads a reference.
func reader(call *ast.CallNode) *ast.IdentifierNode { return call.Callee.(*ast.IdentifierNode) }

// isNegative reports whether a node is a number with a minus.
func isNegative(n *ast.UnaryNode) bool {
	switch n.Node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return n.Operator == "-"
	}
	return false
}

// exact rejects integers that cannot be compared exactly.
func exact(n ast.Node) error {
	if negative, ok := n.(*ast.UnaryNode); ok {
		n = negative.Node
	}
	if i, ok := n.(*ast.IntegerNode); ok && i.Value > maxExact {
		return fmt.Errorf("%d is too large to be compared as a number: write it as a text, in quotes", i.Value)
	}
	return nil
}

// list accepts a list of constants, and reports whether they are numbers.
func (w *walker) list(n ast.Node) (numbers bool, err error) {
	list, ok := n.(*ast.ArrayNode)
	if !ok {
		return false, errList
	}
	numbers = len(list.Nodes) > 0
	for _, item := range list.Nodes {
		w.nodes++
		if err := exact(item); err != nil {
			return false, err
		}
		switch item := item.(type) {
		case *ast.IntegerNode, *ast.FloatNode:
		case *ast.UnaryNode:
			if !isNegative(item) {
				return false, errList
			}
		case *ast.BoolNode, *ast.StringNode:
			numbers = false
		default:
			return false, errList
		}
	}
	return numbers, nil
}

// reference accepts a path of names, such as steps.load.exitCode or steps["load"].outputs.day.
func (w *walker) reference(whole *ast.Node) error {
	var path []string
	for n := *whole; ; {
		switch at := n.(type) {
		case *ast.IdentifierNode:
			path = append(path, at.Value)
			slices.Reverse(path)
			ref, ok := referenceOf(path)
			if !ok {
				written := common.Shorten(strings.Join(path, "."))
				return fmt.Errorf("%q is not a value: use params.NAME, run.{"+strings.Join(runFields[:], ",")+"} or "+
					"steps.NAME.{status,exitCode,attempt,outputs.KEY,items,failed}", written)
			}
			read := readText
			if ref.isCount() {
				read = readCount
			}
			call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: read},
				Arguments: []ast.Node{&ast.IntegerNode{Value: len(w.refs)}}}
			ast.Patch(whole, call)
			w.refs = append(w.refs, ref)
			return nil
		case *ast.MemberNode:
			name, ok := at.Property.(*ast.StringNode)
			if !ok || at.Optional || at.Method {
				return errors.New("the name of a member must be a constant")
			}
			path, n = append(path, name.Value), at.Node
		default:
			return fmt.Errorf("%s has no members", construct(n))
		}
	}
}

// pattern accepts a constant pattern (RE2) of bounded size.
func pattern(n ast.Node) error {
	text, ok := n.(*ast.StringNode)
	if !ok {
		return errors.New("the pattern of matches must be a constant")
	}
	re, err := syntax.Parse(text.Value, syntax.Perl)
	if err != nil {
		return errors.New("the pattern of matches is not a regular expression (RE2)")
	}
	if patternSize(re) > maxPattern {
		return errTooComplex
	}
	return nil
}

// patternSize returns the number of characters and classes of a pattern once its repetitions are written out.
func patternSize(re *syntax.Regexp) int {
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, 1<<20)
}

// construct names a part of an expression that is not supported.
func construct(n ast.Node) string {
	switch n.(type) {
	case *ast.CallNode, *ast.BuiltinNode:
		return "a function"
	case *ast.PredicateNode, *ast.PointerNode:
		return "a closure"
	case *ast.VariableDeclaratorNode:
		return "a variable"
	case *ast.ConditionalNode:
		return "a conditional value"
	case *ast.ArrayNode:
		return "a list here"
	case *ast.NilNode:
		return "nil"
	default:
		return "this form"
	}
}
