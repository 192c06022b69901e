/** One side of a rehearsal: a config as this build serves it, without a listener, a store and a network. */
import { createHmac } from "node:crypto";
import type { Config } from "../../../config/schema.ts";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { NO_USAGE, type Usage } from "../../../core/events.ts";
import type { ClientCodec, Format } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { hasRequests } from "../../../core/model-kind.ts";
import type { Principal } from "../../../core/principal.ts";
import type { Target } from "../../../core/provider.ts";
import { type ExplainOptions, foreseeRequest, shownHeaders } from "../../../gateway/explain.ts";
import type { PrepareContext, Prepared } from "../../../gateway/lanes/lane.ts";
import { describePlan } from "../../../gateway/routing/plan.ts";
import { ReasoningCache } from "../../../gateway/reasoning/cache.ts";
import { compilePermissions, compilePrincipal } from "../../../ledger/keys/principal.ts";
import type { KeyEntry, Scopes } from "../../../ledger/policy.ts";
import { PriceBook } from "../../../ledger/prices/book.ts";
import { chargeOf } from "../../../ledger/prices/charge-of.ts";
import { regionOf } from "../../../ledger/prices/region.ts";
import type { Assembled } from "../../../run/assemble.ts";
import { declarationOf } from "../../../run/declaration.ts";
import { answerHome, answerOptions } from "../../../run/home.ts";
import { assertScope } from "../../../server/key-scope.ts";
import { RequestBody } from "../../../server/request-body.ts";
import { withoutAddress } from "../../../server/url-address.ts";
import { callerId, type OutlinedCaller } from "../outline/outline.ts";
import { Admission } from "./admission.ts";
import type { Asked } from "./asked.ts";
import type { Facts } from "./facts.ts";
import { NO_ANSWERS } from "./no-answers.ts";
import type { ReadHooks } from "./read-hooks.ts";
import { KeptHeaders } from "../outline/headers.ts";
import { Vocabulary } from "../outline/vocabulary.ts";

type ClientFormat = Format & { client: ClientCodec };

/** Output of a call without counts, for its price. Tokens. */
const ASSUMED_OUTPUT = 500;

export class Side {
  readonly #config: Config;
  readonly #context: PrepareContext;
  readonly #prices: PriceBook;
  readonly #keys: ReadonlyMap<string, KeyEntry>;
  readonly #principals = new Map<string, Principal>();
  readonly #read: ReadHooks;
  readonly #salt: string;

