/** A guard as it runs: its detectors, what it asks, and for which texts and callers. */
import type { Principal } from "../../core/principal.ts";
import type { Text, TextKind, TextPlace } from "../../core/text-places.ts";
import { matchesAny } from "../../core/model-pattern.ts";
import { isOfCaller, isOfModels, type Scope } from "./applies.ts";
import type { Asked } from "./ask/asked.ts";
import { detectorOf } from "./detect/built-in.ts";
import type { Detector } from "./detect/detector.ts";
import { type Found, scan } from "./detect/scan.ts";
import {
  ANSWER_MODES,
  type Action,
  type AnswerMode,
  type BlockedAs,
  type GuardPlace,
} from "./declarations.ts";
import { kindsOf } from "./flow/kinds.ts";
import type { GuardedModel } from "./flow/models.ts";
import type { FlowOptions, Limits } from "./flow/section.ts";
import { type Shape, shapeOf } from "./schema/section.ts";
import type { NamedGuard } from "./section.ts";

/** Characters. */
const EVERY = 2_000;
const OVERLAP = 200;

const WHERE: readonly GuardPlace[] = ["input", "output"];

export class Guard {
  readonly name: string;
  readonly action: Action;
  /** The model to which it leads calls. */
  readonly route: string | undefined;
  readonly as: BlockedAs;
  /** When it judges answers. */
  readonly mode: AnswerMode;
  /** It judges a request while the provider works on it. */
  readonly isBeside: boolean;
  /** In the mode `after`: the characters that are judged at once. */
  readonly every: number;
  /** Of a piece of an answer: the characters that were judged before. */
  readonly overlap: number;
  readonly detectors: readonly Detector[];
  /** Absent: it asks nothing, and judges at once. */
  readonly asked: Asked | undefined;
  /** It marks what comes from tools and documents. */
  readonly fences: boolean;
  readonly limits: Limits | undefined;
  /** What it checks of answers against schemas. */
  readonly shape: Shape | undefined;
  /** It holds tools back, and reads no text. */
  readonly flow: FlowOptions | undefined;
  readonly #kinds: ReadonlySet<TextKind>;
  readonly #on: ReadonlySet<GuardPlace>;
  readonly #scope: Scope;

  /** @param asked what it asks @param flow by which it holds tools back */
  constructor(options: NamedGuard, asked?: Asked, flow?: FlowOptions) {
    const { name, find = [], regions, privateIps, do: action = "block", on, kinds, mode = [], as } = options;
    this.name = name;
    this.action = typeof action === "string" ? action : "route";
    this.route = typeof action === "string" ? undefined : action.route;
    this.as = as ?? "error";
    this.detectors = find.flatMap((one) =>
      typeof one === "string" || "pattern" in one || "words" in one
        ? detectorOf(one, { regions, privateIps })
        : [],
    );
    this.asked = asked;
    this.flow = flow;
    this.shape = shapeOf(options.schema, options.repair);
    this.fences = options.fence ?? false;
    // Where nothing sets a group of options, all of its members are undefined.
    this.limits = Object.values(options.limits ?? {}).some((one) => one !== undefined)
      ? options.limits
      : undefined;
    this.mode = ANSWER_MODES.find((one) => mode.includes(one)) ?? (asked ? "hold" : "window");
    this.isBeside = mode.includes("beside");
    this.every = options.every ?? EVERY;
    this.overlap = options.overlap ?? OVERLAP;
    this.#kinds = kindsOf(kinds);
    this.#on = new Set([on ?? this.#usual()].flat());
    this.#scope = options;
  }

  /** Where it looks if its options do not say it. */
  #usual(): readonly GuardPlace[] {
    if (this.route !== undefined) return ["input"];
    if (this.detectors.length > 0 || this.asked || this.flow) return WHERE;
    return this.shape ? (this.limits || this.fences ? WHERE : ["output"]) : ["input"];
  }

  /** Whether it looks at texts of requests, and not at the results of tools alone. */
  get readsRequests(): boolean {
    return this.#on.has("input");
  }

  get readsAnswers(): boolean {
    return this.#on.has("output");
  }

  /** Whether it looks at arguments and results of tools that weir runs, for any caller. */
  get readsTools(): boolean {
    return this.#on.has("tools");
  }

  /** Whether it looks at a text of a request, or of a tool that weir runs. */
  reads({ kind, isTool }: Pick<TextPlace, "kind" | "isTool">): boolean {
    if (!this.#kinds.has(kind)) return false;
    if (this.#on.has("input") || (kind === "tool-result" && this.#on.has("tool-results"))) return true;
    return isTool === true && this.readsTools;
  }

  /** Whether it looks at a text of an answer. */
  readsAnswer({ kind }: Pick<Text, "kind">): boolean {
    return this.#kinds.has(kind) && this.readsAnswers;
  }

  guards(principal: Principal | undefined): boolean {
    return isOfCaller(this.#scope, principal);
  }

  /** Whether it looks at calls to some models alone. */
  get isOfSomeModels(): boolean {
    return this.#scope.models !== undefined || this.#scope.unless !== undefined;
  }

  /** @param targets all models that may answer */
  guardsModels(targets: readonly GuardedModel[]): boolean {
    return isOfModels(this.#scope, targets);
  }

  /** Whether a model may see everything. @param names as the operator and the provider have them */
  permits(names: readonly string[]): boolean {
    return matchesAny(this.#scope.unless ?? [], names);
  }

  /** Whether it names models that may see everything. */
  get hasPermitted(): boolean {
    return (this.#scope.unless ?? []).length > 0;
  }

  /** @param from values begin there or later */
  find(text: string, from = 0): Found[] {
    return scan(text, this.detectors, from);
  }
}
