/** What a large ranking costs: 1,000 documents of 4 kB, at a provider that answers at once. */
import type { BenchOptions } from "./measures.ts";
import { median } from "./measures.ts";
import { startWeir } from "./fronts.ts";
import { KEY } from "./rig.ts";

export interface RankingCost {
  /** What weir adds to the p50 of a call of the provider's own client. Milliseconds. */
  addedMs: number;
}

const DOCUMENTS = 1000;
const BYTES = 4096;
/** Calls of a turn, one after the other; turns with and without weir alternate. */
const CALLS = 20;
const TURNS = 4;
const MODEL = "rerank-v4.0-pro";

/** Measures the newest binary: earlier ones have no such route. */
export async function measureRanking(options: BenchOptions): Promise<RankingCost> {
  const { rig, upstream, binaries, rounds, progress } = options;
  progress("rankings of 1,000 documents");
  const results = Array.from({ length: DOCUMENTS }, (_, index) => ({
    index,
    relevance_score: 1 - index / 1e4,
  }));
  const answer = JSON.stringify({ id: "r", results, meta: { billed_units: { search_units: 10 } } });
  const provider = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      await request.arrayBuffer();
      return new Response(answer, { headers: { "content-type": "application/json" } });
    },
  });
  const direct = `http://127.0.0.1:${provider.port}`;
  const env = { COHERE_API_KEY: "upstream-key", COHERE_BASE_URL: direct };
  const weir = await startWeir(rig, upstream, binaries.at(-1)!, 1, env);
  const through = `http://127.0.0.1:${weir.port}`;
  const added: number[] = [];
  await p50Of(through);
  for (let turn = 0; turn < TURNS * rounds; turn++) {
    const bare = await p50Of(direct);
    added.push((await p50Of(through)) - bare);
  }
  await weir.program.stop();
  await provider.stop(true);
  return { addedMs: median(added) };
}

const words = "The gateway stands between a program and those that sell answers. ".repeat(64).slice(0, BYTES);
const body = JSON.stringify({
  ...{ model: `cohere/${MODEL}`, query: "Who sells answers?" },
  documents: Array.from({ length: DOCUMENTS }, (_, index) => `${index} ${words}`),
});

/** Milliseconds. */
async function p50Of(url: string): Promise<number> {
  const took: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const began = performance.now();
    const response = await fetch(`${url}/v2/rerank`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
      body,
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`A ranking failed with status ${response.status}.`);
    took.push(performance.now() - began);
  }
  return median(took);
}
