import { expect, test } from 'vitest';
import { shellWords } from './shellWords.ts';

test('words with blanks, quotes or signs of a shell are quoted, and others are not', () => {
  expect(shellWords(['rsync', '-a', 'user@host:/srv/a b', ''])).toBe("rsync -a 'user@host:/srv/a b' ''");
  expect(shellWords(['sh', '-c', "echo 'it'; ls *"])).toBe("sh -c 'echo '\\''it'\\''; ls *'");
});
