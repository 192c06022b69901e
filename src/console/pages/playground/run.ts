/** A call of the playground: sends it through the admin API and reads the answer as it arrives. */
import { signal } from "../../data/signal.ts";
import { API, get } from "../../data/api.ts";
import type { CallEntry } from "../../data/types.ts";
import { type ShownAnswer, AnswerReader } from "./answer.ts";
import type { Body, FormatName } from "../../data/request.ts";

export interface Run {
  format: FormatName;
  sent: Body;
  /** 0 before the head of the answer. */
  status: number;
  headers: readonly (readonly [string, string])[];
  /** The body of the answer as it was sent back. */
  raw: string;
  answer: ShownAnswer;
  isRunning: boolean;
  /** Why there is no answer of the gateway. */
  fault?: string;
  /** Id of the call. */
  id?: string;
  /** The record of the call, when it is in the store. */
  call?: CallEntry;
}

/** The newest call; it stays while the page is open. */
export const run = signal<Run | undefined>(undefined);

let stop: AbortController | undefined;

/** The client leaves: weir stops the call to the provider. */
export function stopRun(): void {
  stop?.abort();
}

/** The head of an answer of the gateway has this header; one of the admin API has not. */
const RELAYED = "x-weir-relayed";
/** At most one paint in this time. Milliseconds. */
const PAINT = 60;
const RECORD_TRIES = 12;
const RECORD_PAUSE = 250;

export interface RunRequest {
  format: FormatName;
  /** Id of a key for calls. */
  key?: string;
  body: Body;
  strict: boolean;
}

export async function startRun({ format, key, body, strict }: RunRequest): Promise<void> {
  stop?.abort();
  const own = (stop = new AbortController());
  const reader = new AnswerReader(format);
  let state: Run = {
    format,
    sent: body,
    status: 0,
    headers: [],
    raw: "",
    answer: reader.answer,
    isRunning: true,
  };
  const show = (change: Partial<Run>) => {
    state = { ...state, ...change };
    // A newer call has taken the place of this one.
    if (stop === own) run.value = state;
  };
  show({});
  try {
    const response = await fetch(`${API}/playground`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-weir-console": "1" },
      body: JSON.stringify({
        format,
        body,
        ...(key && { key }),
        ...(strict && { headers: { "x-weir-strict": "true" } }),
      }),
      signal: own.signal,
    });
    if (!response.headers.has(RELAYED)) {
      show({ isRunning: false, fault: faultOf(response.status, await response.text()) });
      return;
    }
    const id = response.headers.get("x-request-id");
    const headers = [...response.headers].filter(([name]) => name !== RELAYED);
    show({ status: response.status, headers, ...(id && { id }) });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    await readBody(response, isStream, reader, show);
    show({ isRunning: false });
  } catch (cause) {
    const left = own.signal.aborted;
    const why = cause instanceof Error ? cause.message : String(cause);
    show({ isRunning: false, fault: left ? "You stopped the call." : `The answer broke off: ${why}.` });
  }
  if (state.id !== undefined) await readRecord(state.id, show, () => stop === own);
}

async function readBody(
  response: Response,
  isStream: boolean,
  reader: AnswerReader,
  show: (change: Partial<Run>) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let raw = "";
  let painted = 0;
  if (response.body)
    for await (const chunk of response.body) {
      const text = decoder.decode(chunk, { stream: true });
      raw += text;
      if (isStream) reader.push(text);
      if (performance.now() - painted < PAINT) continue;
      painted = performance.now();
      show({ raw, answer: reader.answer });
    }
  if (isStream) reader.push("\n\n");
  else reader.body(raw);
  show({ raw, answer: reader.answer });
}

/** The record is written shortly after the end of the call. */
async function readRecord(
  id: string,
  show: (change: Partial<Run>) => void,
  isNewest: () => boolean,
): Promise<void> {
  for (let attempt = 0; attempt < RECORD_TRIES && isNewest(); attempt++) {
    await new Promise((resolve) => setTimeout(resolve, RECORD_PAUSE));
    const call = await get<CallEntry>(`/calls/${encodeURIComponent(id)}`).catch(() => undefined);
    if (call) return show({ call });
  }
}

function faultOf(status: number, text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } };
    return error?.message ?? `weir answered ${status}.`;
  } catch {
    return `weir answered ${status}.`;
  }
}
