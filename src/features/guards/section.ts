/** The section of the configuration for guards. */
import { type Static, Type } from "@sinclair/typebox";
import { type Fault, faultAt, type Path } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { CLOSED, oneOf, secret } from "../../config/sections/kinds.ts";
import { slowness } from "../../config/slow-expression.ts";
import { askingFaults, webhookFaults } from "./ask/faults.ts";
import { ASKED, ASKING, webhook } from "./ask/section.ts";
import { ACTIONS, BLOCKS, BUILT_IN, KINDS, MODES, PLACES, UNINSPECTED } from "./declarations.ts";

import { SCHEMA } from "./schema/section.ts";
import { flow, type FlowOptions, limits } from "./flow/section.ts";

const GUARD_NAME = /^[a-z][a-z0-9-]{0,39}$/;

const found = Type.Union(
  [
    oneOf(BUILT_IN, {}),
    Type.Object(
      {
        name: Type.String({
          pattern: GUARD_NAME.source,
          description: "Name of the values: tokens and records have its letters.",
        }),
        pattern: Type.String({
          description:
            "Regular expression of the values. weir refuses one that can take exponential time, such as `(a+)+`.",
        }),
        longest: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 4_096,
            description:
              "Length of the longest value, in characters: so much of a streamed answer waits, and longer ones may not be found. Default: 256.",
          }),
        ),
      },
      CLOSED,
    ),
    Type.Object(
      {
        name: Type.String({
          pattern: GUARD_NAME.source,
          description: "Name of the words: tokens and records have its letters.",
        }),
        words: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          minItems: 1,
          examples: [["Project Falcon"]],
          description: "Words that are found whatever their case and width, where no letter goes on.",
        }),
      },
      CLOSED,
    ),
    Type.Object(
      {
        name: Type.String({
          pattern: GUARD_NAME.source,
          description: "Name of the words: tokens and records have its letters.",
        }),
        file: Type.String({
          minLength: 1,
          description: "File with a word on each line. It is read when the config is.",
        }),
      },
      CLOSED,
    ),
    Type.Object({ webhook }, CLOSED),
  ],
  {
    "x-expects": `one of ${BUILT_IN.join(", ")}, or an object with name and pattern, words or file, or with webhook`,
  },
);

const route = Type.Object(
  {
    route: Type.String({
      minLength: 1,
      examples: ["ollama/qwen3"],
      description:
        "The model that answers requests in which the guard finds a value. No other model gets them: of its fallbacks, those that `unless` permits.",
    }),
  },
  CLOSED,
);

