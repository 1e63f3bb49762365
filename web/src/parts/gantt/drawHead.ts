// Draws the strip above the lanes: fires per minute, and the time axis.

import { stackTones, type Column, type StackTone } from './density.ts';
import type { Scene } from './draw.ts';
import { xOf } from './span.ts';

export const stripHeight = 44;
export const axisHeight = 42;

export interface Strip {
  columns: readonly Column[];
  /** Time span of a column. */
  column: number;
  /** These are averages. */
  averages: readonly Column[];
  averageColumn: number;
  /** From this number of fires per minute on it is a peak. */
  threshold: number;
  top: number;
}

/** Height of a column; the square root keeps single fires visible beside a peak. */
const tall = (fires: number, top: number) => Math.max(2, Math.sqrt(fires / Math.max(1, top)) * (stripHeight - 8));

/** Shares of a column by outcome, from below. Each is at least an eighth, so that a single failure stays visible. */
export function sharesOf(by: Column['by'], fires: number): { tone: StackTone; share: number }[] {
  const parts = stackTones.flatMap((tone) => (by?.[tone] ? [{ tone, share: Math.max(1 / 8, by[tone] / fires) }] : []));
  const sum = parts.reduce((total, { share }) => total + share, 0);
  return parts.length === 0 ? [{ tone: 'plan', share: 1 }] : parts.map(({ tone, share }) => ({ tone, share: share / sum }));
}

export function drawHead(ctx: CanvasRenderingContext2D, scene: Scene, strip: Strip, label: (at: number, kind: 'time' | 'day') => string) {
  const { span, width, palette } = scene;
  const x = (at: number) => xOf(span, width, at);
  ctx.clearRect(0, 0, width, stripHeight + axisHeight);
  const nowX = x(scene.now);
  ctx.globalAlpha = 0.5;
  for (const { at, fires } of strip.averages) {
    ctx.fillStyle = palette.idle;
    const h = tall(fires, strip.top);
    ctx.fillRect(x(at), stripHeight - h, Math.max(1, x(at + strip.averageColumn) - x(at) - 1), h);
  }
  ctx.globalAlpha = 1;
  for (const { at, fires, by } of strip.columns) {
    const left = x(at);
    const w = Math.max(2, x(at + strip.column) - left - 1);
    const h = tall(fires, strip.top);
    let bottom = stripHeight;
    for (const { tone, share } of sharesOf(by, fires)) {
      ctx.fillStyle = palette[tone === 'plan' ? 'idle' : tone];
      ctx.globalAlpha = tone === 'plan' || tone === 'idle' ? 0.5 : tone === 'bad' ? 1 : 0.75;
      ctx.fillRect(left, bottom - h * share, w, h * share);
      bottom -= h * share;
    }
    ctx.globalAlpha = 1;
    if (fires >= strip.threshold) {
      ctx.fillStyle = palette.text;
      ctx.beginPath();
      ctx.moveTo(left + w / 2 - 4, stripHeight - h - 7);
      ctx.lineTo(left + w / 2 + 4, stripHeight - h - 7);
      ctx.lineTo(left + w / 2, stripHeight - h - 1);
      ctx.fill();
    }
  }
  ctx.fillStyle = palette.border;
  ctx.fillRect(0, stripHeight, width, 1);
  ctx.font = `12px ${palette.font}`;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'center';
  for (const tick of scene.ticks) {
    const at = Math.round(x(tick.at)) + 0.5;
    ctx.strokeStyle = palette.border;
    ctx.lineWidth = tick.kind === 'day' ? 2 : 1;
    ctx.beginPath();
    ctx.moveTo(at, stripHeight);
    ctx.lineTo(at, stripHeight + 6);
    ctx.stroke();
    ctx.fillStyle = tick.kind === 'day' ? palette.text : palette.dim;
    const text = label(tick.at, tick.kind);
    const half = ctx.measureText(text).width / 2;
    if (at - half >= 0 && at + half <= width) ctx.fillText(text, at, stripHeight + 16);
  }
  if (nowX >= 0 && nowX <= width) {
    ctx.fillStyle = palette.accent;
    ctx.fillRect(Math.round(nowX) - 1, 0, 2, stripHeight + axisHeight);
    const text = label(scene.now, 'time');
    const half = ctx.measureText(text).width / 2 + 5;
    const middle = Math.min(width - half, Math.max(half, nowX));
    ctx.beginPath();
    ctx.roundRect(middle - half, stripHeight + axisHeight - 20, half * 2, 18, 4);
    ctx.fill();
    ctx.fillStyle = palette.surface;
    ctx.fillText(text, middle, stripHeight + axisHeight - 11);
  }
}
