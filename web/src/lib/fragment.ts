// A login link is <origin>/#login=<code>. A fragment is never sent in a request; it is used once and removed from the
// address, so that neither history nor a shared screenshot contains it.

export function parseLoginCode(hash: string): string | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const code = params.get('login')?.trim();
  return code && /^[\w.~-]{1,256}$/.test(code) ? code : undefined;
}

export function takeLoginCode(location: Location, history: History): string | undefined {
  if (!location.hash.startsWith('#login=')) return undefined;
  const code = parseLoginCode(location.hash);
  history.replaceState(history.state, '', location.pathname + location.search);
  return code;
}

// A failed single sign-on returns to <origin>/#sso=<reason>.

export const ssoReasons = ['refused', 'not_allowed', 'unavailable', 'busy'] as const;

export type SsoReason = (typeof ssoReasons)[number];

export function parseSsoReason(hash: string): SsoReason | undefined {
  const reason = new URLSearchParams(hash.replace(/^#/, '')).get('sso');
  return ssoReasons.find((known) => known === reason);
}

export function takeSsoReason(location: Location, history: History): SsoReason | undefined {
  if (!location.hash.startsWith('#sso=')) return undefined;
  const reason = parseSsoReason(location.hash);
  history.replaceState(history.state, '', location.pathname + location.search);
  return reason;
}
