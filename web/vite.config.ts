import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const root = dirname(fileURLToPath(import.meta.url));

// What dist is made from. dist_test.go has the same list and the same algorithm: it fails where dist is older than its sources.
const sources = ['index.html', 'package.json', 'package-lock.json', 'public', 'src', 'tsconfig.json', 'vite.config.ts'];

function filesUnder(path: string): string[] {
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.flatMap((e) => (e.isDirectory() ? filesUnder(`${path}/${e.name}`) : [`${path}/${e.name}`]));
}

function hashOfSources(): string {
  const files = sources.flatMap((s) => (/\.\w+$/.test(s) ? [s] : filesUnder(s))).sort();
  const all = createHash('sha256');
  for (const f of files) {
    const one = createHash('sha256').update(readFileSync(join(root, f))).digest('hex');
    all.update(`${one}  ${f}\n`);
  }
  return all.digest('hex');
}

function stampSources(): Plugin {
  let into = 'dist';
  return {
    name: 'carillon-stamp-sources',
    apply: 'build',
    configResolved({ build }) {
      into = build.outDir;
    },
    closeBundle() {
      writeFileSync(resolve(root, into, 'sources.sha256'), `${hashOfSources()}\n`);
    },
  };
}

type Modules = { getModuleInfo(id: string): { importedIds: readonly string[] } | null };

// What the page of jobs needs, and the palette, which every page loads when it is idle. It is the first page that most
// people open, so what it shares with others is not mixed with what it does without.
const firstParts = ['src/screens/jobs/JobsPage.tsx', 'src/app/palette/Palette.tsx'];
// An import of one component reaches all of Mantine. Of these the page has none.
const ofOthers = /react-number-format|components\/(Autocomplete|Badge|Combobox|FloatingIndicator|MultiSelect|NumberInput|Pill|PillsInput|Progress|SegmentedControl|Tabs|TagsInput)\//;
let ofJobs: Set<string> | undefined;

function isOfJobs(id: string, modules: Modules): boolean {
  if (!ofJobs) {
    ofJobs = new Set(firstParts.map((path) => join(root, path)));
    for (const m of ofJobs) for (const imported of modules.getModuleInfo(m)?.importedIds ?? []) ofJobs.add(imported);
  }
  return ofJobs.has(id) && !ofOthers.test(id);
}

export default defineConfig({
  plugins: [react(), stampSources()],
  // Dialogs do without it; see there.
  resolve: { alias: { 'react-remove-scroll': join(root, 'src/parts/noScrollLock.tsx') } },
  server: { proxy: Object.fromEntries(['/api', '/version', '/docs', '^/guide/.*[.]md$'].map((path) => [path, process.env.CARILLON_URL ?? 'http://127.0.0.1:8080'])) },
  worker: { format: 'es', rolldownOptions: { output: { entryFileNames: 'assets/[name].[hash:10].js', hashCharacters: 'hex' } } },
  build: {
    target: 'es2022',
    sourcemap: false,
    // The content security policy allows no data: URLs, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // A name has the hash of the content, so that browsers keep a file for ever; dist_test.go and the server rely on it.
        entryFileNames: 'assets/[name].[hash:10].js',
        chunkFileNames: 'assets/[name].[hash:10].js',
        assetFileNames: 'assets/[name].[hash:10][extname]',
        hashCharacters: 'hex',
        // Named groups, because what a bundler picks for what pages share moves with every change. First what every page
        // needs, then what several need, then what is large. What a single page needs stays with it.
        codeSplitting: {
          groups: [
            { name: 'en', test: /src\/i18n\/en\/(first|shell|jobs|overview)\.ts/, priority: 5 },
            { name: 'zh', test: /src\/i18n\/zh\/(first|shell|jobs|overview|server)\.ts/, priority: 5 },
            { name: 'en-rest', test: /src\/i18n\/en\//, priority: 4 },
            { name: 'zh-rest', test: /src\/i18n\/zh\//, priority: 4 },
            { name: 'yaml', test: /node_modules\/yaml\/|src\/lib\/yaml/, priority: 4 },
            { name: 'vendor', test: /node_modules\/(?!@mantine|@floating-ui)/, tags: ['$initial'], priority: 3 },
            { name: 'mantine', test: /node_modules\/(@mantine|@floating-ui)/, tags: ['$initial'], priority: 3 },
            { name: 'shared', test: /src\/(api|app|i18n|lib|parts|theme)\//, tags: ['$initial'], priority: 3 },
            { name: (id: string, modules: Modules) => (isOfJobs(id, modules) ? 'lists' : null), test: /node_modules\/@(mantine|floating-ui|tanstack)\//, minShareCount: 2, priority: 2.5 },
            { name: (id: string, modules: Modules) => (isOfJobs(id, modules) ? 'basics' : null), test: /src\/(api|app|lib|parts(?!\/(code|charts\/(?!index))))\//, minShareCount: 2, priority: 2.5 },
            { name: 'forms', test: /node_modules\/(@mantine|@floating-ui|react-number-format)/, minShareCount: 2, priority: 2.2 },
            { name: 'flow', test: /src\/flow\//, minShareCount: 2, priority: 2 },
            { name: 'parts', test: /src\/(api|app|lib|parts(?!\/(code|charts\/(?!index))))\//, minShareCount: 2, priority: 2 },
            { name: 'code', test: /node_modules\/(@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt)|src\/parts\/code\//, priority: 1 },
            { name: 'charts', test: /node_modules\/uplot|src\/parts\/charts\/(?!index)/, priority: 1 },
          ],
        },
      },
    },
  },
  test: {
    // Most of what is tested needs no page; a test that does says so in its first line, since making one takes as long as a hundred tests.
    environment: 'node',
    include: ['src/**/*.test.{ts,tsx}'],
  },
} as Parameters<typeof defineConfig>[0]);
