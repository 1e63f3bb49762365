// A login link is <origin>/#login=<code>. The fragment never leaves the browser in a request; it is taken once and wiped
// from the address, so that neither history nor a shared screenshot keeps it.

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
