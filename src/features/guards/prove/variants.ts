/** The ways in which a value is planted in a text. */
import type { ValueKind } from "./values.ts";

/** A piece of a text: what has to stay, or a value that a guard finds. */
export type Part = string | Planted;

export interface Planted {
  /** The value as the text has it. */
  readonly written: string;
  /** As it is without the escapes of this text. */
  readonly value: string;
}

/** What is planted, and where. */
export interface Plant {
  /** The texts: the second one is in a block of its own. */
  readonly blocks: readonly (readonly Part[])[];
  /** The model writes it by itself, and the request has nothing of it. */
  readonly isSaid?: true;
  /** The body has the value in escapes of JSON: `\u0040`. */
  readonly isEscaped?: true;
}

/** The values of a cell. */
interface Values {
  readonly one: Planted;
  readonly other: Planted;
  /** The first one in another spelling. */
  readonly respelled: Planted;
  /** Characters of a text before or after a value: many of them in the whole matrix. */
  readonly length: number;
}

export interface Variant {
  readonly name: string;
  plant(values: Values): Plant;
}

const plain = (value: string): Planted => ({ written: value, value });
const inOne = (...parts: Part[]): Plant => ({ blocks: [parts] });
const said = (...parts: Part[]): Plant => ({ blocks: [parts], isSaid: true });
const as = ({ value }: Planted, write: (value: string) => string): Planted => ({
  value,
  written: write(value),
});

const percent = (value: string) =>
  [...Buffer.from(value)]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9]/.test(char) ? char : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`;
    })
    .join("");
const entities = (value: string) => value.replace(/[^A-Za-z0-9 ]/gu, (char) => `&#${char.codePointAt(0)};`);
const escapes = (value: string) =>
  value.replace(/[^A-Za-z0-9 ]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const fullWidth = (value: string) =>
  value.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));
const base64 = (value: string) =>
  Buffer.from(`Please write at once to ${value} and say nothing of it to all the others here.`).toString(
    "base64",
  );

const LONG = "Some words that mean nothing, line after line.\n";
const long = (length: number) => LONG.repeat(Math.ceil(length / LONG.length)).slice(0, length);

export const VARIANTS: readonly Variant[] = Object.entries({
  alone: ({ one }: Values) => inOne(one),
  start: ({ one }: Values) => inOne(one, " is where it goes."),
  end: ({ one }: Values) => inOne("Send it to ", one),
  middle: ({ one }: Values) => inOne("Send it to ", one, " today."),
  twice: ({ one }: Values) => inOne("Send it to ", one, ", I mean ", one, " today."),
  two: ({ one, other }: Values) => inOne("Send it to ", one, " and ", other, "."),
  "comma between": ({ one, other }: Values) => inOne("All: ", one, ", ", other, ", that is it"),
  "two spellings": ({ one, respelled }: Values) => inOne("Either ", one, " or ", respelled, " works"),
  lines: ({ one }: Values) => inOne("Where to:\r\n", one, "\n\nThanks"),
  tabs: ({ one }: Values) => inOne("to\t", one, "\tnow"),
  "double quotes": ({ one }: Values) => inOne('Send "it" to "', one, '" now'),
  "single quotes": ({ one }: Values) => inOne("Send it to '", one, "' now"),
  parentheses: ({ one }: Values) => inOne("Send it (to ", one, ") now"),
  angles: ({ one }: Values) => inOne("Send it to <", one, "> now"),
  markdown: ({ one }: Values) => inOne("Send it to **", one, "** or `", one, "` now"),
  fence: ({ one }: Values) => inOne("```\nTO=", one, "\n```\n"),
  markup: ({ one }: Values) => inOne('<p class="to"><b>', one, "</b></p>"),
  "JSON within": ({ one }: Values) =>
    inOne(
      'Use {"to":"',
      as(one, (value) => JSON.stringify(value).slice(1, -1)),
      '","cc":[]}',
    ),
  percent: ({ one }: Values) => inOne("https://a.example/x?to=", as(one, percent), "&y=1"),
  entities: ({ one }: Values) => inOne("to ", as(one, entities), " now"),
  "escapes in the text": ({ one }: Values) => inOne("to ", as(one, escapes), " now"),
  "escapes in the body": ({ one }: Values) => ({ ...inOne("to ", one, " now"), isEscaped: true as const }),
  "full width": ({ one }: Values) => inOne("to ", as(one, fullWidth), " now"),
  base64: ({ one }: Values) => inOne("data ", as(one, base64), " end"),
  "emoji before": ({ one }: Values) => inOne("Send it to 😀", one, " now"),
  "emoji behind": ({ one }: Values) => inOne("Send it to ", one, "👩‍👩‍👧 now"),
  "decomposed letters": ({ one }: Values) => inOne("Cafe\u0301 Mu\u0308ller ", one, " e\u0301"),
  "Chinese text": ({ one }: Values) => inOne("请发送到", one, "。谢谢"),
  "long text before": ({ one, length }: Values) => inOne(`${long(length)} to `, one, " now"),
  "long text behind": ({ one, length }: Values) => inOne("to ", one, ` now. ${long(length)}`),
  "second block": ({ one }: Values) => ({ blocks: [["First of all."], ["Send it to ", one, " now"]] }),
  "equal blocks": ({ one }: Values) => ({
    blocks: [
      ["Send it to ", one],
      ["Send it to ", one],
    ],
  }),
  "block boundary": ({ one }: Values) => ({ blocks: [["Send it to ", one], ["X more of it"]] }),
  "beside tokens": ({ one }: Values) =>
    inOne("PII_ PII_EMAIL_abc PII_EMAIL_aaaaaaaa ", one, " PII_CARD_bbbbbbbb_2 PII_EM"),
  "said in the middle": ({ one }: Values) => said("You may write to ", one, " today."),
  "said at the end": ({ one }: Values) => said("You may write to ", one),
  "said twice": ({ one, other }: Values) => said("Write to ", one, ", ", other, ", or ", one),
  "said alone": ({ one }: Values) => said(one),
  "said in full width": ({ one }: Values) => said("Write to ", as(one, fullWidth), " 😀 now"),
  "said in lines": ({ one }: Values) => said("Write:\n", one, '\n"quoted"\t', one, " 😀"),
}).map(([name, plant]) => ({ name, plant }));

/** @param n tells the values of cells apart */
export function valuesOf(kind: ValueKind, n: number, length: number): Values {
  const one = kind.make(2 * n);
  return {
    ...{ one: plain(one), other: plain(kind.make(2 * n + 1)) },
    ...{ respelled: plain(kind.respell(one)), length },
  };
}

/** The text of parts. @param write a value as it stands there */
export function textOf(parts: readonly Part[], write = ({ written }: Planted) => written): string {
  return parts.map((part) => (typeof part === "string" ? part : write(part))).join("");
}

/** An expression for the text with something else in place of its values. @param write a source */
export function patternOf(parts: readonly Part[], write: (planted: Planted) => string): string {
  return parts.map((part) => (typeof part === "string" ? quoted(part) : write(part))).join("");
}

export function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

export function plantedIn(blocks: Plant["blocks"]): Planted[] {
  return blocks.flat().filter((part) => typeof part !== "string");
}
