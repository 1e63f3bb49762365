package etcdkit

import (
	"fmt"
	"strconv"
	"strings"
)

// floors are the lowest versions without known vulnerabilities in access control (CVE-2026-73499,
// CVE-2026-33413), by minor version.
var floors = map[[2]int]int{{3, 5}: 33, {3, 6}: 14, {3, 7}: 1}

// VersionFault returns what is wrong with a version of the etcd server; empty if nothing is.
func VersionFault(version string) string {
	var v [3]int
	core, _, _ := strings.Cut(version, "-")
	parts := strings.Split(core, ".")
	for i := range v {
		if i >= len(parts) {
			return fmt.Sprintf("%q is not a version", version)
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return fmt.Sprintf("%q is not a version", version)
		}
		v[i] = n
	}
	minor := [2]int{v[0], v[1]}
	floor, known := floors[minor]
	switch {
	case known && v[2] < floor:
		return fmt.Sprintf("%s lets users of etcd exceed their permissions; use %d.%d.%d or newer", core, v[0],
			v[1], floor)
	case minor[0] < 3 || minor[0] == 3 && minor[1] < 5:
		return core + " is too old; use 3.5.33, 3.6.14, 3.7.1 or newer"
	}
	return ""
}
