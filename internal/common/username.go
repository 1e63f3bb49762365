package common

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxUser is the maximum length of the name of an operating system's user in bytes: LOGIN_NAME_MAX of Linux.
const MaxUser = 255

// notInUser are the characters that no name of a user contains: the user database separates its fields by colons, home
// directories are named after users, and directories forbid the others.
const notInUser = `:/"[];|=,*?<>`

// ValidUser reports whether an operating system may have a user of a name: local ones such as first.last, and those of
// directories such as ann@example.com and EXAMPLE\ann. Digits alone, also with a sign, are refused since programs such
// as getent(1) take them for the number of a user.
func ValidUser(name string) bool {
	switch {
	case name == "", len(name) > MaxUser, !utf8.ValidString(name):
		return false
	case name == ".", name == "..", strings.TrimSpace(name) != name:
		return false
	case strings.Trim(name, "+-0123456789") == "":
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune(notInUser, r) || !unicode.IsPrint(r)
	})
}
