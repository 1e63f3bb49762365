package flow

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"carillon/internal/common"
)

// scope holds the values that an expression can read. Its types make comparisons of different kinds faults of the
// definition, so that an expression that was compiled cannot fail.
type scope struct {
	Params map[string]string    `expr:"params"`
	Run    runScope             `expr:"run"`
	Steps  map[string]stepScope `expr:"steps"`
}

type runScope struct {
	ID        string `expr:"id"`
	Job       string `expr:"job"`
	Cause     string `expr:"cause"`
	PlannedAt string `expr:"plannedAt"` // RFC 3339, UTC
	Attempt   int    `expr:"attempt"`
}

type stepScope struct {
	Status   string            `expr:"status"`
	ExitCode int               `expr:"exitCode"` // -1 without one
	Attempt  int               `expr:"attempt"`
	Items    int               `expr:"items"`
	Failed   int               `expr:"failed"`
	Outputs  map[string]string `expr:"outputs"`
}

// expression is a compiled condition.
type expression struct {
	program *vm.Program
	refs    []reference
}

// evaluator compiles expressions. It is used by one goroutine.
type evaluator struct {
	parser parser.Parser
	config *conf.Config
}

func newEvaluator() *evaluator {
	config := conf.New(scope{})
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
	if err := w.node(tree.Node, 1); err != nil {
		return nil, err
	}
	if _, err := checker.Check(tree, e.config); err != nil {
		return nil, short(err)
	}
	program, err := compiler.Compile(tree, e.config)
	if err != nil {
		return nil, short(err)
	}
	return &expression{program: program, refs: w.refs}, nil
}

// eval returns the value of the condition.
func (x *expression) eval(values *scope) (bool, error) {
	out, err := vm.Run(x.program, *values)
	if err != nil {
		return false, short(err)
	}
	held, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("is %T, not true or false", out)
	}
	return held, nil
}

// short returns the first line of an error of the library; the following ones quote the expression.
func short(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(common.Excerpt(line))
}
