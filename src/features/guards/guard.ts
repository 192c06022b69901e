/** A guard as it runs: its detectors, what it asks, and for which texts and callers. */
import type { Principal } from "../../core/principal.ts";
import type { Text, TextKind } from "../../core/text-places.ts";
import { matchesAny } from "../../core/model-pattern.ts";
import type { Asked } from "./ask/asked.ts";
import { DETECTORS } from "./detect/built-in.ts";
import type { Detector } from "./detect/detector.ts";
import { patternDetector } from "./detect/pattern.ts";
import { type Found, scan } from "./detect/scan.ts";
import type { Action, BlockedAs, GuardPlace, Mode } from "./declarations.ts";
import { kindsOf } from "./flow/kinds.ts";
import type { GuardedModel } from "./flow/models.ts";
import type { NamedGuard } from "./section.ts";

const WHERE: readonly GuardPlace[] = ["input", "output"];

export class Guard {
  readonly name: string;
  readonly action: Action;
  /** The model to which it leads calls. */
  readonly route: string | undefined;
  readonly as: BlockedAs;
  readonly mode: Mode;
  readonly detectors: readonly Detector[];
  /** Absent: it asks nothing, and judges at once. */
  readonly asked: Asked | undefined;
  readonly #kinds: ReadonlySet<TextKind>;
  readonly #on: ReadonlySet<GuardPlace>;
  readonly #keys: readonly string[];
  readonly #models: readonly string[] | undefined;
  readonly #unless: readonly string[];

  /** @param asked what it asks */
  constructor(
    { name, find = [], do: action, on, kinds, keys, models, unless, mode, as }: NamedGuard,
    asked?: Asked,
  ) {
    this.name = name;
    this.action = typeof action === "string" ? action : "route";
    this.route = typeof action === "string" ? undefined : action.route;
    this.as = as ?? "error";
    this.detectors = find.flatMap((one) => {
      if (typeof one === "string") return DETECTORS[one];
      return "pattern" in one ? patternDetector(one.name, one.pattern, one.longest) : [];
    });
    this.asked = asked;
    this.mode = mode ?? "window";
    this.#kinds = kindsOf(kinds);
    this.#on = new Set(on ?? (this.route === undefined ? WHERE : ["input"]));
    this.#keys = keys ?? ["*"];
    this.#models = models;
    this.#unless = unless ?? [];
  }

  /** Whether it looks at texts of requests, and not at the results of tools alone. */
  get readsRequests(): boolean {
    return this.#on.has("input");
  }

  get readsAnswers(): boolean {
    return this.#on.has("output");
  }

  /** Whether it looks at a text of a request. */
  reads({ kind }: Pick<Text, "kind">): boolean {
    return (
      this.#kinds.has(kind) &&
      (this.#on.has("input") || (kind === "tool-result" && this.#on.has("tool-results")))
    );
  }

  /** Whether it looks at a text of an answer. */
  readsAnswer({ kind }: Pick<Text, "kind">): boolean {
    return this.#kinds.has(kind) && this.readsAnswers;
  }

  guards(principal: Principal | undefined): boolean {
    return this.#keys.some((one) => {
      if (one === "*") return true;
      if (!principal) return false;
      const { path, name } = principal;
      return one.startsWith("/")
        ? path === one || path.startsWith(one === "/" ? one : `${one}/`)
        : name === one;
    });
  }

  /** @param targets all models that may answer */
  guardsModels(targets: readonly GuardedModel[]): boolean {
    const models = this.#models;
    if (models && !targets.some(({ names }) => matchesAny(models, names))) return false;
    return targets.length === 0 || !targets.every(({ sure }) => this.permits(sure));
  }

  /** Whether a model may see everything. @param names as the operator and the provider have them */
  permits(names: readonly string[]): boolean {
    return matchesAny(this.#unless, names);
  }

  /** Whether it names models that may see everything. */
  get hasPermitted(): boolean {
    return this.#unless.length > 0;
  }

  /** @param from values begin there or later */
  find(text: string, from = 0): Found[] {
    return scan(text, this.detectors, from);
  }
}
