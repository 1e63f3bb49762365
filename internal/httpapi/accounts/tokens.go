package accounts

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Tokens manages API tokens.
type Tokens interface {
	Tokens(ctx context.Context) ([]access.TokenRecord, error)
	Token(ctx context.Context, id string) (access.TokenRecord, error)
	// CreateToken also returns the token in the clear.
	CreateToken(ctx context.Context, actor common.Actor, wanted access.TokenRequest) (token string,
		record access.TokenRecord, err error)
	// RevokeToken keeps the last token with admin access: CodeConflict.
	RevokeToken(ctx context.Context, actor common.Actor, id string) error
}

type tokensResource struct {
	tokens Tokens
	now    func() time.Time
}

// Token is an API token, without its secret.
type Token struct {
	ID           string      `json:"id" doc:"Id: the middle part of the token."`
	Name         string      `json:"name" doc:"Purpose of the token."`
	Role         access.Role `json:"role" enum:"viewer,operator,editor,admin" doc:"Upper bound of its rights; a user's token has at most the user's rights."`
	Groups       []string    `json:"groups,omitempty" nullable:"false" doc:"Groups to which it is limited; absent for all."`
	User         string      `json:"user,omitempty" doc:"Owner."`
	CreatedAt    time.Time   `json:"createdAt"`
	CreatedBy    string      `json:"createdBy,omitempty"`
	ExpiresAt    *time.Time  `json:"expiresAt,omitempty" doc:"Absent if the token does not expire."`
	Expired      bool        `json:"expired,omitempty" doc:"The token has expired; it is listed for another week."`
	LastUsedAt   *time.Time  `json:"lastUsedAt,omitempty" doc:"Time of the last use, to the minute."`
	LastUsedFrom string      `json:"lastUsedFrom,omitempty" doc:"Client address of the last use."`
	Token        string      `json:"token,omitempty" doc:"The token. It is not shown again."`
}

// TokenDefinition is a request for a token.
type TokenDefinition struct {
	Name      string      `json:"name" minLength:"1" maxLength:"100" doc:"Purpose of the token." example:"nightly deploy"`
	Role      access.Role `json:"role" enum:"viewer,operator,editor,admin" doc:"Upper bound of its rights." example:"operator"`
	Groups    []string    `json:"groups,omitempty" nullable:"false" doc:"Groups to limit it to. Default: all." example:"[\"reports\"]"`
	ExpiresIn string      `json:"expiresIn,omitempty" maxLength:"32" doc:"Lifetime: a duration, or never. Default: 90d." example:"90d"`
	User      string      `json:"user,omitempty" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Owner. Default: the caller. Only admins may create tokens for others."`
}

// TokenPath names a token.
type TokenPath struct {
	ID string `path:"id" pattern:"^[a-z2-7]{16}$" doc:"Id of the token."`
}

type tokenCreateInput struct{ Body TokenDefinition }

type tokensInput struct {
	core.Paging
	User string `query:"user" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Only tokens of this user."`
}

func (s *tokensResource) register(r *core.Router) {
	op := core.NewOperations("access", "/api/v1/tokens")
	core.Register(r, op.Get("list-tokens", "", "List tokens", core.Viewer), s.list)
	create := op.Post("create-token", "", "Create a token", core.Viewer)
	create.DefaultStatus = http.StatusCreated
	core.Register(r, create, s.create)
	core.Register(r, op.Get("get-token", "/{id}", "Get a token", core.Viewer), s.get)
	core.Register(r, op.Delete("delete-token", "/{id}", "Delete a token", core.Viewer), s.delete)
}

// ownsToken reports whether the caller may see a token.
func ownsToken(ctx context.Context, t *access.TokenRecord) bool {
	who, ok := core.Identity(ctx)
	switch {
	case !ok:
		return false
	case who.May(access.Admin, ""):
		return true
	case t.UserID != "":
		return t.UserID == who.UserID
	}
	return t.ID == who.Token
}

func (s *tokensResource) list(ctx context.Context, in *tokensInput) (*core.Body[core.Page[Token]], error) {
	found, err := s.tokens.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(t access.TokenRecord) bool {
		return !ownsToken(ctx, &t) || in.User != "" && t.User != in.User
	})
	key := func(t *access.TokenRecord) string { return t.Name + "\x00" + t.ID }
	slices.SortFunc(found, func(a, b access.TokenRecord) int { return cmp.Compare(key(&a), key(&b)) })
	found, next, err := core.Cut(core.ListName("tokens", "user", in.User), found, key, &in.Paging)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(core.Items(found, s.tokenOf), next))
}

