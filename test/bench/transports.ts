/**
 * One way to call an upstream, alone: `bun transports.ts KIND URL CONCURRENCY SECONDS` prints answers a second and CPU
 * microseconds each. KIND: fetch, session (`Bun.FetchSession`), node (`node:http`), own.
 */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { createTransport } from "../../src/http/index.ts";

const [kind = "own", url = "", concurrency = "64", seconds = "2"] = process.argv.slice(2);
const body = JSON.stringify({ model: "bench", messages: [{ role: "user", content: "x".repeat(600) }] });
const headers = { "content-type": "application/json" };

type Ask = () => Promise<unknown>;

function withFetch(ask: (url: string, init: RequestInit) => Promise<Response>): Ask {
  return async () => {
    const { signal } = new AbortController();
    return (await ask(url, { method: "POST", headers, body, signal })).arrayBuffer();
  };
}

function withNode(): Ask {
  const secure = url.startsWith("https:");
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, maxSockets: Infinity })
    : new HttpAgent({ keepAlive: true, maxSockets: Infinity });
  const request = secure ? httpsRequest : httpRequest;
  const options = { method: "POST", agent, headers: { ...headers, "content-length": body.length } };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(url, options, (answer) => {
        answer.on("data", () => {});
        answer.on("end", resolve);
        answer.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
}

function withOwn(): Ask {
  const transport = createTransport({});
  const pieces = [Buffer.from(body)];
  const request = () => ({ url, headers, body: pieces, stop: new AbortController().signal });
  return async () => (await transport(request())).bytes();
}

const KINDS: Record<string, () => Ask> = {
  fetch: () => withFetch(fetch),
  session: () => withFetch(new Bun.FetchSession().fetch),
  node: withNode,
  own: withOwn,
};

const ask = KINDS[kind]!();
let answered = 0;
let failed = 0;

async function run(until: number): Promise<void> {
  const client = async () => {
    while (performance.now() < until)
      await ask().then(
        () => answered++,
        () => failed++,
      );
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, client));
}

await run(performance.now() + 700);
answered = failed = 0;
const before = process.cpuUsage();
const began = performance.now();
await run(began + Number(seconds) * 1000);
const { user, system } = process.cpuUsage(before);
const elapsed = (performance.now() - began) / 1000;
console.log(JSON.stringify({ perSecond: answered / elapsed, cpu: (user + system) / answered, failed }));
process.exit(0);
