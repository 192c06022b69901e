/** What a plugin file may bring. */
import type { Call } from "./call.ts";
import type { ChatRequest } from "./chat.ts";
import type { ChatEvent } from "./events.ts";
import type { Format } from "./format.ts";
import type { Provider } from "./provider.ts";

export interface Plugin {
  name: string;
  providers?: readonly Provider[];
  formats?: readonly Format[];
  hooks?: Hooks;
}

/** Hooks, of four kinds only. Each runs in the order the plugins were loaded. */
export interface Hooks {
  /** Edits the canonical request in place before it goes out, anew for each attempt. Having one takes the call off the native lane. */
  request?(request: ChatRequest, call: Call): void | Promise<void>;
  /** Rewrites the events of the answer. Having one takes the call off the native lane. */
  answer?(events: AsyncIterable<ChatEvent>, call: Call): AsyncIterable<ChatEvent>;
  /** Sees each event of translated and generated answers; keeps the native lane, where it sees nothing. */
  observe?(event: ChatEvent, call: Call): void;
  /** Once per call, whatever became of it. */
  done?(call: Call): void | Promise<void>;
}
