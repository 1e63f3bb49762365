package main

import (
	"cmp"

	"carillon/internal/apiclient"
)

func deliveryResource() *resource {
	return &resource{
		name: "delivery", plural: "deliveries",
		get: verb{use: "deliveries", short: "List notifications sent or waiting, newest first"},
		columns: columnsOf("CREATED,CHANNEL,STATUS,TRIES,TEXT,+CODE,+NEXT,+ERROR,+ID",
			func(d *apiclient.Delivery, _ bool) []any {
				code := cmp.Or(string(value(d.Code)), "-")
				return []any{d.CreatedAt, d.Channel, d.Status, d.Attempts, d.Text, code, d.NextAt, d.Error, d.Id}
			}),
		list: some((*client).ListDeliveries),
		filters: filters{
			{name: "channel", help: "only on this channel"},
			{name: "job", help: "only about this job"},
			{name: "status", help: "only with this status: waiting, sent or failed"},
		},
		limit:  &limit{50, "maximum number of deliveries; 0 for all"},
		newest: true,
	}
}