func (s *tokensResource) own(ctx context.Context, id string) (access.TokenRecord, error) {
	t, err := s.tokens.Token(ctx, id)
	if err == nil && !ownsToken(ctx, &t) {
		err = common.Errorf(common.CodeNotFound, "token %q not found", id) // other users' tokens are not disclosed
	}
	return t, err
}

func (s *tokensResource) get(ctx context.Context, in *TokenPath) (*core.Body[Token], error) {
	t, err := s.own(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return core.Reply(s.tokenOf(&t))
}

func (s *tokensResource) create(ctx context.Context, in *tokenCreateInput) (*core.Body[Token], error) {
	wanted, err := tokenRequest(&in.Body)
	if err != nil {
		return nil, err
	}
	if wanted.User, err = tokenOwner(ctx, wanted.User); err != nil {
		return nil, err
	}
	text, t, err := s.tokens.CreateToken(ctx, core.Actor(ctx), wanted)
	if err != nil {
		return nil, err
	}
	out := &core.Body[Token]{Body: s.tokenOf(&t)}
	out.Body.Token = text
	return out, nil
}

// tokenOwner returns the owner of a new token. A token that is not an admin's cannot create tokens:
// they would outlive its end and its limits.
func tokenOwner(ctx context.Context, wished string) (string, error) {
	who, ok := core.Identity(ctx)
	if !ok {
		return "", core.ErrNoCredentials()
	}
	if who.May(access.Admin, "") {
		if wished == "" && who.UserID != "" {
			return who.User, nil
		}
		return wished, nil
	}
	switch {
	case wished != "" && (wished != who.User || who.UserID == ""):
		return "", common.Errorf(common.CodeForbidden, "only admins can create tokens for others").
			WithReason("for_others")
	case who.UserID == "":
		return "", common.Errorf(common.CodeForbidden, "the login belongs to no user, and so cannot own a token").
			WithReason("no_user").WithHint("ask an admin for a token")
	case !who.Session || who.Token != "":
		return "", common.Errorf(common.CodeForbidden, "a token cannot create tokens").WithReason("token_by_token").
			WithHint("sign in with your password")
	}
	return who.User, nil
}

// notByToken refuses tokens, unless an admin's, that would end other tokens or sessions of their
// user: a stolen read-only token must not be able to stop the others.
func notByToken(ctx context.Context, own string) error {
	who, ok := core.Identity(ctx)
	if ok && (who.Token == "" || who.Token == own || who.May(access.Admin, "")) {
		return nil
	}
	return common.Errorf(common.CodeForbidden, "a token can delete only itself").WithReason("token_by_token").
		WithHint("sign in with your password")
}

// Bounds of a token's lifetime.
const (
	minTokenLife = time.Minute
	maxTokenLife = 10 * 366 * 24 * time.Hour
	never        = "never"
)

func tokenRequest(d *TokenDefinition) (access.TokenRequest, error) {
	wanted := access.TokenRequest{Name: d.Name, Role: d.Role, Groups: d.Groups, User: d.User, TTL: access.TokenLife}
	var faults common.Faults
	if d.Groups != nil && len(d.Groups) == 0 {
		faults.Add("groups", "required", nil,
			"must contain at least one group").Hint = "omit it for a token that is valid for all groups"
	}
	switch d.ExpiresIn {
	case "":
	case never:
		wanted.TTL = 0
	default:
		life, err := common.Duration(d.ExpiresIn).Value()
		if err != nil || life < minTokenLife || life > maxTokenLife {
			faults.Add("expiresIn", "duration", d.ExpiresIn,
				"must be a duration from 1m to 3660d, or never").Hint = "write 12h, 90d or never"
		}
		wanted.TTL = life
	}
	if len(faults) > 0 {
		return wanted, common.Invalid("the token cannot be created", faults...)
	}
	return wanted, nil
}

func (s *tokensResource) delete(ctx context.Context, in *TokenPath) (*struct{}, error) {
	if _, err := s.own(ctx, in.ID); err != nil {
		return nil, err
	}
	if err := notByToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return nil, s.tokens.RevokeToken(ctx, core.Actor(ctx), in.ID)
}

func (s *tokensResource) tokenOf(t *access.TokenRecord) Token {
	out := Token{
		ID:           t.ID,
		Name:         t.Name,
		Role:         t.Role,
		Groups:       t.Groups,
		User:         t.User,
		CreatedAt:    t.CreatedAt,
		CreatedBy:    t.CreatedBy,
		Expired:      !t.Alive(s.now()),
		LastUsedFrom: t.LastUse.Remote,
	}
	if !t.ExpiresAt.IsZero() {
		out.ExpiresAt = &t.ExpiresAt
	}
	if !t.LastUse.At.IsZero() {
		out.LastUsedAt = &t.LastUse.At
	}
	return out
}
