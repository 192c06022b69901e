/** The call of the playground. */
import { signal } from "../../data/signal.ts";
import type { Body, FormatName } from "../../data/request.ts";
import { begun, follow, type Followed } from "./follow.ts";

export interface Run extends Followed {
  format: FormatName;
  sent: Body;
}

/** The newest call; it stays while the page is open. */
export const run = signal<Run | undefined>(undefined);

let stop: AbortController | undefined;

/** The client leaves: weir stops the call to the provider. */
export function stopRun(): void {
  stop?.abort();
}

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
  let state: Run = { format, sent: body, ...begun() };
  const show = (change: Partial<Run>) => {
    state = { ...state, ...change };
    // A newer call has taken the place of this one.
    if (stop === own) run.value = state;
  };
  const request = {
    format,
    body,
    ...(key && { key }),
    ...(strict && { headers: { "x-weir-strict": "true" } }),
  };
  show({});
  await follow("/playground", request, { format, signal: own.signal, show, isWanted: () => stop === own });
}
