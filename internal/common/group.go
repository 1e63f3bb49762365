package common

import "strings"

// GroupPattern is the pattern of names of groups, for schemas; see ValidGroup.
const GroupPattern = `^[a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?$`

// GroupRule is the message of a fault in the name of a group.
const GroupRule = NameRule + "; groups are nested with '/', as in shop/eu"

// ValidGroup reports whether a text may name a group: a name, or several with '/' between them, of nested groups.
func ValidGroup(s string) bool {
	if len(s) > MaxName {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if !ValidName(part) {
			return false
		}
	}
	return true
}

// GroupLine returns a group and the groups that it is nested in, nearest first: shop/eu and shop. It is empty for no
// group.
func GroupLine(group string) (line []string) {
	for group != "" {
		line = append(line, group)
		group = group[:max(0, strings.LastIndexByte(group, '/'))]
	}
	return line
}

// InGroup reports whether a group is another one, or is nested in it.
func InGroup(group, outer string) bool {
	rest, begins := strings.CutPrefix(group, outer)
	return begins && outer != "" && (rest == "" || rest[0] == '/')
}

// IsNested reports whether a group is nested in another one.
func IsNested(group string) bool { return strings.Contains(group, "/") }
