import { useLayoutEffect, type RefObject } from 'react';

/** Draws on a canvas after each change, at the resolution of the screen. */
export function useCanvas(target: RefObject<HTMLCanvasElement | null>, width: number, height: number, draw: (ctx: CanvasRenderingContext2D) => void): void {
  useLayoutEffect(() => {
    const canvas = target.current;
    const ctx = canvas?.getContext('2d');
    if (!canvas || !ctx || width <= 0 || height <= 0) return;
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(width * ratio);
    const tall = Math.round(height * ratio);
    if (canvas.width !== wide || canvas.height !== tall) Object.assign(canvas, { width: wide, height: tall });
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(ctx);
  });
}
