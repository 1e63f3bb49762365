package main

import (
	"encoding/json"

	"carillon/internal/apiclient"
)

func sessionResource() *resource {
	return &resource{
		name: "session", plural: "sessions",
		get:    verb{use: "sessions", short: "List sign-in sessions: yours, or all for admins"},
		delete: verb{use: "sessions ID...", short: "End sessions"},
		columns: columnsOf("ID,NAME,USER,SINCE,UNTIL,FROM", func(s *apiclient.Session, _ bool) []any {
			return []any{s.Id, s.Name, s.User, s.CreatedAt, s.ExpiresAt, s.Remote}
		}),
		list: some((*client).ListSessions), remove: byID((*client).DeleteSession),
		filters: ofUser(),
		owner: func(item json.RawMessage) string {
			s, _ := decode[apiclient.Session](item) // an unreadable one has no owner
			return value(s.User)
		},
		whole:  true,
		newest: true,
		offer:  func(o *offered) (string, string) { return o.ID, o.Name },
	}
}

func ofUser() filters { return filters{{name: "user", help: "only those of this user"}} }
