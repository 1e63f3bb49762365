import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { LaneBy } from '../../parts/gantt/lanes.ts';
import { aroundNow, lengthOf, pan, presets, zoom, type Preset, type Span } from '../../parts/gantt/span.ts';
import { Icon } from '../../parts/icons.tsx';
import classes from './TimelinePage.module.css';

/** Buttons to pan and zoom the axis. They do not render while panning, which is frequent. */
export const AxisButtons = memo(function AxisButtons({ preset, choose, act }: { preset: Preset | undefined; choose: (preset: Preset) => void; act: (how: (span: Span) => Span) => void }) {
  const { t } = useTranslation();
  return (
    <>
      <SegmentedControl
        size="xs" aria-label={t('timeline.length')} value={preset ?? ''} onChange={(value) => choose(value as Preset)}
        data={(Object.keys(presets) as Preset[]).map((value) => ({ value, label: t(`timeline.presets.${value}`) }))}
      />
      <div className={classes.moves} role="group" aria-label={t('timeline.moves')}>
        <ActionIcon variant="default" size="md" aria-label={t('timeline.earlier')} title={t('timeline.earlier')} onClick={() => act((span) => pan(span, -lengthOf(span) / 2))}><Icon name="left" size={15} /></ActionIcon>
        <Button variant="default" size="compact-sm" title={t('timeline.toNowKey')} onClick={() => act((span) => aroundNow(span, Date.now()))}>{t('timeline.toNow')}</Button>
        <ActionIcon variant="default" size="md" aria-label={t('timeline.later')} title={t('timeline.later')} onClick={() => act((span) => pan(span, lengthOf(span) / 2))}><Icon name="right" size={15} /></ActionIcon>
        <ActionIcon variant="default" size="md" aria-label={t('timeline.closer')} title={t('timeline.closerKey')} onClick={() => act((span) => zoom(span, 0.6))}><Icon name="plus" size={15} /></ActionIcon>
        <ActionIcon variant="default" size="md" aria-label={t('timeline.wider')} title={t('timeline.widerKey')} onClick={() => act((span) => zoom(span, 1 / 0.6))}><Icon name="minus" size={15} /></ActionIcon>
      </div>
    </>
  );
});

/** Lanes by job or by worker. */
export const LaneChoice = memo(function LaneChoice({ by, onBy }: { by: LaneBy; onBy: (by: LaneBy) => void }) {
  const { t } = useTranslation();
  return (
    <SegmentedControl
      size="xs" aria-label={t('timeline.lanesBy')} value={by} onChange={(value) => onBy(value === 'worker' ? 'worker' : 'job')}
      data={[{ value: 'job', label: t('timeline.byJob') }, { value: 'worker', label: t('timeline.byWorker') }]}
    />
  );
});
