// Errors of calls: a problem in the server's answer, or no answer.

import type { components } from './schema.gen.ts';

type ProblemBody = components['schemas']['Problem'];

export interface Fault {
  /** The field's path in the body that was sent: "cronExpr", "env.HOME", "output.max"; of a name in the path, as of its field: "name". */
  location: string;
  message: string;
  code?: string | undefined;
  hint?: string | undefined;
  /** Values for the placeholders of a translated sentence. */
  data?: Record<string, string> | undefined;
}

/** Returns the field that a fault is about: forms send a name in the path, and the server names the whole path if it cannot read it. */
function locationOf(location: string): string {
  return location === 'path' ? 'name' : location.replace(/^(?:body|path)(?:\.|$)/, '');
}

/** An error answer with the server's code. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  /** Subcode, for codes with several causes. */
  readonly reason: string | undefined;
  readonly data: Record<string, string>;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  readonly faults: readonly Fault[];

  constructor(status: number, body: Partial<ProblemBody> | undefined) {
    super(body?.detail ?? body?.title ?? `HTTP ${status}`);
    this.name = 'Problem';
    this.status = status;
    this.code = body?.code ?? `http_${status}`;
    this.reason = body?.reason;
    this.data = body?.data ?? {};
    this.hint = body?.hint;
    this.requestId = body?.requestId;
    this.faults = (body?.errors ?? []).map((e) => ({
      location: locationOf(e.location ?? ''),
      message: e.message ?? '',
      code: e.code,
      hint: e.hint,
      data: e.data,
    }));
  }
}

/** No answer: the server is stopped, restarting, or unreachable. */
export class ServerAway extends Error {
  constructor() {
    super('the server does not answer');
    this.name = 'ServerAway';
  }
}

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

async function settle<T>(call: Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await call;
  } catch (cause) {
    // fetch rejects with a TypeError when no server responds; an abort comes from the caller.
    if (cause instanceof TypeError) throw new ServerAway();
    throw cause;
  }
}

function isProblem(body: unknown): body is Partial<ProblemBody> {
  return typeof body === 'object' && body !== null;
}

/** Resolves to the answer with its body; rejects with Problem or ServerAway. */
export async function answerOf<T>(call: Promise<Outcome<T>>): Promise<{ data: T; response: Response }> {
  const { data, error, response } = await settle(call);
  if (response.ok) return { data: data as T, response };
  // Sent by a proxy when the server behind it is down; the server itself would have sent a problem.
  if (response.status >= 502 && response.status <= 504 && !isProblem(error)) throw new ServerAway();
  throw new Problem(response.status, isProblem(error) ? error : undefined);
}

/** Resolves to the body of the answer. */
export async function dataOf<T>(call: Promise<Outcome<T>>): Promise<T> {
  return (await answerOf(call)).data;
}
