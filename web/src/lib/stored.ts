import { useCallback, useState } from 'react';

function read<T>(key: string, check: (value: unknown) => T): T {
  try {
    return check(JSON.parse(window.localStorage.getItem(key) ?? 'null'));
  } catch {
    return check(null); // storage may be blocked, or contain invalid JSON
  }
}

/** A value in the browser's storage, which may contain anything: check converts it to a valid value. */
export function useStored<T>(key: string, check: (value: unknown) => T): [T, (next: T) => void] {
  const [value, setValue] = useState(() => read(key, check));
  const set = useCallback(
    (next: T) => {
      setValue(next);
      try {
        window.localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // It then lasts until the page is closed.
      }
    },
    [key],
  );
  return [value, set];
}
