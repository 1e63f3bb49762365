import createClient, { defaultPathSerializer } from 'openapi-fetch';
import type { paths } from './schema.gen.ts';

export const client = createClient<paths>({
  baseUrl: window.location.origin, querySerializer: { array: { style: 'form', explode: false } },
  // The job of the runs of a step is FLOW:STEP, and the server refuses encoded characters in paths.
  pathSerializer: (path, params) => defaultPathSerializer(path, params).replaceAll('%3A', ':'),
});

// The server describes schedules in the language of the page.
client.use({
  onRequest({ request }) {
    request.headers.set('Accept-Language', document.documentElement.lang);
    return request;
  },
});
