package crontab

import "testing"

func TestOpenQuote(t *testing.T) {
	for text, want := range map[string]byte{
		`echo "hello`:                       '"',
		`echo 'it`:                          '\'',
		"echo `date":                        '`',
		`echo it's`:                         '\'',
		`echo "a" 'b" c`:                    '\'',
		`echo $'it\'s`:                      '\'',
		`echo "hello world"`:                0,
		`echo "it's"`:                       0,
		`echo 'a "b'`:                       0,
		`echo it\'s \"`:                     0,
		`echo "a \" b"`:                     0,
		`echo 'a\'`:                         0,
		`echo $'it\'s'`:                     0,
		`echo "$(date "+%F")" # don't`:      0,
		"true # it's\necho":                 0,
		`echo a#'b'`:                        0,
		`awk '{ print $1 }' f | grep "x y"`: 0,
		``:                                  0,
	} {
		if got := openQuote(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
