import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { FireStatus } from '../../api/types.ts';
import { useCanvas } from '../../lib/useCanvas.ts';
import { drawBar } from './draw.ts';
import classes from './GanttLegend.module.css';
import { lineHeight } from './layout.ts';
import { usePalette } from './palette.ts';

const shown: readonly FireStatus[] = ['succeeded', 'failed', 'killed', 'running', 'waiting', 'missed', 'skipped', 'planned'];
// A sign centred on the start would be clipped.
const centred = new Set<FireStatus>(['waiting', 'missed', 'skipped']);
const width = 34;

function Mark({ status }: { status: FireStatus }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = usePalette();
  useCanvas(canvas, width, lineHeight, (ctx) => {
    ctx.clearRect(0, 0, width, lineHeight);
    if (centred.has(status)) drawBar(ctx, { status }, width / 2, width / 2 + 3, undefined, 0, palette);
    else drawBar(ctx, { status }, 1, status === 'running' || status === 'planned' ? 18 : width - 1, width - 1, 0, palette);
  });
  return <canvas ref={canvas} className={classes.mark} aria-hidden="true" />;
}

/** The legend of the bars, drawn as in the plot. */
export function GanttLegend() {
  const { t } = useTranslation();
  return (
    <ul className={classes.legend} aria-label={t('timeline.legend')}>
      {shown.map((status) => (
        <li key={status}>
          <Mark status={status} />
          {status === 'failed' ? t('timeline.wentWrong') : status === 'missed' ? t('timeline.neverBegan') : t(`status.${status}`)}
        </li>
      ))}
    </ul>
  );
}
