package redirection_test

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/common/redirection"
)

func TestOfAll(t *testing.T) {
	for command, want := range map[string]string{
		"make report >> /var/log/report.log 2>&1":          " >> /var/log/report.log 2>&1",
		"make report >/dev/null 2>&1":                      " >/dev/null 2>&1",
		"make report > /dev/null 2>/dev/null\n":            " > /dev/null 2>/dev/null\n",
		"make report 2> err.log 1>> out.log":               " 2> err.log 1>> out.log",
		"make &> all.log":                                  " &> all.log",
		"make &>> all.log":                                 " &>> all.log",
		"make >& all.log":                                  " >& all.log",
		"make 1>a 2>&1":                                    " 1>a 2>&1",
		"make >| a 2>&1":                                   " >| a 2>&1",
		`echo "a > b" > "/srv/my log" 2>&1`:                ` > "/srv/my log" 2>&1`,
		"make > log-$(date +%F).txt 2>&1":                  " > log-$(date +%F).txt 2>&1",
		"cd /srv/shop && ./report --all >> r.log 2>&1":     " >> r.log 2>&1",
		"umask 022; A=1 B=2 make > r.log 2>&1":             " > r.log 2>&1",
		"[ -x /usr/bin/a ] && /usr/bin/a > /dev/null 2>&1": " > /dev/null 2>&1",
		"(one; two | three) > a 2>&1":                      " > a 2>&1",
		"{ one; two; } > a 2>&1":                           " > a 2>&1",
		"cat < in > out 2>&1":                              " > out 2>&1",
		"echo 2 >a 2>&1":                                   " >a 2>&1",
		"make 2>&1 >/dev/null":                             "", // the errors stay
		"make > /dev/null":                                 "",
		"make 2>/dev/null":                                 "",
		"make >> a":                                        "",
		"make 2>&1":                                        "",
		"make >&2":                                         "",
		"make > /dev/stderr 2>&1":                          "",
		"one > a 2>&1; two":                                "",
		"one; two > a 2>&1":                                "",
		"echo start && two > a 2>&1":                       "",
		"one | two > a 2>&1":                               "",
		"one > a 2>&1 &":                                   "",
		"one > a 2>&1 | mail ops":                          "",
		"echo '> a 2>&1'":                                  "",
		"cat <<E > a 2>&1\nx\nE":                           "",
		"(one > a 2>&1)":                                   "",
		"> a 2>&1":                                         "",
		"one >":                                            "",
		"one 'a > b 2>&1":                                  "",
		"one > a 2>&1 # log":                               "",
		"":                                                 "",
	} {
		got, found := redirection.OfAll(command)
		if got != want || found != (want != "") {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
		if found && !strings.HasSuffix(command, got) {
			t.Errorf("%q does not end with %q", command, got)
		}
	}
}

func FuzzOfAll(f *testing.F) {
	f.Add("a >> b 2>&1")
	f.Add("a \\")
	f.Add(`a "\`)
	f.Add("$(")
	f.Fuzz(func(t *testing.T, command string) {
		if got, found := redirection.OfAll(command); found && (got == "" || !strings.HasSuffix(command, got)) {
			t.Errorf("%q: %q", command, got)
		}
	})
}

func ExampleOfAll() {
	redirect, _ := redirection.OfAll("make report >> /var/log/report.log 2>&1")
	fmt.Printf("%q\n", redirect)
	// Output: " >> /var/log/report.log 2>&1"
}
