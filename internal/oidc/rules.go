package oidc

import (
	"slices"

	"carillon/internal/auth"
)

// Everybody stands for all whom the issuer lets in, in the place of a group of theirs.
const Everybody = "*"

// Rule gives those who are in a group of the issuer's a role: with the jobs of a group of
// ours, or everywhere.
type Rule struct {
	Claimed string // the issuer's name of the group, or Everybody
	Group   string // ours; "" for everywhere
	Role    auth.Role
}

// rights are what the rules give to somebody in some groups; of two the higher role.
func rights(rules []Rule, groups []string) (role auth.Role, grants map[string]auth.Role) {
	for _, r := range rules {
		if r.Claimed != Everybody && !slices.Contains(groups, r.Claimed) {
			continue
		}
		if r.Group == "" {
			role = higher(role, r.Role)
			continue
		}
		if grants == nil {
			grants = map[string]auth.Role{}
		}
		grants[r.Group] = higher(grants[r.Group], r.Role)
	}
	return role, grants
}

func higher(a, b auth.Role) auth.Role {
	if a.Includes(b) {
		return a
	}
	return b
}
