import { useEffect, useState } from 'react';

/** Reports whether a condition has held for this many milliseconds; one that holds at first render counts at once. */
export function useTrueFor(condition: boolean, milliseconds: number): boolean {
  const [held, setHeld] = useState(condition);
  useEffect(() => {
    if (!condition) return setHeld(false);
    const timer = setTimeout(() => setHeld(true), milliseconds);
    return () => clearTimeout(timer);
  }, [condition, milliseconds]);
  return condition && held;
}
