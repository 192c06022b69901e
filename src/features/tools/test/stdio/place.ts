/** Where the tests run programs: the host of a process of a feature, without the process. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Groups } from "../../../../service/groups.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { type Answered, McpError } from "../../wire/messages.ts";
import type { ClientFacts, Connection, Outgoing } from "../../servers/connection.ts";
import type { ServiceHost } from "../../../../service/seams.ts";

export class Place implements ServiceHost, Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "weir-tools-test-"));
  readonly said: string[] = [];
  /** Programs that were started. */
  readonly started: number[] = [];
  readonly #groups = new Groups(() => {});

  readonly folder = () => this.root;
  readonly fault = (sentence: string) => void this.said.push(sentence);
  readonly info = (sentence: string) => void this.said.push(sentence);
  readonly spawn: ServiceHost["spawn"] = (command, options) => {
    const child = this.#groups.spawn(command, options);
    this.started.push(child.pid);
    return child;
  };

  [Symbol.dispose](): void {
    this.#groups.killAll();
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const fake = (...args: string[]) => [
  process.execPath,
  join(import.meta.dir, "fake-server.ts"),
  ...args,
];

/** Processes of a group that have not ended. */
export function membersOf(group: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [, state, , of] = / \((?:.*)\) (\S) (\d+) (\d+) /s.exec(
          readFileSync(`/proc/${name}/stat`, "utf8"),
        )!;
        return Number(of) === group && state !== "Z";
      } catch {
        return false;
      }
    })
    .map(Number);
}

export const descriptors = () => readdirSync("/proc/self/fd").length;

/** Waits until something holds. @throws Error after 10 s */
export async function until(holds: () => boolean, ms = 10_000): Promise<void> {
  for (const end = performance.now() + ms; !holds(); await Bun.sleep(10))
    if (performance.now() > end) throw new Error(`it did not come to hold: ${holds}`);
}

/** A request of a client, and what it heard and was asked meanwhile. */
export function wish(
  method: string,
  params: JsonObject = {},
  { client = {}, stop = new AbortController(), answer = { result: {} } }: Wish = {},
) {
  const heard: { method: string; params: JsonObject }[] = [];
  const asked: { method: string; params: JsonObject }[] = [];
  const outgoing: Outgoing = {
    ...{ method, params, client: { ...CLIENT, ...client }, stop: stop.signal },
    notify: (name, given) => void heard.push({ method: name, params: given }),
    async ask(name, given) {
      asked.push({ method: name, params: given });
      return answer;
    },
  };
  return { outgoing, heard, asked, stop };
}

interface Wish {
  client?: Partial<ClientFacts>;
  stop?: AbortController;
  answer?: Answered;
}

export const CLIENT: ClientFacts = { capabilities: {}, info: { name: "probe", version: "1.0.0" } };

/** A call of a tool. */
export const tool = (name: string, given: JsonObject = {}, wanted: Wish = {}, meta?: JsonObject) =>
  wish("tools/call", { name, arguments: given, ...(meta && { _meta: meta }) }, wanted);

/** Calls a tool. @returns its text */
export async function said(connection: Pick<Connection, "request">, name: string, given?: JsonObject) {
  return textOf(await connection.request(tool(name, given).outgoing));
}

export function textOf(answered: Answered): string {
  if ("error" in answered) return `${answered.error.code} ${answered.error.message}`;
  return (answered.result["content"] as { text: string }[])[0]!.text;
}

/** What a promise rejects with, as `CODE MESSAGE`. */
export async function failureOf(pending: Promise<unknown>): Promise<string> {
  try {
    await pending;
  } catch (cause) {
    return cause instanceof McpError ? `${cause.code} ${cause.message}` : String(cause);
  }
  throw new Error("it did not fail");
}
