package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"carillon/internal/common"
	"carillon/internal/executor/typeschema"
)

// PlugInCheck is the result of one check of a plug-in.
type PlugInCheck struct {
	Name    string
	Problem string // empty: it has passed
}

// CheckPlugIn checks a file against the protocol: what a worker relies on, whatever the type does. It executes the
// plug-in several times, always with settings that it must refuse.
func (x *Executor) CheckPlugIn(ctx context.Context, file string) (checks []PlugInCheck) {
	add := func(name string, err error) bool {
		c := PlugInCheck{Name: name}
		if err != nil {
			c.Problem = err.Error()
		}
		checks = append(checks, c)
		return err == nil
	}
	name, err := plugInName(file)
	if !add("the file is an executable named carillon-type-NAME", err) {
		return checks
	}
	first, err := x.describe(ctx, file)
	if !add("describe prints a document within 5 s, without an environment", err) {
		return checks
	}
	if err = nil; first.Name != name {
		err = fmt.Errorf("it describes the type %q", common.Shorten(first.Name))
	}
	add("the document has the name of the file", err)
	again, err := x.describe(ctx, file)
	if err == nil {
		one, _ := first.Marshal()
		other, _ := again.Marshal()
		if !bytes.Equal(one, other) {
			err = fmt.Errorf("the documents differ")
		}
	}
	add("describe prints the same document each time", err)
	_, how := x.call(ctx, []string{file, "no-such-verb"}, "", typeschema.MaxDocument)
	if err = nil; how.Status == common.StatusSucceeded {
		err = fmt.Errorf("it has succeeded")
	}
	add("an unknown verb fails", err)
	for _, c := range []struct{ name, stdin string }{
		{"run without input is refused", ""},
		{"run with input that is not JSON is refused", "{"},
		{"run with another protocol is refused", inputOf(99, common.With{})},
	} {
		add(c.name, x.refuses(ctx, file, c.stdin))
	}
	for _, with := range []common.With{{}, {"no-such-field": "x"}, {"no-such-field": map[string]any{"a": []any{"b"}}}} {
		if first.Check(with) == nil {
			continue // the schema accepts it
		}
		text, _ := json.Marshal(with)
		add("settings that the schema refuses are refused: "+string(text), x.refuses(ctx, file,
			inputOf(typeschema.Protocol, with)))
	}
	return checks
}

// plugInName returns the name of the type of a file.
func plugInName(file string) (string, error) {
	name, found := strings.CutPrefix(filepath.Base(file), plugInPrefix)
	if !found || !common.ValidType(name) || common.ReservedType(name) {
		return "", fmt.Errorf("%s is not %sNAME with a name that is available", filepath.Base(file), plugInPrefix)
	}
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || !executable(file) {
		return "", fmt.Errorf("%s is not a regular file that can be executed", file)
	}
	return name, nil
}

// inputOf returns the input of a run.
func inputOf(protocol int, with common.With) string {
	in := input{Protocol: protocol, With: with, Run: inputRun{ID: "check.1", Fire: "check", Job: "check", Attempt: 1,
		Params: map[string]string{}}}
	data, err := json.Marshal(&in)
	if err != nil {
		return "" // such settings can always be encoded
	}
	return string(data)
}

// refuses returns an error unless a plug-in refuses an input with the exit code for that.
func (x *Executor) refuses(ctx context.Context, file, stdin string) error {
	_, how := x.call(ctx, []string{file, "run"}, stdin, typeschema.MaxDocument)
	switch {
	case how.Status == common.StatusSucceeded:
		return fmt.Errorf("it has succeeded, and must end with exit code %d", exitUsage)
	case how.Reason.Data["exitCode"] != fmt.Sprint(exitUsage):
		return fmt.Errorf("%s, and must be exit code %d", how.Reason.Text, exitUsage)
	}
	return nil
}
