// What a run uses over time, from cumulative samples.

/** A sample of a run: CPU time and bytes since its start, memory at the time. */
export interface UsageSample {
  at: string;
  cpuSeconds: number;
  memoryBytes: number;
  readBytes: number;
  writtenBytes: number;
  processes: number;
}

/** Values over the time of a run, one for each sample; null if unknown. */
export interface UsageSeries {
  /** In milliseconds. */
  times: number[];
  /** Share of one core, since the sample before. */
  cpu: (number | null)[];
  memory: (number | null)[];
  /** Bytes a second, since the sample before. */
  read: (number | null)[];
  written: (number | null)[];
}

/**
 * Returns rates between samples; the first one counts from the start of the run. A counter that has gone back, as after
 * the end of a process that was not seen, has no rate. The sample after the last process says nothing about memory.
 */
export function usageSeries(samples: readonly UsageSample[], startedAt: string | undefined): UsageSeries {
  const times = samples.map(({ at }) => Date.parse(at));
  const start = startedAt === undefined ? NaN : Date.parse(startedAt);
  const rates = (of: 'cpuSeconds' | 'readBytes' | 'writtenBytes') => samples.map((sample, i) => {
    const before = samples[i - 1];
    const seconds = ((times[i] ?? NaN) - (before ? (times[i - 1] ?? NaN) : start)) / 1000;
    const used = sample[of] - (before?.[of] ?? 0);
    return seconds > 0 && used >= 0 ? used / seconds : null;
  });
  return { times, cpu: rates('cpuSeconds'), memory: samples.map(({ memoryBytes, processes }) => (processes === 0 ? null : memoryBytes)), read: rates('readBytes'), written: rates('writtenBytes') };
}

/** What a run has used in total; undefined if it was not measured. */
export interface UsageTotals {
  cpuSeconds: number | undefined;
  /** Highest. */
  memoryBytes: number | undefined;
  readBytes: number | undefined;
  writtenBytes: number | undefined;
}

interface Recorded {
  cpuSeconds?: number | undefined;
  maxRssBytes?: number | undefined;
  readBytes?: number | undefined;
  writtenBytes?: number | undefined;
}

/** Returns the totals: those recorded at the end of the run, until then those of the last sample. */
export function usageTotals(run: Recorded, samples: readonly UsageSample[]): UsageTotals {
  const last = samples.at(-1);
  const peak = last && samples.reduce((most, { memoryBytes }) => Math.max(most, memoryBytes), 0);
  return {
    cpuSeconds: run.cpuSeconds ?? last?.cpuSeconds,
    memoryBytes: run.maxRssBytes === undefined ? peak : Math.max(run.maxRssBytes, peak ?? 0),
    readBytes: run.readBytes ?? last?.readBytes,
    writtenBytes: run.writtenBytes ?? last?.writtenBytes,
  };
}

const patience = 30_000;

/** Reports whether the samples may still change: the last one has no process, and follows the end by some seconds. */
export function isComing(data: { live: boolean; samples: readonly { processes: number }[] } | undefined, endedAt: string | undefined, now: number): boolean {
  if (data === undefined || data.live) return true;
  return endedAt !== undefined && data.samples.at(-1)?.processes !== 0 && now - Date.parse(endedAt) < patience;
}
