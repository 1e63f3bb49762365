package health

import "carillon/internal/common"

// mostTokens bounds the tokens that a finding names.
const mostTokens = 5

// Tokens reports tokens that no entry of the audit made; known is false if that could not be found out.
func Tokens(unaudited []string, known bool) []Finding {
	switch {
	case !known:
		return []Finding{Fault(FindingUnknown, "tokens", "", "",
			"tokens cannot be compared with the audit: it is empty, or etcd or the log store does not respond in time")}
	case len(unaudited) == 0:
		return []Finding{OK("tokens", "", "each token was made by a request that the audit contains")}
	}
	return []Finding{Fault(FindingFailing, "tokens", "",
		"Another program wrote them, or their roles, to etcd. Find out which one, delete the tokens (cronctl delete "+
			"token ID), and let no other program than the masters write to etcd: see docs/security.md.",
		"%s made by no request that the audit contains: %s",
		common.Count(len(unaudited), "token was", "tokens were"), listed(unaudited, mostTokens))}
}
