package httpapi

import (
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/accounts"
	"carillon/internal/httpapi/audit"
	"carillon/internal/httpapi/backfills"
	"carillon/internal/httpapi/calendar"
	"carillon/internal/httpapi/channels"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/defaults"
	"carillon/internal/httpapi/flows"
	"carillon/internal/httpapi/hooks"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/locks"
	"carillon/internal/httpapi/maintenance"
	"carillon/internal/httpapi/pools"
	"carillon/internal/httpapi/runs"
	"carillon/internal/httpapi/schedules"
	"carillon/internal/httpapi/secrets"
	"carillon/internal/httpapi/stats"
	"carillon/internal/httpapi/system"
	"carillon/internal/httpapi/types"
	"carillon/internal/httpapi/view"
	"carillon/internal/httpapi/views"
	"carillon/internal/httpapi/workers"
	"carillon/internal/runlog"
)

// The ports of several resources.
type (
	// Jobs manages jobs.
	Jobs interface {
		flows.Jobs
		jobs.Store
		runs.Jobs
		schedules.Jobs
		backfills.Jobs
	}
	// Runs reads runs.
	Runs interface {
		jobs.Runs
		runs.Store
		stats.Runs
	}
	// Nodes reads the nodes of flow runs.
	Nodes interface {
		flows.Nodes
		runs.Nodes
	}
	// Acks reads acknowledgements.
	Acks interface {
		jobs.Acks
		runs.Acks
	}
	// Workers manages workers.
	Workers interface {
		jobs.Workers
		runs.Workers
		workers.Store
		stats.Workers
	}
	// Types lists the types of jobs, and remarks on them.
	Types interface {
		jobs.Types
		types.Types
	}
	// Logins authenticates callers, and creates and ends sessions.
	Logins interface {
		Auth
		accounts.Logins
	}
)

// Config holds all that the API needs.
type Config struct {
	Jobs      Jobs
	Runs      Runs
	Nodes     Nodes
	Acks      Acks
	Following runs.Following
	Workers   Workers
	Types     Types
	Masters   system.Masters
	Channels  channels.Channels
	Secrets   secrets.Secrets
	Views     views.Views
	Hooks     hooks.Hooks
	Locks     locks.Locks
	Windows   maintenance.Windows
	Pools     pools.Pools
	Defaults  defaults.Defaults
	Auth      Logins
	Access    accounts.Access
	SSO       accounts.SSO // nil: no single sign-on
	External  accounts.ExternalLogins
	Health    system.Health
	Stats     stats.Stats
	Ahead     schedules.Ahead
	Grouping  jobs.Grouping
	LastFires jobs.LastFires
	// References reads which jobs refer to channels and secrets.
	References view.References
	Counted    runlog.Statistics
	Samples    runlog.Usages
	Changes    jobs.Changes
	Audit      audit.Audit
	Feed       system.Feed
	Findings   jobs.Findings
	Doctor     system.Doctor
	Recovery   system.Recovery
	Metrics    http.Handler
	Schedules  *schedule.Interner
	Console    fs.FS  // the console's files; nil for none
	Guide      fs.FS  // the documentation that the console shows
	Version    string // of the product
	Timezone   string // default time zone of jobs and previews
	Mail       bool   // this master sends mail
	// Secure means that browsers connect by TLS, ours or a proxy's.
	Secure bool
	// PublicURL is the public address of the console; "" if unknown.
	PublicURL string
	// TrustedProxies are the networks of proxies whose X-Forwarded-For header is used.
	TrustedProxies []netip.Prefix
	APIRate        int // requests per second of each token, session and address; 0: unlimited
	Logger         *slog.Logger
	Now            func() time.Time
	// Answered is called for each request that reached a route; route is its pattern.
	Answered func(method, route string, status int, took time.Duration)
	// Refused is called for each request refused by a limit; may be nil.
	Refused func(reason string)
}

// check returns the problem of a request that is refused before it is routed.
type check func(http.ResponseWriter, *http.Request) *core.Problem

// releaseMode keeps gin from printing. Its mode is global to the process, so it is set once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// New returns the handler of the whole API and console.
func New(cfg Config) (http.Handler, error) {
	h, _, err := Build(cfg)
	return h, err
}

