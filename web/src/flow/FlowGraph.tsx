import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { LazyPart } from '../parts/LazyPart.tsx';
import classes from './FlowGraph.module.css';
import type { FlowGraphProps } from './props.ts';

const FlowCanvas = lazy(() => import('./graph/FlowCanvas.tsx'));

/** The graph of a flow. The drawing is loaded on demand. */
export function FlowGraph(props: FlowGraphProps) {
  const { t } = useTranslation();
  return (
    <div className={classes.place}>
      <LazyPart onClose={() => undefined}>
        <Suspense fallback={<Skeleton height="100%" role="status" aria-label={t('common.loading')} />}><FlowCanvas {...props} /></Suspense>
      </LazyPart>
    </div>
  );
}
