import { first } from './first.ts';
import { rest } from './rest.ts';
import type { Texts } from '../texts.ts';

/** Every text of the console, a file for each part of it. Chinese has the same keys and placeholders; a test compares them. */
export const en = { ...first, ...rest };

/** What every language provides. */
export type Resource = Texts<typeof en>;
