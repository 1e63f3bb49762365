// Imports go down the layers of docs/architecture.md, "The console", and never in a circle.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

interface Import {
  of: string;
  /** Erased by the compiler. */
  type: boolean;
  /** Loaded on demand: import('…'). */
  lazy: boolean;
}

const root = import.meta.dirname;
const paths = new Set(readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path)));

/** Returns the modules of this folder that a source imports. */
function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, type: boolean, lazy: boolean) => {
    if (node && ts.isStringLiteral(node) && node.text.startsWith('.')) found.push({ of: relative(root, join(root, dirname(path), node.text)), type, lazy });
  };
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly ?? false, false);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly, false);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS));
  return found.filter((one) => paths.has(one.of));
}

/** Returns the circles that a walk along all imports meets, each as a list of paths. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: string[]) => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path]);
    if (trail.includes(path) || done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return circles;
}

// Folders below each folder. The main module and tests may import all of them.
const below: Record<string, readonly string[]> = {
  theme: [],
  lib: [],
  i18n: [],
  api: ['lib'],
  parts: ['api', 'i18n', 'lib'],
  flow: ['api', 'i18n', 'lib', 'parts'],
  screens: ['api', 'flow', 'i18n', 'lib', 'parts'],
  app: ['api', 'flow', 'i18n', 'lib', 'parts', 'screens', 'theme'],
};

/** Reports whether a module may import another one. */
function allowed(from: string, { of, type, lazy }: Import): boolean {
  const [layer = '', screen] = from.split('/');
  const [target = '', other] = of.split('/');
  if (type && of === 'api/types.ts') return true;
  if (layer !== target) return below[layer]?.includes(target) ?? false;
  return layer !== 'screens' || screen === other || lazy;
}

const sources = [...paths].filter((path) => !/\.test\.tsx?$/.test(path)).map((path) => ({ path, imports: importsOf(path, readFileSync(join(root, path), 'utf8')) }));

it('no import is part of a circle', () => {
  expect(sources.length).toBeGreaterThan(300);
  expect(circlesOf(new Map(sources.map(({ path, imports }) => [path, imports.map(({ of }) => of)])))).toEqual([]);
});

it('imports go down the layers', () => {
  expect(sources.flatMap(({ path, imports }) => (path.includes('/') ? imports.filter((one) => !allowed(path, one)).map(({ of }) => `${path} imports ${of}`) : []))).toEqual([]);
});

it('planted circles and imports against the layers are found', () => {
  expect(circlesOf(new Map([['a', ['b']], ['b', ['c', 'd']], ['c', ['a']], ['d', []]]))).toEqual([['a', 'b', 'c', 'a']]);
  const from = (text: string, path = 'screens/run/RunPage.tsx') => importsOf(path, text).map((one) => allowed(path, one));
  expect(from("import { Shell } from '../../app/Shell.tsx'; import { client } from '../../api/client.ts'; import './nothing.css';")).toEqual([false, true]);
  expect(from("import { JobPage } from '../job/JobPage.tsx'; const Page = () => import('../job/JobPage.tsx');")).toEqual([false, true]);
  expect(from("import type { Run } from '../api/types.ts'; import { client } from '../api/client.ts';", 'lib/time.ts')).toEqual([true, false]);
});
