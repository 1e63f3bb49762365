// Builds the page of this folder as the console is built, and serves it under a policy without inline styles.

import { createServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, '../..');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2' };

/** Returns the address of the page, and how to end the server. */
export async function serve() {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-flow-'));
  await build({
    configFile: false, root: here, logLevel: 'error', publicDir: false, plugins: [react()], resolve: { alias: { 'react-remove-scroll': join(web, 'src/parts/noScrollLock.tsx') } },
    worker: { format: 'es' }, build: { outDir: folder, emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  });
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    const file = path === '/' ? '/index.html' : path;
    const content = await readFile(join(folder, file)).catch(() => undefined);
    response.writeHead(content ? 200 : 404, { 'content-type': types[extname(file)] ?? 'text/plain', 'content-security-policy': "default-src 'self'" });
    response.end(content);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
