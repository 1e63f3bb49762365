package main

import (
	"fmt"

	"carillon/internal/apiclient"
)

func masterResource() *resource {
	return &resource{
		name: "master", plural: "masters",
		get: verb{use: "masters", short: "List live masters and which one is elected"},
		columns: columnsOf("HOST,ADDRESS,VERSION,SINCE,ELECTED,+ID,+CLOCK,+AHEAD",
			func(m *apiclient.Master, _ bool) []any {
				ahead := fmt.Sprintf("%dms", m.SkewMs)
				return []any{m.Host, m.Address, m.Version, m.StartedAt, m.LeadsSince, m.Id, m.Clock, ahead}
			}),
		list:      all((*client).ListMasters),
		unwatched: true,
	}
}
