package deploy

import (
	"os/exec"
	"strings"
	"testing"
)

func TestCommitSubjects(t *testing.T) {
	for subject, valid := range map[string]bool{
		"httpapi: return one error code for unknown time zones":   true,
		"notify/smtp, web: embed the pictures of a mail":          true,
		".ci: seed the cache":                                     true,
		"web: " + strings.Repeat("wrap ", 13) + "ä":               true, // 72 characters
		"web: " + strings.Repeat("wrap ", 14):                     false,
		"Return one error code for unknown time zones":            false,
		"httpapi: Return one error code":                          false,
		"httpapi: returned one error code for unknown time zones": false,
		"httpapi: returning one error code":                       false,
		"httpapi: the error code of unknown time zones":           false,
		"httpapi: what is asked twice is answered once":           false,
		"httpapi: return one error code.":                         false,
		"httpapi:return one error code":                           false,
	} {
		check := exec.Command("../tools/subjects.sh", "-")
		check.Stdin = strings.NewReader(subject + "\n")
		if out, err := check.CombinedOutput(); (err == nil) != valid {
			t.Errorf("%q: valid %v, want %v: %s", subject, err == nil, valid, out)
		}
	}
}
