/** Reports whether a text is a valid name of a job or group; the server has the same rule. */
export function isName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$/.test(text) && !text.includes('..');
}

/** Reports whether runs can have a job of this name: that of a job, or FLOW:STEP for those of an inline step. */
export function isRunJob(text: string): boolean {
  const [name = '', step, ...rest] = text.split(':');
  return isName(name) && rest.length === 0 && (step === undefined || /^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$/.test(step));
}
