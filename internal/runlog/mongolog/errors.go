package mongolog

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"carillon/internal/common"
)

// duplicate is the server's code for an existing id.
const duplicate = 11000

// passing returns the server's codes for temporary states: no primary, shutting down, disk full, a majority
// that was not reached in time.
func passing() []int {
	return []int{6, 7, 50, 64, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 14031}
}

// failure gives an error of the driver its code for callers, and removes secrets from its text.
func (s *Store) failure(ctx context.Context, err error) error {
	if _, coded := errors.AsType[*common.Error](err); coded {
		return err
	}
	if _, stored := errors.AsType[*unreadable](err); stored {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return &hidden{text: s.secrets.Replace(err.Error()), err: context.Canceled}
	}
	said := &hidden{text: s.secrets.Replace(err.Error()), err: err}
	if away(err) {
		return &common.Error{
			Code:    common.CodeUnavailable,
			Reason:  "log_store_away",
			Message: "the run log does not answer",
			Err:     said,
		}
	}
	return said
}

// away reports whether the server could not be reached, or could not answer temporarily. An error that is not
// a server's answer is a failure to reach one.
func away(err error) bool {
	answer, answered := errors.AsType[mongo.ServerError](err)
	if !answered || mongo.IsNetworkError(err) || mongo.IsTimeout(err) {
		return true
	}
	if slices.ContainsFunc(passing(), answer.HasErrorCode) {
		return true
	}
	if e, ok := errors.AsType[mongo.BulkWriteException](err); ok && e.WriteConcernError != nil {
		return true
	}
	return answer.HasErrorLabel("RetryableWriteError")
}

// unreadable is an error in stored data: the server did answer.
type unreadable struct{ err error }

func (u *unreadable) Error() string { return u.err.Error() }
func (u *unreadable) Unwrap() error { return u.err }

// hidden is an error whose text was stripped of secrets.
type hidden struct {
	text string
	err  error
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.err }

// secretsOf replaces the password of a URI, in its escaped and unescaped forms.
func secretsOf(uri string) *strings.Replacer {
	_, rest, _ := strings.Cut(uri, "://")
	at := strings.LastIndex(rest, "@")
	if at < 0 {
		return strings.NewReplacer()
	}
	_, password, _ := strings.Cut(rest[:at], ":")
	pairs := make([]string, 0, 4)
	for _, secret := range []string{uri, password, decoded(password)} {
		if secret != "" {
			pairs = append(pairs, secret, "(hidden)")
		}
	}
	return strings.NewReplacer(pairs...)
}

func decoded(s string) string {
	plain, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return plain
}
