/**
 * Chains of stored responses over HTTP, over two gateways on one PostgreSQL: each response is created at one gateway and continued
 * at the other. The provider answers with the whole conversation that it gets, so a lost or crossed turn is seen in the answer.
 * `bun run postgres` runs ten thousand chains.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { json, startUpstream, type UpstreamRequest } from "../helpers/upstream.ts";
import { startTwoNodes } from "./two-nodes.ts";

setDefaultTimeout(120_000);

const IS_LONG = process.env["LONG_POSTGRES"] === "1";
const CHAINS = IS_LONG ? 10_000 : 300;
const TURNS = 3;
const LOOPS = 32;
/** Every so many chains, another key tries to continue one. */
const FOREIGN = 20;

/** Answers with the text of all messages, in their order. */
function repeat({ path, body }: UpstreamRequest) {
  if (path.endsWith("/models")) return json({ object: "list", data: [] });
  const { messages } = JSON.parse(body.toString()) as { messages: { content: unknown }[] };
  const texts = messages.map(({ content }) =>
    typeof content === "string" ? content : (content as { text: string }[]).map(({ text }) => text).join(""),
  );
  const message = { role: "assistant", content: `<${texts.join("|")}>` };
  return json({
    ...{ id: "c1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
}

interface Answer {
  status: number;
  id: string;
  text: string;
  previous: unknown;
  ms: number;
}

async function create(url: string, key: string, input: string, previous?: string): Promise<Answer> {
  const began = performance.now();
  const response = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "host/m", input, ...(previous && { previous_response_id: previous }) }),
  });
  const body = (await response.json()) as {
    id: string;
    output?: { content: { text: string }[] }[];
    previous_response_id?: unknown;
    error?: { code: string };
  };
  return {
    status: response.status,
    id: body.id,
    text: body.output?.[0]?.content[0]?.text ?? body.error?.code ?? "",
    previous: body.previous_response_id ?? undefined,
    ms: performance.now() - began,
  };
}

if (missingPostgres) test.skip(`chains over HTTP over two gateways: ${missingPostgres}`, () => {});
else
  describe("chains over HTTP over two gateways", async () => {
    const server = await startPostgres({ listen: "*" });
    afterAll(() => server.close());

    test(`of ${CHAINS} chains none is lost and none is crossed`, async () => {
      const nodes = await startTwoNodes(server, { provider: (hostname) => startUpstream(repeat, hostname) });
      const urls = nodes.gateways.map(({ url }) => url);
      const faults: string[] = [];
      const times: number[] = [];
      let next = 0;
      let foreign = 0;

      const runChain = async (number: number): Promise<void> => {
        const key = nodes.keys[number % 2]!;
        const other = nodes.keys[(number + 1) % 2]!;
        let history = "";
        let before: string | undefined;
        for (let turn = 0; turn < TURNS; turn++) {
          const url = urls[(number + turn) % 2]!;
          const said = `chain ${number} turn ${turn}`;
          const answer = await create(url, key, said, before);
          times.push(answer.ms);
          const wanted = `<${history}${said}>`;
          if (answer.status !== 200 || answer.text !== wanted || answer.previous !== before)
            return void faults.push(`${said}: ${JSON.stringify(answer)}, wanted ${wanted}`);
          history += `${said}|${answer.text}|`;
          before = answer.id;
        }
        if (number % FOREIGN !== 0) return;
        foreign++;
        const refused = await create(urls[number % 2]!, other, "whose is it?", before);
        if (refused.status !== 400 && refused.status !== 404)
          faults.push(`chain ${number} is another key's: ${JSON.stringify(refused)}`);
      };

      try {
        const began = performance.now();
        const loop = async () => {
          while (next < CHAINS) await runChain(next++);
        };
        await Promise.all(Array.from({ length: LOOPS }, loop));
        const seconds = (performance.now() - began) / 1_000;
        times.sort((a, b) => a - b);
        const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
        console.log(
          `${CHAINS} chains of ${TURNS} turns in ${seconds.toFixed(1)} s, ${Math.round(times.length / seconds)} calls a second; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ${foreign} refused to another key; ${faults.length} faults`,
        );
        expect(faults.slice(0, 5)).toEqual([]);
        expect(times.length).toBe(CHAINS * TURNS);
      } finally {
        await nodes.end();
      }
    }, 600_000);
  });
