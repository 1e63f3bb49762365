import { useLocalStorage } from '@mantine/hooks';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { searchOutput, tailSize, useRunOutput, type RunOutput, type OutputState } from '../../api/output.ts';
import { isTerminal } from '../../api/runs.ts';
import type { Run } from '../../api/types.ts';
import { errorWords, firstError } from '../../lib/firstError.ts';
import { readLines, writeLines } from '../../lib/lineRange.ts';
import type { Wanted } from '../../lib/logsearch.ts';
import { LogStore } from '../../lib/logstore.ts';
import type { LogSearch } from '../../lib/searchParams.ts';
import { LogView, type LogHandle } from '../../parts/log/LogView.tsx';
import { Panel } from '../../parts/Panel.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { showNotice } from '../../parts/showNotice.ts';
import { EarlierBar } from './EarlierBar.tsx';
import { FindBar } from './FindBar.tsx';
import { LogFoot } from './LogFoot.tsx';
import { LogTools } from './LogTools.tsx';
import classes from './OutputPanel.module.css';
import { PickedBar } from './PickedBar.tsx';
import { useEarlierMatches } from './useEarlierMatches.ts';
import { useLogKeys } from './useLogKeys.ts';
import { useLogSearch } from './useLogSearch.ts';

/** The command's output, live. */
export function OutputPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const hash = useLocation({ select: (location) => location.hash });
  const started = run.status !== 'waiting' && run.attempt > 0 && !run.hidden;
  // A link to a line number needs all output before it. Only the first address counts: later links are within the
  // loaded part.
  const [whole] = useState(() => /^L\d/.test(hash));
  const { output, state } = useRunOutput(run.id, started, whole);
  if (!started) {
    return (
      <Panel title={t('run.output')}>
        <p className="dim">{run.hidden ? t('run.hiddenOutput') : isTerminal(run.status) ? t('run.didNotRun') : t('run.notStarted')}</p>
      </Panel>
    );
  }
  return <Log key={run.id} run={run} output={output} state={state} />;
}

const nothing = new LogStore();
const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

