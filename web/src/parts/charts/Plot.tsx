import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatAxisTime, formatTick, spread, stack, steps, type ChartSeries, type Unit } from './data.ts';
import classes from './charts.module.css';

export interface PlotProps {
  times: readonly number[];
  series: readonly ChartSeries[];
  unit: Unit;
  buckets: boolean;
  stacked: boolean;
  height: number;
  language: string;
  timeZone?: string | undefined;
  /** The theme, which determines the colours. */
  scheme: string;
  /** Charts with the same name share the time under the pointer. */
  sync?: string | undefined;
  /** Called with the index of the value under the pointer. */
  picked: number | undefined;
  onPick: (index: number | undefined) => void;
}

function shade(color: string, share: number): string {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  return `rgb(${r} ${g} ${b} / ${share})`;
}

/** Drawn in reverse: in a stack the totals are behind. */
function drawn({ times, series, buckets, stacked }: Pick<PlotProps, 'times' | 'series' | 'buckets' | 'stacked'>): { order: readonly ChartSeries[]; data: uPlot.AlignedData } {
  const { at } = spread(times, buckets);
  const values = stacked ? stack(series) : series.map((one) => one.values.map((value) => value ?? null));
  return { order: stacked ? [...series].reverse() : series, data: [at, ...(stacked ? values.reverse() : values)] };
}

function axisWidth(unit: Unit, language: string): number {
  if (unit === 'ms') return language === 'zh' ? 76 : 62;
  return unit === 'rate' ? 76 : unit === 'bytes' ? 64 : 46;
}

/** If points are dense, only isolated ones are drawn, which no line connects. */
const lonely: uPlot.Series.Points.Filter = (u, index, all) => {
  if (all) return null;
  const values = u.data[index] ?? [];
  return [...values.keys()].filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null);
};

function optionsOf(props: PlotProps, width: number, onCursor: (u: uPlot) => void): uPlot.Options {
  const { unit, language, timeZone, buckets, height, sync } = props;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const { order } = drawn(props);
  const axis = { stroke: color('--mantine-color-dimmed'), font: `11px ${style.getPropertyValue('--mantine-font-family') || 'sans-serif'}`, ticks: { show: false } };
  const index = (id: string | undefined) => order.findIndex((one) => one.id === id) + 1;
  return {
    width,
    height,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 }, ...(sync && { sync: { key: sync, setSeries: false } }) },
    scales: {
      x: { time: true, range: () => { const { from, to } = spread(props.times, buckets); return [from, to]; } },
      y: { range: (_u, _min, max) => (unit === 'share' ? [0, 1.02] : [0, max > 0 ? max * 1.06 : 1]) },
    },
    axes: [
      { ...axis, size: 26, gap: 4, grid: { show: false }, space: 64, values: (_u, splits, _i, _space, step) => splits.map((at) => formatAxisTime(at, step, language, timeZone)) },
      { ...axis, size: axisWidth(unit, language), gap: 6, grid: { stroke: color('--c-border'), width: 1 }, space: 24, incrs: steps[unit], values: (_u, splits) => splits.map((n) => formatTick(n, unit, language)) },
    ],
    series: [
      {},
      ...order.map(({ tone, kind = 'line', dashed, name }): uPlot.Series => {
        const own = color(`--c-${tone}-fill`);
        if (kind === 'bars') return { label: name, fill: own, width: 0, points: { show: false }, paths: uPlot.paths.bars?.({ size: [0.82, 40, 1], align: 0 }) };
        return { label: name, stroke: own, width: 1.75, ...(dashed && { dash: [5, 4] }), ...(kind === 'area' && { fill: shade(own, 0.15) }), points: { size: 4.5, fill: own, width: 0, filter: lonely } };
      }),
    ],
    bands: order.flatMap((one, i) => (one.downTo === undefined || index(one.downTo) === 0 ? [] : [{ series: [i + 1, index(one.downTo)] as [number, number], fill: shade(color(`--c-${one.tone}-fill`), 0.16) }])),
    hooks: { setCursor: [onCursor] },
  };
}

/** The canvas of a chart. All text is beside it. */
export default function Plot(props: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { series, times, unit, stacked, buckets, height, language, timeZone, scheme, sync, picked } = props;
  const shape = JSON.stringify(series.map(({ id, tone, kind, dashed, downTo }) => [id, tone, kind, dashed, downTo]));

  useEffect(() => {
    const node = box.current;
    if (!node) return;
    const pick = (u: uPlot) => latest.current.onPick(u.cursor.left === undefined || u.cursor.left < 0 ? undefined : (u.cursor.idx ?? undefined));
    // The range is computed for each new data, so it must not use the first one.
    const now = new Proxy({} as PlotProps, { get: (_none, name) => latest.current[name as keyof PlotProps] });
    const made = new uPlot(optionsOf(now, Math.max(1, node.clientWidth), pick), drawn(latest.current).data, node);
    plot.current = made;
    const seen = new ResizeObserver(() => node.clientWidth > 0 && node.clientWidth !== made.width && made.setSize({ width: node.clientWidth, height }));
    seen.observe(node);
    return () => {
      seen.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, unit, stacked, buckets, height, language, timeZone, scheme, sync]);

  useEffect(() => plot.current?.setData(drawn({ times, series, buckets, stacked }).data), [times, series, buckets, stacked]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    const over = (u.cursor.left ?? -1) >= 0 ? u.cursor.idx : undefined;
    if (over === picked) return;
    u.setCursor(picked === undefined ? { left: -10, top: -10 } : { left: u.valToPos(u.data[0][picked] ?? 0, 'x'), top: 0 });
  }, [picked]);

  return <div ref={box} className={classes.plot} style={{ height }} />;
}
