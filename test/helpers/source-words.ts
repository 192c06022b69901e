/** Finds words in source code, for the rules about what a folder may know. */

/** The code without its comments. Strings stay. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[^]*?\*\/|(?<![:"'`\w])\/\/.*/g, "");
}

/** The strings in double quotes, single quotes or back quotes that are equal to one of the words. */
export function stringsEqualTo(words: readonly string[], source: string): string[] {
  const strings = [...withoutComments(source).matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g)];
  return strings.map((match) => match[2]!).filter((text) => words.includes(text));
}

/** The words that the code contains, as names or inside of strings; a `*` at the end stands for more characters. */
export function wordsIn(words: readonly string[], source: string): string[] {
  const code = withoutComments(source);
  return words.filter((word) => {
    const open = word.endsWith("*");
    const text = RegExp.escape(open ? word.slice(0, -1) : word);
    return new RegExp(`(?<![\\w-])${text}${open ? "" : "(?![\\w-])"}`).test(code);
  });
}

export interface LongFunction {
  /** Its first line, without the indent. */
  head: string;
  /** Lines from its head to its closing brace. */
  lines: number;
}

/** Functions and methods of formatted code by their indent: a body ends at the first line that closes at the indent of its head. */
export function functionsIn(source: string): LongFunction[] {
  const lines = source.split("\n");
  const isHead =
    /\bfunction\b|=>|^ *(?!if\b|for\b|while\b|switch\b|catch\b)(?:(?:static|async|get|set) )*[#\w]+(?:<.*>)?\(/;
  return lines.flatMap((line, at) => {
    if (!/[{(]$/.test(line) || !isHead.test(line)) return [];
    const indent = /^ */.exec(line)![0];
    const end = lines.findIndex(
      (other, n) =>
        n > at &&
        other.startsWith(indent) &&
        /^[})]/.test(other.slice(indent.length)) &&
        !/[{(]$/.test(other),
    );
    return end < 0 ? [] : [{ head: line.trim(), lines: end - at + 1 }];
  });
}
