import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { tailSize, type OutputState, type RunOutput } from '../../api/output.ts';
import { formatBytes } from '../../lib/bytes.ts';
import { visible } from '../../lib/visible.ts';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import classes from './OutputPanel.module.css';
import type { useEarlierMatches } from './useEarlierMatches.ts';

interface Props {
  state: OutputState;
  output: RunOutput | undefined;
  earlier: ReturnType<typeof useEarlierMatches>;
  onShow: (offset: number) => void;
}

/** Shows how much earlier output is not loaded, loads it, and shows matches in it. */
export function EarlierBar({ state, output, earlier, onShow }: Props) {
  const { t } = useTranslation();
  const [error, setError] = useState<Error | undefined>();
  const from = state.from ?? 0;
  if (from === 0) return null;
  const load = (to: number) => {
    setError(undefined);
    output?.earlier(to).catch((cause: unknown) => setError(cause instanceof Error ? cause : new Error(String(cause))));
  };
  return (
    <div className={classes.earlier} data-earlier={from}>
      <span>{t('run.earlier', { size: formatBytes(from) })}</span>
      <Button size="compact-xs" variant="default" loading={state.fetching} onClick={() => load(from - tailSize)}>{t('run.loadEarlier', { size: formatBytes(Math.min(from, tailSize)) })}</Button>
      {from > tailSize && <Button size="compact-xs" variant="default" disabled={state.fetching} onClick={() => load(0)}>{t('run.loadAll')}</Button>}
      {(earlier.error ?? error) && <ProblemNotice error={earlier.error ?? error ?? new Error()} />}
      {earlier.matches.length > 0 && (
        <details className={classes.earlierMatches}>
          <summary>{t(earlier.more ? 'run.earlierMatchesMore' : 'run.earlierMatches', { count: earlier.matches.length })}</summary>
          <ul>
            {earlier.matches.slice(0, 100).map((match) => (
              <li key={match.offset}>
                <button type="button" onClick={() => onShow(match.lineOffset)}>
                  <bdi>{visible(match.before.slice(-80))}</bdi><mark><bdi>{visible(match.text)}</bdi></mark><bdi>{visible(match.after.slice(0, 120))}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