function Log({ run, output, state }: { run: Run; output: RunOutput | undefined; state: OutputState }) {
  const { t } = useTranslation();
  const search = useSearch({ from: '/runs/$id' });
  const hash = useLocation({ select: (location) => location.hash });
  const navigate = useNavigate();
  const view = useRef<LogHandle>(null);
  const store = output?.store ?? nothing;
  const live = !state.complete;
  const [wrap, setWrap] = useLocalStorage({ key: 'carillon-log-wrap', defaultValue: true, getInitialValueInEffect: false });
  const [times, setTimes] = useLocalStorage({ key: 'carillon-log-times', defaultValue: false, getInitialValueInEffect: false });
  // The address names a line, or the view starts at the end.
  const [follow, setFollow] = useState(() => readLines(hash) === undefined && search.find === undefined);
  const seen = useRef(0);
  if (follow) seen.current = store.end;

  const only = search.stream;
  const wanted: Wanted = useMemo(() => ({ text: search.find ?? '', regex: search.regex === true, matchCase: search.case === true }), [search.find, search.regex, search.case]);
  const found = useLogSearch(store, state.version, only, wanted);
  const from = state.from ?? 0;
  const earlier = useEarlierMatches(run.id, from, only, wanted, found.pattern !== undefined || found.fault === 'explosive');

  const look = (change: Partial<Record<keyof LogSearch, unknown>>, lines = hash) =>
    void navigate({
      to: '/runs/$id', params: { id: run.id }, hash: lines, replace: true, resetScroll: false,
      search: (before: LogSearch) => Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value)) as LogSearch,
    });
  const show = (name: number | undefined) => {
    if (name === undefined) return;
    setFollow(false);
    view.current?.show(name);
  };
  const go = (back: boolean) => show(found.go(back, view.current?.first() ?? store.first));
  const showByte = async (offset: number) => {
    try {
      if (offset < (output?.state().from ?? 0)) await output?.earlier(Math.max(0, offset - tailSize / 4));
    } catch {
      return;
    }
    show(store.at(offset));
  };

  const picked = useMemo((): [number, number] | undefined => {
    const range = readLines(hash);
    if (!range || store.count === 0) return undefined;
    if ('byte' in range) return range.byte < from ? undefined : [store.at(range.byte), store.at(range.byte)];
    return from > 0 || range.from > store.number(store.end - 1) ? undefined : [store.named(range.from), lastOf(store, range.to)];
  }, [hash, store, state.version, from]);
  // Scrolls to the address's lines once they are loaded.
  const shown = useRef('');
  useEffect(() => {
    const range = readLines(hash);
    if (!range || shown.current === hash || !output || state.from === undefined) return;
    if (picked) {
      shown.current = hash;
      show(picked[0]);
    } else if ('byte' in range && range.byte < state.from) {
      shown.current = hash;
      void showByte(range.byte);
    }
  }, [hash, picked, output, state.from]);
  // Scrolls to the first match, unless the address names a line.
  const gone = useRef(hash === '' ? undefined : found.pattern);
  useEffect(() => {
    if (!found.pattern || gone.current === found.pattern || found.total === 0) return;
    gone.current = found.pattern;
    go(false);
  }, [found.pattern, found.total]);

  const pick = (name: number, upTo: boolean) => {
    const line = store.line(name);
    if (!line) return;
    const number = store.number(name);
    const range = readLines(hash);
    const begin = upTo && range && 'from' in range ? range.from : number;
    const next = from > 0 ? writeLines({ byte: line.offset }) : writeLines({ from: Math.min(begin, number), to: Math.max(begin, number) });
    shown.current = next;
    look({}, next === hash ? '' : next);
  };
  const toError = async () => {
    if (from > 0) {
      const firsts = await Promise.all([
        searchOutput(run.id, { q: errorWords, regex: true, limit: 1 }),
        searchOutput(run.id, { q: '.', regex: true, stream: 'stderr', limit: 1 }),
      ]).catch(() => []);
      const offsets = firsts.flatMap((answer) => answer.matches.map((match) => match.lineOffset)).filter((offset) => offset < from);
      if (offsets.length > 0) return showByte(Math.min(...offsets));
    }
    const name = await firstError(store, rest);
    if (name === undefined) return showNotice(t, t('run.noError'));
    if (only === 'stdout') look({ stream: undefined });
    pick(name, false);
    show(name);
  };
  const jump = () => {
    setFollow(true);
    view.current?.end();
  };
  const focusLog = () => view.current?.focus();
  useLogKeys({
    f: () => (follow ? setFollow(false) : jump()), w: () => setWrap(!wrap), t: () => setTimes(!times), e: () => void toError(), G: jump,
    ...(found.total > 0 && { n: () => go(false), N: () => go(true) }),
    ...(search.full && { Escape: () => look({ full: undefined }) }),
  });

  const news = follow ? 0 : Math.max(0, store.end - seen.current);
  const empty = state.complete && store.count === 0;
  const coming = store.count === 0 && (isTerminal(run.status) || Math.max(state.size, run.outputBytes) > 0);
  const none = store.count > 0 ? t('run.noOutputStream') : coming ? t('common.loading') : t('run.nothingYet');
  return (
    <div className={search.full ? classes.full : undefined} data-full={search.full}>
      <Panel
        title={t('run.output')}
        side={
          <LogTools
            run={run} live={live} follow={follow} onFollow={(on) => (on ? jump() : setFollow(false))}
            wrap={wrap} onWrap={setWrap} times={times} onTimes={setTimes} full={search.full === true} onFull={() => look({ full: !search.full })} onError={() => void toError()}
          />
        }
      >
        {state.error && !state.away && <ProblemNotice error={state.error} />}
        {run.outputTruncated && <p className={classes.truncated}>{t('run.truncated')}</p>}
        {empty ? (
          <p className="dim">{t('run.noOutput')}</p>
        ) : (
          <>
            <FindBar only={only} onOnly={(stream) => look({ stream })} wanted={wanted} found={found} onWanted={({ text, regex, matchCase }) => look({ find: text, regex, case: matchCase })} onGo={go} onLeave={focusLog} />
            <EarlierBar state={state} output={output} earlier={earlier} onShow={(offset) => void showByte(offset)} />
            <div className={classes.holder}>
              <LogView
                key={only ?? 'all'} ref={view} store={store} version={state.version} only={only} wrap={wrap} times={times} follow={follow} numbers={from === 0} hash={hash} none={none}
                pattern={found.pattern} current={found.current} picked={picked} onPick={pick} onFollow={setFollow}
              />
              {news > 0 && live && <button type="button" className={classes.jump} onClick={jump}>{t('run.newest', { count: news })}</button>}
            </div>
            {picked && <PickedBar store={store} picked={picked} numbers={from === 0} onClear={() => look({}, '')} />}
          </>
        )}
        <LogFoot run={run} state={state} lines={store.count === 0 ? 0 : store.number(store.end - 1)} />
      </Panel>
    </div>
  );
}

/** The last numbered line: a long one continues over several rows. */
function lastOf(store: LogStore, number: number): number {
  const next = store.named(number + 1);
  return store.number(next) > number ? next - 1 : next;
}
