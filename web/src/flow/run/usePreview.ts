import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';

/** The preview of a request, loaded again after each change; ready only if it is that of this very request. */
export function usePreview<Request, Preview>(request: Request | undefined, load: (request: Request) => Promise<Preview>) {
  const id = useId();
  const key = JSON.stringify(request);
  const [settled] = useDebouncedValue(key, 250);
  const query = useQuery({
    queryKey: ['flow-preview', id, settled ?? ''], queryFn: () => load(JSON.parse(settled ?? 'null') as Request), enabled: settled !== undefined, retry: false, gcTime: 0, staleTime: Infinity,
  });
  const current = key !== undefined && key === settled;
  return { ready: current ? query.data : undefined, error: current ? query.error : null, loading: key !== undefined && (!current || query.isFetching) };
}
