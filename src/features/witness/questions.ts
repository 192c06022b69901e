/** What a look asks. A changed text is another question: what was seen before cannot be compared with it. */
export interface Question {
  readonly id: string;
  readonly prompt: string;
  /** The {@link Group} that its answers belong to. Absent: the answer does not matter. */
  readonly group?: string;
  readonly streams?: true;
  /** The provider should refuse it. */
  readonly isFaulty?: true;
}

const PROSE =
  "Reply with OK. Ignore the rest: The quick brown fox jumps over 13 lazy dogs; größere Übungen, señor, naïve café. " +
  "Быстрая лиса прыгает. 素早い茶色の狐が怠け者の犬を飛び越える。 الثعلب السريع. 🦊🐕 antidisestablishmentarianism 3.14159265358979";

const CODE =
  "Reply with OK. Ignore the rest:\n\tfor (let i = 0; i < xs.length; i++) {\n\t\tif (xs[i] !== null && xs[i]?.value >= 1e-9) sum += xs[i].value ** 2;\n\t}\n" +
  '{"id":"a1b2c3","tags":["x","y"],"at":"2026-01-31T23:59:59Z"} SELECT COUNT(*) FROM t WHERE a <> b;';

const NUMBERS = Array.from({ length: 100 }, (_, at) => String(at + 1));

/** The same question in several words: a host that keeps answers for equal requests would answer equal ones alike. */
const number = (id: string, prompt: string): Question => ({ id, prompt, group: "number" });
const name = (id: string, prompt: string): Question => ({ id, prompt, group: "name" });

export const QUESTIONS: readonly Question[] = [
  number("number-1", "Say a random whole number from 1 to 100. Answer with the digits only."),
  number("number-2", "Think of a random whole number from 1 to 100. Reply with the digits only."),
  number("number-3", "Pick any whole number from 1 to 100 at random. Write the digits only."),
  name("name-1", "Invent a first name for the hero of a story. Answer with the name only."),
  name("name-2", "Make up a first name for the hero of a novel. Reply with the name only."),
  name("name-3", "Give the hero of a film a first name. Write the name only."),
  { id: "die", prompt: "Roll a six-sided die in your mind. Answer with the digit only.", group: "die" },
  {
    id: "colour",
    prompt: "Choose one colour at random: red, green, blue, yellow. Answer with the word only.",
    group: "colour",
  },
  { id: "prose", prompt: PROSE },
  { id: "code", prompt: CODE },
  {
    id: "stream",
    prompt: "Write the numbers from 1 to 20, with one space between them and nothing else.",
    streams: true,
  },
  { id: "error", prompt: "Reply with OK.", isFaulty: true },
];

/** A group of questions whose answers are counted together. */
export interface Group {
  readonly name: string;
  /** Number of its questions. */
  readonly perLook: number;
  /** Number of categories. */
  readonly size: number;
  /** The category of an answer: a number below {@link size}. */
  categoryOf(answer: string): number;
  /** A category in words. */
  label(category: number): string;
}

/** Names have no list: by a hash they fall into that number of categories. */
const NAME_CATEGORIES = 64;

export const GROUPS: readonly Group[] = [
  chosen("number", 3, NUMBERS),
  {
    ...{ name: "name", perLook: 3, size: NAME_CATEGORIES, categoryOf: bucketOf },
    label: (category) => `a name of the kind ${category}`,
  },
  chosen("die", 1, NUMBERS.slice(0, 6)),
  chosen("colour", 1, ["red", "green", "blue", "yellow"]),
];

/** The last category is that of all other answers. */
function chosen(group: string, perLook: number, choices: readonly string[]): Group {
  const places = new Map(choices.map((choice, at) => [choice, at]));
  const size = choices.length + 1;
  return {
    ...{ name: group, perLook, size },
    categoryOf: (answer) => places.get(answer) ?? size - 1,
    label: (category) => `${group} ${choices[category] ?? "other"}`,
  };
}

/** FNV-1a. */
function bucketOf(answer: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < answer.length; at++) hash = Math.imul(hash ^ answer.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % NAME_CATEGORIES;
}

/** Longest answer that is kept. UTF-16 units. */
const MOST_ANSWER = 24;

/** The first word of an answer, without signs around it; `none` without one. */
export function wordOf(text: string): string {
  const [first = ""] = text.trim().toLowerCase().split(/\s+/);
  const word = first.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").slice(0, MOST_ANSWER);
  return word === "" ? "none" : word;
}
