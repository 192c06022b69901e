/** The answer of a running call as it comes, from the stream of the admin API. */
import { useEffect, useState } from "preact/hooks";
import { API, ApiError, errorIn } from "./api.ts";
import type { RunningCall } from "./types.ts";

/** Text of a part that is kept on the page: its end. Characters. */
const KEPT = 100_000;

/** After a lost connection. Milliseconds. */
const AGAIN = 1_000;

export interface LivePart {
  part: number;
  kind: "text" | "reasoning" | "refusal" | "call";
  name?: string;
  text: string;
}

export interface LiveCall {
  call?: RunningCall & { cost?: number };
  parts: readonly LivePart[];
  /** Bytes that are not shown. */
  lost: number;
  /** It is over; `lost`: its worker has ended. */
  ended?: { lost?: true };
  error?: ApiError;
}

/** @param id undefined: nothing is watched */
export function useLiveCall(id: string | undefined): LiveCall {
  const [live, setLive] = useState<LiveCall>({ parts: [], lost: 0 });
  useEffect(() => {
    if (id === undefined) return;
    const stop = new AbortController();
    const watch = async () => {
      let hasEnded = false;
      const take = (name: string, data: string) => {
        hasEnded ||= name === "end";
        setLive((now) => withEvent(now, name, JSON.parse(data)));
      };
      while (!hasEnded && !stop.signal.aborted) {
        // What came before a lost connection comes once more.
        setLive((now) => ({ ...now, parts: [], lost: 0 }));
        try {
          await read(`/calls/${encodeURIComponent(id)}/live`, stop.signal, take);
        } catch (error) {
          if (error instanceof ApiError) return setLive((now) => ({ ...now, error }));
        }
        if (!hasEnded) await new Promise((resolve) => setTimeout(resolve, AGAIN));
      }
    };
    void watch();
    return () => stop.abort();
  }, [id]);
  return live;
}

function withEvent(now: LiveCall, name: string, data: unknown): LiveCall {
  if (name === "call") return { ...now, call: data as NonNullable<LiveCall["call"]> };
  if (name === "end") return { ...now, ended: data as { lost?: true } };
  const { parts, lost = 0 } = data as Pick<LiveCall, "parts"> & { lost?: number };
  const all = new Map(now.parts.map((part) => [part.part, part]));
  for (const part of parts) {
    const text = `${all.get(part.part)?.text ?? ""}${part.text}`;
    all.set(part.part, { ...part, text: text.slice(-KEPT) });
  }
  return { ...now, parts: [...all.values()], lost: now.lost + lost };
}

/** Reads server-sent events; an `EventSource` does not say why it failed. @throws ApiError */
async function read(
  to: string,
  signal: AbortSignal,
  take: (name: string, data: string) => void,
): Promise<void> {
  const response = await fetch(API + to, { signal });
  if (!response.ok) throw errorIn(response.status, await response.text());
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const events = (rest + piece.value).split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      if (name !== undefined) take(name, data!);
    }
  }
}
