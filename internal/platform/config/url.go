package config

import (
	"fmt"
	"net/url"
	"strings"

	"carillon/internal/common"
)

// webURL parses an http or https URL without user, query and fragment. Its errors repeat no password.
func webURL(text, example string) (*url.URL, error) {
	_, rest, _ := strings.Cut(text, "://")
	authority, _, _ := strings.Cut(rest, "/")
	if strings.Contains(authority, "@") {
		return nil, fmt.Errorf("must not contain a user or a password: write it like %s", example)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.Port() != "" && !validPort(u.Port(), 1):
		return nil, fmt.Errorf("%q must look like %s", common.Shorten(text), example)
	case strings.Contains(text, "#"):
		return nil, fmt.Errorf("%q has a fragment (#…): write it like %s", common.Shorten(text), example)
	case u.RawQuery != "" || u.ForceQuery:
		return nil, fmt.Errorf("%q has a query (?…): write it like %s", common.Shorten(text), example)
	}
	return u, nil
}

// rootOf returns a URL without a path, as the origin that browsers send.
func rootOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return u.Scheme + "://" + host
}

// atRoot refuses a URL with a path.
func atRoot(u *url.URL, why string) error {
	if u.Path == "" || u.Path == "/" {
		return nil
	}
	return fmt.Errorf("has the path %q, but %s: write %s", common.Shorten(u.Path), why, rootOf(u))
}

// publicURL returns the address of the console as browsers write it, without a slash at the end.
func publicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := webURL(text, "https://carillon.example.com")
	if err != nil {
		return "", err
	}
	if err := atRoot(u, "console and API are served at the root of a host name of their own"); err != nil {
		return "", err
	}
	return rootOf(u), nil
}
