/** A conversation: who said what, calls of tools and their results. What was said is only ever text. */
import type { TalkPart, TalkTurn } from "../data/types.ts";
import { useState } from "preact/hooks";
import { counted } from "../numbers/counts.ts";
import { bytes } from "../numbers/bytes.ts";
import { Button, Tag } from "./controls.tsx";
import { LongText } from "./raw.tsx";

/** Longer parts are folded. Characters. */
const MUCH = 1_200;

/** Turns that are drawn at first: the newest. */
const FIRST = 100;

export function Said({ turns, answer }: { turns: readonly TalkTurn[]; answer: readonly TalkPart[] }) {
  const [isWhole, setWhole] = useState(false);
  const left = isWhole ? 0 : Math.max(0, turns.length - FIRST);
  return (
    <div class="talk">
      {left > 0 && <Button onClick={() => setWhole(true)}>Show {counted(left, "earlier turn")}</Button>}
      {turns.slice(left).map(({ role, parts }, at) => (
        <Turn key={left + at} role={role} parts={parts} />
      ))}
      {answer.length > 0 && <Turn role="assistant" parts={answer} isAnswer />}
    </div>
  );
}

interface TurnProps {
  role: TalkTurn["role"];
  parts: readonly TalkPart[];
  isAnswer?: boolean;
}

function Turn({ role, parts, isAnswer }: TurnProps) {
  const isTool = parts.length > 0 && parts.every(({ kind }) => kind === "result");
  return (
    <div class={`turn ${isTool ? "tool" : role}`}>
      <span class="dim">{isTool ? "tool" : isAnswer ? "answer" : role}</span>
      <div>
        {parts.map((part, at) => (
          <Part key={at} part={part} isFolded={role === "system"} />
        ))}
      </div>
    </div>
  );
}

function Part({ part, isFolded }: { part: TalkPart; isFolded: boolean }) {
  const { kind, text = "", name } = part;
  const head = headOf(part);
  const body =
    text === "" ? null : (
      <pre class="said">
        <LongText text={kind === "call" ? indented(text) : text} />
      </pre>
    );
  if (head === undefined && text.length <= MUCH && !isFolded) return body;
  if (text === "") return <p>{head}</p>;
  const isShort = text.length <= MUCH && !isFolded && kind !== "reasoning";
  return (
    <details open={isShort}>
      <summary>
        {head ?? <span class="mid">{text.slice(0, 100)}…</span>}
        {name !== undefined && kind !== "document" && <code> {name}</code>}
        {!isShort && <span class="dim"> {bytes(text.length)}</span>}
      </summary>
      {body}
    </details>
  );
}

function headOf({ kind, name, media, bytes: size, failed }: TalkPart) {
  if (kind === "text") return undefined;
  return (
    <>
      <Tag look={failed || kind === "refusal" ? "bad" : ""}>{failed ? "failed" : kind}</Tag>
      {kind === "document" && name !== undefined && ` ${name}`}
      {media !== undefined && ` ${media}`}
      {size !== undefined && <span class="dim"> {bytes(size)}</span>}
    </>
  );
}

function indented(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}
