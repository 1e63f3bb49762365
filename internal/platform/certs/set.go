package certs

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"carillon/internal/common"
)

// Set is the certificates that a process presents. A nil Set is empty.
type Set struct {
	now     func() time.Time
	log     *slog.Logger
	ends    func(use string, at time.Time)
	keepers []*Keeper
}

// NewSet returns an empty set; ends is called with the end of each certificate in use, and may be nil.
func NewSet(now func() time.Time, log *slog.Logger, ends func(use string, at time.Time)) *Set {
	return &Set{now: now, log: log, ends: ends}
}

// Open reads a certificate and adds it. It must not be called while Run is active.
func (s *Set) Open(use string, files Files) (*Keeper, error) {
	keeper, err := Open(Config{Use: use, Files: files, Now: s.now, Log: s.log, Ends: s.ends})
	if err != nil {
		return nil, err
	}
	s.keepers = append(s.keepers, keeper)
	return keeper, nil
}

// Server opens a certificate, and returns the config of a server that presents it; nil without files.
func (s *Set) Server(use string, files Files) (*tls.Config, error) {
	if files == (Files{}) {
		return nil, nil
	}
	keeper, err := s.Open(use, files)
	if err != nil {
		return nil, err
	}
	return keeper.Server(), nil
}

// Keepers returns the keepers of the certificates.
func (s *Set) Keepers() []*Keeper {
	if s == nil {
		return nil
	}
	return s.keepers
}

// Run checks the files until the context ends.
func (s *Set) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			for _, keeper := range s.Keepers() {
				keeper.Look()
			}
		}
	}
}

// Conditions reports certificates that end soon, and files that cannot be used.
func (s *Set) Conditions() (all []common.Condition) {
	for _, keeper := range s.Keepers() {
		all = append(all, keeper.Conditions()...)
	}
	return all
}
