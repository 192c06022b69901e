/** The value that a plugin file exports. */
import type { CallRecord, CallView } from "./call-view.ts";
import type { ChatRequest } from "./chat.ts";
import type { ChatEvent } from "./events.ts";
import type { Format } from "./format.ts";
import type { JsonObject } from "./json.ts";
import type { PluginColumn } from "./plugin-column.ts";
import type { PluginGuard } from "./plugin-guard.ts";
import type { PluginMetric } from "./plugin-metric.ts";
import type { Provider } from "./provider.ts";

export interface Plugin {
  name: string;
  providers?: readonly Provider[];
  formats?: readonly Format[];
  hooks?: Hooks;
  /** Judges of texts, for guards of the config that name them. */
  guards?: readonly PluginGuard[];
  /** Options of the plugin, and the hooks that it has for them. */
  section?: PluginSection;
  /** Members that the plugin adds to the record of a call. */
  columns?: readonly PluginColumn[];
  /** Counters and histograms that the plugin counts in its hooks. */
  metrics?: readonly PluginMetric[];
  /** Called by `weir check`, after the plugin got its options. */
  check?(how: CheckHow): readonly PluginFinding[] | Promise<readonly PluginFinding[]>;
}

/** How `weir check` runs. */
export interface CheckHow {
  /** With `--offline`: the check must send no request. */
  readonly isOffline: boolean;
}

/** A line of `weir check`. A fault makes its exit code 1, a warning does not. */
export interface PluginFinding {
  readonly severity: "fault" | "warning";
  /** One sentence with the remedy. */
  readonly message: string;
}

/** Options under `plugins.NAME` of weir.yaml. */
export interface PluginSection {
  /**
   * JSON schema of the options: an object. weir checks the file with it, fills in each `default` and refuses unknown options. It
   * knows `type`, `properties`, `required`, `items`, `enum`, `anyOf`, `default`, `description`, and limits of numbers, texts and lists.
   */
  schema: JsonObject;
  /**
   * Called at the start and at each reload, also where the file says nothing about the plugin.
   * @returns hooks beside those of the plugin; `undefined`: the options turn the plugin off
   */
  configure(options: JsonObject): ConfiguredPlugin | undefined;
}

/** A plugin with its options. */
export interface ConfiguredPlugin {
  hooks?: Hooks;
  /** In place of the `check` of the plugin. */
  check?: Plugin["check"];
  /** Called when names of models have another meaning than before, because models were added or removed at run time. */
  modelsChanged?(): void;
}

/** The hooks of a plugin. Each hook runs in the order in which the plugins were loaded. */
export interface Hooks {
  /**
   * Called once per call, before the first attempt, also for calls that plugins ask. Throws a GatewayError to refuse the call:
   * the client gets it in its format. weir waits only for a promise. Does not disable the native lane.
   */
  admit?(call: CallView): void | Promise<void>;
  /**
   * Called once per call of a client, after `admit` and before the first attempt. May answer the call, or choose the model that
   * serves it; `undefined` leaves it as it is. The first answer counts, and the last model. Does not disable the native lane.
   */
  intercept?(call: CallView): Interception | undefined | Promise<Interception | undefined>;
  /** Edits the canonical request in place before each attempt. With this hook weir never uses the native lane. */
  request?(request: ChatRequest, call: CallView): void | Promise<void>;
  /** Rewrites the events of the answer. With this hook weir never uses the native lane. */
  answer?(events: AsyncIterable<ChatEvent>, call: CallView): AsyncIterable<ChatEvent>;
  /** Receives each event of translated and generated answers. Does not disable the native lane, where it receives nothing. */
  observe?(event: ChatEvent, call: CallView): void;
  /**
   * Called when an operator asks weir to explain a request, which it does not send. Returns what the plugin would do with the
   * call, and why; `undefined` says nothing. `call` is as `admit` gets it.
   */
  explain?(call: CallView): JsonObject | undefined;
  /** Called once per call, whatever its outcome. */
  done?(call: CallRecord): void | Promise<void>;
}

/** The decision of an `intercept` hook. */
export interface Interception {
  /** The model that serves the call, as a client would name it. */
  model?: string;
  /** The answer of the plugin: a text, or canonical events in order. weir then asks no provider. */
  answer?: string | Iterable<ChatEvent> | AsyncIterable<ChatEvent>;
  /**
   * Receives the events of the answer to this call and returns those that the client gets, before `answer` hooks edit them: the
   * hook `answer` for one call. The call takes no native lane. weir calls it once for each attempt that is answered.
   */
  edit?(events: AsyncIterable<ChatEvent>, call: CallView): AsyncIterable<ChatEvent>;
}
