/** The right half: the answer, what was sent back, what was sent on, losses, headers. */
import { query, setQuery } from "../../data/location.ts";
import { counted } from "../../numbers/counts.ts";
import { diffJson } from "../../parts/diff-lines.ts";
import { Diff } from "../../parts/diff.tsx";
import { Json, LongText, Raw } from "../../parts/raw.tsx";
import { Bones, Blank } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Tag } from "../../parts/controls.tsx";
import { type Body, FORMATS } from "../../data/request.ts";
import { exceptionOf } from "./request.ts";
import { type Explaining, messageOf } from "./explaining.ts";
import { OutcomePanel } from "./outcome.tsx";
import { type Run, run } from "./run.ts";

const VIEWS = ["answer", "back", "onward", "losses", "headers"] as const;
type View = (typeof VIEWS)[number];

interface ResultProps {
  explaining: Explaining;
  /** The body of the form. */
  body: Body | undefined;
}

export function Result({ explaining, body }: ResultProps) {
  const view = VIEWS.find((one) => one === query.value["view"]) ?? "answer";
  const losses = lossesOf(run.value, explaining);
  const tabs: readonly (readonly [View, string])[] = [
    ["answer", "Answer"],
    ["back", "As sent back"],
    ["onward", "As sent on"],
    ["losses", losses.length === 0 ? "Losses" : `Losses ${losses.length}`],
    ["headers", "Headers"],
  ];
  return (
    <section class="panel" id="answer" aria-label="Answer">
      <Tabs
        label="Parts of the answer"
        tabs={tabs}
        value={view}
        onChoose={(next) => setQuery({ view: next === "answer" ? undefined : next }, { replace: true })}
      >
        {view === "answer" && <AnswerView />}
        {view === "back" && <BackView />}
        {view === "onward" && <OnwardView explaining={explaining} body={body} />}
        {view === "losses" && <LossesView losses={losses} />}
        {view === "headers" && <HeadersView />}
      </Tabs>
    </section>
  );
}

const NOTHING_SENT = (
  <Blank title="Nothing was sent yet.">
    The answer appears here as it arrives. The call is booked and stands in Calls like any other.
  </Blank>
);

function AnswerView() {
  const now = run.value;
  if (!now) return NOTHING_SENT;
  const { answer, status, isRunning, format, fault } = now;
  const failed = status >= 400 || answer.error !== undefined;
  const hasText = answer.text !== "" || answer.reasoning !== "" || answer.tools.length > 0;
  return (
    <div class="beside">
      <div class="stack">
        {fault !== undefined && (
          <p class={`say ${fault.startsWith("You") ? "" : "c-bad"}`} role="alert">
            {fault}
          </p>
        )}
        {failed && (
          <div class="note bad" role="alert">
            <span>
              <b>{status >= 400 ? `The gateway answered ${status}.` : "The stream ended with an error."}</b>{" "}
              {answer.error} The SDK raises <code>{exceptionOf(format, status)}</code>.
            </span>
          </div>
        )}
        {failed && status >= 400 && (
          <Raw text={indented(now.raw)} json label="The error as it was sent back" />
        )}
        {answer.reasoning !== "" && (
          <details class="more-fields" open={answer.text === ""}>
            <summary>Reasoning</summary>
            <div class="answer mid">
              <LongText text={answer.reasoning} />
            </div>
          </details>
        )}
        {(hasText || isRunning) && (
          <div class="answer" aria-busy={isRunning} data-answer>
            <LongText text={answer.text} />
            {isRunning && <span class="caret" />}
          </div>
        )}
        {answer.tools.length > 0 && <Raw text={answer.tools.join("\n")} label="Calls of tools" />}
        {!isRunning && !failed && fault === undefined && !hasText && (
          <p class="dim">The answer has no text. “As sent back” shows all of it.</p>
        )}
        <OutcomePanel run={now} />
      </div>
      <div class="stack">
        <h3>Request</h3>
        <div class="request-line">
          <code>POST {FORMATS[format]}</code>
        </div>
        <Json value={now.sent} label="The body of the request" />
      </div>
    </div>
  );
}

function BackView() {
  const now = run.value;
  if (!now) return NOTHING_SENT;
  const isJson = !now.raw.startsWith("data:") && !now.raw.startsWith("event:");
  return now.raw === "" ? (
    <p class="dim">Nothing has arrived yet.</p>
  ) : (
    <Raw text={isJson ? indented(now.raw) : now.raw} json={isJson} label="The body as it was sent back" />
  );
}

function OnwardView({ explaining: { data, error, busy }, body }: ResultProps & { explaining: Explaining }) {
  if (error) return <Blank title="The request could not be explained.">{error.message}</Blank>;
  if (!data)
    return busy ? (
      <Bones rows={4} />
    ) : (
      <Blank title="Nothing to explain yet.">Name a model, and a key if calls need one.</Blank>
    );
  const { explained } = data;
  if (!explained)
    return (
      <Blank title={`The call would get ${data.status}.`} alert>
        {messageOf(data.error)}
      </Blank>
    );
  const { request, served_by: target } = explained;
  const place =
    target.deployment === target.provider || target.deployment === "" ? target.provider : target.deployment;
  return (
    <div class="stack">
      <p class="mid">
        To <b>{place}</b>, {target.model}, {target.lane}: {target.reason}
      </p>
      {request === null ? (
        <p class="dim">This provider is a program: no request leaves weir.</p>
      ) : (
        <>
          <div class="request-line">
            <code>
              {request.method} {request.url}
            </code>
          </div>
          <div class="two sides">
            <div>
              <h3>From the client</h3>
              <Json value={body} label="The body from the client" />
            </div>
            <div>
              <h3>As sent on</h3>
              <Diff lines={diffJson(body, request.body)} label="What weir changes of the body" />
            </div>
          </div>
          <h3>Headers as sent on</h3>
          <Raw
            text={Object.entries(request.headers)
              .map(([name, value]) => `${name}: ${String(value)}`)
              .join("\n")}
            label="Headers as sent on"
          />
        </>
      )}
    </div>
  );
}

interface Loss {
  code: string;
  path: string;
  note?: string;
}

/** Of the call if it is recorded, otherwise of what would be sent. */
function lossesOf(now: Run | undefined, { data }: Explaining): readonly Loss[] {
  const recorded = now?.call?.losses as readonly Loss[] | undefined;
  return recorded ?? data?.explained?.losses ?? [];
}

function LossesView({ losses }: { losses: readonly Loss[] }) {
  if (losses.length === 0)
    return (
      <Blank title="Nothing is lost.">The whole request is carried over to the provider's format.</Blank>
    );
  return (
    <div class="stack">
      <p class="mid">
        {counted(losses.length, "part")} of the request that the provider's format cannot carry as it is:
      </p>
      <ul class="losses">
        {losses.map(({ code, path, note }) => (
          <li key={`${code} ${path}`}>
            <Tag look="warn">{code}</Tag> <code>{path}</code> <span class="mid">{note}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function HeadersView() {
  const now = run.value;
  if (!now) return NOTHING_SENT;
  if (now.status === 0) return <p class="dim">Nothing has arrived yet.</p>;
  const lines = now.headers.map(([name, value]) => `${name}: ${value}`);
  return <Raw text={[`HTTP/1.1 ${now.status}`, ...lines].join("\n")} label="Headers as sent back" />;
}

/** JSON with indents; other text as it is. */
function indented(text: string): string {
  if (text.length > 1_000_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
