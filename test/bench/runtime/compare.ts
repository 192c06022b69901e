/**
 * What single uses of the runtime cost: each case is a server in a process of its own. The cases take turns; the client runs
 * in the process that was started. Prints the CPU time of the server for each request, and the difference to the first case.
 */
import type { Socket } from "bun";
import { median } from "../measures.ts";
import { show } from "../goals.ts";

/** Starts a server whose answers end with {@link END}. */
export type Case = () => { port?: number };

export type Handler = (request: Request) => Response | Promise<Response>;

/** The end of each answer, by which the client recognises it. */
export const END = "END";

const ROUNDS = 7;
const ROUND_MS = 500;
const CONNECTIONS = 64;

const BODY = JSON.stringify({ model: "bench", messages: [{ role: "user", content: "x".repeat(900) }] });
/** A request with the headers of a vendor's SDK. */
const REQUEST = [
  "POST /v1/chat/completions HTTP/1.1",
  "host: 127.0.0.1:9347",
  "accept: application/json",
  "content-type: application/json",
  "authorization: Bearer bench-key-0123456789abcdef0123456789",
  "user-agent: OpenAI/JS 7.55.0",
  "x-stainless-lang: js",
  "x-stainless-retry-count: 0",
  `content-length: ${BODY.length}`,
  "",
  BODY,
].join("\r\n");

/** A case that answers each request with this handler. */
export function handled(fetch: Handler): Case {
  return () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
}

interface Server {
  name: string;
  port: number;
  /** CPU microseconds for each request, by round. */
  costs: number[];
  cpu(): Promise<number>;
  stop(): void;
}

/** Measures the cases and prints a table, or runs the server of the case that the command line names. */
export async function compare(title: string, cases: Readonly<Record<string, Case>>): Promise<void> {
  const [, script = "", named] = process.argv;
  if (named !== undefined) return run(cases[named]!);
  const servers: Server[] = [];
  for (const name of Object.keys(cases)) servers.push(await start(script, name));
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++)
    for (const server of servers) {
      const before = await server.cpu();
      const answered = await load(server.port);
      if (round > 0) server.costs.push(((await server.cpu()) - before) / answered);
    }
  const costs = servers.map((server) => median(server.costs));
  const rows = servers.map(({ name, stop }, at) => {
    stop();
    const difference = costs[at]! - costs[0]!;
    return `| ${name} | ${show(costs[at]!)} | ${at === 0 ? "" : `${difference < 0 ? "−" : "+"}${show(Math.abs(difference))}`} |`;
  });
  console.log([`| ${title} | CPU µs | difference |`, "| --- | --- | --- |", ...rows, ""].join("\n"));
}

/** The server of one case: says its port, then its CPU time whenever it is asked. */
function run(start: Case): void {
  process.send!(start().port);
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send!(user + system);
  });
  process.on("disconnect", () => process.exit(0));
}

async function start(script: string, name: string): Promise<Server> {
  let heard = Promise.withResolvers<number>();
  const pinned = Bun.which("taskset") ? ["taskset", "-c", "0"] : [];
  const child = Bun.spawn([...pinned, process.execPath, script, name], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (message: number) => heard.resolve(message),
  });
  const port = await heard.promise;
  return {
    name,
    port,
    costs: [],
    cpu() {
      heard = Promise.withResolvers<number>();
      child.send("cpu");
      return heard.promise;
    },
    stop: () => child.kill(),
  };
}

/** @returns the number of answers */
async function load(port: number): Promise<number> {
  let answered = 0;
  const until = performance.now() + ROUND_MS;
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let text = "";
    const socket = {
      open: (connection: Socket) => void connection.write(REQUEST),
      data(connection: Socket, bytes: Buffer) {
        text += bytes.toString("latin1");
        const isChunked = /^transfer-encoding: chunked/im.test(text);
        if (!text.endsWith(isChunked ? "\r\n0\r\n\r\n" : END)) return;
        text = "";
        answered++;
        if (performance.now() < until) connection.write(REQUEST);
        else connection.end();
      },
      close: () => resolve(),
    };
    void Bun.connect({ hostname: "127.0.0.1", port, socket });
    return promise;
  });
  await Promise.all(clients);
  return answered;
}
