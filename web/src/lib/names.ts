/** Reports whether a text is a valid name of a job or group; the server has the same rule. */
export function isName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$/.test(text) && !text.includes('..');
}
