/** Makes a call through the admin API and reads the answer as it arrives. */
import { API, get } from "../../data/api.ts";
import { FORMATS, type FormatName } from "../../data/request.ts";
import type { CallEntry } from "../../data/types.ts";
import { type ShownAnswer, AnswerReader } from "./answer.ts";

/** A call on its way. */
export interface Followed {
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

export const begun = (): Followed => ({
  ...{ status: 0, headers: [], raw: "", isRunning: true },
  answer: { text: "", reasoning: "", tools: [], isWhole: false },
});

/** The head of an answer of the gateway has this header; one of the admin API has not. */
const RELAYED = "x-weir-relayed";
/** At most one paint in this time. Milliseconds. */
const PAINT = 60;
const RECORD_TRIES = 12;
const RECORD_PAUSE = 250;

export interface FollowOptions {
  /** Of the answer. One that the console does not write is shown as it comes. */
  format: string;
  signal: AbortSignal;
  show: (change: Partial<Followed>) => void;
  /** Whether somebody still looks. */
  isWanted?: () => boolean;
}

/** @param to path below `/admin/v1` */
export async function follow(
  to: string,
  request: object,
  { format, signal, show, isWanted = () => true }: FollowOptions,
): Promise<void> {
  let id: string | undefined;
  try {
    const response = await fetch(API + to, {
      method: "POST",
      headers: { "content-type": "application/json", "x-weir-console": "1" },
      body: JSON.stringify(request),
      signal,
    });
    if (!response.headers.has(RELAYED)) {
      show({ isRunning: false, fault: faultOf(response.status, await response.text()) });
      return;
    }
    id = response.headers.get("x-request-id") ?? undefined;
    const headers = [...response.headers].filter(([name]) => name !== RELAYED);
    show({ status: response.status, headers, ...(id !== undefined && { id }) });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const reader = Object.hasOwn(FORMATS, format) ? new AnswerReader(format as FormatName) : undefined;
    await readBody(response, isStream, reader, show);
    show({ isRunning: false });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const fault = signal.aborted ? "You stopped the call." : `The answer broke off: ${why}.`;
    show({ isRunning: false, fault });
  }
  if (id !== undefined) await readRecord(id, show, isWanted);
}

async function readBody(
  response: Response,
  isStream: boolean,
  reader: AnswerReader | undefined,
  show: FollowOptions["show"],
): Promise<void> {
  const decoder = new TextDecoder();
  let raw = "";
  let painted = 0;
  if (response.body)
    for await (const chunk of response.body) {
      const text = decoder.decode(chunk, { stream: true });
      raw += text;
      if (isStream) reader?.push(text);
      if (performance.now() - painted < PAINT) continue;
      painted = performance.now();
      show({ raw, ...(reader && { answer: reader.answer }) });
    }
  if (isStream) reader?.push("\n\n");
  else reader?.body(raw);
  show({ raw, ...(reader && { answer: reader.answer }) });
}

/** The record is written shortly after the end of the call. */
async function readRecord(id: string, show: FollowOptions["show"], isWanted: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < RECORD_TRIES && isWanted(); attempt++) {
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
