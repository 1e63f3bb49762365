package accounts

// For the tests of this folder.
const (
	LoginBurst   = loginBurst
	MaxLoginBody = maxLoginBody
	SessionBurst = sessionBurst
	SsoPath      = ssoPath
)

var (
	TokenOwner = tokenOwner
)
