/**
 * A stream that had to wait says the same as one that did not, for every pair of client and provider: weir's heartbeats are
 * not part of the answer, whichever framing they stand in. `LONG_DELAYS=1` waits at every place instead of some of them.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  delayedAnswer,
  delayedConfig,
  type DelayedProvider,
  PROVIDERS,
  type Script,
  SCRIPTS,
  type Wait,
} from "../helpers/delayed-providers.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { askFor, contentOf, STREAM_CLIENTS, type StreamClient } from "../helpers/stream-clients.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { startUpstream, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(240_000);

/** weir's clock ticks each 250 ms: the headers leave at the first tick, and heartbeats follow at the next ones. */
const TIMEOUTS = { holdMs: 100, heartbeatMs: 100 };
const WAIT_MS = 900;
const AT_ONCE = 120;

interface Case {
  client: StreamClient;
  provider: DelayedProvider;
  script: Script;
  waits: readonly Wait[];
  cutBehind?: number;
}

const cases: Case[] = [];
let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(({ body }) => {
    const number = Number(/case (\d+)/.exec(body.toString())?.[1]);
    const { provider, script, waits, cutBehind } = cases[number]!;
    return delayedAnswer(provider, script, waits, WAIT_MS, cutBehind);
  });
  const { providers, env, plugin } = delayedConfig(upstream.url);
  gateway = await startGateway({
    config: { providers, timeouts: TIMEOUTS, paidOnce: { enabled: true }, retries: { attempts: 1 } },
    env,
    plugins: { "framed.ts": plugin },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

/** How the stream ended, and what it said. */
interface Read {
  ending: string;
  content: string[];
  bytes: number;
}

async function read(one: Case, number = cases.push(one) - 1): Promise<Read> {
  const { client, provider } = one;
  const model = `${provider.name}/${provider.model}`;
  const headers = { "idempotency-key": `delayed-${number}` };
  const response = await askFor(gateway.url, client, model, `case ${number}`, headers);
  const { text, ending } = await readStreamed(response);
  if (response.status !== 200) return { ending: "refused", content: [messageIn(text)], bytes: 0 };
  return { ending, content: contentOf(client, text), bytes: text.length };
}

/** The sentence of an error answer. */
function messageIn(text: string): string {
  const { error } = JSON.parse(text) as { error: string | { message: string } };
  return typeof error === "string" ? error : error.message;
}

/** A refusal has a status, or after weir's headers a place in the stream. */
function isSame(plain: Read, waited: Read): boolean {
  if (plain.ending === "refused" && waited.ending !== "refused")
    return waited.content.at(-1)!.includes(plain.content[0]!);
  return plain.ending === waited.ending && plain.content.join("\n") === waited.content.join("\n");
}

/** The cases of all pairs. @param wanted what to wait for with an answer of so many pieces, for the nth pair */
function ofPairs(wanted: (pieces: number, pair: number) => Omit<Case, "client" | "provider" | "script">[]) {
  let pair = 0;
  return STREAM_CLIENTS.flatMap((client) =>
    PROVIDERS.flatMap((provider) =>
      SCRIPTS.flatMap((script) =>
        wanted(provider.pieces[script].length, pair++).map((one) => ({ client, provider, script, ...one })),
      ),
    ),
  );
}

const nameOf = ({ client, provider, script, waits, cutBehind }: Case) =>
  `${client.name} of ${provider.name}, ${script}, waits ${JSON.stringify(waits)}${cutBehind === undefined ? "" : `, cut behind ${cutBehind}`}`;

/** Runs all cases, so many at once. */
async function each(list: readonly Case[], run: (one: Case) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < list.length) await run(list[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** What cases read without any wait, by pair, script and cut. */
const undelayed = new Map<string, Promise<Read>>();

function withoutWaits(one: Case): Promise<Read> {
  const bare = { ...one, waits: [] };
  const name = nameOf(bare);
  let found = undelayed.get(name);
  if (!found) undelayed.set(name, (found = read(bare)));
  return found;
}

/** Whether no stream without a wait has fewer bytes. On a busy machine those have heartbeats as well, now and then. */
async function isSilent(one: Case, waited: Read): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++)
    if ((await read({ ...one, waits: [] })).bytes < waited.bytes) return false;
  return true;
}

/** The events of a cut stream that came before its error; of a stream as it ended otherwise. */
async function expectSame(list: readonly Case[]): Promise<void> {
  const wrong: string[] = [];
  const silent: string[] = [];
  await each(list, async (one) => {
    const [plain, waited] = [await withoutWaits(one), await read(one)];
    if (!isSame(plain, waited))
      wrong.push(
        `${nameOf(one)}\n  ${plain.ending} ${plain.content.join(" ")}\n  ${waited.ending} ${waited.content.join(" ")}`,
      );
    const isQuiet = one.waits.every(({ at }) => at === "within");
    if (!isQuiet && waited.bytes <= plain.bytes && (await isSilent(one, waited))) silent.push(nameOf(one));
  });
  expect(wrong.slice(0, 20)).toEqual([]);
  // Without a heartbeat there was nothing to see.
  expect(silent).toEqual([]);
}

const all = (length: number, at: "behind" | "within"): Wait[] =>
  Array.from({ length }, (_, piece) => ({ at, piece }));

test("before the first event, with and without the response headers of the provider", () =>
  expectSame(ofPairs(() => [{ waits: [{ at: "head" }] }, { waits: [{ at: "body" }] }])));

test("between two events, and within one", () =>
  expectSame(
    ofPairs((pieces, pair) => {
      const places = [...all(pieces - 1, "behind"), ...all(pieces, "within")];
      if (process.env["LONG_DELAYS"]) return places.map((place) => ({ waits: [place] }));
      // Each pair at another place: together they are everywhere.
      const [one, two] = [places[pair % places.length]!, places[(pair * 7 + 3) % places.length]!];
      return [{ waits: [one] }, { waits: [{ at: "head" }, two] }];
    }),
  ));

test("in a stream that breaks off", () =>
  expectSame(
    ofPairs((pieces, pair) => {
      const cutBehind = 1 + (pair % Math.max(1, pieces - 2));
      return [{ waits: [{ at: "head" }, { at: "behind", piece: cutBehind - 1 }], cutBehind }];
    }),
  ));

test("for a client that repeats a request while it waits", async () => {
  const wrong: string[] = [];
  await each(
    ofPairs(() => [{ waits: [{ at: "head" }, { at: "behind", piece: 0 }] }]),
    async (one) => {
      const plain = await withoutWaits(one);
      const number = cases.push(one) - 1;
      const repeats = await Promise.all([read(one, number), read(one, number)]);
      if (!repeats.every((repeat) => isSame(plain, repeat)))
        wrong.push(`${nameOf(one)}\n  ${repeats.map(({ content }) => content.join(" ")).join("\n  ")}`);
    },
  );
  expect(wrong).toEqual([]);
  const asked = (number: number) =>
    upstream.requests.filter(({ body }) => body.includes(`case ${number}"`)).length;
  expect(cases.map((_, number) => asked(number)).filter((count) => count > 1)).toEqual([]);
});
