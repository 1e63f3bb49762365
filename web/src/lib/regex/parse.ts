// Parses a regular expression. It supports the syntax that the server supports: no lookaround, no back-references.

/** Syntax tree of an expression. */
export type Node =
  | { kind: 'char'; is: (code: number) => boolean }
  | { kind: 'at'; holds: (text: string, i: number) => boolean }
  | { kind: 'all'; parts: Node[] }
  | { kind: 'any'; parts: Node[] }
  | { kind: 'repeat'; of: Node; least: number; most: number; lazy: boolean };

const mostRepeats = 1000;

const isWord = (code: number) => (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
const wordAt = (text: string, i: number) => i >= 0 && i < text.length && isWord(text.charCodeAt(i));
const boundary = (text: string, i: number) => wordAt(text, i - 1) !== wordAt(text, i);

const classes: Record<string, (code: number) => boolean> = {
  d: (code) => code >= 48 && code <= 57,
  w: isWord,
  s: (code) => code === 32 || (code >= 9 && code <= 13) || code === 0xa0,
};
const signs: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11, a: 7 };
const not = (is: (code: number) => boolean) => (code: number) => !is(code);

/** The expression is invalid or uses unsupported syntax. */
export class Unknown extends Error {}

export class Parser {
  readonly #text: string;
  readonly #fold: (code: number) => readonly number[];
  #i = 0;

  constructor(text: string, matchCase: boolean) {
    this.#text = text;
    this.#fold = (code) => {
      if (matchCase) return [code];
      const sign = String.fromCharCode(code);
      return [sign, sign.toLowerCase(), sign.toUpperCase()].filter((s) => s.length === 1).map((s) => s.charCodeAt(0));
    };
  }

  parse(): Node {
    const node = this.#alternatives();
    if (this.#i < this.#text.length) throw new Unknown();
    return node;
  }

  #take(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#i)) return false;
    this.#i += sign.length;
    return true;
  }

  #sign(): string {
    const sign = this.#text[this.#i++];
    if (sign === undefined) throw new Unknown();
    return sign;
  }

  #alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'any', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#i < this.#text.length && !'|)'.includes(this.#text[this.#i] ?? '')) parts.push(this.#repeated(this.#one()));
    return { kind: 'all', parts };
  }

  #repeated(node: Node): Node {
    const range = this.#range();
    if (!range) return node;
    const lazy = this.#take('?');
    if (!lazy && '*+?'.includes(this.#text[this.#i] ?? ' ')) throw new Unknown();
    return { kind: 'repeat', of: node, least: range[0], most: range[1], lazy };
  }

  #range(): [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    const counted = /^\{(\d+)(,(\d*))?\}/.exec(this.#text.slice(this.#i));
    if (!counted) return undefined; // a literal brace
    this.#i += counted[0].length;
    const least = Number(counted[1]);
    const most = counted[2] === undefined ? least : counted[3] === '' ? Infinity : Number(counted[3]);
    if (most < least || least > mostRepeats || (most !== Infinity && most > mostRepeats)) throw new Unknown();
    return [least, most];
  }

  #one(): Node {
    const sign = this.#sign();
    switch (sign) {
      case '(': {
        if (!this.#take('?:') && this.#text[this.#i] === '?' && !this.#named()) throw new Unknown();
        const inner = this.#alternatives();
        if (!this.#take(')')) throw new Unknown();
        return inner;
      }
      case '[':
        return { kind: 'char', is: this.#set() };
      case '.':
        return { kind: 'char', is: (code) => code !== 10 };
      case '^':
        return { kind: 'at', holds: (_, i) => i === 0 };
      case '$':
        return { kind: 'at', holds: (text, i) => i === text.length };
      case '*':
      case '+':
      case '?':
        throw new Unknown();
      case '\\':
        return this.#escaped();
      default:
        return this.#literal(sign.charCodeAt(0));
    }
  }

  #named(): boolean {
    const name = /^\?P?<\w+>/.exec(this.#text.slice(this.#i));
    this.#i += name?.[0].length ?? 0;
    return name !== null;
  }

  #literal(code: number): Node {
    const codes = this.#fold(code);
    return { kind: 'char', is: codes.length === 1 ? (c) => c === code : (c) => codes.includes(c) };
  }

  #escaped(): Node {
    const sign = this.#sign();
    if (sign === 'b') return { kind: 'at', holds: boundary };
    if (sign === 'B') return { kind: 'at', holds: (text, i) => !boundary(text, i) };
    if (sign === 'A') return { kind: 'at', holds: (_, i) => i === 0 };
    if (sign === 'z') return { kind: 'at', holds: (text, i) => i === text.length };
    const known = this.#class(sign);
    return known ? { kind: 'char', is: known } : this.#literal(this.#code(sign));
  }

  #class(sign: string): ((code: number) => boolean) | undefined {
    const is = classes[sign.toLowerCase()];
    return is && (sign === sign.toLowerCase() ? is : not(is));
  }

  /** The character that an escape sequence denotes. */
  #code(sign: string): number {
    const known = signs[sign];
    if (known !== undefined) return known;
    if (sign === 'x' || sign === 'u') {
      const hex = /^(?:\{([\da-fA-F]{1,4})\}|([\da-fA-F]{2}))/.exec(this.#text.slice(this.#i));
      if (!hex || sign === 'u') throw new Unknown();
      this.#i += hex[0].length;
      return parseInt(hex[1] ?? hex[2] ?? '', 16);
    }
    if (/[\da-zA-Z]/.test(sign)) throw new Unknown();
    return sign.charCodeAt(0);
  }

  #set(): (code: number) => boolean {
    const negative = this.#take('^');
    const tests: ((code: number) => boolean)[] = [];
    if (this.#text[this.#i] === ']') throw new Unknown(); // differs between implementations
    while (this.#text[this.#i] !== ']') {
      if (this.#text.startsWith('[:', this.#i)) throw new Unknown();
      const from = this.#member(tests);
      if (from === undefined) continue;
      if (this.#text[this.#i] === '-' && this.#text[this.#i + 1] !== ']') {
        this.#i++;
        const to = this.#member(tests);
        if (to === undefined || to < from) throw new Unknown();
        tests.push((code) => code >= from && code <= to);
      } else tests.push((code) => code === from);
    }
    this.#i++;
    const is = (code: number) => tests.some((test) => test(code));
    const folded = (code: number) => this.#fold(code).some(is);
    return negative ? not(folded) : folded;
  }

  /** Returns one character of a set; undefined for a class, which is used unchanged. */
  #member(tests: ((code: number) => boolean)[]): number | undefined {
    const sign = this.#sign();
    if (sign !== '\\') return sign.charCodeAt(0);
    const escaped = this.#sign();
    const known = this.#class(escaped);
    if (!known) return this.#code(escaped);
    tests.push(known);
    return undefined;
  }
}
