package hooks

import (
	"fmt"
	"html"
	"net/http"

	"carillon/internal/httpapi/core"
)

// titles of the page, by language.
var titles = map[string]map[bool]string{
	"en": {true: "Started", false: "Not started"},
	"zh": {true: "已启动", false: "未启动"},
}

// page answers a browser that has sent a form, with text alone: the policy of all answers allows nothing else.
func page(w http.ResponseWriter, r *http.Request, status int, started bool, text string) {
	language := core.Language(r.Header.Get("Accept-Language"))
	title := titles[language][started]
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// The client may be gone.
	_, _ = fmt.Fprintf(w, "<!doctype html><html lang=%q><meta charset=utf-8><meta name=viewport "+
		"content=\"width=device-width\"><title>%s</title><h1>%s</h1><p>%s</p></html>\n",
		language, title, title, html.EscapeString(text))
}
