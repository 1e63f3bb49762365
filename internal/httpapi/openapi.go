package httpapi

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"carillon/internal/httpapi/accounts"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
)

func newHuma(engine *gin.Engine, version string, p core.Problems) huma.API {
	return humagin.New(engine, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Carillon", Version: version, Description: strings.TrimSpace(description),
				Contact: &huma.Contact{Name: "The maintainers of Carillon"},
				License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}},
			Servers: []*huma.Server{{URL: "/", Description: "The master that serves this document."}},
			Components: &huma.Components{Schemas: view.NewSchemas(), SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "An API token: car_<id>_<secret>."},
				"session": {
					Type:        "apiKey",
					In:          "cookie",
					Name:        accounts.CookieName(true),
					Description: "The console's session; ignored if a token is sent.",
				},
			}},
			Tags: tags(),
		},
		Formats: map[string]huma.Format{
			"application/json": huma.DefaultJSONFormat,
			"json":             huma.DefaultJSONFormat,
		},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{p.Transform},
	})
}

// tags are the subjects of operations; each operation has one of them.
func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "jobs", Description: "Definitions of jobs, one by one and in bulk, their versions and labels."},
		{Name: "runs", Description: "Executions of commands, and their output."},
		{Name: "fires", Description: "The ledger: one entry for each planned time of a job."},
		{Name: "workers", Description: "The machines that run commands."},
		{Name: "types", Description: "What runs can execute besides commands."},
		{Name: "notifications", Description: "Channels for notifications, and deliveries."},
		{Name: "schedules", Description: "Cron expressions: previews, forecasts and conversions."},
		{Name: "maintenance", Description: "Maintenance windows, in which jobs wait or skip their fires."},
		{Name: "locks", Description: "Named locks for scripts and programs."},
		{Name: "pools", Description: "Limits on runs across jobs."},
		{Name: "views", Description: "Named filters of the list of jobs."},
		{Name: "secrets", Description: "Values that jobs refer to by name."},
		{Name: "backfills", Description: "Runs of past fires of a job."},
		{Name: "stats", Description: "Statistics of runs."},
		{Name: "access", Description: "Users, tokens, sessions and the audit."},
		{Name: "system", Description: "Masters, events, health and version."},
	}
}

const description = `
The API of Carillon, a distributed cron. Lists page by an opaque cursor. Refusals are
application/problem+json with a stable code and the list of faults. Unknown fields and
parameters are refused; null says that an optional field is absent. Durations are Go
durations plus d for days; sizes have B, KiB, MiB or GiB; times are RFC 3339.
`
