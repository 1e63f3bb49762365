package zoneinfo

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestLoad_IgnoresTheMachinesZones sets files of zones that say something else, as an old or a changed machine has.
func TestLoad_IgnoresTheMachinesZones(t *testing.T) {
	zones, err := open()
	if err != nil {
		t.Fatal(err)
	}
	other, err := zones.Open("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	folder := t.TempDir()
	file, err := os.Create(filepath.Join(folder, "Iceland"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.ReadFrom(other); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ZONEINFO", folder)
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if machine, err := time.LoadLocation("Iceland"); err != nil || at.In(machine).Hour() != 21 {
		t.Fatalf("the machine's zone is not the planted one: %v, %v", machine, err)
	}
	loc, err := Load("Iceland")
	if err != nil {
		t.Fatal(err)
	}
	if got := at.In(loc); got.Hour() != 12 {
		t.Fatalf("it is %v there", got)
	}
}

func TestLoad_EachZone(t *testing.T) {
	if !regexp.MustCompile(`^20\d\d[a-z]$`).MatchString(Version()) {
		t.Fatalf("version %q", Version())
	}
	zones, err := open()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, f := range zones.File {
		if f.FileInfo().IsDir() {
			continue
		}
		loc, err := Load(f.Name)
		if err != nil || loc.String() != f.Name {
			t.Errorf("%s: %v, %v", f.Name, loc, err)
		}
		count++
	}
	if count < 590 {
		t.Fatalf("%d zones", count)
	}
	for _, name := range []string{"", "Local", "Europe", "Europe/", "/Europe/Berlin", "../zoneinfo.go",
		"europe/berlin", "Mars/Base"} {
		if loc, err := Load(name); err == nil {
			t.Errorf("%q is %v", name, loc)
		}
	}
}