  /** @param read notes what plugins read @param foresee what features would do with a request @param salt of the hashes of credentials, the same on both sides */
  constructor(
    config: Config,
    parts: Assembled,
    { read, foresee, salt }: { read: ReadHooks; foresee?: PrepareContext["foresee"]; salt: string },
  ) {
    this.#config = config;
    this.#salt = salt;
    this.#prices = new PriceBook(config.prices);
    const declaration = declarationOf(config);
    const { keys, modelSets } = declaration.declared;
    this.#keys = new Map(keys.map((key) => [callerId(key.id), key]));
    this.#sets = () => modelSets ?? {};
    const formats = [...parts.registry.formats.values()];
    const words = new Vocabulary(formats);
    this.#read = read;
    const hooks = read.hooksOf(parts.plugins, words, new KeptHeaders(formats, words));
    this.#context = {
      ...{ registry: parts.registry, catalog: parts.catalog, hooks },
      ...{ strict: config.strict, retries: config.retries, reasoning: new ReasoningCache() },
      answerOptions: answerOptions(config),
      ledger: new Admission(declaration),
      ...(storesAnswers(config) && { answers: NO_ANSWERS }),
      ...(foresee && { foresee }),
    };
  }

  readonly #sets: Parameters<typeof compilePrincipal>[1];

  async facts(asked: Asked): Promise<Facts> {
    const { isWhole = false, caller } = asked.outline;
    this.#read.reset(isWhole, !caller || this.#keys.has(caller.id));
    try {
      return this.#marked(await this.#of(asked));
    } catch (thrown) {
      const { kind, code, message } = GatewayError.from(thrown);
      return this.#marked({ refused: { kind, ...(code !== undefined && { code }), message } });
    }
  }

  /** A plugin that has read a text may have decided by it. */
  #marked(facts: Facts): Facts {
    const { readers } = this.#read;
    if (readers.length === 0) return facts;
    return { ...facts, unknown: readers.map((name) => `the plugin ${name} reads texts`) };
  }

  async #of(asked: Asked): Promise<Facts> {
    const options = this.#options(asked);
    const foreseen = await foreseeRequest(options, this.#context);
    if ("answeredBy" in foreseen) return { target: nameOf(foreseen.answeredBy) };
    const { plan, attempt, prepared, more } = foreseen;
    const { target, losses } = attempt;
    const { state, cost } = this.#priceOf(target, asked);
    return {
      target: nameOf(target),
      targets: describePlan(plan).map(
        ({ role, deployment, model, weight }) => `${role} ${deployment} ${model} ${weight}`,
      ),
      lane: attempt.lane,
      format: target.format,
      ...(prepared && {
        url: prepared.url,
        headers: await this.#headersOf(prepared),
        body: Buffer.concat(prepared.body).toString(),
      }),
      losses,
      priced: state,
      ...(state !== "unpriced" && { price: cost }),
      ...(more?.["plugins"] !== undefined && { plugins: more["plugins"] as JsonObject }),
    };
  }

  /** Of a value that is no one's to read there is a hash, so that another one is seen. */
  async #headersOf(prepared: Prepared): Promise<JsonObject> {
    const shown = await shownHeaders(prepared, this.#context.registry);
    return Object.fromEntries(
      Object.entries(shown).map(([name, value]) => {
        const sent = prepared.headers[name];
        return [name, sent === undefined || sent === value ? value : `${String(value)} ${this.#hash(sent)}`];
      }),
    );
  }

  #hash(value: string): string {
    return createHmac("sha256", this.#salt).update(value).digest("hex").slice(0, 16);
  }

  #options({ outline, body, bytes, headers }: Asked): ExplainOptions {
    const { registry } = this.#context;
    const { operation, format: named, path, caller } = outline;
    if (bytes.length > this.#config.limits.bodyBytes)
      throw new GatewayError("invalid-request", "The request is larger than `limits.bodyBytes`.");
    const read = new RequestBody(bytes, this.#config.limits.depth);
    const principal = caller && this.#principal(caller);
    const asks = this.#asks(operation, path);
    const format = this.#format(named);
    assertScope(principal, asks ? operation : operation === "embeddings" ? operation : named, () => "");
    const isInAddress = format.client.routes.address && !asks;
    const { model, stream } = outline;
    const asked = isInAddress ? { ...body, model, stream } : body;
    // The client has sent no member for what its address says.
    const sent = isInAddress && read.spanOf("model") ? withoutAddress(read, this.#config.limits.depth) : read;
    return {
      ...{ format, body: asked, bytes: sent.bytes, headers },
      spanOf: (name) => sent.spanOf(name),
      ...(principal && { principal }),
      ...(operation === "embeddings" && { embeds: true }),
      ...(asks && { asks }),
    };
  }

  /** The client's format, that of a dialect for embeddings, or the one whose errors a route of a kind writes. */
  #format(named: string): ClientFormat {
    const all = [...this.#context.registry.formats.values()].filter(
      (one): one is ClientFormat => one.client !== undefined,
    );
    const embeds = ({ client }: ClientFormat) =>
      client.beside.embeds?.some(({ dialect }) => dialect === named) === true;
    return all.find(({ id }) => id === named) ?? all.find(embeds) ?? all[0]!;
  }

  #asks(operation: string, named: string | undefined): ExplainOptions["asks"] {
    for (const kind of [...this.#context.registry.kinds.values()].filter(hasRequests)) {
      if (kind.id !== operation) continue;
      const route = kind.routes.find(
        ({ path, aliases }) => path === named || (named !== undefined && aliases?.includes(named)),
      );
      if (route) return { kind, route };
    }
    return undefined;
  }

  /** A key of the config counts as the config has it; another one as it was when it called. */
  #principal(caller: OutlinedCaller): Principal {
    const { id, path, scopes, isDeclared } = caller;
    const entry = this.#keys.get(id);
    if (entry?.expiresAt !== undefined && entry.expiresAt <= Date.now())
      throw new GatewayError("authentication", "The key of the caller has expired.");
    const made = this.#principals.get(id) ?? (entry ? compilePrincipal(entry, this.#sets) : undefined);
    if (made) {
      this.#principals.set(id, made);
      return made;
    }
    if (isDeclared)
      throw new GatewayError("authentication", "The config has the key of the caller no longer.");
    const options = compilePermissions(scopes as Scopes, this.#sets);
    return { id, name: id, path, tags: [], options };
  }

  #priceOf(target: Target, { outline }: Asked) {
    const provider = target.provider.name;
    const ruleOf = (model: string) => this.#prices.lookup(provider, model);
    const usage: Usage = outline.usage ?? {
      ...NO_USAGE,
      input: Math.ceil(outline.bytes / 4),
      output: ASSUMED_OUTPUT,
      known: "final",
    };
    const region = regionOf(target.deployment);
    return chargeOf(
      { reach: "sent", usage, ...(region !== undefined && { region }) },
      ruleOf(target.model),
      ruleOf,
    );
  }
}

function nameOf({ provider, deployment, model }: Target): string {
  return `${provider.name}/${deployment.name}/${model}`;
}

/** Whether a gateway with the config stores answers. No folder is looked for: it may be on another machine. */
function storesAnswers(config: Config): boolean {
  const home = { kind: "folder", folder: "", named: config.state !== undefined } as const;
  return answerHome(home, config).kind !== "off";
}
