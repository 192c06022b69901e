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