// Build also returns the router, whose table and document the tests check.
func Build(cfg Config) (http.Handler, *core.Router, error) {
	releaseMode()
	p := core.Problems{Log: cfg.Logger}
	engine := gin.New()
	engine.RedirectTrailingSlash, engine.RedirectFixedPath = false, false
	engine.HandleMethodNotAllowed = true
	if err := engine.SetTrustedProxies(nil); err != nil {
		return nil, nil, err
	}
	if cfg.Answered != nil {
		engine.Use(func(c *gin.Context) {
			began := cfg.Now()
			c.Next()
			cfg.Answered(c.Request.Method, c.FullPath(), c.Writer.Status(), cfg.Now().Sub(began))
		})
	}
	files, err := newConsole(cfg.Console, cfg.Guide)
	if err != nil {
		return nil, nil, err
	}
	api := newHuma(engine, cfg.Version, p)
	r := core.NewRouter(api, engine, p)
	counted := runlog.Unended(cfg.Counted, cfg.Jobs)
	expected := view.NewEstimator(cfg.Jobs, counted, cfg.Now)
	for _, resource := range []interface{ Register(*core.Router) }{
		&jobs.Resource{
			Jobs:      cfg.Jobs,
			Runs:      cfg.Runs,
			Workers:   cfg.Workers,
			Types:     cfg.Types,
			Channels:  cfg.Channels,
			Changes:   cfg.Changes,
			Findings:  cfg.Findings,
			Grouping:  cfg.Grouping,
			LastFires: cfg.LastFires,
			Acks:      cfg.Acks,
			Estimator: expected,
			Interner:  cfg.Schedules,
			Now:       cfg.Now,
		},
		&runs.Resource{
			Runs:      cfg.Runs,
			Samples:   cfg.Samples,
			Acks:      cfg.Acks,
			Jobs:      cfg.Jobs,
			Nodes:     cfg.Nodes,
			Workers:   cfg.Workers,
			Following: cfg.Following,
			Estimator: expected,
			Problems:  p,
			Log:       cfg.Logger,
			Now:       cfg.Now,
		},
		&flows.Resource{Jobs: cfg.Jobs, Runs: cfg.Runs, Nodes: cfg.Nodes},
		&schedules.Resource{
			Jobs:     cfg.Jobs,
			Channels: cfg.Channels,
			Ahead:    cfg.Ahead,
			Workers:  cfg.Workers,
			Interner: cfg.Schedules,
			Zone:     cfg.Timezone,
			Now:      cfg.Now,
		},
		&stats.Resource{
			Stats:   cfg.Stats,
			Counted: counted,
			Jobs:    cfg.Jobs,
			Workers: cfg.Workers,
			Runs:    cfg.Runs,
			Zone:    cfg.Timezone,
			Now:     cfg.Now,
		},
		&workers.Resource{Workers: cfg.Workers, Jobs: cfg.Jobs},
		&types.Resource{Types: cfg.Types},
		&channels.Resource{Channels: cfg.Channels, References: cfg.References, Jobs: cfg.Jobs},
		&audit.Resource{Audit: cfg.Audit},
		&secrets.Resource{Secrets: cfg.Secrets, References: cfg.References, Jobs: cfg.Jobs},
		&views.Resource{Views: cfg.Views},
		&hooks.Resource{Hooks: cfg.Hooks, Jobs: cfg.Jobs, PublicURL: cfg.PublicURL, Problems: p, Now: cfg.Now},
		&locks.Resource{Locks: cfg.Locks},
		&maintenance.Resource{Windows: cfg.Windows, Now: cfg.Now},
		&pools.Resource{Pools: cfg.Pools, References: cfg.References},
		&defaults.Resource{Defaults: cfg.Defaults, Changes: cfg.Changes, Channels: cfg.Channels},
		&backfills.Resource{Jobs: cfg.Jobs, Runs: cfg.Runs, Estimator: expected, Now: cfg.Now},
		&calendar.Resource{
			Jobs:     cfg.Jobs,
			Runs:     cfg.Runs,
			Counted:  counted,
			Interner: cfg.Schedules,
			Zone:     cfg.Timezone,
			Now:      cfg.Now,
		},
		&accounts.Resource{
			Auth:     cfg.Auth,
			Access:   cfg.Access,
			SSO:      cfg.SSO,
			External: cfg.External,
			Secure:   cfg.Secure,
			Log:      cfg.Logger,
			Now:      cfg.Now,
		},
		&system.Resource{
			Health:   cfg.Health,
			Doctor:   cfg.Doctor,
			Recovery: cfg.Recovery,
			Masters:  cfg.Masters,
			Feed:     cfg.Feed,
			Problems: p,
			Version:  cfg.Version,
			Zone:     cfg.Timezone,
			Mail:     cfg.Mail,
		},
	} {
		resource.Register(r)
	}
	r.Raw(http.MethodGet, "/metrics", core.Viewer, cfg.Metrics)
	if err := describe(r); err != nil {
		return nil, nil, err
	}
	registerDocs(r)
	if r.Err != nil {
		return nil, nil, r.Err
	}
	engine.NoRoute(gin.WrapH(noRoute(files, p)))
	engine.NoMethod(gin.WrapH(noMethod(p)))

	crossSite, err := newCrossSite(p, cfg.Secure, cfg.PublicURL)
	if err != nil {
		return nil, nil, err
	}
	refused := newRefusals(cfg.Refused, cfg.Now, cfg.Logger)
	gate := &gate{
		auth:     cfg.Auth,
		problems: p,
		cookie:   accounts.CookieName(cfg.Secure),
		rates:    newRates(cfg.APIRate, cfg.Now),
		refused:  refused,
		public: func(req *http.Request) bool {
			if r.Public(req.Method, req.URL.Path) || core.CallsHook(req) {
				return true
			}
			_, ok := files.find(req)
			return ok && !r.Knows(req.URL.Path)
		},
	}
	// What a request passes, in this order. Around it, observe assigns an id, logs, and converts a panic to a problem;
	// after it come the compressor of answers, the router, which counts requests, and the guard of the operation
	// (role, parameters, body).
	checks := []check{
		harden(cfg.Secure),    // sets security headers
		spareOnly(p, refused), // serves health checks only, beyond the limit of connections
		gate.check,            // limits rates, and requires credentials
		crossSite,             // refuses what pages of other sites send
		plainPaths(p),         // refuses encoded characters in paths of the API
	}
	serve := newCompressor().wrap(engine)
	return observe(cfg.Logger, p, cfg.TrustedProxies, func(w http.ResponseWriter, req *http.Request) {
		for _, check := range checks {
			if problem := check(w, req); problem != nil {
				p.Write(w, req, problem)
				return
			}
		}
		serve(w, req)
	}), r, nil
}
