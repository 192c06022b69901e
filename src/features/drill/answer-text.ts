/** The answer that every drill gives: words in a known order, so that the client's output shows how much of it arrived. */

const NAMES = [
  ...["alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo"],
  ...["lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor"],
  ...["whiskey", "xray", "yankee", "zulu"],
];

/** Each word has its number, so that no other output contains it by chance: `alfa1` … `zulu26`. */
export const ANSWER_WORDS: readonly string[] = NAMES.map((name, index) => `${name}${index + 1}`);

/** The answer in pieces, one for each delta of a stream. */
export const ANSWER_PIECES: readonly string[] = ANSWER_WORDS.map((word, index) =>
  index === 0 ? word : ` ${word}`,
);

/** How much of the answer a text contains: `part` also if a word is missing in the middle. */
export type Shown = "none" | "part" | "whole";

/** Looks for the words in their order; between them may be anything, such as line breaks or the JSON of events. */
export function shownIn(text: string): Shown {
  let from = 0;
  for (const word of ANSWER_WORDS) {
    const at = text.indexOf(word, from);
    if (at < 0) return ANSWER_WORDS.some((each) => text.includes(each)) ? "part" : "none";
    from = at + word.length;
  }
  return "whole";
}
