#!/usr/bin/env bash
# Checks commit subjects: "scope: imperative verb …", at most 72 characters, no full stop at the end. Given "-" it reads
# them from its input; otherwise it checks the commits since the last tag, without a tag those that are not on
# origin/main, and the last 20 if there are none of these either, as in a clone of main.
set -euo pipefail
export LC_ALL=C.UTF-8

subjects() {
	if [ "${1-}" = - ]; then
		cat
		return
	fi
	git rev-parse -q --verify HEAD >/dev/null 2>&1 || return 0 # not a clone: a source archive
	local range tag
	range=-20
	if tag=$(git describe --tags --abbrev=0 2>/dev/null); then
		range=$tag..HEAD
	elif [ -n "$(git rev-list -1 origin/main..HEAD -- 2>/dev/null)" ]; then
		range=origin/main..HEAD
	fi
	git log --no-merges --format=%s "$range" --
}

# Words that are not an imperative verb: articles, pronouns, question words, and most forms in -ing and -ed.
noverb='^(an?|the|this|that|all|each|every|no|none|one|two|some|more|nothing|who|whoever|what|where|when|how|why|as|at|in|on|for|[a-z]+ing|[a-z]*[^e]ed)$'
verb='^(bring|ping|embed|shed)$'

bad=0
reject() {
	echo "$1: $2" >&2
	bad=1
}
while IFS= read -r subject; do
	[ "${#subject}" -le 72 ] || reject "$subject" "longer than 72 characters"
	[[ $subject != *. ]] || reject "$subject" "ends with a full stop"
	if ! [[ $subject =~ ^[a-z0-9.][A-Za-z0-9._/,{}\ -]*:\ ([a-z][a-z-]*)\  ]]; then
		reject "$subject" 'not of the form "scope: imperative verb …"'
		continue
	fi
	first=${BASH_REMATCH[1]}
	if [[ $first =~ $noverb ]] && ! [[ $first =~ $verb ]]; then
		reject "$subject" "\"$first\" is not an imperative verb"
	fi
done < <(subjects "$@")
exit $bad
