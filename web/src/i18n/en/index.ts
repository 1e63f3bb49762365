import { first } from './first.ts';
import { rest } from './rest.ts';
import type { Texts } from '../texts.ts';

/** All texts of the console, a file for each area. Chinese has the same keys and placeholders; a test compares them. */
export const en = { ...first, ...rest };

/** The content of each language. */
export type Resource = Texts<typeof en>;
