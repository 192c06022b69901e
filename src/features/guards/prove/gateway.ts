/** The gateway of a proof: of this process, with a guard of each kind and action, and a provider that this process plays. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../../../cli/command.ts";
import { loadConfig } from "../../../config/load.ts";
import { answerRequests, type UpstreamRequest } from "../../../gateway/lanes/transport.ts";
import { startWeir } from "../../../run/weir.ts";
import { ACTIONS } from "../declarations.ts";
import { CLIENTS } from "./clients.ts";
import { textOfFile } from "./files.ts";
import { answer, bodyOf, type Got, type Play, type Script } from "./provider.ts";
import { SCENARIO_FALLBACKS, SCENARIO_GUARDS, SCENARIO_MODELS } from "./scenarios/config.ts";
import { KINDS } from "./values.ts";

/** The model that no guard guards. */
export const PLAIN = "plain";
export const SPOKEN = CLIENTS.filter(({ isSpoken, streams }) => isSpoken && streams).map(({ name }) => name);
const EMBEDS = "embeds";

/** Longest time of a call in ms: the runtime alone takes five seconds to close the connection of an answer that is cut. */
const LONGEST_MS = 60_000;

/** What the proof needs of the command line. */
export type Parts = Pick<
  Context,
  "sections" | "columns" | "keyOptions" | "headers" | "ownPlugins" | "workers"
>;

/** A text that a sweep looks through. */
export interface Kept {
  readonly name: string;
  text(): Promise<string>;
}

export class ProofGateway {
  readonly #url: string;
  readonly #folder: string;
  readonly #log: string[];
  readonly #end: () => Promise<void>;
  readonly #scripts = new Map<string, { script: Script | Play; got?: Got }>();

  private constructor(url: string, folder: string, log: string[], end: () => Promise<void>) {
    this.#url = url;
    this.#folder = folder;
    this.#log = log;
    this.#end = end;
  }

  static async start(parts: Parts): Promise<ProofGateway> {
    const folder = await mkdtemp(join(tmpdir(), "weir-prove-"));
    await Bun.write(join(folder, "weir.yaml"), JSON.stringify(configIn(folder)));
    const { sections, ...own } = parts;
    const { config, ...sources } = loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder, sections });
    const log: string[] = [];
    const write = (text: string) => void log.push(text);
    const weir = await startWeir({ ...sources, ...own, env: {}, write, config: { ...config, workers: 1 } });
    await weir.books();
    const { formats } = weir.parts.registry;
    const restore = answerRequests(async (request) => gateway.#answer(request, formats));
    const gateway = new ProofGateway(weir.url, folder, log, async () => {
      await weir.stop();
      restore();
    });
    return gateway;
  }

  /** The provider plays a script for the requests with this mark. @param ask sends them */
  async play<Value>(
    mark: string,
    script: Script | Play,
    ask: () => Promise<Value>,
  ): Promise<{ value: Value; got: Got | undefined }> {
    const playing: { script: Script | Play; got?: Got } = { script };
    this.#scripts.set(mark, playing);
    try {
      const value = await ask();
      return { value, got: playing.got };
    } finally {
      this.#scripts.delete(mark);
    }
  }

  /** Sends a request, and reads its answer. @param body none: it is a GET @throws Error if the answer does not end */
  async ask(
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Response & { said: string }> {
    const signal = AbortSignal.timeout(LONGEST_MS);
    try {
      const response = await fetch(this.#url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json", ...headers },
        ...(body !== undefined && { body }),
        signal,
      });
      const said = await receivedOf(response);
      signal.throwIfAborted();
      return Object.assign(response, { said });
    } catch (fault) {
      if (!signal.aborted) throw fault;
      throw new Error(`The answer of ${path} has no end after ${LONGEST_MS / 1_000} s.`, { cause: fault });
    }
  }

  #answer(request: UpstreamRequest, formats: Formats) {
    const mark = /CELL \d+;/.exec(bodyOf(request))?.[0] ?? "";
    const playing = this.#scripts.get(mark);
    if (!playing) throw new Error(`no cell asks for ${request.url}`);
    if (typeof playing.script === "function") return playing.script(request);
    const { hostname } = new URL(request.url);
    const { got, response } = answer(request, formats.get(hostname.split(".")[0]!)!, playing.script);
    playing.got = got;
    return response;
  }

  /** Ends it. @returns what it has written down: its log, and the files of its state */
  async end(): Promise<Kept[]> {
    await this.#end();
    const files = await readdir(this.#folder, { recursive: true, withFileTypes: true });
    const kept = files
      .filter((file) => file.isFile() && file.name !== "weir.yaml")
      .map(({ parentPath, name }) => ({ name, text: () => textOfFile(join(parentPath, name)) }));
    return [{ name: "log", text: async () => Buffer.from(this.#log.join("\n")).toString("latin1") }, ...kept];
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** What comes of an answer. One that a guard cuts ends without its end. */
async function receivedOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of body ?? []) pieces.push(piece);
  } catch {
    pieces.push(Buffer.from("\n"));
  }
  return Buffer.concat(pieces).toString();
}

type Formats = Awaited<ReturnType<typeof startWeir>>["parts"]["registry"]["formats"];

/** Which provider answers a client. */
export function providerOf(client: string, lane: string, n: number): string {
  if (client === EMBEDS || !CLIENTS.find(({ name }) => name === client)!.streams) return EMBEDS;
  if (lane === "native") return `p-${client}`;
  const others = SPOKEN.filter((name) => name !== client);
  return `p-${others[n % others.length]}`;
}

function configIn(folder: string): object {
  const models = [
    PLAIN,
    ...SCENARIO_MODELS,
    ...KINDS.flatMap(({ name }) => ACTIONS.map((action) => `${name}-${action}`)),
  ];
  const baseUrl = (name: string) => `http://${name}.prove.invalid${name === "messages" ? "" : "/v1"}`;
  const providers = SPOKEN.map((name) => [
    `p-${name}`,
    { speaks: name, baseUrl: baseUrl(name), apiKey: "prove-1234567", models },
  ]);
  const guards = KINDS.flatMap(({ name, find }) =>
    ACTIONS.map((action) => {
      const model = `${name}-${action}`;
      return [model, { find, do: action, models: [`*/${model}`] }];
    }),
  );
  return {
    state: join(folder, "state"),
    providers: {
      ...Object.fromEntries(providers),
      [EMBEDS]: {
        baseUrl: baseUrl(SPOKEN[0]!),
        apiKey: "prove-1234567",
        embeds: { embeddings: { path: "/embeddings" } },
      },
    },
    guards: { ...Object.fromEntries(guards), ...SCENARIO_GUARDS },
    fallbacks: SCENARIO_FALLBACKS,
    cache: { keys: ["*"] },
    responses: { store: "on" },
    // The head of a stream waits for its verdicts as long as a call may last; the timers of a call that does not end keep the
    // process alive.
    timeouts: { holdMs: LONGEST_MS + 5_000, heartbeatMs: LONGEST_MS + 5_000 },
    capture: { share: 0.1 },
    log: { format: "json" },
  };
}
