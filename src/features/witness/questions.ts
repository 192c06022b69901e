/** What a look asks. A changed text is another question: what was seen before cannot be compared with it. */
export interface Question {
  readonly id: string;
  /** Bytes of its prompt, for the bound of the cost. */
  readonly prompt: string;
  /** Answers that are counted; all others are `other`. Absent: the answer does not matter. */
  readonly choices?: readonly string[];
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

export const QUESTIONS: readonly Question[] = [
  {
    id: "die",
    prompt: "Roll a six-sided die in your mind. Answer with the digit only.",
    choices: ["1", "2", "3", "4", "5", "6"],
  },
  {
    id: "coin",
    prompt: "Toss a coin in your mind. Answer with one word only: heads or tails.",
    choices: ["heads", "tails"],
  },
  {
    id: "colour",
    prompt: "Choose one colour at random: red, green, blue, yellow. Answer with the word only.",
    choices: ["red", "green", "blue", "yellow"],
  },
  {
    id: "animal",
    prompt: "Choose one animal at random: cat, dog, horse, owl. Answer with the word only.",
    choices: ["cat", "dog", "horse", "owl"],
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

/** Questions whose answers are counted. */
export const CHOOSING = QUESTIONS.filter(({ choices }) => choices !== undefined);

/** The choice that an answer is; `other` for any other text, `none` without one. */
export function choiceOf(choices: readonly string[], text: string): string {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
  if (word === "") return "none";
  return choices.includes(word) ? word : "other";
}
