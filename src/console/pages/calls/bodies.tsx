/** The bodies of a call, if the config says that they are captured. They are read only when the operator asks. */
import type { CallEntry, Talk } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { readOnly } from "../../data/session.ts";
import { useReading } from "../../data/use-api.ts";
import { counted } from "../../numbers/counts.ts";
import { moment } from "../../numbers/times.ts";
import { CaptureButton } from "../../parts/capture.tsx";
import { Button, copy, CopyLine } from "../../parts/controls.tsx";
import { diffJson } from "../../parts/diff-lines.ts";
import { Diff } from "../../parts/diff.tsx";
import { JsonTree } from "../../parts/json-tree.tsx";
import { Raw } from "../../parts/raw.tsx";
import { Loaded } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Said } from "../../parts/talk.tsx";

/** The bodies that weir keeps of a call. */
export interface KeptBodies {
  request: string;
  answer: string;
  cut?: readonly Side[];
  replaced?: readonly ("data" | "secrets")[];
  asked?: Readonly<Record<string, string>>;
  expiresAt: number;
  talk: Talk;
  /** With the provider. Bodies that are absent are those of the client. */
  wire?: {
    url: string;
    request?: string;
    status?: number;
    answer?: string;
    cut?: readonly Side[];
    said?: Talk["answer"];
    isHidden?: true;
  };
}

export function Bodies({ call }: { call: CallEntry & { captured?: true } }) {
  const [isAsked, ask] = useState(false);
  if (!call.captured) return <NotKept call={call} />;
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

function NotKept({ call: { session, key } }: { call: CallEntry }) {
  const isNamed = session !== undefined || key !== undefined;
  return (
    <div class="stack">
      <p class="mid">
        Not kept. Only counts, names, times and hashes are stored.
        {!isNamed && " With this in weir.yaml the next calls are kept:"}
      </p>
      {isNamed ? (
        <div class="acts">
          {session !== undefined && <CaptureButton kind="session" what={session} />}
          {key !== undefined && <CaptureButton kind="key" what={key} />}
        </div>
      ) : (
        <CopyLine text={"capture:\n  share: 1\n"} label="Option" />
      )}
    </div>
  );
}

type Side = "request" | "answer";
type View = "talk" | "request" | "onward" | "provided" | "answer";

const VIEWS: readonly (readonly [View, string])[] = [
  ["talk", "Conversation"],
  ["request", "Request"],
  ["onward", "As sent on"],
  ["provided", "Provider's answer"],
  ["answer", "As sent back"],
];

function Kept({ id }: { id: string }) {
  const reading = useReading<KeptBodies>(`/calls/${encodeURIComponent(id)}/body`);
  const [view, setView] = useState<View>("talk");
  return (
    <Loaded of={reading} what="The bodies">
      {(kept) => (
        <>
          <Tabs label="Which body" tabs={VIEWS} value={view} onChoose={setView}>
            <div class="stack">
              {view === "talk" && <Said turns={kept.talk.turns} answer={kept.talk.answer} />}
              {view === "request" && <RequestView kept={kept} />}
              {view === "onward" && <OnwardView kept={kept} />}
              {view === "provided" && <ProvidedView kept={kept} />}
              {view === "answer" && (
                <Body text={kept.answer} said={kept.talk.answer} isCut={kept.cut?.includes("answer")} />
              )}
              {view === "talk" && kept.talk.unread && <Beginning />}
            </div>
          </Tabs>
          <p class="mid">Deleted on {moment(kept.expiresAt)}.</p>
        </>
      )}
    </Loaded>
  );
}

const Beginning = () => (
  <p class="mid">Only its beginning is shown. capture.bytes says how much weir keeps.</p>
);

function RequestView({ kept: { request, cut, replaced = [], asked } }: { kept: KeptBodies }) {
  return (
    <>
      {asked && (
        <Raw
          text={Object.entries(asked)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}
          label="Headers"
        />
      )}
      <Body text={request} isCut={cut?.includes("request")} />
      {replaced.length > 0 && (
        <p class="mid">
          {[
            ...(replaced.includes("secrets") ? ["*** stands for credentials"] : []),
            ...(replaced.includes("data") ? ["digests stand for images and files"] : []),
          ].join(", ")}
          .
        </p>
      )}
    </>
  );
}

const NOTHING = (
  <p class="mid">
    Nothing went to a provider that weir could keep: a program or weir itself answered, or weir refused the
    call.
  </p>
);

function OnwardView({ kept: { request, wire } }: { kept: KeptBodies }) {
  if (!wire) return NOTHING;
  const [was, is] = [parsed(request), wire.request === undefined ? undefined : parsed(wire.request)];
  return (
    <>
      <code class="anywhere">POST {wire.url}</code>
      {wire.request === undefined ? (
        <p class="mid">The same as the client sent.</p>
      ) : (
        was !== undefined &&
        is !== undefined && (
          <>
            <h3>What weir changed</h3>
            <Diff lines={diffJson(was, is)} label="What weir changed" />
          </>
        )
      )}
      <Body text={wire.request ?? request} isCut={wire.cut?.includes("request")} />
    </>
  );
}

function ProvidedView({ kept: { answer, talk, cut, wire } }: { kept: KeptBodies }) {
  if (!wire) return NOTHING;
  if (wire.status === undefined) return <p class="mid">No answer came.</p>;
  const isSame = wire.answer === undefined;
  return (
    <>
      <p class="mid">
        Status {wire.status}
        {isSame && !wire.isHidden && ", and the same as the client got"}.
      </p>
      {wire.isHidden ? (
        <p class="mid">Not kept: its pieces may share a credential.</p>
      ) : (
        <Body
          text={wire.answer ?? answer}
          said={isSame ? talk.answer : wire.said}
          isCut={(isSame ? cut : wire.cut)?.includes("answer")}
        />
      )}
    </>
  );
}

/** JSON that folds; of a stream its text, and then its events; other text as it is. @param props.said the text of a stream */
function Body(props: { text: string; said?: Talk["answer"] | undefined; isCut: boolean | undefined }) {
  const { text, said, isCut } = props;
  const value = parsed(text);
  const events = value === undefined ? text.match(/^(data|event):/gm)?.length : undefined;
  return (
    <>
      <div class="acts">
        <Button
          icon="copy"
          onClick={() => void copy(value === undefined ? text : JSON.stringify(value, null, 2), "Body")}
        >
          Copy
        </Button>
      </div>
      {value !== undefined ? (
        <JsonTree value={value} label="Body" />
      ) : events === undefined ? (
        <Raw text={text} label="Body" />
      ) : (
        <>
          {said && said.length > 0 && <Said turns={[]} answer={said} />}
          <details>
            <summary>
              {counted(text.split(/\r?\n\r?\n/).filter(Boolean).length, "event")} of the stream
            </summary>
            <Raw text={text} label="Events" />
          </details>
        </>
      )}
      {isCut && <Beginning />}
    </>
  );
}

/** @returns undefined for text that is no object or list */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
