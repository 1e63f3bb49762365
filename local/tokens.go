package local

import (
	"context"
	"errors"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/master/datadir"
)

// tokenName is the name of the token with which apps apply their definitions.
const tokenName = "apps of this program"

// actor returns the actor of changes that the standalone makes.
func actor() common.Actor { return common.Actor{Name: "carillon/local", Remote: "console"} }

// createTokens creates the admin token at the first start, and a token of an editor for the apps at each.
func (s *Standalone) createTokens(ctx context.Context) error {
	done, err := s.access.Bootstrapped(ctx)
	if err != nil {
		return err
	}
	if done {
		err = datadir.NameToken(s.dir)
	} else {
		_, err = datadir.FirstToken(ctx, s.access, s.dir)
	}
	if err != nil {
		return err
	}
	if err := s.revokeTokens(ctx); err != nil { // those of a process that was killed
		return err
	}
	s.token, _, err = s.access.CreateToken(ctx, actor(), access.TokenRequest{Name: tokenName, Role: access.Editor})
	return err
}

// revokeTokens deletes the tokens of the apps.
func (s *Standalone) revokeTokens(ctx context.Context) error {
	tokens, err := s.access.Tokens(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, t := range tokens {
		if t.Name == tokenName && t.CreatedBy == actor().Name {
			faults = append(faults, s.access.RevokeToken(ctx, actor(), t.ID))
		}
	}
	return errors.Join(faults...)
}
