package flow

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"carillon/internal/common"
)

// values is what an expression reads: reference n of it as a text, as a count, or as the number that its text is. Its
// types make comparisons of different kinds faults of the definition, so that an expression that was compiled fails
// only for a value that does not exist, or is not a number.
type values struct {
	Text   func(n int) (string, error)  `expr:"text"`
	Count  func(n int) (int, error)     `expr:"count"`
	Number func(n int) (float64, error) `expr:"number"`
}

// expression is a compiled condition.
type expression struct {
	program *vm.Program
	refs    []reference
	numbers bool // a text is read as a number
}

// evaluator compiles expressions. It is used by one goroutine.
type evaluator struct {
	parser parser.Parser
	config *conf.Config
}

func newEvaluator() *evaluator {
	config := conf.New(values{})
	config.MaxNodes = maxNodes
	config.Builtins = nil
	config.Expect = reflect.Bool
	config.DisableIfOperator = true
	return &evaluator{config: config}
}

var errNotUTF8 = errors.New("is not valid UTF-8 text")

// compile compiles a condition. What it may contain is listed in syntax.go.
func (e *evaluator) compile(source string) (x *expression, err error) {
	if len(source) > common.MaxWhen {
		return nil, fmt.Errorf("must be at most %d bytes", common.MaxWhen)
	}
	if strings.ToValidUTF8(source, "") != source || strings.ContainsRune(source, 0) {
		return nil, errNotUTF8
	}
	defer func() { // a fault of the library must not end a worker
		if r := recover(); r != nil {
			x, err = nil, fmt.Errorf("cannot be compiled: %.200v", r)
			e.parser = parser.Parser{}
		}
	}()
	e.parser = parser.Parser{} // counts nodes over all expressions that it parses
	tree, err := e.parser.Parse(source, e.config)
	if err != nil {
		return nil, short(err)
	}
	w := walker{}
	if err := w.node(&tree.Node, 1); err != nil {
		return nil, err
	}
	if _, err := checker.Check(tree, e.config); err != nil {
		return nil, short(err)
	}
	program, err := compiler.Compile(tree, e.config)
	if err != nil {
		return nil, short(err)
	}
	return &expression{program: program, refs: w.refs, numbers: w.numbers}, nil
}

// notNumber is the fault of a text that is compared with a number.
type notNumber struct {
	ref   reference
	value string
}

func (e *notNumber) Error() string {
	return fmt.Sprintf("the value of %s, %q, is not a number", e.ref, common.Shorten(e.value))
}

// eval returns the value of the condition. look returns the value of a reference.
func (x *expression) eval(look func(reference) (fact, error)) (bool, error) {
	var failed error
	read := func(n int) fact {
		f, err := look(x.refs[n])
		if failed == nil {
			failed = err
		}
		return f
	}
	out, err := vm.Run(x.program, values{
		Text:  func(n int) (string, error) { return read(n).text, failed },
		Count: func(n int) (int, error) { return read(n).count, failed },
		Number: func(n int) (float64, error) {
			f := read(n)
			number, ok := parseNumber(f.text)
			if failed == nil && !ok {
				failed = &notNumber{x.refs[n], f.text}
			}
			return number, failed
		},
	})
	if failed != nil {
		return false, failed
	}
	if err != nil {
		return false, short(err)
	}
	held, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("is %T, not true or false", out)
	}
	return held, nil
}

var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

// parseNumber reads a text as a decimal number. Spaces around it, which many commands print, are ignored.
func parseNumber(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if !number.MatchString(text) {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// short returns the first line of an error of the library; the following ones quote the expression.
func short(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(common.Excerpt(line))
}
