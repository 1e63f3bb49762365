// Letters and digits that are hard to confuse when read aloud or from paper.
const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Generates a password of 20 characters in groups of five, about 116 bits. */
export function makePassword(random: (bytes: Uint8Array) => Uint8Array = (bytes) => crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>)): string {
  const picked: string[] = [];
  // A byte beyond the last full range would favour the first letters.
  const fair = 256 - (256 % letters.length);
  while (picked.length < 20) for (const byte of random(new Uint8Array(32))) if (byte < fair && picked.length < 20) picked.push(letters[byte % letters.length] ?? '');
  return picked.join('').replace(/.{5}(?=.)/g, '$&-');
}
