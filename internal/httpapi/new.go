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
	"carillon/internal/httpapi/core"
	"carillon/internal/runlog"
)

// The ports of several resources.
type (
	// Jobs manages jobs.
	Jobs interface {
		jobStore
		runJobs
		jobValidator
		statsJobs
	}
	// Runs reads runs.
	Runs interface {
		lastRuns
		runStore
		statsRuns
	}
	// Workers manages workers.
	Workers interface {
		placements
		runWorkers
		workerStore
		statsWorkers
	}
	// Logins authenticates callers, and creates and ends sessions.
	Logins interface {
		Auth
		logins
	}
)

// Config holds all that the API needs.
type Config struct {
	Jobs      Jobs
	Runs      Runs
	Following outputFollower
	Workers   Workers
	Masters   Masters
	Channels  Channels
	Secrets   Secrets
	Auth      Logins
	Access    Access
	SSO       SSO // nil: no single sign-on
	External  ExternalLogins
	Health    Health
	Stats     Stats
	Ahead     Ahead
	Grouping  Grouping
	Counted   runlog.Statistics
	Changes   Changes
	Audit     Audit
	Feed      Feed
	Findings  Findings
	Doctor    Doctor
	Recovery  Recovery
	Metrics   http.Handler
	Schedules *schedule.Interner
	Console   fs.FS  // the console's files; nil for none
	Version   string // of the product
	Timezone  string // default time zone of jobs and previews
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

// releaseMode keeps gin from printing. Its mode is global to the process, so it is set once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })

// New returns the handler of the whole API and console.
func New(cfg Config) (http.Handler, error) {
	h, _, err := build(cfg)
	return h, err
}

// build also returns the router, whose table and document the tests check.
func build(cfg Config) (http.Handler, *core.Router, error) {
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
	files, err := newConsole(cfg.Console)
	if err != nil {
		return nil, nil, err
	}
	api := newHuma(engine, cfg.Version, p)
	r := core.NewRouter(api, engine, p)
	expected := newOutlook(cfg.Jobs, cfg.Counted, cfg.Now)
	for _, resource := range []interface{ register(*core.Router) }{
		&jobsResource{
			jobs:     cfg.Jobs,
			runs:     cfg.Runs,
			workers:  cfg.Workers,
			channels: cfg.Channels,
			changes:  cfg.Changes,
			findings: cfg.Findings,
			grouping: cfg.Grouping,
			outlook:  expected,
			interner: cfg.Schedules,
			now:      cfg.Now,
		},
		&runsResource{
			runs:      cfg.Runs,
			jobs:      cfg.Jobs,
			workers:   cfg.Workers,
			following: cfg.Following,
			outlook:   expected,
			problems:  p,
			log:       cfg.Logger,
			now:       cfg.Now,
		},
		&timetables{
			jobs:     cfg.Jobs,
			ahead:    cfg.Ahead,
			interner: cfg.Schedules,
			zone:     cfg.Timezone,
			now:      cfg.Now,
		},
		&statsResource{
			stats:   cfg.Stats,
			counted: cfg.Counted,
			jobs:    cfg.Jobs,
			workers: cfg.Workers,
			runs:    cfg.Runs,
			zone:    cfg.Timezone,
			now:     cfg.Now,
		},
		&workersResource{workers: cfg.Workers},
		&channelsResource{channels: cfg.Channels},
		&auditResource{audit: cfg.Audit},
		&secretsResource{secrets: cfg.Secrets},
		&accounts{
			auth:     cfg.Auth,
			access:   cfg.Access,
			sso:      cfg.SSO,
			external: cfg.External,
			secure:   cfg.Secure,
			log:      cfg.Logger,
			now:      cfg.Now,
		},
		&systemResource{
			health:   cfg.Health,
			doctor:   cfg.Doctor,
			recovery: cfg.Recovery,
			masters:  cfg.Masters,
			feed:     cfg.Feed,
			version:  cfg.Version,
		},
	} {
		resource.register(r)
	}
	r.Raw(http.MethodGet, "/metrics", core.Viewer, cfg.Metrics)
	if err := describe(api, r.Operations); err != nil {
		return nil, nil, err
	}
	registerDocs(r)
	if r.Err != nil {
		return nil, nil, r.Err
	}
	engine.NoRoute(gin.WrapH(noRoute(files, p)))
	engine.NoMethod(gin.WrapH(noMethod(p)))

	var h http.Handler = engine
	h = plainPaths(p, h)
	h, err = crossSite(p, cfg.Secure, cfg.PublicURL, h)
	if err != nil {
		return nil, nil, err
	}
	refused := newRefusals(cfg.Refused, cfg.Now, cfg.Logger)
	h = &gate{
		auth:     cfg.Auth,
		problems: p,
		cookie:   CookieName(cfg.Secure),
		rates:    newRates(cfg.APIRate, cfg.Now),
		refused:  refused,
		next:     h,
		public: func(req *http.Request) bool {
			if r.Public(req.Method, req.URL.Path) {
				return true
			}
			if r.Knows(req.URL.Path) {
				return false
			}
			_, ok := files.find(req)
			return ok
		},
	}
	h = spareOnly(p, refused, h)
	h = harden(cfg.Secure, h)
	return observe(cfg.Logger, p, cfg.TrustedProxies, h), r, nil
}
