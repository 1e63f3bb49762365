import { Link } from '@tanstack/react-router';
import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { targetOf } from '../../lib/guide.ts';
import { visible } from '../../lib/visible.ts';
import classes from './guide.module.css';
import { idOf, isPicture, unescaped, type Page } from './page.ts';

/** A page of the guide as elements. HTML in it is shown as text, except for anchors. */
export function Markdown({ page }: { page: Page }) {
  return <>{page.tokens.map((token, i) => <Block key={i} token={token} page={page} />)}</>;
}

function Blocks({ tokens, page }: { tokens: readonly Token[] | undefined; page: Page }) {
  return <>{tokens?.map((token, i) => <Block key={i} token={token} page={page} />)}</>;
}

function Block({ token, page }: { token: Token; page: Page }): ReactNode {
  const { t } = useTranslation();
  if (isPicture(token)) return null;
  switch (token.type) {
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      const Head = `h${Math.min(depth, 6)}` as 'h2';
      const slug = page.slugs.get(token);
      return (
        <Head id={slug && idOf(slug)} tabIndex={-1}>
          <Inline tokens={tokens} page={page} />
          {depth > 1 && slug && <Link to="/guide/$" params={{ _splat: page.name }} hash={slug} className={classes.here} aria-hidden="true" tabIndex={-1}>#</Link>}
        </Head>
      );
    }
    case 'paragraph':
      return <p><Inline tokens={(token as Tokens.Paragraph).tokens} page={page} /></p>;
    case 'text':
      return <Inline tokens={(token as Tokens.Text).tokens ?? [token]} page={page} />;
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const entries = items.map((item, i) => <li key={i}><Blocks tokens={item.tokens} page={page} /></li>);
      return ordered ? <ol start={start === '' ? undefined : start}>{entries}</ol> : <ul>{entries}</ul>;
    }
    case 'code':
      // Focusable, because it may have to be scrolled with the keyboard.
      return <pre className={classes.code} tabIndex={0} role="group" aria-label={t('guide.code')}>{visible((token as Tokens.Code).text)}</pre>;
    case 'blockquote':
      return <blockquote><Blocks tokens={(token as Tokens.Blockquote).tokens} page={page} /></blockquote>;
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return (
        <div className={classes.wide} tabIndex={0} role="group" aria-label={t('guide.table')}>
          <table>
            <thead><tr>{header.map((cell, i) => <th key={i} scope="col"><Inline tokens={cell.tokens} page={page} /></th>)}</tr></thead>
            <tbody>{rows.map((row, i) => <tr key={i}>{row.map((cell, j) => <td key={j}><Inline tokens={cell.tokens} page={page} /></td>)}</tr>)}</tbody>
          </table>
        </div>
      );
    }
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    default:
      return <Inline tokens={[token]} page={page} />;
  }
}

function Inline({ tokens, page }: { tokens: readonly Token[] | undefined; page: Page }) {
  return <>{tokens?.map((token, i) => <Fragment key={i}>{inline(token, page)}</Fragment>)}</>;
}

function inline(token: Token, page: Page): ReactNode {
  const within = <Inline tokens={'tokens' in token ? token.tokens : undefined} page={page} />;
  switch (token.type) {
    case 'strong':
      return <strong>{within}</strong>;
    case 'em':
      return <em>{within}</em>;
    case 'del':
      return <del>{within}</del>;
    case 'codespan':
      return <code>{visible((token as Tokens.Codespan).text)}</code>;
    case 'br':
      return <br />;
    case 'image':
      return null;
    case 'link': {
      const target = targetOf((token as Tokens.Link).href, page.name);
      if (target === undefined) return within;
      if ('href' in target) return <a href={target.href} target="_blank" rel="noreferrer">{within}</a>;
      return <Link to="/guide/$" params={{ _splat: target.page }} {...(target.hash !== undefined && { hash: target.hash })}>{within}</Link>;
    }
    case 'html': {
      const { text } = token as Tokens.HTML;
      const anchor = /^<a id="([\w-]+)">(?:<\/a>)?\s*$/.exec(text)?.[1];
      if (anchor !== undefined) return <span id={idOf(anchor)} tabIndex={-1} />;
      return text === '</a>' || text.startsWith('<!--') ? null : visible(text);
    }
    case 'text':
      return 'tokens' in token && token.tokens ? within : visible(unescaped((token as Tokens.Text).text));
    default:
      return visible(unescaped('text' in token ? String(token.text) : token.raw));
  }
}
