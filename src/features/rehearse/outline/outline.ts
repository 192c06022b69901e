/** The outline of a call: all that its way through weir depends on, without a text, a name or an argument of the client. */
import { createHmac } from "node:crypto";
import type { Usage } from "../../../core/events.ts";
import type { Format } from "../../../core/format.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Principal } from "../../../core/principal.ts";
import type { TextPlaces } from "../../../core/text-places.ts";
import type { Entered, EntryOperation } from "../../../gateway/seams.ts";
import type { TabledPlaces } from "../../../formats/shared/text-places.ts";
import { KeptHeaders } from "./headers.ts";
import { Placeholders } from "./placeholders.ts";
import { modelOf, shapeOf, type Shaping } from "./shape.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Version of the form of outlines. */
export const OUTLINE_VERSION = 1;

/** Who asked, as far as it decides about the way of a call. */
export interface OutlinedCaller {
  /** Of the id of a key or caller: 16 hexadecimal digits. Its name is not kept. */
  readonly id: string;
  /** It is a key of the config. */
  readonly isDeclared?: true;
  readonly path: string;
  readonly scopes: Readonly<Record<string, unknown>>;
}

export interface Outline {
  readonly v: typeof OUTLINE_VERSION;
  /** When the call began. Milliseconds since 1970. */
  readonly at: number;
  /** Id of the call in the books. */
  readonly call: string;
  readonly operation: EntryOperation;
  /** The client's format, or its dialect of embeddings. */
  readonly format: string;
  /** The path of its route, which tells requests of kinds apart. */
  readonly path?: string;
  /** As the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly caller?: OutlinedCaller;
  /** Size of the client's body, in bytes. */
  readonly bytes: number;
  /** The request with short placeholders. */
  readonly body: JsonObject;
  /** The body is that of the client, with its texts. */
  readonly isWhole?: true;
  /** Why a rehearsal cannot know what becomes of the call. */
  readonly unknown?: readonly string[];
  /** The provider that answered. */
  readonly by?: string;
  /** Counts of the answer; absent: the provider counted nothing. */
  readonly usage?: Usage;
}

export class OutlineMaker {
  readonly #how: Shaping;
  readonly #headers: KeptHeaders;
  readonly #callers = new WeakMap<Principal, OutlinedCaller>();

  /** @param formats those of the build @param names words that headers may have besides: those of the config */
  constructor(formats: Iterable<Format>, secret: bigint = randomSecret(), names: Iterable<string> = []) {
    const all = [...formats];
    this.#how = { made: new Placeholders(secret), words: new Vocabulary(all) };
    this.#headers = new KeptHeaders(all, new Vocabulary(all, names));
  }

  /** @param entered a valid request */
  of(entered: Pick<Entered, "call" | "bytes" | "body" | "format">, operation: EntryOperation): Outline {
    const { call, bytes, body } = entered;
    const { places } = entered.format.client.facts;
    const { rule, spell } = tablesOf(places);
    const unknown = [...unknownOf(body), ...(rule ? [] : [OF_PLUGIN])];
    const { principal } = call;
    return {
      v: OUTLINE_VERSION,
      at: Date.now(),
      call: call.id,
      ...{ operation, format: call.format, model: modelOf(call.model, this.#how.made), stream: call.stream },
      ...(call.route && { path: call.route.path }),
      headers: this.#headers.of(call.headers, this.#how.made),
      ...(principal && { caller: this.#callerOf(principal) }),
      bytes: bytes.length,
      body: shapeOf(body, { ...this.#how, rule, spell }),
      ...(unknown.length > 0 && { unknown }),
    };
  }

  #callerOf(principal: Principal): OutlinedCaller {
    let caller = this.#callers.get(principal);
    if (!caller) this.#callers.set(principal, (caller = callerOf(principal)));
    return caller;
  }
}

/** The tables of a format; those of a plugin say only where texts are. */
function tablesOf(places: TextPlaces | undefined): Pick<Shaping, "rule" | "spell"> {
  const { rules, spell } = (places ?? {}) as Partial<TabledPlaces>;
  return { rule: rules?.request, spell };
}

export function randomSecret(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!;
}

/** The id of a caller in outlines. It tells no name to a person who reads the file. */
export function callerId(id: string): string {
  return createHmac("sha256", "weir outline").update(id).digest("hex").slice(0, 16);
}

function callerOf({ id, path, options }: Principal): OutlinedCaller {
  return {
    id: callerId(id),
    ...(id.startsWith("config:") && { isDeclared: true }),
    path,
    scopes: options.scopes,
  };
}

/** Members that name what weir or a provider has stored, which decides about the rest of the request. */
const STORED = ["previous_response_id", "conversation", "cachedContent", "previous_interaction_id"];

const OF_PLUGIN = "its format is one of a plugin, which does not say what its words are";

/** Why a rehearsal cannot know what becomes of a request, whatever its texts are. */
export function unknownOf(body: JsonObject): string[] {
  const stored = STORED.filter((name) => typeof body[name] === "string" || isObject(body[name]));
  return stored.map((name) => `it continues what is stored (${name})`);
}
