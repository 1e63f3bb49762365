package httpapi

import (
	"context"
	"maps"
	"time"

	"carillon/internal/auth"
	"carillon/internal/common"
)

const (
	// recheck is how often it is asked who follows a stream. What was taken away is believed for
	// three seconds more, so that the stream ends within five.
	recheck = 2 * time.Second
	// rejudge is how often it is looked up what they may read, while their rights are the same.
	rejudge = time.Minute
)

// vigil sees that the one who follows a stream is who they were, and may still read it.
type vigil struct {
	may    func(context.Context) error
	who    auth.Identity // who was judged last
	asked  time.Time
	judged time.Time
}

// newVigil begins one for somebody who may read just now; may tells whether they still do.
func newVigil(ctx context.Context, may func(context.Context) error) *vigil {
	v := &vigil{may: may, asked: time.Now(), judged: time.Now()}
	v.who, _ = identity(ctx)
	return v
}

// left is how long it may be put off to ask.
func (v *vigil) left() time.Duration { return recheck - time.Since(v.asked) }

// still asks, where it is time to. Where nobody can tell just now, they still may.
func (v *vigil) still(ctx context.Context) bool {
	if v.left() > 0 {
		return true
	}
	v.asked = time.Now()
	again, err := asAgain(ctx)
	if err == nil {
		who, _ := identity(again)
		if who.Role == v.who.Role && maps.Equal(who.Grants, v.who.Grants) && time.Since(v.judged) < rejudge {
			return true
		}
		if err = v.may(again); err == nil {
			v.who, v.judged = who, time.Now()
		}
	}
	code := common.CodeOf(err)
	return code != common.CodeUnauthenticated && code != common.CodeForbidden
}
