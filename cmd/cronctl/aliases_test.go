package main

import (
	"strings"
	"testing"
)

func TestYAML_AliasesThatExpandWithoutEnd_AreRefused(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a: &a [x, x, x, x, x, x, x, x, x, x]\n")
	for c := 'b'; c <= 'i'; c++ {
		list := strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 10), ", ")
		bomb.WriteString(string(c) + ": &" + string(c) + " [" + list + "]\n")
	}
	s := newStage(t)
	s.run("validate", "-f", file(t, "bomb.yaml", bomb.String())).want(t, exitUsage, "expand to more than")
	s.run("validate", "-f", file(t, "fine.yaml", "name: a\nenv: &env {A: b}\ncommand: &c 'true'\nstdin: *c\n")).
		want(t, exitOK, "valid a")
}
