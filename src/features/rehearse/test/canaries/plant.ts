/** Plants canaries at the places of a request: in the place of each value, beside it, and as names of members. */
import { isObject, type Json, type JsonObject } from "../../../../core/json.ts";
import { type Canary, Letters, makeCanary, SHAPES, VALUES } from "./canary.ts";
import type { Asked } from "./requests.ts";

export interface Planted {
  readonly asked: Asked;
  readonly canary: Canary;
  /** Where it is: `messages[0].content`, `messages[0]{}` for a name, `header user-agent`. */
  readonly place: string;
}

/** Changes a copy of a body. */
type Edit = (body: Json) => void;

interface Place {
  readonly place: string;
  readonly shapes: readonly string[];
  edit(canary: Canary): Edit;
}

const STRINGS = Object.keys(SHAPES);
const OTHERS = Object.keys(VALUES);
const ALL = [...STRINGS, ...OTHERS];

/** Headers that clients send. */
const HEADERS =
  `user-agent referer x-title x-session-id session_id x-claude-code-session-id x-client-request-id idempotency-key
anthropic-beta anthropic-version anthropic-user-profile-id openai-organization openai-project openai-beta x-goog-api-client
x-goog-user-project x-goog-request-params x-stainless-package-version x-amzn-bedrock-trace x-weir-session x-weir-note
accept x-request-id traceparent baggage helicone-user-id cookie authorization x-forwarded-for`.split(/\s+/);

/**
 * @param seed of the canaries
 * @returns for each place one request with a canary of one shape; another turn has another shape
 */
export function* plantIn(asked: Asked, seed: number, turn: number): Generator<Planted> {
  const letters = new Letters(seed * 7_919 + turn * 104_729 + 1);
  let at = turn + seed;
  for (const { place, shapes, edit } of [...placesOf(asked.body)]) {
    const canary = makeCanary(shapes[at++ % shapes.length]!, letters);
    const body = structuredClone(asked.body);
    edit(canary)(body);
    yield { asked: { ...asked, body }, canary, place };
  }
  const name = HEADERS[at % HEADERS.length]!;
  const canary = makeCanary(["word", "uuid", "snake case", "digits", "dated", "e-mail"][at % 6]!, letters);
  yield {
    asked: { ...asked, headers: { ...asked.headers, [name]: headerOf(name, String(canary.value)) } },
    canary,
    place: `header ${name}`,
  };
}

const headerOf = (name: string, value: string) =>
  name === "accept" ? `application/json, text/${value};q=0.5` : value;

type Step = string | number;

function* placesOf(body: Json, path: Step[] = []): Generator<Place> {
  const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  if (Array.isArray(body)) {
    yield {
      place: `${place}[+]`,
      shapes: ALL,
      edit: ({ value }) => at(path, (list) => (list as Json[]).push(value)),
    };
    for (const [index, one] of body.entries()) yield* placesOf(one, [...path, index]);
  } else if (isObject(body)) {
    yield {
      place: `${place}.made_up`,
      shapes: ALL,
      edit: ({ value }) => at(path, (object) => void ((object as JsonObject)["made_up"] = value)),
    };
    yield {
      place: `${place}{}`,
      shapes: STRINGS,
      edit: ({ value }) => at(path, (object) => void ((object as JsonObject)[String(value)] = value)),
    };
    for (const [name, one] of Object.entries(body)) {
      // Names of models stay: the config decides by them.
      if (/^(?:models?|advisor_model|stream)$/.test(name)) continue;
      yield {
        place: `${place}.${name}{}`,
        shapes: STRINGS,
        edit: ({ value }) => at(path, renamed(name, String(value))),
      };
      yield* placesOf(one!, [...path, name]);
    }
  } else {
    const put = (write: (canary: Json, was: Json) => Json) => (canary: Canary) =>
      setAt(path, (was) => write(canary.value, was));
    yield { place, shapes: ALL, edit: put((canary) => canary) };
    if (typeof body === "number")
      yield { place: `${place} number`, shapes: ["number", "fraction"], edit: put((canary) => canary) };
    if (typeof body !== "string") return;
    yield {
      place: `${place} behind`,
      shapes: STRINGS,
      edit: put((canary, was) => `${was as string}${canary as string}`),
    };
    yield {
      place: `${place} before`,
      shapes: STRINGS,
      edit: put((canary, was) => `${canary as string} ${was as string}`),
    };
  }
}

function at(path: readonly Step[], edit: (value: Json) => void): Edit {
  return (body) => edit(path.reduce<Json>((value, step) => (value as never)[step], body));
}

function setAt(path: readonly Step[], change: (was: Json) => Json): Edit {
  const last = path.at(-1)!;
  return at(path.slice(0, -1), (holder) => {
    const within = holder as Record<Step, Json>;
    within[last] = change(within[last]!);
  });
}

/** The other members stay in their order. */
function renamed(name: string, other: string): (value: Json) => void {
  return (value) => {
    const object = value as JsonObject;
    const entries = Object.entries(object);
    for (const [member] of entries) delete object[member];
    for (const [member, one] of entries) object[member === name ? other : member] = one;
  };
}
