/** How long after the start the page is taken to have settled, in milliseconds. */
const settled = 4000;

/** Loads a part of the console once: when it is needed, or earlier in an idle moment. It retries after a failure. */
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
