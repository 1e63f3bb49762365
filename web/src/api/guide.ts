import { useQuery } from '@tanstack/react-query';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';

async function read(name: string, signal: AbortSignal) {
  const response = await fetch(`/guide/${name}.md`, { signal });
  if (response.ok) return { data: await response.text(), response };
  const error: unknown = await response.json().catch(() => undefined);
  return { error, response };
}

/** The text of a page of the guide, in Markdown. It changes with the server's version only. */
export function useGuidePage(name: string) {
  return useQuery({ queryKey: keys.guide(name), queryFn: ({ signal }) => dataOf(read(name, signal)), staleTime: Infinity });
}
