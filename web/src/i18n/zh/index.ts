import { first } from './first.ts';
import { rest } from './rest.ts';
import type { Resource } from '../en/index.ts';

export const zh: Resource = { ...first, ...rest };
export { zhServer } from './server.ts';
