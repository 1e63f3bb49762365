import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { dataOf } from './problem.ts';
import type { PreviewRequest } from './types.ts';

/** The next fires of a schedule, or of several of one job, and their description in the given language, from the server. */
export function usePreview(request: PreviewRequest, language: string) {
  return useQuery({
    queryKey: keys.preview(request, language),
    queryFn: ({ signal }) => dataOf(client.POST('/api/v1/schedules/preview', { body: request, signal })),
    enabled: (request.cronExpr ?? '').trim() !== '' || (request.schedules ?? []).length > 0,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    refetchInterval: 30_000,
  });
}
