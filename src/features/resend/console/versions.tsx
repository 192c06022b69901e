/** The first answer and those of the calls that were sent again, side by side. */
import { useState } from "preact/hooks";
import { chargeStateOf, costOf, placeOf, servedBy, tokensOf } from "../../../console/data/call-facts.ts";
import { hrefOf } from "../../../console/data/location.ts";
import type { CallEntry, Talk } from "../../../console/data/types.ts";
import { whole } from "../../../console/numbers/counts.ts";
import { duration } from "../../../console/numbers/durations.ts";
import { Segments, Tag } from "../../../console/parts/controls.tsx";
import { Diff } from "../../../console/parts/diff.tsx";
import { Money } from "../../../console/parts/numbers.tsx";
import { Facts, Panel } from "../../../console/parts/panel.tsx";
import { LongText } from "../../../console/parts/raw.tsx";
import { diffText } from "./text-diff.ts";
import type { Sent } from "./use-runs.ts";

type Look = "answers" | "differences";
const LOOKS = [
  ["answers", "Answers"],
  ["differences", "Differences"],
] as const;

export function Versions(props: { call: CallEntry; talk: Talk | undefined; sent: readonly Sent[] }) {
  const { call, talk, sent } = props;
  const [look, setLook] = useState<Look>("answers");
  const first = talk && textOf(talk);
  return (
    <Panel
      title="Answers"
      right={
        sent.length > 0 &&
        first !== undefined && <Segments label="Show" options={LOOKS} value={look} onChoose={setLook} />
      }
    >
      <div class="versions">
        <section aria-label="First answer">
          <h3>First: {call.model}</h3>
          <CallFacts call={call} id={call.id} />
          {first !== undefined && <Text text={first} />}
        </section>
        {sent.map((one, at) => (
          <section aria-label={`Answer of ${one.model}`} aria-busy={one.isRunning} key={at}>
            <h3>{one.model}</h3>
            <SentFacts sent={one} />
            <Answer sent={one} first={look === "differences" ? first : undefined} />
          </section>
        ))}
      </div>
    </Panel>
  );
}

/** Text, then calls of tools a line each. */
function textOf({ answer }: Talk): string {
  return answer
    .flatMap(({ kind, text = "", name = "" }) =>
      kind === "text" || kind === "refusal" ? [text] : kind === "call" ? [`${name}(${text})`] : [],
    )
    .join("\n");
}

const textOfSent = ({ answer: { text, tools }, raw }: Sent) =>
  [text, ...tools].filter((part) => part !== "").join("\n") || (tools.length === 0 && text === "" ? raw : "");

function Text({ text }: { text: string }) {
  return (
    <div class="answer">{text === "" ? <span class="dim">No text.</span> : <LongText text={text} />}</div>
  );
}

function Answer({ sent, first }: { sent: Sent; first: string | undefined }) {
  const { fault, status, answer, isRunning, model } = sent;
  if (fault !== undefined || status >= 400 || answer.error !== undefined)
    return (
      <p class="c-bad" role="alert">
        {fault ?? `${status >= 400 ? `It got ${status}: ` : ""}${answer.error ?? ""}`}
      </p>
    );
  const text = textOfSent(sent);
  if (first !== undefined && !isRunning)
    return text === first ? (
      <p class="mid">The same as the first answer.</p>
    ) : (
      <Diff lines={diffText(first, text)} label={`What ${model} says otherwise`} />
    );
  return (
    <>
      {(text !== "" || !isRunning) && <Text text={text} />}
      {isRunning && <span class="caret" />}
      {answer.tools.length > 0 && <Tag>asks for a tool: nothing ran</Tag>}
    </>
  );
}

function SentFacts({ sent: { call, id, isRunning } }: { sent: Sent }) {
  if (call) return <CallFacts call={call} id={call.id} />;
  return (
    <p class="dim">
      {isRunning ? "Running…" : id === undefined ? "Nothing was booked." : "Is being booked…"}
    </p>
  );
}

function CallFacts({ call, id }: { call: CallEntry; id: string }) {
  const { input, output } = tokensOf(call);
  const served = servedBy(call);
  return (
    <Facts
      rows={[
        ["Cost", served ? <Money nano={costOf(call)} state={chargeStateOf(call)} /> : "nothing"],
        ["Tokens", `${whole(input)} in, ${whole(output)} out`],
        ["Took", duration(call.ms)],
        served && ["By", placeOf(served)],
        [
          "Call",
          <a class="fig mono clip" href={hrefOf(`/calls/${id}`)}>
            {id}
          </a>,
        ],
      ]}
    />
  );
}
