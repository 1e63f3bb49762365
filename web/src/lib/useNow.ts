import { useEffect, useState } from 'react';

/** The time, kept up to date. */
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
