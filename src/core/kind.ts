/** What requests, answers and endpoints of all kinds of models have in common. */
import type { Units, Usage } from "./events.ts";
import type { LeftOut } from "./loss.ts";

/** What requests of every kind have. */
export interface KindRequest {
  /** The model name as the client wrote it. */
  model: string;
  /** Id of the dialect that the client wrote: a provider of the same dialect gets the client's bytes. */
  dialect: string;
  /** The client wants its answer as a stream of events. */
  stream?: boolean;
  /** Members that no provider of another dialect gets. */
  leftOut?: readonly LeftOut[];
}

/** What answers of every kind have. */
export interface KindAnswer {
  usage?: KindUsage;
  /** The model that the provider names. */
  model?: string;
}

/** What an answer was charged for. Absent members were not counted. */
export interface KindUsage extends Partial<
  Pick<
    Usage,
    | "input"
    | "cacheRead"
    | "cacheWrite"
    | "output"
    | "reasoning"
    | "reported"
    | "audioIn"
    | "imageIn"
    | "audioOut"
    | "imageOut"
    | "beside"
  >
> {
  units?: Units;
}

/** Where a provider serves a kind. A path alone stands for `{ path }`. */
export interface KindEndpoint {
  /** Path relative to `baseUrl`; it may contain `{model}` and variables. */
  path: string;
  /** Globs over the provider's names of the models that it serves there. Absent: all. */
  models?: readonly string[];
}

/** The endpoints of a kind by dialect, in order of preference. */
export type KindEndpoints = Readonly<Record<string, string | KindEndpoint>>;
