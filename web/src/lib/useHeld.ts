import { useEffect, useState } from 'react';

/** Whether a condition has held for so many milliseconds; one that held from the beginning has. */
export function useHeld(condition: boolean, milliseconds: number): boolean {
  const [held, setHeld] = useState(condition);
  useEffect(() => {
    if (!condition) return setHeld(false);
    const timer = setTimeout(() => setHeld(true), milliseconds);
    return () => clearTimeout(timer);
  }, [condition, milliseconds]);
  return condition && held;
}
