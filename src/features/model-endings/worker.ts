/** The part in a process that serves calls: it logs such models once a day. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";

const DAY_MS = 86_400_000;

/** The first time is when the first calls of a gateway are over. Milliseconds. */
const FIRST_MS = 600_000;

export interface Times {
  /** Milliseconds. */
  readonly firstMs: number;
  readonly everyMs: number;
}

type Host = Pick<WorkerHost, "isFirst" | "info" | "served">;

export const start = (host: Host): WorkerPart => startWith(host, { firstMs: FIRST_MS, everyMs: DAY_MS });

/** One process of a gateway looks for such models, in the config that serves then. */
export function startWith(host: Host, { firstMs, everyMs }: Times): WorkerPart {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async () => {
    const { endingModels } = await import("./endings.ts");
    for (const found of await endingModels(host.served(), Date.now())) host.info(found);
  };
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      look().catch((cause) => host.info(`The last days of models could not be looked up: ${String(cause)}`));
      schedule(everyMs);
    }, ms);
    timer.unref();
  };
  if (host.isFirst) schedule(firstMs);
  return { seams: () => undefined, stop: () => clearTimeout(timer) };
}
