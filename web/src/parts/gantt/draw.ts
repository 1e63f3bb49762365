// Draws the plot. Colour and shape show the status: successes are slim and plain, failures tall with a dark edge,
// killed ones striped, and fires that never started a sign of their own.

import type { FireStatus } from '../../api/types.ts';
import { endOf, type Bar } from './bars.ts';
import { edgesOf, lineHeight, type LaneBox } from './layout.ts';
import type { Palette } from './palette.ts';
import { xOf, type Span } from './span.ts';
import type { Tick } from './ticks.ts';

export type Look = 'plain' | 'tall' | 'striped' | 'diamond' | 'ring' | 'square' | 'growing' | 'planned';

export const looks: Record<FireStatus, { tone: 'ok' | 'bad' | 'warn' | 'live' | 'idle'; look: Look }> = {
  succeeded: { tone: 'ok', look: 'plain' }, failed: { tone: 'bad', look: 'tall' }, timed_out: { tone: 'bad', look: 'tall' }, lost: { tone: 'bad', look: 'tall' },
  killed: { tone: 'warn', look: 'striped' }, refused: { tone: 'warn', look: 'diamond' }, missed: { tone: 'warn', look: 'diamond' }, skipped: { tone: 'idle', look: 'ring' },
  waiting: { tone: 'idle', look: 'square' }, running: { tone: 'live', look: 'growing' }, planned: { tone: 'idle', look: 'planned' },
};

export interface Scene {
  span: Span;
  width: number;
  height: number;
  now: number;
  palette: Palette;
  ticks: readonly Tick[];
  /** Before this time runs are incomplete. */
  completeFrom: number | undefined;
  /** After this time planned fires are incomplete. */
  plannedUntil: number | undefined;
  /** The bar under the keyboard focus or the pointer. */
  at: string | undefined;
}

function stripes(ctx: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, h);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (let s = x - h; s < x + w; s += 4) {
    ctx.moveTo(s, y + h);
    ctx.lineTo(s + h, y);
  }
  ctx.stroke();
  ctx.restore();
}

/** Draws one bar in its line. The legend uses it as well. */
export function drawBar(ctx: CanvasRenderingContext2D, bar: Pick<Bar, 'status'>, left: number, right: number, expected: number | undefined, top: number, palette: Palette) {
  const { tone, look } = looks[bar.status];
  const colour = palette[tone];
  const y = top + 1;
  const h = lineHeight - 2;
  const middle = top + lineHeight / 2;
  const w = right - left;
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  switch (look) {
    case 'plain':
      ctx.globalAlpha = 0.85;
      ctx.fillRect(left, y + 1.5, w, h - 3);
      break;
    case 'tall':
      ctx.fillRect(left, y, w, h);
      // A notch at its end, if there is room.
      if (w >= 9) {
        ctx.strokeStyle = palette.surface;
        ctx.beginPath();
        ctx.moveTo(right - 7, y + 2);
        ctx.lineTo(right - 2, y + h - 2);
        ctx.moveTo(right - 2, y + 2);
        ctx.lineTo(right - 7, y + h - 2);
        ctx.stroke();
      }
      break;
    case 'striped':
      ctx.strokeRect(left + 0.75, y + 0.75, Math.max(1.5, w - 1.5), h - 1.5);
      stripes(ctx, left, y, w, h, colour);
      break;
    case 'diamond':
      ctx.beginPath();
      ctx.moveTo(left, middle - 5);
      ctx.lineTo(left + 5, middle);
      ctx.lineTo(left, middle + 5);
      ctx.lineTo(left - 5, middle);
      ctx.closePath();
      ctx.fill();
      break;
    case 'ring':
      ctx.beginPath();
      ctx.arc(left, middle, 3.5, 0, 2 * Math.PI);
      ctx.stroke();
      break;
    case 'square':
      ctx.strokeRect(left - 3.5, middle - 3.5, 7, 7);
      if (w > 6) {
        ctx.setLineDash([2, 3]);
        ctx.beginPath();
        ctx.moveTo(left + 4, middle);
        ctx.lineTo(right, middle);
        ctx.stroke();
        ctx.setLineDash([]);
      }
      break;
    case 'growing':
      if (expected !== undefined && expected > right) {
        ctx.globalAlpha = 0.18;
        ctx.fillRect(right, y + 1, expected - right, h - 2);
        ctx.globalAlpha = 0.8;
        ctx.setLineDash([3, 2]);
        ctx.strokeRect(right, y + 1.5, expected - right, h - 3);
        ctx.setLineDash([]);
      }
      ctx.globalAlpha = 0.9;
      ctx.fillRect(left, y, w, h);
      break;
    case 'planned':
      if (expected !== undefined && expected > left + 3) {
        ctx.globalAlpha = 0.16;
        ctx.fillRect(left, y + 3, expected - left, h - 6);
      }
      if (w > 3) {
        ctx.globalAlpha = 0.38;
        ctx.fillRect(left, y + 1.5, w, h - 3);
      }
      ctx.globalAlpha = 0.95;
      ctx.fillRect(left, y, 1.5, h);
      break;
  }
  ctx.globalAlpha = 1;
}

