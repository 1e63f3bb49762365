package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Tokens are what scripts show.
type Tokens interface {
	Tokens(ctx context.Context) ([]auth.TokenRecord, error)
	Token(ctx context.Context, id string) (auth.TokenRecord, error)
	// CreateToken also gives the token in the clear.
	CreateToken(ctx context.Context, actor common.Actor, wish auth.TokenWish) (token string, record auth.TokenRecord, err error)
	// RevokeToken leaves the last way in for an admin: CodeConflict.
	RevokeToken(ctx context.Context, actor common.Actor, id string) error
}

type tokensResource struct {
	tokens Tokens
	now    func() time.Time
}

// Token is an API token, without its secret.
type Token struct {
	ID           string     `json:"id" doc:"The middle of the token's text."`
	Name         string     `json:"name" doc:"What it is for."`
	Role         auth.Role  `json:"role" enum:"viewer,operator,editor,admin" doc:"What it may do at most; one of a user may no more than the user."`
	Groups       []string   `json:"groups,omitempty" nullable:"false" doc:"The only groups that it is good for; absent for all."`
	User         string     `json:"user,omitempty" doc:"Whose it is."`
	CreatedAt    time.Time  `json:"createdAt"`
	CreatedBy    string     `json:"createdBy,omitempty"`
	ExpiresAt    *time.Time `json:"expiresAt,omitempty" doc:"Absent for one that does not expire."`
	Expired      bool       `json:"expired,omitempty" doc:"It is of no use any more, and listed for another week."`
	LastUsedAt   *time.Time `json:"lastUsedAt,omitempty" doc:"When it was last used, to the minute."`
	LastUsedFrom string     `json:"lastUsedFrom,omitempty" doc:"The address that it was last used from."`
	Token        string     `json:"token,omitempty" doc:"The token itself. It is not shown again."`
}

// TokenDefinition says what a new token is to be.
type TokenDefinition struct {
	Name      string    `json:"name" minLength:"1" maxLength:"100" doc:"What it is for." example:"nightly deploy"`
	Role      auth.Role `json:"role" enum:"viewer,operator,editor,admin" doc:"What it may do at most." example:"operator"`
	Groups    []string  `json:"groups,omitempty" nullable:"false" doc:"The only groups that it is to be good for; all where not given." example:"[\"reports\"]"`
	ExpiresIn string    `json:"expiresIn,omitempty" maxLength:"32" doc:"How long it lives: a duration, or never; 90d where not given." example:"90d"`
	User      string    `json:"user,omitempty" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Whose it is to be: the one who asks where not given. For others than oneself only admins may ask."`
}

// TokenPath names a token.
type TokenPath struct {
	ID string `path:"id" pattern:"^[a-z2-7]{16}$" doc:"Id of the token."`
}

type tokenCreateInput struct{ Body TokenDefinition }

type tokensInput struct {
	Paging
	User string `query:"user" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only those of this user."`
}

type tokenOutput struct{ Body Token }

type tokensOutput struct{ Body Page[Token] }

func (s *tokensResource) register(r *router) {
	op := func(id, method, path, summary, description string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: "/api/v1/tokens" + path, Summary: summary, Description: description, Tags: []string{"access"}}
	}
	register(r, route{access: needs(auth.Viewer), Operation: op("list-tokens", http.MethodGet, "", "Tokens, by name",
		"Those of the one who asks; for admins everywhere, all of them.")}, s.list)
	create := op("create-token", http.MethodPost, "", "Make a token",
		"The answer has the token itself, once. It belongs to the user who asks, never may more than that user, and goes when the user does. One has to be logged in with a session: only an admin's token can make others.")
	create.DefaultStatus = http.StatusCreated
	register(r, route{access: needs(auth.Viewer), Operation: create}, s.create)
	register(r, route{access: needs(auth.Viewer), Operation: op("get-token", http.MethodGet, "/{id}", "One token", "One's own; for admins everywhere, any.")}, s.get)
	remove := op("delete-token", http.MethodDelete, "/{id}", "Take a token away",
		"It is refused by all masters within seconds, and sessions that came from it are over. A token that is not an admin's can take away itself only. The last way for an admin to come in stays.")
	remove.DefaultStatus = http.StatusNoContent
	register(r, route{access: needs(auth.Viewer), Operation: remove}, s.delete)
}

// ownsToken tells whether a token is one that the one who asks may know of.
func ownsToken(ctx context.Context, t *auth.TokenRecord) bool {
	who, ok := identity(ctx)
	switch {
	case !ok:
		return false
	case who.May(auth.Admin, ""):
		return true
	case t.UserID != "":
		return t.UserID == who.UserID
	}
	return t.ID == who.Token
}

func (s *tokensResource) list(ctx context.Context, in *tokensInput) (*tokensOutput, error) {
	found, err := s.tokens.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(t auth.TokenRecord) bool {
		return !ownsToken(ctx, &t) || in.User != "" && t.User != in.User
	})
	key := func(t *auth.TokenRecord) string { return t.Name + "\x00" + t.ID }
	slices.SortFunc(found, func(a, b auth.TokenRecord) int { return cmp.Compare(key(&a), key(&b)) })
	found, next, err := cut(asked("tokens", "user", in.User), found, key, &in.Paging)
	if err != nil {
		return nil, err
	}
	items := make([]Token, len(found))
	for i := range found {
		items[i] = s.tokenOf(&found[i])
	}
	return &tokensOutput{Body: page(items, next)}, nil
}

