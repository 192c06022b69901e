/** The bodies of a call, if the config says that they are captured. They are read only when the operator asks. */
import type { CallEntry, Talk } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { readOnly } from "../../data/session.ts";
import { useReading } from "../../data/use-api.ts";
import { moment } from "../../numbers/times.ts";
import { CaptureButton } from "../../parts/capture.tsx";
import { Button, copy, Segments } from "../../parts/controls.tsx";
import { Raw } from "../../parts/raw.tsx";
import { Loaded } from "../../parts/states.tsx";
import { Said } from "../../parts/talk.tsx";

/** The bodies that weir keeps of a call. */
interface KeptBodies {
  request: string;
  answer: string;
  cut?: readonly Side[];
  expiresAt: number;
  talk: Talk;
}

export function Bodies({ call }: { call: CallEntry & { captured?: true } }) {
  const [isAsked, ask] = useState(false);
  if (!call.captured)
    return (
      <>
        <p class="mid">
          Not kept. Capture is off for this call; counts, names, times and hashes are all that is stored.
        </p>
        <div class="acts">
          {call.session && <CaptureButton kind="session" what={call.session} />}
          {call.key && <CaptureButton kind="key" what={call.key} />}
        </div>
      </>
    );
  if (isAsked) return <Kept id={call.id} />;
  return (
    <>
      <p class="mid">The request and the answer are kept. Each look is in the audit log.</p>
      <Button why={readOnly()} onClick={() => ask(true)}>
        Show them
      </Button>
    </>
  );
}

type Side = "request" | "answer";

const SIDES: readonly (readonly [Side | "talk", string])[] = [
  ["talk", "Conversation"],
  ["request", "Request"],
  ["answer", "As sent back"],
];

function Kept({ id }: { id: string }) {
  const reading = useReading<KeptBodies>(`/calls/${encodeURIComponent(id)}/body`);
  const [side, setSide] = useState<Side | "talk">("talk");
  return (
    <Loaded of={reading} what="The bodies">
      {(kept) => (
        <div class="stack">
          <div class="acts">
            <Segments label="Which body" options={SIDES} value={side} onChoose={setSide} />
            {side !== "talk" && <Button onClick={() => void copy(kept[side], "Body")}>Copy</Button>}
          </div>
          {side === "talk" ? (
            <Said turns={kept.talk.turns} answer={kept.talk.answer} />
          ) : (
            <Raw text={indented(kept[side])} json={/^\s*[{[]/.test(kept[side])} label={`The ${side}`} />
          )}
          <p class="mid">
            {(side === "talk" ? kept.talk.unread : kept.cut?.includes(side)) &&
              "Only its beginning is shown. "}
            Deleted on {moment(kept.expiresAt)}.
          </p>
        </div>
      )}
    </Loaded>
  );
}

/** JSON on many lines; other text as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
