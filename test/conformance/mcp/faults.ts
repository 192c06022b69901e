/** Faults that are planted in the room of tools, one by one, in a copy of the source: the suite has to see each. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../../helpers/serving.ts";
import { SourceCopy } from "../../helpers/source-copy.ts";
import { excuse } from "./excuses.ts";
import type { Installed } from "./install.ts";
import { ownReference } from "./references.ts";
import { type Checks, type Revision, runSuite } from "./suite.ts";
import { worseThrough } from "./verdicts.ts";

type Cell = "LL" | "LM" | "MM" | "ML";

interface Fault {
  readonly name: string;
  readonly cell: Cell;
  /** Below `src/features/tools`. */
  readonly file: string;
  /** A text that the file has once, and what stands there instead. */
  readonly from: string;
  readonly to: string;
}

const never = "if (false as boolean)";
const CHECKS = "front/checks.ts";

const FAULTS: readonly Fault[] = [
  {
    name: "version of header and body differ",
    cell: "MM",
    file: CHECKS,
    from: "if (said !== version)",
    to: never,
  },
  { name: "unknown version", cell: "MM", file: CHECKS, from: "if (version !== MODERN)", to: never },
  {
    name: "no supported versions",
    cell: "MM",
    file: CHECKS,
    from: "supported: [...REVISIONS]",
    to: "supported: []",
  },
  {
    ...{ name: "no capabilities needed", cell: "MM", file: CHECKS },
    ...{ from: "if (!isObject(meta[META.capabilities]))", to: never },
  },
  {
    name: "Mcp-Method is not compared",
    cell: "MM",
    file: CHECKS,
    from: "if (saidMethod !== method)",
    to: never,
  },
  {
    ...{ name: "Mcp-Name is not compared", cell: "MM", file: CHECKS },
    ...{ from: "if (decodeValue(name) !== params[member])", to: never },
  },
  {
    ...{ name: "a missing Mcp-Param is well", cell: "MM", file: "wire/param-headers.ts" },
    ...{ from: "return `the header ${header} is missing`", to: "return undefined" },
  },
  {
    ...{ name: "the server gets the sealed requestState", cell: "MM", file: "bridge/forward.ts" },
    ...{ from: "let params = of({}, state);", to: "let { params } = asked;" },
  },
  {
    ...{ name: "errors have the status 200", cell: "MM", file: "bridge/refusals.ts" },
    ...{ from: "if (status !== 200) return status;", to: "if (status !== 0) return 200;" },
  },
  {
    ...{ name: "no acknowledgement", cell: "MM", file: "bridge/modern.ts" },
    ...{ from: 'send("notifications/subscriptions/acknowledged"', to: 'send("notifications/message"' },
  },
  {
    ...{ name: "no subscriptionId", cell: "MM", file: "bridge/modern.ts" },
    ...{ from: "{ [META.subscription]: id }", to: "{}" },
  },
  {
    ...{ name: "every change is told", cell: "MM", file: "bridge/listeners.ts" },
    ...{ from: "return wanted[member] === true;", to: "return true;" },
  },
  {
    ...{ name: "no change is told", cell: "MM", file: "bridge/listeners.ts" },
    ...{ from: "return wanted[member] === true;", to: "return false;" },
  },
  {
    ...{ name: "log messages that nobody wanted", cell: "ML", file: "bridge/modern-client.ts" },
    ...{ from: "(logLevel === undefined || !reaches", to: "(logLevel !== undefined && !reaches" },
  },
  {
    ...{ name: "no hints for caches", cell: "ML", file: "bridge/eras.ts" },
    ...{ from: '{ ttlMs: 0, cacheScope: "private" } : {}', to: "{} : {}" },
  },
  {
    ...{ name: "a missing capability is not named", cell: "ML", file: "bridge/parked.ts" },
    ...{ from: "{ requiredCapabilities: { [capability]: {} } }", to: "{}" },
  },
  {
    ...{ name: "a parked call has no requestState", cell: "ML", file: "bridge/forward.ts" },
    ...{ from: "inputRequests: leg.inputRequests, requestState }", to: "inputRequests: leg.inputRequests }" },
  },
  {
    ...{ name: "answers are not taken to the server", cell: "LM", file: "bridge/forward.ts" },
    ...{ from: "...(!isEmpty(inputResponses) && { inputResponses }),", to: "" },
  },
  {
    ...{ name: "answers of the other era fail", cell: "LM", file: "bridge/eras.ts" },
    ...{ from: "if (exchange.era === era) return answered;", to: 'throw new Error("planted");' },
  },
  {
    ...{ name: "questions of the server are refused", cell: "LL", file: "bridge/forward.ts" },
    ...{ from: "if (missing === undefined) return exchange.ask(method, params);", to: "" },
  },
  {
    ...{ name: "the client's token is lost", cell: "LL", file: "servers/progress.ts" },
    ...{ from: "return { ...params, progressToken: this.#token };", to: "return params;" },
  },
  {
    ...{ name: "no progress", cell: "LL", file: "servers/progress.ts" },
    ...{ from: "if (!(progress >= this.#last)) return undefined;", to: "return undefined;" },
  },
  {
    ...{ name: "no log messages", cell: "LL", file: "bridge/legacy-client.ts" },
    ...{
      from: 'if (method === "notifications/message" && ',
      to: 'if (method === "notifications/message" || ',
    },
  },
  {
    ...{ name: "ping is unknown", cell: "LL", file: "bridge/legacy.ts" },
    ...{ from: 'if (method === "ping") return { result: {} };', to: "" },
  },
  {
    ...{ name: "a session does not end", cell: "LL", file: "bridge/legacy.ts" },
    ...{ from: "if (session) this.#sessions.end(session);", to: "" },
  },
];

/** @returns the names of the faults that the suite did not see */
export async function plantFaults(installed: Installed, word: string): Promise<string[]> {
  const chosen = FAULTS.filter(({ name }) => name.includes(word));
  const reference = ownReference();
  const direct = new Map<Revision, Checks>();
  const survivors: string[] = [];
  try {
    for (const fault of chosen) {
      const revision = fault.cell.startsWith("L") ? "2025-11-25" : "2026-07-28";
      const { url, era } = reference.halves[fault.cell.endsWith("L") ? "legacy" : "modern"];
      if (!direct.has(revision)) direct.set(revision, await runSuite(installed, reference.url, revision));
      const copy = new SourceCopy();
      try {
        plant(copy, fault);
        const config = JSON.stringify({ tools: { servers: { ref: { url, era, allow: ["*"] } } } });
        const gateway = await serve({ config, workers: 1, root: copy.root });
        const through = await runSuite(installed, `${gateway.url}/mcp/ref`, revision);
        await gateway.end();
        const { worse } = excuse(reference.name, fault.cell, worseThrough(direct.get(revision)!, through));
        if (worse.length === 0) survivors.push(fault.name);
        console.log(
          `${fault.cell} ${fault.name}: ${worse.length === 0 ? "SURVIVES" : `seen by ${worse[0]!.scenario}, ${worse[0]!.check}`}`,
        );
      } finally {
        copy.remove();
      }
    }
  } finally {
    reference.stop();
  }
  console.log(`${chosen.length} faults, ${survivors.length} not seen.`);
  return survivors;
}

/** @throws Error if the source does not have the text once */
function plant({ root }: SourceCopy, { name, file, from, to }: Fault): void {
  const path = join(root, "src/features/tools", file);
  const parts = readFileSync(path, "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${name}: ${file} has the text ${parts.length - 1} times.`);
  writeFileSync(path, parts.join(to));
}