func (s *tokensResource) own(ctx context.Context, id string) (auth.TokenRecord, error) {
	t, err := s.tokens.Token(ctx, id)
	if err == nil && !ownsToken(ctx, &t) {
		err = common.Errorf(common.CodeNotFound, "there is no token %q", id) // nobody learns of others'
	}
	return t, err
}

func (s *tokensResource) get(ctx context.Context, in *TokenPath) (*tokenOutput, error) {
	t, err := s.own(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &tokenOutput{Body: s.tokenOf(&t)}, nil
}

func (s *tokensResource) create(ctx context.Context, in *tokenCreateInput) (*tokenOutput, error) {
	wish, err := wishOf(&in.Body)
	if err != nil {
		return nil, err
	}
	if wish.User, err = tokenOwner(ctx, wish.User); err != nil {
		return nil, err
	}
	text, t, err := s.tokens.CreateToken(ctx, actor(ctx), wish)
	if err != nil {
		return nil, err
	}
	out := &tokenOutput{Body: s.tokenOf(&t)}
	out.Body.Token = text
	return out, nil
}

// tokenOwner is whose a new token will be. A token that is not an admin's makes none: it
// would outlive its own end, and what it is bound to.
func tokenOwner(ctx context.Context, wished string) (string, error) {
	who, ok := identity(ctx)
	if !ok {
		return "", errNoCredentials()
	}
	if who.May(auth.Admin, "") {
		if wished == "" && who.UserID != "" {
			return who.User, nil
		}
		return wished, nil
	}
	switch {
	case wished != "" && (wished != who.User || who.UserID == ""):
		return "", &common.Error{Code: common.CodeForbidden, Reason: "for_others", Message: "only admins make tokens for others"}
	case who.UserID == "":
		return "", &common.Error{Code: common.CodeForbidden, Reason: "no_user", Message: "there is no user here whom the token could belong to",
			Hint: "ask an admin for a token"}
	case !who.Session || who.Token != "":
		return "", &common.Error{Code: common.CodeForbidden, Reason: "token_by_token", Message: "a token cannot make another one", Hint: "log in with your password"}
	}
	return who.User, nil
}

// notByToken keeps a token, unless it is an admin's, from ending what of its user is not
// its own: who finds a token that may only read is not to stop all the others.
func notByToken(ctx context.Context, own string) error {
	who, ok := identity(ctx)
	if ok && (who.Token == "" || who.Token == own || who.May(auth.Admin, "")) {
		return nil
	}
	return &common.Error{Code: common.CodeForbidden, Reason: "token_by_token", Message: "a token can take away itself only", Hint: "log in with your password"}
}

// Bounds of a token's life.
const (
	minTokenLife = time.Minute
	maxTokenLife = 10 * 366 * 24 * time.Hour
	never        = "never"
)

func wishOf(d *TokenDefinition) (auth.TokenWish, error) {
	wish := auth.TokenWish{Name: d.Name, Role: d.Role, Groups: d.Groups, User: d.User, TTL: auth.TokenLife}
	var faults []common.Fault
	if d.Groups != nil && len(d.Groups) == 0 {
		faults = append(faults, common.Fault{Location: "groups", Code: "required", Message: "must name a group",
			Hint: "leave it out for a token that is good for all groups"})
	}
	switch d.ExpiresIn {
	case "":
	case never:
		wish.TTL = 0
	default:
		life, err := common.Duration(d.ExpiresIn).Value()
		if err != nil || life < minTokenLife || life > maxTokenLife {
			faults = append(faults, common.Fault{Location: "expiresIn", Code: "duration", Value: common.Excerpt(d.ExpiresIn),
				Message: "must be a duration from 1m to 3660d, or never", Hint: "write 12h, 90d or never"})
		}
		wish.TTL = life
	}
	if len(faults) > 0 {
		return wish, common.Invalid("the token cannot be made", faults...)
	}
	return wish, nil
}

func (s *tokensResource) delete(ctx context.Context, in *TokenPath) (*struct{}, error) {
	if _, err := s.own(ctx, in.ID); err != nil {
		return nil, err
	}
	if err := notByToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return nil, s.tokens.RevokeToken(ctx, actor(ctx), in.ID)
}

func (s *tokensResource) tokenOf(t *auth.TokenRecord) Token {
	out := Token{ID: t.ID, Name: t.Name, Role: t.Role, Groups: t.Groups, User: t.User, CreatedAt: t.CreatedAt, CreatedBy: t.CreatedBy,
		Expired: !t.Alive(s.now()), LastUsedFrom: t.LastUse.Remote}
	if !t.ExpiresAt.IsZero() {
		out.ExpiresAt = &t.ExpiresAt
	}
	if !t.LastUse.At.IsZero() {
		out.LastUsedAt = &t.LastUse.At
	}
	return out
}
