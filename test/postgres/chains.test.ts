/**
 * Two gateways on one PostgreSQL continue chains in random order while the server is stopped and keepers are killed: no answer
 * that was reported as stored is lost, none that was not is found, and no chain has a link that is not its own.
 * `bun run postgres` runs ten thousand answers.
 */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { socketLink } from "../../src/keeper/socket-link.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { serve, type Serving, until } from "../helpers/serving.ts";
import { answerOf, itemOf, PATIENT_MS } from "../keeper/suite.ts";

setDefaultTimeout(120_000);

const IS_LONG = process.env["LONG_POSTGRES"] === "1";
const ANSWERS = IS_LONG ? 10_000 : 400;
const LOOPS = 16;
const OWNERS = ["config:alice", "config:bob"];

interface Known {
  id: string;
  owner: string;
  parent?: Known;
}

/** Kills the keeper of a gateway. */
async function kill(weir: Serving): Promise<void> {
  expect(await until(() => weir.keeper() !== undefined, 20_000)).toBe(true);
  process.kill(weir.keeper()!, "SIGKILL");
}

/** Numbers from 0 to 1, the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The ids of a chain, the oldest first. */
function idsOf(known: Known | undefined): string[] {
  const ids: string[] = [];
  for (let next = known; next; next = next.parent) ids.unshift(next.id);
  return ids;
}

async function connect(weir: Serving): Promise<AnswerClient> {
  const run = join(weir.folder, "run/weir");
  const client = new AnswerClient(
    socketLink(
      join(
        run,
        readdirSync(run).find((name) => name.endsWith(".sock"))!,
      ),
    ),
  );
  await client.start();
  return client;
}

test.skipIf(missingPostgres !== undefined)(
  `chains over two gateways are whole after PostgreSQL was stopped and keepers were killed${missingPostgres ? ` (${missingPostgres})` : ""}`,
  async () => {
    const server = await startPostgres();
    const start = () =>
      serve({ config: "state: state\n", workers: 2, binary: false, env: { WEIR_STORE: server.url } });
    const gateways = [await start(), await start()];
    onTestFinished(async () => {
      for (const gateway of gateways) await gateway.end();
      await server.close();
    });
    const clients = [
      ...(await Promise.all(gateways.map(connect))),
      ...(await Promise.all(gateways.map(connect))),
    ];
    const next = random(11);
    const pick = <One>(list: readonly One[]): One | undefined => list[Math.floor(next() * list.length)];
    const stored: Known[] = [];
    const others: Known[] = [];
    let made = 0;
    const faults = [
      () => kill(gateways[0]!),
      () => kill(gateways[1]!),
      async () => {
        await server.stop();
        await Bun.sleep(500);
        await server.start();
      },
    ];

    const storeOne = async () => {
      const number = made++;
      const owner = pick(OWNERS)!;
      const own = stored.filter((known) => known.owner === owner).slice(-200);
      const before = next() < 0.9 ? pick(own) : undefined;
      const known: Known = { id: `n${number}`, owner, ...(before && { parent: before }) };
      const answer = answerOf(known.id, {
        owner,
        parent: before?.id,
        input: [itemOf(`${known.id}-in`, `secret of ${owner}`)],
        output: [itemOf(`${known.id}-out`)],
      });
      // Spread over the test: after a quarter, a half and three quarters of the answers.
      if (stored.length >= ((4 - faults.length) * ANSWERS) / 4) await faults.shift()?.();
      const outcome = await pick(clients)!
        .put(answer, PATIENT_MS)
        .catch(() => "unknown");
      (outcome === "stored" ? stored : others).push(known);
      if (outcome !== "stored") await Bun.sleep(100);
    };
    const loop = async () => {
      while (stored.length < ANSWERS) await storeOne();
    };
    await Promise.all(Array.from({ length: LOOPS }, loop));
    expect(faults).toEqual([]);

    const works = async (client: AnswerClient) =>
      (await client.get("n0", "x").catch(() => "fault")) === undefined;
    for (const client of clients) expect(await until(() => works(client), 20_000)).toBe(true);
    const check = async (known: Known, client: AnswerClient) => {
      const chain = await client.chain(known.id, known.owner);
      if (!Array.isArray(chain)) throw new Error(`${known.id} is lost`);
      const links = chain as { id: string; input: { id: string; value: unknown }[] }[];
      expect(links.map(({ id }) => id)).toEqual(idsOf(known));
      for (const { id, input } of links)
        expect(input).toEqual([itemOf(`${id}-in`, `secret of ${known.owner}`)] as never);
    };
    // Each at the gateway that need not have stored it, in small groups.
    const checked = IS_LONG ? stored.filter((_, index) => index % 5 === 0) : stored;
    for (let at = 0; at < checked.length; at += 8)
      await Promise.all(
        checked.slice(at, at + 8).map((known, index) => check(known, clients[(at + index) % 4]!)),
      );
    for (const { id, owner } of stored) {
      const foreign = OWNERS.find((other) => other !== owner)!;
      if (next() < 0.05) expect(await clients[0]!.get(id, foreign)).toBeUndefined();
    }
    // What was lost in a commit is deleted within a moment.
    const areGone = async () => {
      for (const { id, owner } of others) if (await clients[0]!.get(id, owner)) return false;
      return true;
    };
    expect(await until(areGone, 30_000)).toBe(true);
    console.log(`${stored.length} stored, ${others.length} not stored because of faults`);
    for (const client of clients) await client.close();
  },
  600_000,
);
