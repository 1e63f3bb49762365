// A browser that records everything that must not happen: page errors, violations of the content security policy,
// dialogs, and requests to other hosts.

import AxeBuilder from '@axe-core/playwright';
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

// Stricter than the server's policy: the console must work without inline styles as well.
const policy = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Starts Chromium, with additional options of Playwright. */
export function launch(options = {}) {
  return chromium.launch({
    ...options,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

export async function open(browser, server, { locale = 'en-US', width = 1280, height = 900, colorScheme = 'light', timezoneId = 'Europe/Berlin', deviceScaleFactor = 1, reducedMotion = 'reduce', hasTouch = false, storageState } = {}) {
  const context = await browser.newContext({ locale, colorScheme, timezoneId, deviceScaleFactor, reducedMotion, viewport: { width, height }, hasTouch, isMobile: hasTouch, storageState, acceptDownloads: true });
  const wrongs = [];
  await context.exposeBinding('__breach', (_source, what) => wrongs.push(`policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (e) => window.__breach(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber} ${e.sample}`));
  });
  await context.route('**/*', async (route) => {
    const request = route.request();
    if (!request.url().startsWith(server.url)) {
      wrongs.push(`request to ${request.url()}`);
      return route.abort();
    }
    if (request.resourceType() !== 'document') return route.continue();
    const response = await route.fetch().catch(() => undefined);
    return response ? route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } }) : route.abort();
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => wrongs.push(`fault: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // Long, since several browsers and servers may share a machine that is busy with others as well.
  page.setDefaultTimeout(60_000);
  return { context, page, wrongs };
}

/**
 * Fails on accessibility violations that are more than minor; strict, also by the rules of WCAG 2.2 AA that are off by default: size of
 * targets, and names that contain the visible text.
 */
export async function assertAccessible(page, where, { strict = false } = {}) {
  const rules = { 'target-size': { enabled: strict }, 'label-content-name-mismatch': { enabled: strict } };
  // No page has frames, which the other mode supports, at twice the time.
  const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ['violations'], rules }).setLegacyMode(true).analyze();
  const grave = violations.filter((v) => v.impact !== 'minor');
  const told = grave.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target.join(' ')} ${n.any.map((a) => a.message).join('; ')}`).join('\n    ')}`);
  assert.equal(grave.length, 0, `${where}:\n  ${told.join('\n  ')}`);
}

/** Fails if an element extends beyond the right edge of the window. */
export async function assertFits(page, where) {
  const { wide, room, widest } = await page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    const beyond = [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > room + 1 && !e.closest('[role=log], pre'));
    return { wide: document.documentElement.scrollWidth, room, widest: beyond.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)) };
  });
  assert.ok(wide <= room + 1, `${where}: ${wide} pixels wide in a window of ${room}: ${widest.join('\n')}`);
}

export async function shoot(page, name) {
  const folder = process.env.CARILLON_SHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  // Charts are drawn once their code is loaded.
  await page.waitForFunction(() => [...document.querySelectorAll('figure[aria-labelledby] > [role=img]')].every((chart) => chart.querySelector('canvas')));
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: (await page.getByRole('dialog').count()) === 0 });
}
