import createClient, { defaultPathSerializer } from 'openapi-fetch';
import type { paths } from './schema.gen.ts';

export const client = createClient<paths>({
  baseUrl: window.location.origin, querySerializer: { array: { style: 'form', explode: false } },
  // The job of the runs of a step is FLOW:STEP, and the server refuses encoded characters in paths.
  pathSerializer: (path, params) => defaultPathSerializer(path, params).replaceAll('%3A', ':'),
});

client.use({
  onRequest({ request, params }) {
    // Without its name the path would be another one, which does not exist: it is a fault of the form.
    const empty = Object.entries(params.path ?? {}).find(([, value]) => value === '')?.[0];
    if (empty !== undefined) return Response.json({ status: 422, code: 'invalid', detail: 'the request is not valid', errors: [{ location: `path.${empty}`, code: 'required', message: 'is required' }] }, { status: 422 });
    // The server describes schedules in the language of the page.
    request.headers.set('Accept-Language', document.documentElement.lang);
    return request;
  },
});