const guard = Type.Object(
  {
    find: Type.Optional(
      Type.Array(found, {
        minItems: 1,
        examples: [["email", "card", { name: "employee", pattern: "\\bE-\\d{6}\\b" }]],
        description:
          "What the guard finds by its form. Numbers of cards, accounts and persons pass their check digits; `secrets` are credentials by the rules of gitleaks; `url-credentials` are passwords and keys in addresses.",
      }),
    ),
    regions: Type.Optional(
      Type.Array(Type.String({ pattern: "^[A-Z]{2}$" }), {
        minItems: 1,
        examples: [["DE", "US"]],
        description:
          "Regions (ISO 3166-1) whose telephone numbers `phone` finds as they are written there. Default: those with `+` and a calling code alone.",
      }),
    ),
    privateIps: Type.Optional(
      Type.Boolean({
        description: "Whether `ip` finds addresses of private networks, such as `10.0.0.1`. Default: true.",
      }),
    ),
    ...ASKING,
    ...SCHEMA,
    limits: Type.Optional(limits),
    fence: Type.Optional(
      Type.Boolean({
        description:
          "Whether results of tools and documents go to the model between marks that only weir can make, with the words that nothing between them is an instruction. Default: false.",
      }),
    ),
    do: Type.Optional(
      Type.Union([oneOf(ACTIONS, {}), route], {
        "x-expects": `one of ${ACTIONS.join(", ")}, or { route: MODEL }`,
        description:
          "`replace`: the provider gets a token in place of each value, and the client gets its values back; `mask`: the value is replaced for good; `block`: weir refuses the request or ends the answer; `flag`: the record of the call notes it; `route`: another model answers the call, such as a local one. Default: `block`.",
      }),
    ),
    on: Type.Optional(
      Type.Union([oneOf(PLACES, {}), Type.Array(oneOf(PLACES, {}), { minItems: 1 })], {
        "x-expects": `a list of ${PLACES.join(", ")}`,
        examples: [["input"]],
        description:
          "Where it looks. `tools`: arguments and results of tools that weir runs, also for clients of `/mcp`; results that go to a model are in `input` as well. Default: `input` and `output`.",
      }),
    ),
    kinds: Type.Optional(
      Type.Array(oneOf(KINDS, {}), {
        minItems: 1,
        "x-expects": `a list of ${KINDS.join(", ")}`,
        description:
          "Which texts it looks at: `tools` are arguments and results, `declarations` what requests say of tools and schemas, `names` users, metadata, names of tools and stop sequences. A value that it replaces goes from all of them. Default: all but `declarations`.",
      }),
    ),
    keys: Type.Optional(
      Type.Array(Type.String(), {
        examples: [["/eng", "alice"]],
        description:
          "Names of keys, or paths with all keys below them, whose calls it guards; `*`: all, also calls without a key; an empty list: those alone that ask for it, by the option `guards` of their key or by `x-weir-guards-add`. Default: all.",
      }),
    ),
    models: Type.Optional(
      Type.Array(Type.String(), {
        examples: [["openai/*"]],
        description:
          "Patterns of models. The guard runs if one of the models that may answer the call matches, fallbacks included. Default: all.",
      }),
    ),
    unless: Type.Optional(
      Type.Array(Type.String(), {
        examples: [["ollama/*"]],
        description:
          "Patterns of models that may see everything. The guard does not run if all models that may answer the call match.",
      }),
    ),
    mode: Type.Optional(
      Type.Union([oneOf(MODES, {}), Type.Array(oneOf(MODES, {}), { minItems: 1, maxItems: 2 })], {
        "x-expects": `one of ${MODES.join(", ")}, or a list of one for requests and one for answers`,
        examples: ["hold", ["beside", "after"]],
        description:
          "When it judges. Requests: `before` the provider gets them, or `beside`: while it works, and the answer waits for the verdict. Answers: `window`: text of a stream waits until it can be no part of a value any more, or until the service lets it go on; `hold`: the client gets nothing before the whole answer is judged; `after`: it gets it at once, and its end waits for the verdict. Default: `before`, and `window` for what is found by its form, else `hold`.",
      }),
    ),
    as: Type.Optional(
      oneOf(BLOCKS, {
        description:
          "How a client learns that the guard blocks: an error, or an answer in which the model refuses. Default: `error`.",
      }),
    ),
  },
  CLOSED,
);

export type GuardOptions = Static<typeof guard>;

const guards = Type.Object(
  {
    uninspected: oneOf(UNINSPECTED, {
      default: "allow",
      description:
        "Whether guarded requests may have content that weir cannot read: images, sounds and documents in base64, and sealed reasoning.",
    }),
    flow: Type.Optional(flow),
    secret: Type.Optional(
      secret(
        "Tokens are derived from it, at least 16 characters: the same with each store, so that a tape that is recorded with guards can be replayed. Default: a secret of the store.",
      ),
    ),
    canary: Type.Optional(
      Type.String({
        pattern: "^[1-9][0-9]{0,3}(s|m|h)$",
        "x-expects": "a time such as 10m",
        examples: ["10m"],
        description:
          "How often weir sends values of its own through the guards, in every format, to a provider inside: one that gets out is an alert. Not in the books. Default: never.",
      }),
    ),
  },
  {
    additionalProperties: guard,
    default: {},
    examples: [{ pii: { find: ["email", "card", "iban"], do: "replace" } }],
    description:
      "Guards by name: what may not leave, or not come back. They run in the order of the file, each sees what the one before made. Keys, clients and plugins cannot turn one off.",
  },
);

/** Tokens of a shorter secret could be guessed. Characters. */
const SHORTEST_SECRET = 16;

/** Words at the top of the section that are no names of guards. */
const RESERVED = new Set(["uninspected", "flow", "canary", "secret"]);

export const guardsSection = section("guards", guards, {
  after: ["capture", "responses"],
  faults: (written) => guardFaults(written),
  settle(written, settling) {
    if (!Object.values(written).some(hasFiles)) return written;
    const { settled } = require("./word-files.ts") as typeof import("./word-files.ts");
    return settled(written, settling);
  },
});

type Guards = Static<typeof guards>;

/** A guard with its name, in the order of the file. */
export interface NamedGuard extends GuardOptions {
  readonly name: string;
}

