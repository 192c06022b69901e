/** What the tests of attacks share: gateways with several workers, and what their processes cost. */
import { readdirSync, readFileSync } from "node:fs";
import { Database } from "bun:sqlite";
import { serve, type Serving, until } from "../../../../../test/helpers/serving.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { type ClientOptions, LegacyClient, ModernClient, type Received } from "../support/clients.ts";

export const ERAS = ["modern", "legacy"] as const;
export type ClientEra = (typeof ERAS)[number];
export type AnyClient = ModernClient | LegacyClient;

export function connect(era: ClientEra, options: ClientOptions): Promise<AnyClient> {
  return era === "modern" ? Promise.resolve(new ModernClient(options)) : LegacyClient.open(options);
}

/** Calls a tool and wants progress. */
export function follow(client: AnyClient, name: string, args: JsonObject, token: string | number = 1) {
  const meta = { progressToken: token };
  return client instanceof ModernClient ? client.call(name, args, { meta }) : client.call(name, args, meta);
}

export const errorOf = ({ message }: Received) =>
  (message["error"] ?? {}) as { code?: number; message?: string };

export function serveTools(
  servers: JsonObject,
  { workers = 2, ...more }: JsonObject & { workers?: number } = {},
): Promise<Serving> {
  const config = JSON.stringify({ log: { format: "json" }, ...more, tools: { pin: "off", servers } });
  return serve({ workers, config });
}

/** Rows of the books of a gateway that has stopped. */
export function bookedCalls(folder: string): number {
  const [path] = [...new Bun.Glob("**/weir.db").scanSync({ cwd: folder, absolute: true, dot: true })];
  const db = new Database(path!, { readonly: true });
  try {
    return db.query<{ count: number }, []>("SELECT count(*) AS count FROM calls").get()!.count;
  } finally {
    db.close();
  }
}

export const parentOf = (pid: number) =>
  Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))![1]);

/** Resident memory. Bytes. */
export function rssOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
}

export const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** The process of the tools: a child of the gateway that is no worker, and no keeper: it came with the first use of a tool. */
export async function toolsProcess(gateway: Serving, use: () => Promise<unknown>): Promise<number> {
  const before = new Set(gateway.children());
  await use();
  let found: number | undefined;
  await until(() => (found = gateway.children().find((pid) => !before.has(pid))) !== undefined);
  return found!;
}
