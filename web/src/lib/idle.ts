/** Time after the start when the page counts as settled, in milliseconds. */
const settled = 4000;

/** Loads a chunk once: when it is needed, or earlier when the browser is idle. Retries after a failure. */
export function whenIdle<T>(fetchPart: () => Promise<T>): () => Promise<T> {
  let part: Promise<T> | undefined;
  const load = () => {
    part ??= fetchPart().catch((error: unknown) => {
      part = undefined;
      throw error;
    });
    return part;
  };
  window.setTimeout(() => void load().catch(() => undefined), settled);
  return load;
}
