package apitest

import (
	"context"
	"strings"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

// The tokens of the fake are "<role>-token".
func (f *Fakes) Authenticate(_ context.Context, c access.Credential) (access.Identity, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if role, ok := strings.CutSuffix(c.Token, "-token"); ok && access.Role(role).Valid() {
		return access.Identity{Name: "the " + role, Role: access.Role(role), Token: role}, nil
	}
	if who, ok := f.Sessions[c.Session]; ok && c.Session != "" {
		return who, nil
	}
	return access.Identity{}, common.Errorf(common.CodeUnauthenticated, "the token or session is not valid")
}

func (f *Fakes) KnownNetwork(context.Context, string, string) bool { return false }

func (f *Fakes) Login(ctx context.Context, l access.Login) (access.Session, error) {
	var who access.Identity
	if l.Code != "" {
		f.Mu.Lock()
		found, ok := f.Codes[l.Code]
		delete(f.Codes, l.Code)
		f.Mu.Unlock()
		if !ok {
			return access.Session{}, common.Errorf(common.CodeUnauthenticated, "the code is not valid")
		}
		who = found
	} else {
		var err error
		if who, err = f.Authenticate(ctx, access.Credential{Token: l.Token}); err != nil {
			return access.Session{}, err
		}
	}
	who.Session = true
	secret := access.NewSecret()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Sessions[secret] = who
	return access.Session{Secret: secret, Identity: who, ExpiresAt: time.Now().Add(access.SessionAbsolute)}, nil
}

func (f *Fakes) Logout(_ context.Context, _ common.Actor, session string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	delete(f.Sessions, session)
	return nil
}
