// Draws the strip above the lanes: fires per minute, and the time axis.

import type { Column } from './density.ts';
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
  for (const { at, fires } of strip.columns) {
    const left = x(at);
    const w = Math.max(2, x(at + strip.column) - left - 1);
    const h = tall(fires, strip.top);
    const piled = fires >= strip.threshold;
    ctx.fillStyle = piled ? palette.bad : left < nowX ? palette.ok : palette.live;
    ctx.globalAlpha = piled ? 1 : 0.7;
    ctx.fillRect(left, stripHeight - h, w, h);
    ctx.globalAlpha = 1;
    if (piled) {
      // A flag above it, so that colour alone is not needed.
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
