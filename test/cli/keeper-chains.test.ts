/**
 * Two workers continue chains in random order while the keeper is killed again and again: no answer that was reported as
 * stored is lost, none that was not is found, and no chain has a link that is not its own. `bun run stress` runs ten thousand
 * answers.
 */
import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AnswerClient } from "../../src/keeper/answers/client.ts";
import { socketLink } from "../../src/keeper/socket-link.ts";
import { serve, type Serving, until } from "../helpers/serving.ts";
import { answerOf, itemOf, PATIENT_MS } from "../keeper/suite.ts";
import { IS_STRESS } from "../helpers/effort.ts";

const ANSWERS = IS_STRESS ? 10_000 : 400;
const KILLS = 6;
const LOOPS = 16;
const OWNERS = ["config:alice", "config:bob"];

interface Known {
  id: string;
  owner: string;
  parent?: Known;
}

const keeperOf = (weir: Serving) => weir.keeper();

/** Numbers from 0 to 1, the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test(
  "chains over two workers are whole after the keeper was killed in the middle of its work",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-chains-"));
    const weir = await serve({ config: "", workers: 2, env: { WEIR_STATE: folder } });
    const run = join(weir.folder, "run/weir");
    const socket = join(
      run,
      readdirSync(run).find((name) => name.endsWith(".sock"))!,
    );
    const workers = [new AnswerClient(socketLink(socket)), new AnswerClient(socketLink(socket))];
    await Promise.all(workers.map((worker) => worker.start()));
    const next = random(7);
    const pick = <One>(list: readonly One[]): One | undefined => list[Math.floor(next() * list.length)];
    const stored: Known[] = [];
    const others: Known[] = [];
    let made = 0;
    let kills = 0;

    const storeOne = async () => {
      const number = made++;
      const owner = pick(OWNERS)!;
      const before =
        next() < 0.9 ? pick(stored.filter((known) => known.owner === owner).slice(-200)) : undefined;
      const known: Known = { id: `n${number}`, owner, ...(before && { parent: before }) };
      const answer = answerOf(known.id, {
        owner,
        parent: before?.id,
        input: [itemOf(`${known.id}-in`, `secret of ${owner}`)],
        output: [itemOf(`${known.id}-out`)],
      });
      const outcome = await pick(workers)!
        .put(answer, PATIENT_MS)
        .catch(() => "unknown");
      (outcome === "stored" ? stored : others).push(known);
      if (number === Math.floor(((kills + 1) * ANSWERS) / (KILLS + 1)) && kills < KILLS) {
        kills++;
        const pid = keeperOf(weir);
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      }
    };
    const loop = async () => {
      while (made < ANSWERS) await storeOne();
    };
    await Promise.all(Array.from({ length: LOOPS }, loop));
    expect(kills).toBe(KILLS);

    const faults: string[] = [];
    for (const known of stored) {
      const wanted: string[] = [];
      for (let link: Known | undefined = known; link; link = link.parent) wanted.unshift(link.id);
      const found = await pick(workers)!.chain(known.id, known.owner);
      const links = Array.isArray(found) ? found.map(({ id }: { id: string }) => id) : found;
      if (JSON.stringify(links) !== JSON.stringify(wanted))
        faults.push(`${known.id}: ${links} instead of ${wanted}`);
      if (
        !JSON.stringify((await pick(workers)!.get(known.id, known.owner))?.input).includes(
          `secret of ${known.owner}`,
        )
      )
        faults.push(`${known.id}: items of another owner`);
      const foreigner = OWNERS.find((owner) => owner !== known.owner)!;
      if ((await pick(workers)!.get(known.id, foreigner)) !== undefined)
        faults.push(`${known.id}: another owner sees it`);
    }
    // A put without an outcome is retracted by its worker once the keeper is back.
    const isGone = async ({ id, owner }: Known) => (await workers[0]!.get(id, owner)) === undefined;
    for (const known of others)
      if (!(await until(() => isGone(known), PATIENT_MS)))
        faults.push(`${known.id}: stored, but not reported`);
    expect(faults).toEqual([]);
    expect(stored.length).toBeGreaterThan(ANSWERS / 2);
    console.log(
      `${stored.length} answers were stored, ${others.length} were not, the keeper was killed ${kills} times`,
    );

    await Promise.all(workers.map((worker) => worker.close()));
    await weir.end();
    rmSync(folder, { recursive: true, force: true });
  },
  PATIENT_MS,
);
