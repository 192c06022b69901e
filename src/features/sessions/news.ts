/** What a turn of a conversation adds to those before it: clients send the whole conversation with each request. */
import type { Talk, TalkPart, TalkTurn } from "../../operator/talk.ts";

/** Turns before it that a turn may continue: agents in one session take turns with their own conversations. */
const LOOKED_BACK = 24;

interface News {
  added: TalkTurn[];
  answer: TalkPart[];
  anew?: true;
}

/** @param talks the oldest first */
export function newsOf(talks: readonly Talk[]): News[] {
  const marks = talks.map(({ turns }) => turns.map(markOf));
  return talks.map(({ turns, answer }, at) => {
    const own = marks[at]!;
    let shared = 0;
    let before: number | undefined;
    for (let other = at - 1; other >= Math.max(0, at - LOOKED_BACK); other--) {
      const same = sharedOf(own, marks[other]!);
      if (same > shared) [shared, before] = [same, other];
    }
    const continues = before !== undefined && shared === marks[before]!.length;
    const echoed = continues && isEcho(turns[shared], talks[before!]!.answer) ? 1 : 0;
    return {
      added: turns.slice(shared + echoed),
      answer,
      ...(!continues && at > 0 && { anew: true as const }),
    };
  });
}

function sharedOf(own: readonly string[], other: readonly string[]): number {
  let shared = 0;
  while (shared < own.length && own[shared] === other[shared]) shared++;
  return shared;
}

const markOf = ({ role, parts }: TalkTurn): string => JSON.stringify([role, spoken(parts)]);

/** Clients leave reasoning out, and write ids and arguments in their own way. */
function spoken(parts: readonly TalkPart[]): string[] {
  return parts
    .filter(({ kind }) => kind !== "reasoning")
    .map(({ kind, name = "", text = "", bytes = 0 }) =>
      [kind, name, kind === "call" ? compact(text) : text.trim(), bytes].join("\0"),
    );
}

function compact(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input));
  } catch {
    return input.trim();
  }
}

/** Whether a turn is the answer before it, as the client sends it back. */
function isEcho(turn: TalkTurn | undefined, answer: readonly TalkPart[]): boolean {
  if (turn?.role !== "assistant" || answer.length === 0) return false;
  const joined = (parts: readonly TalkPart[]) => spoken(parts).toSorted().join("\n");
  return joined(turn.parts) === joined(answer);
}

/** Characters of the beginning of a conversation in a list. */
const FEW = 160;

/** The first words of a person: not those of a system prompt. */
export function firstWords({ turns }: Talk): string | undefined {
  const text = turns
    .filter(({ role }) => role === "user")
    .flatMap(({ parts }) => parts)
    .find(
      (part) => part.kind === "text" && (part.text ?? "").trim() !== "" && !part.text!.startsWith("<"),
    )?.text;
  const words = text?.trim().replace(/\s+/g, " ");
  return words !== undefined && words.length > FEW ? `${words.slice(0, FEW - 1)}…` : words;
}
