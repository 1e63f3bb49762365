import { Facts } from './Facts.tsx';
import { FromDefaults } from './FromDefaults.tsx';
import type { Policy } from './policies.ts';

/** Policies in words, inherited ones with their origin. */
export function PolicyFacts({ entries, from }: { entries: readonly Policy[]; from: ReadonlyMap<string, string> }) {
  return <Facts entries={entries.map(([name, sentence, field]) => [name, field && from.has(field) ? <>{sentence} <FromDefaults of={from.get(field)} /></> : sentence])} />;
}
