import { useEffect, useState } from 'react';

/** The current time, updated regularly. */
export function useNow(every: number, enabled = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!enabled) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, enabled]);
  return now;
}
