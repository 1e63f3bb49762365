package audit

import (
	"fmt"
	"time"

	"carillon/internal/common"
)

// unreadableFor is how long after the last unreadable change the condition lasts.
const unreadableFor = 24 * time.Hour

// Unreadable counts the changes that did not decode when they were sealed, for the condition. It begins anew with the
// first one after unreadableFor without any.
type Unreadable struct {
	Count int64     `json:"count"`
	First time.Time `json:"first"` // when the first of them was sealed
	Last  time.Time `json:"last"`  // when the last of them was sealed
	Seq   int64     `json:"seq"`   // sequence number of the last of them
}

// add counts one, once: a change is sealed again if its delivery failed.
func (u *Unreadable) add(seq int64, now time.Time) {
	if seq <= u.Seq {
		return
	}
	if now.Sub(u.Last) >= unreadableFor {
		u.Count, u.First = 0, now
	}
	u.Count, u.Last, u.Seq = u.Count+1, now, seq
}

// merge keeps the newer one of what is known here and in a head, in both.
func (s *Sealer) merge(head *Head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreadable.Seq > head.Unreadable.Seq {
		head.Unreadable = s.unreadable
	}
	s.unreadable = head.Unreadable
}

// forget drops what is known here: the next elected master reads it from the head.
func (s *Sealer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreadable, s.read = Unreadable{}, false
}

// Unreadable returns audit_unreadable until unreadableFor after the last change that did not decode.
func (s *Sealer) Unreadable() []common.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.unreadable
	if u.Count == 0 || time.Since(u.Last) >= unreadableFor {
		return nil
	}
	return []common.Condition{{Code: common.ConditionAuditUnreadable, From: u.First.UTC(),
		Data: common.Words{"count": fmt.Sprint(u.Count), "seq": fmt.Sprint(u.Seq)},
		Text: fmt.Sprintf(
			"%s in etcd did not decode when sealed; the last one is entry %d of the audit",
			common.Count(u.Count, "change", "changes"), u.Seq)}}
}
