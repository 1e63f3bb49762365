// Runs all stories: first the one that measures, alone, then the others, two files at a time. In CI, whose
// machines are shared, a file in which one failed is run once more, by itself; both are in the log.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = import.meta.dirname;
const scratch = mkdtempSync(join(tmpdir(), 'carillon-e2e-'));

function failedOf(files, atATime) {
  const list = join(scratch, 'failed');
  const { status, error } = spawnSync(process.execPath, [
    '--test', `--test-concurrency=${atATime}`, '--test-reporter=tap', '--test-reporter-destination=stdout',
    `--test-reporter=${join(folder, 'failures.mjs')}`, `--test-reporter-destination=${list}`, ...files,
  ], { stdio: 'inherit' });
  if (error) throw error;
  const failed = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  if (status !== 0 && failed.length === 0) throw new Error(`the runner ended with ${status}, and names no story that failed`);
  return failed;
}

const alone = join(folder, 'scale.test.mjs');

try {
  const all = readdirSync(folder).filter((name) => name.endsWith('.test.mjs')).map((name) => join(folder, name));
  let failed = [...failedOf([alone], 1), ...failedOf(all.filter((file) => file !== alone), 2)];
  if (failed.length > 0 && process.env.CI) {
    console.log(`== stories: FAILED in ${failed.join(' ')}; once more`);
    failed = failedOf(failed, 1);
  }
  if (failed.length > 0) console.log(`== stories: FAILED in ${failed.join(' ')}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
