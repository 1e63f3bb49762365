package core

import (
	"context"
	"maps"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

const (
	// Recheck is the interval of authenticating the caller of a stream again. Credentials are
	// cached for three seconds, so a stream ends within five seconds after they have ended.
	Recheck = 2 * time.Second
	// decideAgain is the interval of checking permissions again while the caller's rights are
	// unchanged.
	decideAgain = time.Minute
)

// streamAuth checks that the caller of a stream is still authenticated, and still has the permission to
// read.
type streamAuth struct {
	may       func(context.Context) error
	who       access.Identity // identity at the last check
	checkedAt time.Time
	decidedAt time.Time
}

// NewStreamAuth returns a streamAuth for a caller with permission to read; may checks the permission.
func NewStreamAuth(ctx context.Context, may func(context.Context) error) *streamAuth {
	v := &streamAuth{may: may, checkedAt: time.Now(), decidedAt: time.Now()}
	v.who, _ = Identity(ctx)
	return v
}

// Left returns the time until the next check is due.
func (v *streamAuth) Left() time.Duration { return Recheck - time.Since(v.checkedAt) }

// Valid checks the caller if a check is due. If the check is impossible now, the stream continues.
func (v *streamAuth) Valid(ctx context.Context) bool {
	if v.Left() > 0 {
		return true
	}
	v.checkedAt = time.Now()
	again, err := reauthenticated(ctx)
	if err == nil {
		who, _ := Identity(again)
		if who.Role == v.who.Role && maps.Equal(who.Grants, v.who.Grants) && time.Since(v.decidedAt) < decideAgain {
			return true
		}
		if err = v.may(again); err == nil {
			v.who, v.decidedAt = who, time.Now()
		}
	}
	code := common.CodeOf(err)
	return code != common.CodeUnauthenticated && code != common.CodeForbidden
}
