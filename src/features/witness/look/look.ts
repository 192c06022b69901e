/** One look at models: every question to each of them, at the same time, and what the answers show. */
import type { Principal } from "../../../core/principal.ts";
import type { Usage } from "../../../core/events.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { Draft, Seen } from "../observation.ts";
import { ownSide } from "../own.ts";
import { QUESTIONS, wordOf } from "../questions.ts";
import { type Asked, ask } from "./ask.ts";
import { bodyOf } from "./request.ts";
import { fieldsIn, listed, streamFacts } from "./wire-facts.ts";

export type LookHost = Pick<WorkerHost, "call" | "hide" | "ledger" | "served">;

export interface Looking {
  readonly by: Draft["by"];
  readonly models: readonly string[];
  readonly outputTokens: number;
  readonly principal: Principal | undefined;
}

type Answers = ReadonlyMap<string, Asked>;

/** @returns an observation for each model, in their order */
export async function look(
  host: LookHost,
  { by, models, outputTokens, principal }: Looking,
): Promise<Draft[]> {
  const at = Date.now();
  const all = models.map(() => new Map<string, Asked>());
  // The models are asked the same at the same time, so that a slow moment of this machine is one for all of them.
  for (const question of QUESTIONS)
    await Promise.all(
      models.map(async (model, index) => {
        const answer = await ask(host, bodyOf(question, model, outputTokens), principal);
        all[index]!.set(question.id, answer);
      }),
    );
  const { config, catalog } = host.served();
  const known = await catalog.list();
  return models.map((model, index): Draft => {
    const answers = all[index]!;
    const own = known.find(({ id }) => id === model);
    const [provider] = model.split("/", 1);
    const listing = known.filter(({ id }) => id.startsWith(`${provider}/`)).map(({ id }) => id);
    return {
      ...{
        at,
        by,
        model,
        own: ownOf(config, answers),
        cost: sum([...answers.values()].map(({ cost }) => cost)),
      },
      seen: seenIn(answers, { listing, price: own?.facts?.prices }),
    };
  });
}

function ownOf(config: object, answers: Answers): Draft["own"] {
  const target = [...answers.values()].find((answer) => answer.target)?.target;
  const requests = [...answers].flatMap(([id, { request }]) => (request ? [[id, request] as const] : []));
  return ownSide(config, target, Object.fromEntries(requests));
}

interface Listed {
  readonly listing: readonly string[];
  /** As the list of the host says, or the price book. */
  readonly price: object | undefined;
}

function seenIn(answers: Answers, { listing, price }: Listed): Seen {
  const whole = QUESTIONS.flatMap((question) => {
    const answer = answers.get(question.id);
    return answer?.wire && answer.fault === undefined && !question.isFaulty ? [{ question, answer }] : [];
  });
  const json = whole.filter(({ question }) => !question.streams).map(({ answer }) => answer);
  return {
    facts: {
      ...factsOf(json, answers.get("stream"), answers.get("error")),
      ...(listing.length > 0 && { listed: listed(listing) }),
      ...(price && { "listed-price": JSON.stringify(price) }),
    },
    tokens: Object.fromEntries(
      whole.flatMap(({ question, answer }) => {
        const count = inputOf(answer.usage);
        return count === 0 ? [] : [[question.id, count]];
      }),
    ),
    answers: Object.fromEntries(
      whole.flatMap(({ question: { id, group }, answer }) => (group ? [[id, wordOf(answer.text)]] : [])),
    ),
    prices: Object.fromEntries(
      whole.flatMap(({ question, answer }) => {
        const price = pricesOf(answer);
        return price ? [[question.id, price]] : [];
      }),
    ),
    speed: speedOf(json, answers.get("stream")),
    missing: Object.fromEntries(
      QUESTIONS.flatMap(({ id, isFaulty }) => {
        const answer = answers.get(id);
        if (answer?.wire && (isFaulty || answer.fault === undefined)) return [];
        return [[id, answer?.fault ?? "the provider sent no answer"]];
      }),
    ),
  };
}

function factsOf(
  json: readonly Asked[],
  stream: Asked | undefined,
  error: Asked | undefined,
): Record<string, string> {
  const facts: Record<string, string> = {};
  const bodies = json.map(({ wire }) => parseJson(wire!.text));
  const fields = new Set<string>();
  for (const body of bodies) fieldsIn(body, fields);
  if (json.length > 0) {
    facts["fields"] = listed(fields);
    facts["headers"] = listed(new Set(json.flatMap(({ wire }) => wire!.headers)));
  }
  for (const [fact, member] of Object.entries({ model: "model", fingerprint: "system_fingerprint" })) {
    const values = bodies.flatMap((body) =>
      isObject(body) && typeof body[member] === "string" ? [body[member]] : [],
    );
    if (values.length > 0) facts[fact] = listed(new Set(values as string[]));
  }
  const streamed = stream?.wire && stream.fault === undefined ? streamFacts(stream.wire.text) : undefined;
  if (streamed) Object.assign(facts, { events: streamed.events, "stream-fields": listed(streamed.fields) });
  if (error?.wire)
    facts["error"] = `${error.wire.status} ${listed(fieldsIn(parseJson(error.wire.text)))}`.trim();
  return facts;
}

/** What the provider says that an answer costs. */
function pricesOf({ usage }: Asked): Seen["prices"][string] | undefined {
  if (usage?.reported === undefined) return undefined;
  return { input: inputOf(usage), output: usage.output, cost: usage.reported };
}

function inputOf(usage: Usage | undefined): number {
  return usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0;
}

function speedOf(json: readonly Asked[], stream: Asked | undefined): Seen["speed"] {
  const firsts = json.map(({ wire }) => wire!.firstByteMs).sort((a, b) => a - b);
  const middle = firsts[Math.floor(firsts.length / 2)];
  const { wire, usage, fault } = stream ?? {};
  const seconds = wire ? (wire.lastByteMs - wire.firstByteMs) / 1_000 : 0;
  const isTimed = fault === undefined && seconds > 0 && usage && usage.output > 1;
  return {
    ...(middle !== undefined && { firstByteMs: rounded(middle) }),
    ...(isTimed && { perSecond: rounded((usage.output - 1) / seconds) }),
  };
}

const rounded = (value: number) => Number(value.toPrecision(4));
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