function veil(ctx: CanvasRenderingContext2D, from: number, to: number, scene: Scene) {
  const left = Math.max(0, from);
  const right = Math.min(scene.width, to);
  if (right <= left) return;
  // Vertical lines: slanted ones over such an area take longer to draw than everything else.
  ctx.globalAlpha = 0.5;
  ctx.fillStyle = scene.palette.raised;
  ctx.fillRect(left, 0, right - left, scene.height);
  ctx.fillStyle = scene.palette.border;
  for (let x = Math.ceil(left / 6) * 6; x < right; x += 6) ctx.fillRect(x, 0, 1, scene.height);
  ctx.globalAlpha = 1;
}

/** Draws the grid, now, and the incomplete areas. */
function drawGround(ctx: CanvasRenderingContext2D, scene: Scene) {
  const { span, width, height, palette } = scene;
  const x = (at: number) => xOf(span, width, at);
  const nowX = x(scene.now);
  if (nowX < width) {
    ctx.globalAlpha = 0.4;
    ctx.fillStyle = palette.raised;
    ctx.fillRect(Math.max(0, nowX), 0, width - Math.max(0, nowX), height);
    ctx.globalAlpha = 1;
  }
  if (scene.completeFrom !== undefined) veil(ctx, -1, x(scene.completeFrom), scene);
  if (scene.plannedUntil !== undefined) veil(ctx, x(scene.plannedUntil), width + 1, scene);
  ctx.strokeStyle = palette.border;
  for (const tick of scene.ticks) {
    ctx.lineWidth = tick.kind === 'day' ? 2 : 1;
    ctx.beginPath();
    ctx.moveTo(Math.round(x(tick.at)) + 0.5, 0);
    ctx.lineTo(Math.round(x(tick.at)) + 0.5, height);
    ctx.stroke();
  }
}

function drawNow(ctx: CanvasRenderingContext2D, scene: Scene) {
  const x = Math.round(xOf(scene.span, scene.width, scene.now));
  if (x < 0 || x > scene.width) return;
  ctx.fillStyle = scene.palette.accent;
  ctx.fillRect(x - 1, 0, 2, scene.height);
}

/** Draws the visible lanes below this scroll offset. */
export function drawLanes(ctx: CanvasRenderingContext2D, boxes: readonly LaneBox[], scrolled: number, scene: Scene) {
  const { span, width, palette, now } = scene;
  ctx.clearRect(0, 0, width, scene.height);
  drawGround(ctx, scene);
  let ringed: (() => void) | undefined;
  for (const { lane, top, height, linesTop } of boxes) {
    ctx.fillStyle = palette.border;
    ctx.fillRect(0, Math.round(top - scrolled + height) - 1, width, 1);
    if (lane.kind === 'group' && !lane.closed) {
      ctx.globalAlpha = 0.5;
      ctx.fillStyle = palette.raised;
      ctx.fillRect(0, top - scrolled, width, height - 1);
      ctx.globalAlpha = 1;
    }
    // If many bars share a pixel, one of each status is enough.
    const drawn = new Map<string, number>();
    for (const { bar, line } of lane.bars) {
      const { left, right } = edgesOf(bar, span, width, now);
      const expected = bar.expected === undefined ? undefined : xOf(span, width, bar.expected);
      if (left > width + 6 || Math.max(right, expected ?? 0) < -6) continue;
      const key = `${line} ${bar.status}`;
      if (bar.id !== scene.at && right <= (drawn.get(key) ?? -Infinity) && endOf(bar, now) <= now) continue;
      drawn.set(key, right);
      const y = linesTop - scrolled + line * lineHeight;
      drawBar(ctx, bar, Math.max(-8, left), Math.min(width + 8, right), expected, y, palette);
      if (bar.id === scene.at) {
        ringed = () => {
          ctx.strokeStyle = palette.text;
          ctx.lineWidth = 2;
          ctx.strokeRect(Math.max(-8, left) - 3, y - 1, Math.min(width + 8, right) - Math.max(-8, left) + 6, lineHeight + 2);
        };
      }
    }
  }
  drawNow(ctx, scene);
  ringed?.();
}
