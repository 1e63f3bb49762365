package core

import (
	"net/http"
	"regexp"
	"strings"
)

// HookPath is the path below which the last part is the key of a hook: a request authenticates by its path alone, and
// neither its cookies nor the site that it comes from count.
const HookPath = "/api/v1/hooks/"

// CallsHook reports whether a request is for a hook.
func CallsHook(r *http.Request) bool {
	key, found := strings.CutPrefix(r.URL.Path, HookPath)
	return found && key != "" && !strings.Contains(key, "/") && r.Method == http.MethodPost
}

// shownKey stands for the key of a hook.
const shownKey = "{key}"

var hookKeys = regexp.MustCompile(`crnh_[^/]*`)

// ShownPath returns a path as logs and errors may show it: without the key of a hook, also where the key is misplaced.
func ShownPath(path string) string {
	if strings.HasPrefix(path, HookPath) && path != HookPath {
		return HookPath + shownKey
	}
	return hookKeys.ReplaceAllLiteralString(path, shownKey)
}
