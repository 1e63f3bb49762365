import { NativeSelect } from '@mantine/core';
import { Link, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useGuidePage } from '../../api/guide.ts';
import { Problem } from '../../api/problem.ts';
import { firstPage, guideParts, isPage, type GuidePageName, type GuidePart } from '../../lib/guide.ts';
import { EmptyPage } from '../../parts/EmptyPage.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { ProblemNotice } from '../../parts/ProblemNotice.tsx';
import { Waiting } from '../../parts/Waiting.tsx';
import classes from './guide.module.css';
import { Markdown } from './Markdown.tsx';
import { idOf, parse, type Page } from './page.ts';

/** The documentation of this version, served by the master. */
export function GuidePage() {
  const { t } = useTranslation();
  const { _splat: asked } = useParams({ strict: false });
  const name = asked || firstPage;
  const text = useGuidePage(isPage(name) ? name : '-');
  const page = useMemo(() => (text.data === undefined ? undefined : parse(name, text.data)), [name, text.data]);
  useAnchor(page);
  const title = isListed(name) ? t(`guide.pages.${name}`) : page?.title;
  const unknown = !isPage(name) || (text.error instanceof Problem && text.error.status === 404);
  return (
    <>
      <PageHead title={t('guide.title')} name={title || t('guide.title')} />
      <div className={classes.guide}>
        <Contents name={name} page={page} />
        <article className={classes.text} lang="en" aria-label={title || t('guide.title')} data-page={page && name}>
          {unknown && <EmptyPage icon="question" title={t('guide.unknown')}><Link to="/guide">{t('guide.toFirst')}</Link></EmptyPage>}
          {!unknown && text.error && !page && <ProblemNotice error={text.error} onRetry={() => void text.refetch()} />}
          {!page && !text.error && <Waiting rows={10} />}
          {page && <Markdown page={page} />}
        </article>
      </div>
    </>
  );
}

/** Scrolls to the heading that the address names, and moves the focus there. */
function useAnchor(page: Page | undefined) {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  useEffect(() => {
    const place = page && hash ? document.getElementById(idOf(hash)) : undefined;
    place?.scrollIntoView();
    place?.focus({ preventScroll: true });
  }, [page, hash]);
}

function isListed(name: string): name is GuidePageName {
  return Object.values(guideParts).some((pages) => (pages as readonly string[]).includes(name));
}

const parts = Object.keys(guideParts) as GuidePart[];

/** The pages, and the sections of the open one: a list beside the page, or a choice above it on a phone. */
function Contents({ name, page }: { name: string; page: Page | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const listed = isListed(name);
  return (
    <>
      <NativeSelect
        className={classes.choice} label={t('guide.page')} value={listed ? name : ''} onChange={({ currentTarget }) => void navigate({ to: '/guide/$', params: { _splat: currentTarget.value } })}
        data={[...(listed ? [] : [{ value: '', label: page?.title ?? name }]), ...parts.map((part) => ({ group: t(`guide.parts.${part}`), items: guideParts[part].map((one) => ({ value: one, label: t(`guide.pages.${one}`) })) }))]}
      />
      <nav className={classes.contents} aria-label={t('guide.contents')}>
        {parts.map((part) => (
          <section key={part}>
            <h2>{t(`guide.parts.${part}`)}</h2>
            <ul>
              {guideParts[part].map((one) => (
                <li key={one}>
                  <Link to="/guide/$" params={{ _splat: one }} aria-current={one === name ? 'page' : undefined} data-active={one === name || undefined}>{t(`guide.pages.${one}`)}</Link>
                  {one === name && page && page.sections.length > 1 && (
                    <ul lang="en">{page.sections.map(({ slug, title }) => <li key={slug}><Link to="/guide/$" params={{ _splat: one }} hash={slug}>{title}</Link></li>)}</ul>
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  );
}
