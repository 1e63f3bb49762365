package core

import (
	"regexp"
	"strconv"

	"carillon/internal/common"
)

// ETag returns the ETag of a version.
func ETag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// A proxy that compresses turns our tag into a weak one of the same version.
var etagPattern = regexp.MustCompile(`^(?:W/)?"([1-9][0-9]{0,18})"$`)

// Precondition parses If-Match and If-None-Match.
func Precondition(match, noneMatch string) (common.Precondition, error) {
	var pre common.Precondition
	if match != "" {
		m := etagPattern.FindStringSubmatch(match)
		if m == nil {
			return pre, BadParameter("header.If-Match", "etag", "must be one ETag, as returned with the job", match)
		}
		version, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return pre, common.Errorf(common.CodeStale, "the job has another version")
		}
		pre.Version = version
	}
	switch noneMatch {
	case "":
	case "*":
		pre.Absent = true
	default:
		return pre, BadParameter("header.If-None-Match", "etag", "must be *", noneMatch)
	}
	if pre.Absent && pre.Version != 0 {
		return pre, BadParameter("header.If-None-Match", "exclusive", "cannot be combined with If-Match", "")
	}
	return pre, nil
}
