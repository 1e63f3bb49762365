import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { keys } from './keys.ts';
import { answerOf, dataOf, Problem } from './problem.ts';
import type { ChannelDefinition, DeliveryStatus } from './types.ts';

export const deliveryStatuses: readonly DeliveryStatus[] = ['waiting', 'sent', 'failed'];

/** The channels that jobs can send notifications to. */
export function useChannels() {
  return useQuery({ queryKey: keys.channels, queryFn: ({ signal }) => dataOf(client.GET('/api/v1/channels', { signal })) });
}

/** The channels with their latest deliveries, which cause no events. */
export function useChannelList() {
  return useQuery({
    queryKey: keys.channelList,
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/channels', { params: { query: { include: ['last'] } }, signal })),
    refetchInterval: 10_000,
  });
}

/** One channel with the jobs that notify it. */
export function useChannel(name: string) {
  return useQuery({
    queryKey: keys.channel(name),
    queryFn: async ({ signal }) => (await answerOf(client.GET('/api/v1/channels/{name}', { params: { path: { name } }, signal }))).data,
  });
}

/** Creates a channel, or changes the version that is given (412 if there is a newer one). A generated signing secret is in this answer only. */
export function useSaveChannel() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, definition, version }: { name: string; definition: ChannelDefinition; version: number | undefined }) =>
      dataOf(
        client.PUT('/api/v1/channels/{name}', {
          params: { path: { name }, header: version === undefined ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` } },
          body: definition,
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keys.channels }),
  });
}

/** Creates mail channels. One that was created meanwhile stays as it is. */
export function useCreateMailChannels() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (channels: readonly { name: string; to: string[] }[]) => {
      for (const { name, to } of channels) {
        try {
          // One after the other: a failure leaves the rest for the next try.
          await dataOf(client.PUT('/api/v1/channels/{name}', { params: { path: { name }, header: { 'If-None-Match': '*' } }, body: { kind: 'mail', to } }));
        } catch (error) {
          if (!(error instanceof Problem && error.status === 412)) throw error;
        }
      }
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.channels }),
  });
}

export function useDeleteChannel() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.DELETE('/api/v1/channels/{name}', { params: { path: { name } } })),
    onSettled: () => Promise.all([keys.channels, keys.deliveries].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

/** Sends a test message, and resolves to its delivery, whether it succeeded or not. */
export function useTestChannel() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => dataOf(client.POST('/api/v1/channels/{name}/test', { params: { path: { name } } })),
    onSettled: () => Promise.all([keys.channelList, keys.deliveries].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}

export interface DeliveryFilter {
  channel?: string | undefined;
  job?: string | undefined;
  status?: DeliveryStatus | undefined;
}

/** A page of deliveries, newest first. */
export function useDeliveries(filter: DeliveryFilter, cursor: string) {
  return useQuery({
    queryKey: keys.deliveryList(filter, cursor),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/deliveries', { params: { query: { ...filter, limit: 50, cursor: cursor || undefined } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
}

/** A page of the jobs that notify no enabled channel of a failure, with their number. */
export function useUnnotifiedJobs(cursor: string) {
  return useQuery({
    queryKey: keys.unnotified(cursor),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1/jobs', { params: { query: { is: ['unnotified'], include: ['words'], limit: 50, total: true, cursor: cursor || undefined } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
}

/** Makes a failed or pending delivery due now. */
export function useRetryDelivery() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => dataOf(client.POST('/api/v1/deliveries/{id}/retry', { params: { path: { id } } })),
    onSettled: () => Promise.all([keys.channelList, keys.deliveries].map((queryKey) => queryClient.invalidateQueries({ queryKey }))),
  });
}
