package httpapi

import (
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"carillon/internal/access"
	"carillon/internal/common/schedule"
	"carillon/internal/httpapi/core"
	"carillon/internal/runlog"
)

// Config holds all that the API needs.
type Config struct {
	Jobs      Jobs
	Runs      Runs
	Following Following
	Workers   Workers
	Masters   Masters
	Channels  Channels
	Secrets   Secrets
	Auth      Auth
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
	cookie, attemptCookie := plainCookie, plainAttemptCookie
	if cfg.Secure {
		cookie, attemptCookie = secureCookie, secureAttemptCookie
	}
	times := &timetables{interner: cfg.Schedules, zone: cfg.Timezone, now: cfg.Now}
	expected := &outlook{jobs: cfg.Jobs, habits: runlog.NewHabits(cfg.Counted, cfg.Now), now: cfg.Now}
	jobs := &jobsResource{
		jobs:      cfg.Jobs,
		workers:   cfg.Workers,
		times:     times,
		runs:      cfg.Runs,
		outlook:   expected,
		channels:  cfg.Channels,
		findings:  cfg.Findings,
		following: cfg.Following,
		log:       cfg.Logger,
	}
	jobs.register(r)
	(&manyResource{jobsResource: jobs, problems: p}).register(r)
	versions := &versionsResource{changes: cfg.Changes, jobs: cfg.Jobs}
	versions.register(r)
	(&editsResource{jobsResource: jobs, versions: versions}).register(r)
	(&runsResource{
		runs:      cfg.Runs,
		following: cfg.Following,
		jobs:      cfg.Jobs,
		problems:  p,
		outlook:   expected,
	}).register(r)
	newSearch(cfg.Runs, cfg.Jobs, expected, p).register(r)
	(&firesResource{runs: cfg.Runs, jobs: cfg.Jobs, now: cfg.Now}).register(r)
	(&groupsResource{grouping: cfg.Grouping}).register(r)
	(&crontabResource{jobs: cfg.Jobs, zone: cfg.Timezone}).register(r)
	(&forecastResource{ahead: cfg.Ahead, now: cfg.Now}).register(r)
	(&workersResource{workers: cfg.Workers}).register(r)
	(&mastersResource{masters: cfg.Masters}).register(r)
	(&channelsResource{channels: cfg.Channels}).register(r)
	(&auditResource{audit: cfg.Audit}).register(r)
	(&feedResource{feed: cfg.Feed, problems: p}).register(r)
	(&secretsResource{secrets: cfg.Secrets}).register(r)
	times.register(r)
	(&statsResource{
		stats:   cfg.Stats,
		counted: cfg.Counted,
		jobs:    cfg.Jobs,
		workers: cfg.Workers,
		runs:    cfg.Runs,
		zone:    cfg.Timezone,
		now:     cfg.Now,
	}).register(r)
	sessions := &sessionsResource{
		auth:     cfg.Auth,
		sessions: cfg.Access,
		problems: p,
		networks: access.NewLimiter(loginBurst, loginWindow),
		accounts: access.NewLimiter(loginBurst, loginWindow),
		known:    access.NewLimiter(loginBurst, loginWindow),
		begun:    access.NewLimiter(sessionBurst, loginWindow),
		cookie:   cookie,
		secure:   cfg.Secure,
		now:      cfg.Now,
	}
	sessions.register(r)
	(&ssoResource{
		sso:      cfg.SSO,
		external: cfg.External,
		sessions: sessions,
		log:      cfg.Logger,
		cookie:   attemptCookie,
	}).register(r)
	(&usersResource{users: cfg.Access}).register(r)
	(&tokensResource{tokens: cfg.Access, now: cfg.Now}).register(r)
	(&doctorResource{doctor: cfg.Doctor}).register(r)
	(&recoveryResource{recovery: cfg.Recovery}).register(r)
	(&systemResource{health: cfg.Health, version: cfg.Version}).register(r)
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
		cookie:   cookie,
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
