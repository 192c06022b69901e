/** What a plugin file exports. */
import type { CallRecord, CallView } from "./call-view.ts";
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

/** The hooks of a plugin. Each hook runs in the order in which the plugins were loaded. */
export interface Hooks {
  /** Edits the canonical request in place before each attempt. With this hook weir never uses the native lane. */
  request?(request: ChatRequest, call: CallView): void | Promise<void>;
  /** Rewrites the events of the answer. With this hook weir never uses the native lane. */
  answer?(events: AsyncIterable<ChatEvent>, call: CallView): AsyncIterable<ChatEvent>;
  /** Receives each event of translated and generated answers. Does not disable the native lane, where it receives nothing. */
  observe?(event: ChatEvent, call: CallView): void;
  /** Called once per call, whatever its outcome. */
  done?(call: CallRecord): void | Promise<void>;
}
