const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Where a comment, string, template or regular expression that begins at `i` ends (exclusive); `i` itself when none does. */
export function skipOpaque(source: string, i: number): number {
  const char = source.charAt(i);
  if (char === "'" || char === '"') return skipQuoted(source, i, char);
  if (char === '`') return skipTemplate(source, i);
  if (char !== '/') return i;
  if (source.charAt(i + 1) === '/') return lineEnd(source, i);
  if (source.charAt(i + 1) === '*') {
    const end = source.indexOf('*/', i + 2);
    return end === -1 ? source.length : end + 2;
  }
  return startsRegExp(source, i) ? skipRegExp(source, i) : i;
}

/** Index of the bracket that closes the one at `open`; `undefined` when the text ends before it. */
export function matchingEnd(source: string, open: number): number | undefined {
  const closer = CLOSERS[source.charAt(open)];
  for (let i = open + 1; i < source.length;) {
    const char = source.charAt(i);
    if (char === closer) return i;
    const nested = char in CLOSERS ? matchingEnd(source, i) : skipOpaque(source, i);
    if (nested === undefined) return undefined;
    i = nested > i ? nested + (char in CLOSERS ? 1 : 0) : i + 1;
  }
  return undefined;
}

function skipQuoted(source: string, from: number, quote: string): number {
  for (let i = from + 1; i < source.length; i += 1) {
    if (source.charAt(i) === '\\') i += 1;
    else if (source.charAt(i) === quote) return i + 1;
  }
  return source.length;
}

function skipTemplate(source: string, from: number): number {
  for (let i = from + 1; i < source.length; i += 1) {
    const char = source.charAt(i);
    if (char === '\\') i += 1;
    else if (char === '`') return i + 1;
    else if (char === '$' && source.charAt(i + 1) === '{') i = matchingEnd(source, i + 1) ?? source.length;
  }
  return source.length;
}

/** A slash divides after a value and begins a regular expression after anything else. */
function startsRegExp(source: string, i: number): boolean {
  const before = source.slice(0, i).trimEnd();
  return before === '' || !/[\p{L}\p{N}_$)\]}'"`]$/u.test(before);
}

function skipRegExp(source: string, from: number): number {
  let inClass = false;
  for (let i = from + 1; i < source.length; i += 1) {
    const char = source.charAt(i);
    if (char === '\\') i += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return i + 1;
  }
  return source.length;
}

function lineEnd(source: string, from: number): number {
  const end = source.indexOf('\n', from);
  return end === -1 ? source.length : end;
}