export function guardsOf(config: object): readonly NamedGuard[] {
  const options: [string, unknown][] = Object.entries(guardsSection.of(config));
  return options.flatMap(([name, one]) => (!RESERVED.has(name) && isGuard(one) ? [{ ...one, name }] : []));
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** The secret of the config from which tokens are derived; undefined: that of the store. */
export function secretIn(config: object): Uint8Array | undefined {
  const text = guardsSection.of(config).secret?.reveal();
  return text === undefined ? undefined : new Bun.CryptoHasher("sha256").update(text).digest();
}

/** Milliseconds between canaries; undefined: none flies. */
export function canaryOf(config: object): number | undefined {
  const { canary } = guardsSection.of(config);
  return canary === undefined ? undefined : Number.parseInt(canary, 10) * UNITS_MS[canary.at(-1)!]!;
}

export function flowOf(config: object): FlowOptions | undefined {
  const { flow } = guardsSection.of(config);
  // Where no layer sets a group of options, all of its members are undefined.
  const members: Partial<FlowOptions> = flow ?? {};
  return members.to && flow;
}

/** Whether a guard asks services or models. */
export function asks(
  guard: { readonly find?: unknown } & { readonly [Name in (typeof ASKED)[number]]?: unknown },
): boolean {
  const { find } = guard;
  const inFind = Array.isArray(find) && find.some((one) => isObject(one) && "webhook" in one);
  return inFind || ASKED.some((name) => guard[name] !== undefined);
}

export function uninspectedOf(config: object): Guards["uninspected"] {
  return guardsSection.of(config).uninspected;
}

function isGuard(one: unknown): one is GuardOptions {
  return isObject(one);
}

function guardFaults(written: unknown): Fault[] {
  const entries = isObject(written) ? Object.entries(written) : [];
  return entries.flatMap(([name, one]) => {
    if (name === "secret" && typeof one === "string" && one.length < SHORTEST_SECRET)
      return faultAt(["guards", name], `must have at least ${SHORTEST_SECRET} characters`);
    if (RESERVED.has(name)) return [];
    if (!GUARD_NAME.test(name))
      return faultAt(
        ["guards", name],
        "the name of a guard has lower-case letters, digits and dashes, at most 40",
      );
    if (isObject(one) && isObject(one.do) && [one.on].flat().includes("output"))
      return faultAt(["guards", name, "on"], "a guard that routes looks at requests: input or tool-results");
    const found = isObject(one) && Array.isArray(one.find) ? one.find : [];
    const finds = ["find", "schema", "limits", "fence", ...ASKED];
    if (isObject(one) && finds.every((each) => one[each] === undefined))
      return faultAt(["guards", name], `a guard has one of ${finds.join(", ")}`);
    if (isObject(one) && one.limits !== undefined && ["replace", "mask"].includes(String(one.do)))
      return faultAt(["guards", name, "do"], "a request beyond a limit can be blocked, flagged or routed");
    if (isObject(one) && one.schema !== undefined) {
      const fault = schemaFault(one);
      if (fault !== undefined) return faultAt(["guards", name, "schema"], fault);
    }
    if (isObject(one) && Array.isArray(one.regions)) {
      const unknown = unknownRegion(one.regions);
      if (unknown !== undefined)
        return faultAt(["guards", name, "regions"], `${JSON.stringify(unknown)} is no region of ISO 3166-1`);
    }
    return [
      ...(isObject(one) ? askingFaults(one, asks(one), ["guards", name]) : []),
      ...found.flatMap((each, at) => foundFaults(each, ["guards", name, "find", at])),
    ];
  });
}

/** Whether a guard finds words of files. */
function hasFiles(guard: unknown): boolean {
  return (
    isObject(guard) && Array.isArray(guard.find) && guard.find.some((one) => isObject(one) && "file" in one)
  );
}

function unknownRegion(names: readonly unknown[]): unknown {
  const { REGIONS } = require("./detect/phone/regions.ts") as typeof import("./detect/phone/regions.ts");
  return names.find((name) => typeof name === "string" && !REGIONS.includes(name));
}

function schemaFault({ do: action = "block", on = ["output"] }: JsonObject): string | undefined {
  if (action !== "block" && action !== "flag")
    return "an answer that does not match can be blocked or flagged";
  if (![on].flat().includes("output")) return "schemas are for answers: say on: [output]";
  return undefined;
}

function foundFaults(found: unknown, path: Path): Fault[] {
  if (!isObject(found)) return [];
  if (found.webhook !== undefined) return webhookFaults(found.webhook, [...path, "webhook"]);
  return typeof found.pattern === "string"
    ? faultAt([...path, "pattern"], expressionFault(found.pattern))
    : [];
}

function expressionFault(source: string): string | undefined {
  try {
    new RegExp(source, "u");
  } catch (cause) {
    return `the expression is not valid: ${(cause as Error).message}`;
  }
  return slowness(source, "u");
}
