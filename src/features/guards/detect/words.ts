/** Lists of words, whatever their case and width: names of projects, of customers. A word is found where no letter goes on. */
import { Automaton } from "./automaton.ts";
import { byBlock } from "./classes.ts";
import { type Detector, type Finding, kindOf } from "./detector.ts";

/** Letters and digits of scripts that separate words: others touch what stands beside them. */
const isPart = byBlock((char) =>
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Hangul}\p{M}\p{N}_]/u.test(
    char,
  ),
);

export function wordsDetector(name: string, words: readonly string[]): Detector {
  const automaton = new Automaton(words.map((word) => word.normalize("NFKC")));
  const longest = Math.max(...automaton.words.map(({ length }) => length));
  const kind = kindOf(name);
  return {
    name,
    kind,
    find(text, from = 0) {
      const found: Finding[] = [];
      automaton.find(text, from, (word, end) => {
        const start = end - automaton.words[word]!.length;
        if (goesOn(text, start) || goesOn(text, end)) return;
        // Of words with one beginning, the longest one comes last.
        if (found.at(-1)?.start === start) found.pop();
        found.push({ start, end, kind });
      });
      return found;
    },
    reach: (text) => text.length - automaton.begun(text, Math.max(0, text.length - longest)),
    normal: (value) => value.normalize("NFKC").toLowerCase(),
  };
}

/** Whether a letter follows on a letter. */
function goesOn(text: string, at: number): boolean {
  return at > 0 && at < text.length && isPart(text.charCodeAt(at - 1)) && isPart(text.charCodeAt(at));
}
