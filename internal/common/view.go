package common

import (
	"net/url"
	"strings"
	"time"
)

// Bounds of saved views.
const (
	MaxViewName  = 60
	MaxViewQuery = 2000
)

// SharedViews is the owner of the views that all users see. No user has this id, since NewID creates those.
const SharedViews = "shared"

// View is a named filter of the list of jobs. The owner is a part of its key.
type View struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Query     string    `json:"query"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
	Shared    bool      `json:"-"`
	Version   int64     `json:"-"` // the etcd revision of its last change
}

// ViewDefinition is the desired state of a view.
type ViewDefinition struct {
	Name   string `json:"name" minLength:"1" maxLength:"60" doc:"Shown in the console." example:"Paused in the shop"`
	Query  string `json:"query" maxLength:"2000" doc:"The filter, as the query of the console's address." example:"group=shop&state=paused"`
	Shared bool   `json:"shared,omitempty" doc:"Visible to all users; needs the role editor. Otherwise only to you."`
}

// Faults returns the faults of the request.
func (w *ViewDefinition) Faults() []Fault {
	c := &checker{}
	if strings.TrimSpace(w.Name) == "" {
		c.add("name", "required", nil, "is required")
	}
	c.line("name", w.Name, MaxViewName)
	// In full, since "query" alone is the query of the request.
	c.line("body.query", w.Query, MaxViewQuery)
	if _, err := url.ParseQuery(w.Query); err != nil || strings.ContainsAny(w.Query, "?#") {
		c.add("body.query", "query", w.Query, "is not the query of an address, such as group=shop&state=paused")
	}
	return c.faults
}
